"""The page on errors of the test sets that Wang271K contains."""

import json
from collections.abc import Sequence
from pathlib import Path

from nmspeller.lab.data.wang_overlap import SIMILAR, LeakCounts
from nmspeller.lab.evaluation.markdown import table
from nmspeller.lab.evaluation.metrics import percent

TEXT = f"""\
# Errors of the SIGHAN tests in Wang271K

Written by `nmspeller lab data leaks` from leak.json. An error is a wrong character and its correction;
different errors are counted. A slip is an error of two characters that are similar in neither sound nor shape
(similarity below {SIMILAR}), and that SIGHAN's training sets do not have. Independent data should share few
slips with a test set.

wang271k: the pairs of Wang271K that are available, about 6 % of it. wang2018: the confusion set published
with Wang271K, for the slips that are not in these pairs."""
CONCLUSION = """\
For SIGHAN the shares are many times those of ECSpell and CSCD-NS. So Wang271K was very probably made with
error pairs of the SIGHAN tests, and figures on SIGHAN of models trained with it, the paper's included, are
helped by that. Compare protocols with Wang271K to protocols without it (see results.md)."""


def write_page(path: Path, counts: Sequence[LeakCounts]) -> list[Path]:
    """Write the page and, beside it, the counts as JSON; returns both paths."""
    numbers = path.with_suffix(".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers.write_text(
        json.dumps([one._asdict() for one in counts], ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    path.write_text(leak_page(read_counts(numbers)), encoding="utf-8")
    return [path, numbers]


def read_counts(path: Path) -> list[LeakCounts]:
    return [LeakCounts(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def leak_page(counts: Sequence[LeakCounts]) -> str:
    """The page, with a row for each test set."""
    rows = [
        [
            one.name,
            f"{one.errors:,}",
            str(one.slips),
            _share(one.in_wang, one.slips),
            _share(one.in_confusion, one.slips - one.in_wang),
        ]
        for one in counts
    ]
    header = ["Test set", "Errors", "Slips", "of these in wang271k", "of the rest in wang2018"]
    return "\n\n".join([TEXT, table(header, rows), CONCLUSION]) + "\n"


def _share(part: int, whole: int) -> str:
    return f"{part} ({percent(part, whole):.0f} %)"
