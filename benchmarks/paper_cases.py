"""The page with the answers of each trained speller to the paper's example sentences."""

import re
from collections import Counter
from collections.abc import Mapping

from nmspeller.lab.evaluation.example_sentences import CASES
from nmspeller.lab.evaluation.paper import CITATION

_SEED_AND_ACTIVE = re.compile(r"-\d+(-always|-training)?$")


def cases_page(answers: Mapping[str, Mapping[str, list[str]]]) -> str:
    """One section a sentence, one row a different answer; changed characters are bold."""
    parts = [
        "# The paper's example sentences",
        f"Written by `benchmarks/paper_pages.py`; the sentences are those of {CITATION}."
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
