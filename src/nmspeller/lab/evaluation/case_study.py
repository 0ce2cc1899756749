"""The paper's example sentences with the answer of each trained speller, as Markdown."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.evaluation.example_sentences import CASES
from nmspeller.lab.evaluation.paper import CITATION
from nmspeller.lab.evaluation.results_file import run_files, run_name

Answers = dict[str, dict[str, list[str]]]
"""By sentence, then by answer: the names of the runs that gave it."""
_SEED_AND_ACTIVE = re.compile(r"-\d+(-always|-training)?$")


def add_cases(path: Path, runs_folder: Path) -> None:
    """Add the answers of an experiment's runs to a cases file, where they replace those of the same names."""
    new = {
        run_name(runs_folder, file, content): content["cases"]
        for file, content in run_files(runs_folder)
        if "cases" in content
    }
    answers = read_cases(path) if path.is_file() else {}
    for by_answer in answers.values():
        for names in by_answer.values():
            names[:] = [name for name in names if name not in new]
    for name, cases in new.items():
        for case in cases:
            by_answer = answers.setdefault(case["input"], {})
            by_answer[case["answer"]] = sorted([*by_answer.get(case["answer"], ()), name])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, (json.dumps(answers, ensure_ascii=False, indent=1) + "\n").encode())


def read_cases(path: Path) -> Answers:
    """The answers of a cases file.

    Raises:
        InputError: the file is absent or damaged.
    """
    try:
        answers: Answers = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no {path}; run `nmspeller lab experiment` first.") from None
    except ValueError:
        raise InputError(f"{path} cannot be read as JSON; run the experiment again.") from None
    return answers


def write_page(folder: Path) -> Path:
    """Write cases.md from the cases.json in the same folder; returns its path.

    Raises:
        InputError: cases.json is absent or damaged.
    """
    path = folder / "cases.md"
    path.write_text(cases_page(read_cases(folder / "cases.json")), encoding="utf-8")
    return path


def cases_page(answers: Mapping[str, Mapping[str, list[str]]]) -> str:
    """One section a sentence, one row a different answer; changed characters are bold."""
    parts = [
        "# The paper's example sentences",
        f"Written by `nmspeller lab experiment cases` from cases.json; the sentences are those of {CITATION}."
        " An answer is right if it equals the paper's correction, character by character. Runs are named by"
        " their folder, speller, n-gram and recipe; in parentheses, how many of them gave the answer: each"
        " seed counts, and a masked speller counts twice, with its layer on and off in prediction.",
    ]
    for wrong, wanted in CASES:
        found = {wanted: answers.get(wrong, {}).get(wanted, []), **answers.get(wrong, {})}
        runs = sum(len(names) for names in found.values())
        parts.append(f"## {wrong}")
        if not runs:
            parts.append(f"Correction: {_changed(wrong, wanted)} These runs were not asked this sentence.")
            continue
        rows = [
            f"| {_changed(wrong, answer)} | {'right' if answer == wanted else '–'} | {_names(names, runs)} |"
            for answer, names in found.items()
            if names or answer == wanted
        ]
        parts.append("\n".join(["| answer | | runs |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _names(names: list[str], all_runs: int) -> str:
    """The number of runs and their names; a majority is not listed, since the other rows name the rest."""
    if not names:
        return "none"
    if len(names) > max(1, all_runs // 2):
        return f"{len(names)} of {all_runs}"
    kinds = Counter(_SEED_AND_ACTIVE.sub("", name) for name in names)
    return f"{len(names)}: {', '.join(f'{kind} ({count})' for kind, count in kinds.items())}"


def _changed(before: str, after: str) -> str:
    return "".join(
        new if old == new else f"**{new}**" for old, new in zip(before, after, strict=True)
    ).replace("****", "")
