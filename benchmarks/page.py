"""Results: pages for people in docs/results, and the figures they are written from, as JSON, in its data/."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAGES = Path(__file__).resolve().parents[1] / "docs" / "results"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; a bar inside a cell stays one."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def figures_path(name: str, pages: Path = PAGES) -> Path:
    """Where the figures of a page are."""
    return pages / "data" / f"{name}.json"


def read_figures(name: str, pages: Path = PAGES) -> Any:
    return json.loads(figures_path(name, pages).read_text("utf-8"))


def write_figures(name: str, figures: Any, pages: Path = PAGES) -> None:
    path = figures_path(name, pages)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", "utf-8")


def write_page(name: str, text: str, pages: Path = PAGES) -> None:
    pages.mkdir(parents=True, exist_ok=True)
    (pages / f"{name}.md").write_text(text, "utf-8")
