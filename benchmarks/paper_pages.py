"""Write docs/results/results.md and cases.md, on the paper's experiments, from their figures.

    python benchmarks/paper_pages.py [--out docs/results]

The figures are results.json and cases.json in data/, to which `nmspeller lab experiment … --results
docs/results/data` adds its runs. Nothing in the pages is typed by hand.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import paper_setting_section as setting
import paper_tables as tables
from nmspeller.lab.evaluation import paper
from nmspeller.lab.evaluation.outcomes import PAPER_SETS, REFERENCE_KEPT
from nmspeller.lab.evaluation.results_file import RunGroup, group_runs, read_cases, read_results
from page import PAGES, figures_path, write_page
from paper_cases import cases_page
from paper_protocols import number_protocols, protocols_table, what_protocols_are
from significance import Comparison

SUMMARY = """\
Correction F1 in percent without masking, and in parentheses the gain in points of one masked variant, chosen
on the dev parts of SIGHAN's training sets. The last column is the gain in the mean of the three sets, with
its 95 % interval and its p. A star: the masking layer is off in prediction."""
PROTOCOLS = """\
Only rows of one protocol are comparable. Neither the encoders nor the data are the paper's: the distance to
its figures includes both. SIGHAN's training sets are those of 2013, 2014 and 2015. Wang271K very probably
contains error pairs of the SIGHAN tests ([leak.md](leak.md)): figures on SIGHAN of a protocol that uses it
are helped by that, as the paper's are. data/results.json has every setting."""
HOW_TO_READ = f"""\
Sentence level, percent; mean ± sample deviation over seeds; in parentheses the paper's figure
({paper.CITATION}, its Tables 2 to 4). A star: the masking layer is off in prediction. Δ is the gain in
correction F1 over the same speller without masking, same protocol, over the seeds that both have; p is
two-sided, by approximate randomisation over sentences. Intervals, of correction F1 and of Δ, are 95 %
bootstrap intervals. The masking layer starts as a copy of the encoder's first layer; where the n-gram is
followed by `identity`, it starts as the identity. The paper's recalls of SpellGCN and DCN are shares of other
numbers of erroneous sentences: it tested them on other copies of the sets."""
SIGHAN13 = """\
Edits to 地 and 得 are dropped from reference and prediction. The last column drops them from the prediction
only, as ReaLiSe's script does and the paper's recalls imply: compare that one with the paper's figure. For
SpellGCN the paper drops nothing, and trains on SIGHAN13 alone at last: its figures compare with neither
column."""
GAINS = """\
Each n-gram with a better correction F1 than the same speller without masking, and its gain in points; a star:
the masking layer is off in prediction. In parentheses the n-grams that gain in the paper (its Table 5)."""
SELECTION = """\
The paper reports for each test set the best of eight: four n-grams, each with the masking layer on or off in
prediction. Here the same choice is made on the test set, and on the dev parts of SIGHAN's training sets; both
with their gain on the test set over no masking, in points of correction F1. By itself: how much too high a
figure becomes by picking the best on the set that measures it (bootstrap), were all equally good."""
FATES = """\
Misspelt characters of SIGHAN13, 14 and 15 together, in percent. Copied: left as they were, which label
leakage would raise. Beside: another error stands next to the character, which disturbance would leave
uncorrected. A star: the masking layer is off in prediction."""
LEAK = """\
BERT without masking, trained with as many pairs, without and with Wang271K. Correction F1; in parentheses the
gain in points over the training without Wang271K, and its p, two-sided. CSCD-NS has hardly any of the
errors that leak ([leak.md](leak.md))."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=PAGES, help="the folder of the pages and of data/")
    write_pages(parser.parse_args().out)


def write_pages(folder: Path) -> None:
    """Write both pages from the files in the folder's data/.

    Raises:
        InputError: one of them is absent or damaged.
    """
    groups = group_runs(read_results(figures_path("results", folder)))
    write_page("results", results_page(groups), folder)
    setting.draw_epochs(groups, folder)
    write_page("cases", cases_page(read_cases(figures_path("cases", folder))), folder)


def results_page(groups: Sequence[RunGroup]) -> str:
    """The page of results: the answer first, then how the runs were trained, then all figures."""
    groups = sorted(groups, key=tables.rank)
    letters = number_protocols(groups)
    summary = tables.summary_table(groups, letters)
    parts = ["# The paper's experiments"]
    if summary.comparisons:
        parts += ["## In short", answer(summary.comparisons)]
        parts += [found for found in (setting.answer(groups),) if found]
        parts += [what_protocols_are(letters), summary.table, SUMMARY, tables.significant_differences(groups)]
    parts += ["## Protocols", PROTOCOLS, protocols_table(letters), "## How to read the tables", HOW_TO_READ]
    for name in PAPER_SETS:
        if any(group.figures(name, *tables.CORRECTION_F1) for group in groups):
            parts += [f"## {name.upper()}", tables.paper_table(groups, name, letters)]
            if name == "sighan13":
                parts.append(SIGHAN13)
    counted = dict.fromkeys(name for group in groups for run in group.runs for name in run.counts)
    others = [name for name in counted if name != REFERENCE_KEPT]
    sections = (
        ("N-grams that gain", GAINS, tables.gains_table(groups, letters)),
        ("Selection", SELECTION, tables.selection_table(groups, letters)),
        ("Copied errors, and errors beside errors", FATES, tables.fates_table(groups, letters)),
        ("What Wang271K is worth", LEAK, tables.leak_table(groups, letters)),
        (
            "Other sets",
            "Correction F1, and the share of clean sentences that were changed.",
            tables.others_table(groups, others, letters) if others else "",
        ),
    )
    if own := setting.section(groups):
        parts.append(own)
    for title, text, shown in sections:
        if shown:
            parts += [f"## {title}", text, shown]
    parts += ["## Runs", "Written by `benchmarks/paper_pages.py`.", tables.runs_table(groups)]
    return "\n\n".join(parts) + "\n"


def answer(comparisons: Sequence[Comparison]) -> str:
    """Whether masking gains, in words."""
    significant = [each for each in comparisons if each.p_randomisation < tables.SIGNIFICANT]
    gains = sum(each.difference > 0 for each in significant)
    count = len(comparisons)
    found = (
        f"In none of {count} comparisons does n-gram masking change the F1 of correction significantly"
        if not significant
        else f"In {gains} of {count} comparisons n-gram masking raises the F1 of correction significantly,"
        f" in {len(significant) - gains} it lowers it"
    )
    return (
        f"Does n-gram masking make spellers better, as the paper says? **{found}** (mean over SIGHAN13, 14"
        f" and 15, p < {tables.SIGNIFICANT}). Each comparison is a speller under one protocol with and"
        " without masking."
    )


if __name__ == "__main__":
    main()
