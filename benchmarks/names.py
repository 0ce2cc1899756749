"""How many names and terms survive: a speller that edits 张林 to 张琳 is switched off by its users.

    python benchmarks/names.py [--model FOLDER]

puts each name of benchmarks/names.txt into a sentence and writes docs/results/names.json and .md: how many
names stay untouched at each level, without and with the names as the user's word list.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

from nmspeller import Speller
from nmspeller.runtime.policy import Level

NAMES = Path(__file__).with_name("names.txt")


class Case(NamedTuple):
    """A name, its kind, and a sentence around it."""

    kind: str
    name: str
    sentence: str
    offset: int


def read_cases(path: Path = NAMES) -> list[Case]:
    """Every name once, in one of its kind's sentences, taken in turn."""
    cases: list[Case] = []
    frames: list[str] = []
    kind = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("["):
            kind, _, rest = line[1:].partition("] ")
            frames = rest.split("|")
        elif line and not line.startswith("#"):
            for number, name in enumerate(line.split()):
                frame = frames[number % len(frames)]
                cases.append(Case(kind, name, frame.format(name), frame.index("{}")))
    return cases


def touched(speller: Speller, cases: list[Case], level: Level, words: list[str]) -> list[tuple[Case, str]]:
    """The names that an edit overlaps, each with what it became."""
    found = []
    results = speller.check_many([case.sentence for case in cases], level=level, words=words)
    for case, result in zip(cases, results, strict=True):
        stop = case.offset + len(case.name)
        if any(edit.offset < stop and case.offset < edit.offset + edit.length for edit in result.edits):
            found.append((case, result.text[case.offset : stop]))
    return found


def measure(speller: Speller, cases: list[Case]) -> dict[str, object]:
    """Counts by level and kind, and which names were changed at the middle level."""
    names = [case.name for case in cases]
    kinds = list(dict.fromkeys(case.kind for case in cases))
    result: dict[str, object] = {
        "names": len(cases),
        "kinds": {k: sum(c.kind == k for c in cases) for k in kinds},
    }
    levels = {}
    for level in Level:
        alone, listed = touched(speller, cases, level, []), touched(speller, cases, level, names)
        levels[level.value] = {
            "survive": len(cases) - len(alone),
            "survive_when_listed": len(cases) - len(listed),
            "by_kind": {
                k: sum(c.kind == k for c in cases) - sum(c.kind == k for c, _ in alone) for k in kinds
            },
            "changed": [f"{case.name} → {became}" for case, became in alone],
        }
    return {**result, "levels": levels}


def page(result: dict) -> str:
    kinds = result["kinds"]
    lines = [
        "# Names and terms that survive",
        "",
        f"`benchmarks/names.py`: {result['names']} names and terms, each in a sentence without errors.",
        "",
        f"| level | survive | {' | '.join(f'{kind} ({count})' for kind, count in kinds.items())} | listed |",
        f"|---|---|{'---|' * len(kinds)}---|",
    ]
    for level, figures in result["levels"].items():
        by_kind = " | ".join(str(figures["by_kind"][kind]) for kind in kinds)
        lines.append(f"| {level} | {figures['survive']} | {by_kind} | {figures['survive_when_listed']} |")
    lines += ["", "Changed at `balanced`: " + "、".join(result["levels"]["balanced"]["changed"]) + "。"]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    options = parser.parse_args()
    result = measure(Speller(options.model), read_cases())
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "names.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (options.out / "names.md").write_text(page(result), "utf-8")
    print(page(result))


if __name__ == "__main__":
    main()
