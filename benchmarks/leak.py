"""Write docs/results/leak.md, on errors of the test sets that Wang271K contains, and its figures.

python benchmarks/leak.py [--data FOLDER] [--again]
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.wang_overlap import SIMILAR, LeakCounts, count_leaks
from nmspeller.lab.evaluation.metrics import percent
from page import read_figures, table, write_figures, write_page

TEXT = f"""\
# Errors of the SIGHAN tests in Wang271K

Written by `benchmarks/leak.py`. An error is a wrong character and its correction;
different errors are counted. A slip is an error of two characters that are similar in neither sound nor shape
(similarity below {SIMILAR}), and that SIGHAN's training sets do not have. Independent data should share few
slips with a test set.

wang271k: the pairs of Wang271K that are available, about 6 % of it. wang2018: the confusion set published
with Wang271K, for the slips that are not in these pairs."""
CONCLUSION = """\
For SIGHAN the shares are many times those of ECSpell and CSCD-NS. So Wang271K was very probably made with
error pairs of the SIGHAN tests, and figures on SIGHAN of models trained with it, the paper's included, are
helped by that. Compare protocols with Wang271K to protocols without it (see results.md)."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the data folder; $NMSPELLER_DATA if not given")
    parser.add_argument("--again", action="store_true", help="write the page from an earlier leak.json")
    options = parser.parse_args()
    if not options.again:
        counts = count_leaks(DataTable.read(options.data or data_folder()))
        write_figures("leak", [one._asdict() for one in counts])
    write_page("leak", leak_page(read_counts()))


def read_counts() -> list[LeakCounts]:
    return [LeakCounts(**one) for one in read_figures("leak")]


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


if __name__ == "__main__":
    main()
