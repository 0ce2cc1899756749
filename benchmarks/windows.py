"""How many sentences the model should read together.

    python benchmarks/windows.py PREPARED [--paragraphs 220]

checks paragraphs of held-out text as they are and with synthetic errors, while windows hold sentences until
they have more and more characters (`nmspeller.text.windows.LEAST`). Writes docs/results/windows.md and its
figures.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nmspeller import Speller
from nmspeller.lab.data.corpus import LINE_END
from nmspeller.lab.data.prepared import Prepared
from nmspeller.text import windows
from page import table, write_figures, write_page

LEAST = (1, 16, 32, 48, 64, 126)
PROFILES = ("writer", "learner", "input_method")
ERRORS = 2.0  # expected in a paragraph
SHORTEST, LONGEST = 120, 400  # characters of a paragraph


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("prepared", type=Path)
    parser.add_argument("--paragraphs", type=int, default=220)
    options = parser.parse_args()
    found = measure(Prepared(options.prepared), options.paragraphs)
    write_figures("windows", found)
    text = page(found)
    write_page("windows", text)
    print(text)


def measure(prepared: Prepared, count: int) -> dict[str, Any]:
    right = sorted(paragraphs(prepared))
    random.Random(0).shuffle(right)
    right = right[:count]
    wrong = list(misspelt(prepared, right))
    speller, chosen = Speller(rules=False), windows.LEAST
    rows = {}
    for least in LEAST:
        windows.LEAST = least
        rows[least] = judge(speller, right, wrong)
        print(least, rows[least], flush=True)
    windows.LEAST = chosen
    errors = sum(sum(map(str.__ne__, *pair)) for pair in zip(right, wrong, strict=True))
    return {
        "paragraphs": len(right),
        "characters": sum(map(len, right)),
        "errors": errors,
        "shipped": chosen,
        "rows": rows,
    }


def paragraphs(prepared: Prepared) -> Iterator[str]:
    """Different paragraphs of held-out text without unknown characters."""
    vocabulary = prepared.vocabulary
    tokens = [token if len(token) == 1 else "\0" for token in vocabulary.tokens]
    tokens[LINE_END] = "\n"
    text = "".join(tokens[id] for id in prepared.corpus("heldout"))
    for paragraph in dict.fromkeys(text.split("\n")):
        if SHORTEST <= len(paragraph) <= LONGEST and "\0" not in paragraph:
            yield paragraph


def misspelt(prepared: Prepared, texts: list[str]) -> Iterator[str]:
    """The texts with synthetic errors."""
    noise, vocabulary, draw = prepared.noise, prepared.vocabulary, np.random.default_rng(0)
    profiles = [noise.profile_index(name) for name in PROFILES]
    for text in texts:
        ids = vocabulary.encode(text).astype(np.int32)
        changed = noise.corrupt(ids[None], draw.choice(profiles, size=1), np.array([ERRORS]), draw)[0]
        yield "".join(vocabulary.tokens[id] for id in changed)


def judge(speller: Speller, right: list[str], wrong: list[str]) -> dict[str, int]:
    """Errors found, errors corrected, other edits beside them, and edits of the paragraphs as they are."""
    counts = {"found": 0, "corrected": 0, "others": 0}
    for target, result in zip(right, speller.check_many(wrong), strict=True):
        for edit in result.edits:
            here = slice(edit.offset, edit.offset + edit.length)
            errors = sum(map(str.__ne__, target[here], edit.source))
            counts["found"] += errors
            counts["corrected"] += errors if edit.target == target[here] else 0
            counts["others"] += not errors
    counts["edits_of_right"] = sum(len(result.edits) for result in speller.check_many(right))
    return counts


def page(found: dict[str, Any]) -> str:
    rows = [
        [
            f"{least}{' (shipped)' if int(least) == found['shipped'] else ''}",
            f"{100 * row['found'] / found['errors']:.1f} %",
            f"{100 * row['corrected'] / found['errors']:.1f} %",
            str(row["others"]),
            str(row["edits_of_right"]),
        ]
        for least, row in found["rows"].items()
    ]
    head = ["characters", "errors found", "corrected", "other edits", "edits without the errors"]
    return f"""\
# How much the model reads at a time

Written by `benchmarks/windows.py`. A window holds sentences of a line until they have so many characters, at
most 126. {found["paragraphs"]} paragraphs of held-out text, {found["characters"]:,} characters, are
checked with {found["errors"]} synthetic errors and without, at `balanced`, by the model alone. The text has
mistakes of its own, so that not all other edits are false alarms.

{table(head, rows)}
"""


if __name__ == "__main__":
    main()
