"""The paper's example sentences with each trained speller's answer, as Markdown, from the runs' files."""

from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.lab.evaluation.cases import CASES
from nmspeller.lab.evaluation.paper import CITATION
from nmspeller.lab.evaluation.runs import json_objects


def write_cases(runs_folder: str | Path, out_folder: str | Path) -> Path:
    """Write `cases.md` from every run that answered the cases; returns its path.

    Raises:
        InputError: no run did.
    """
    answers = {name: run["cases"] for name, run in _runs(Path(runs_folder)).items() if run.get("cases")}
    if not answers:
        raise InputError(f"no run under {runs_folder} has answered the cases; run another experiment first.")
    path = Path(out_folder) / "cases.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(cases_page(answers), encoding="utf-8")
    return path


def cases_page(answers: dict[str, list[dict[str, str]]]) -> str:
    """One section a sentence, one row a different answer; what was changed is bold."""
    parts = [
        "# The paper's example sentences",
        f"Written by a command from the runs' files; the sentences are those of {CITATION}. Right is an"
        f" answer that is the wanted sentence, character by character. There are {len(answers)} runs:"
        " speller, n-gram, seed, and whether the masking layer is always active or in training alone; before"
        " a slash the folder of runs with another start or recipe.",
    ]
    for wrong, wanted in CASES:
        who: dict[str, list[str]] = {wanted: []}
        for name, cases in sorted(answers.items()):
            for case in cases:
                if case["input"] == wrong:
                    who.setdefault(case["answer"], []).append(name)
        rows = [
            f"| {_changed(wrong, answer)} | {'right' if answer == wanted else '–'} "
            f"| {_names(names, len(answers))} |"
            for answer, names in who.items()
        ]
        parts += [f"## {wrong}", "\n".join(["| answer | | runs |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _names(names: list[str], all_runs: int) -> str:
    """How many, and who; of a majority, who was not among them is clear from the other rows."""
    if len(names) > max(1, all_runs // 2):
        return f"{len(names)} of {all_runs}"
    return f"{len(names)}: {', '.join(names)}" if names else "none"


def _changed(before: str, after: str) -> str:
    return "".join(
        new if old == new else f"**{new}**" for old, new in zip(before, after, strict=True)
    ).replace("****", "")


def _runs(folder: Path) -> dict[str, dict[str, Any]]:
    """Every run's content, by its name; in a folder below, by the folder's and its own."""
    contents = {}
    for path, content in json_objects(folder):
        if "name" in content:
            contents[(path.parent.relative_to(folder) / content["name"]).as_posix()] = content
    return contents
