"""The tables of results.md."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import NamedTuple

from gains import (
    best,
    common_seeds,
    compare_groups,
    gain_on,
    masked_variants,
    unmasked,
)
from nmspeller.lab.evaluation import paper
from nmspeller.lab.evaluation.error_fates import ALONE, BESIDE, COPIED, CORRECTED
from nmspeller.lab.evaluation.metrics import percent
from nmspeller.lab.evaluation.outcomes import DEV, PAPER_SETS, REFERENCE_KEPT
from nmspeller.lab.evaluation.results_file import RunGroup
from page import table
from paper_protocols import start_in_words, use_of_wang
from significance import (
    Comparison,
    correction_counts,
    f1_interval,
    gain_of_picking,
)

CORRECTION_F1 = ("correction", "f1")
SIGNIFICANT = 0.05
ANYWHERE = (ALONE, BESIDE)
FATES = ((ANYWHERE, COPIED), (ANYWHERE, CORRECTED), ((BESIDE,), COPIED), ((BESIDE,), CORRECTED))
FIGURES = [(task, figure) for task in ("detection", "correction") for figure in ("precision", "recall", "f1")]


def spread(figures: Sequence[float]) -> str:
    """Mean ± sample deviation; one run has no deviation."""
    if not figures:
        return "–"
    return f"{mean(figures):.2f}" + (f" ± {stdev(figures):.2f}" if len(figures) > 1 else "")


class Summary(NamedTuple):
    """Spellers with the masked variant that is best on dev, and its gain in the mean of three sets."""

    table: str
    comparisons: list[Comparison]


def summary_table(groups: Sequence[RunGroup], letters: Mapping[str, str]) -> Summary:
    """A row for each speller and protocol that was measured on dev, with and without masking."""
    rows, comparisons = [], []
    for plain in groups:
        chosen = best(plain, masked_variants(groups, plain), DEV)
        together = compare_groups(plain, chosen, *PAPER_SETS) if chosen else None
        if chosen is None or together is None:
            continue
        cells = []
        for name in PAPER_SETS:
            gain = gain_on(plain, chosen, name)
            cells.append(spread(plain.figures(name, *CORRECTION_F1)) + f" ({gain:+.2f})")
        comparisons.append(together)
        rows.append(
            [
                *(paper.display_name(plain.model, masked=False), start_in_words(plain.config)),
                *(letters[plain.protocol], ", ".join(map(str, common_seeds(plain, chosen, DEV)))),
                *(f"{chosen.ngram}{star(chosen)}", *cells),
                f"{with_interval(together)}, p {together.p_randomisation:.3f}",
            ]
        )
    header = ["Speller", "Starts from an encoder", "Protocol", "Seeds", "Masked", *map(str.upper, PAPER_SETS)]
    header.append("Gain, mean of three")
    return Summary(table(header, rows), comparisons)


def significant_differences(groups: Sequence[RunGroup]) -> str:
    """How many of all masked variants differ significantly on a single set, and how many would by chance."""
    compared = [
        comparison
        for group in groups
        if (plain := unmasked(groups, group)) is not None
        for name in PAPER_SETS
        if (comparison := compare_groups(plain, group, name)) is not None
    ]
    significant = [each for each in compared if each.p_randomisation < SIGNIFICANT]
    gains = sum(each.difference > 0 for each in significant)
    by_chance = SIGNIFICANT * len(compared)
    return (
        f"All masked variants, each on each set, are {len(compared)} comparisons, many of them related."
        f" {len(significant)} of them have a p below {SIGNIFICANT}: {gains} with a gain,"
        f" {len(significant) - gains} with a loss. Chance alone gives about {by_chance:.0f}."
    )


def paper_table(groups: Sequence[RunGroup], name: str, letters: Mapping[str, str]) -> str:
    header = [
        "Speller",
        "n-gram",
        "Protocol",
        "Seeds",
        *("Det. P", "Det. R", "Det. F1", "Cor. P", "Cor. R", "Cor. F1"),
    ]
    header += ["Interval", "Δ", "p", *(["Cor. F1, reference kept"] if name == "sighan13" else [])]
    rows = []
    for group in groups:
        if not group.figures(name, *CORRECTION_F1):
            continue
        theirs = paper.figures(group.model, group.ngram, name, group.config.get("settings"))
        cells = [
            spread(group.figures(name, *path)) + (f" ({their:.2f})" if their is not None else "")
            for path, their in zip(FIGURES, theirs, strict=True)
        ]
        rows.append([*_title(group, letters), *cells, *_significance(groups, group, name)])
        if name == "sighan13":
            rows[-1].append(spread(group.figures(REFERENCE_KEPT, *CORRECTION_F1)))
    return table(header, rows)


def _significance(groups: Sequence[RunGroup], group: RunGroup, name: str) -> list[str]:
    interval = f1_interval(
        correction_counts(run.outcomes[name] for run in group.runs if name in run.outcomes)
    )
    cells = [f"{interval.low:.1f} to {interval.high:.1f}"]
    plain = unmasked(groups, group)
    comparison = compare_groups(plain, group, name) if plain else None
    if comparison is None:
        return [*cells, "–", "–"]
    return [*cells, with_interval(comparison), f"{comparison.p_randomisation:.3f}"]


def with_interval(comparison: Comparison) -> str:
    low, high = comparison.interval
    return f"{comparison.difference:+.2f} ({low:+.1f} to {high:+.1f})"


def gains_table(groups: Sequence[RunGroup], letters: Mapping[str, str]) -> str:
    """A row for each speller and protocol with more than one n-gram; empty where there is none."""
    rows = []
    for plain in groups:
        masked = _as_in_the_paper(masked_variants(groups, plain))
        if len({group.ngram for group in masked}) > 1:
            cells = [_gaining(plain, masked, name) for name in PAPER_SETS]
            rows.append([paper.display_name(plain.model, masked=True), letters[plain.protocol], *cells])
    return table(["Speller", "Protocol", *map(str.upper, PAPER_SETS)], rows) if rows else ""


def _gaining(plain: RunGroup, masked: Sequence[RunGroup], name: str) -> str:
    found = []
    for group in masked:
        gain = gain_on(plain, group, name)
        if gain and gain > 0:
            found.append(f"{group.ngram}{star(group)} {gain:+.2f}")
    row = paper.find_row(plain.model, name, masked=True)
    theirs = f" ({', '.join(row.paper.gaining) or 'none'})" if row else ""
    return (", ".join(found) or "none") + theirs


def selection_table(groups: Sequence[RunGroup], letters: Mapping[str, str]) -> str:
    """A row for each speller, protocol and set with several masked variants; empty where there is none."""
    rows = []
    for plain in groups:
        masked = _as_in_the_paper(masked_variants(groups, plain))
        if len({group.ngram for group in masked}) < 2:
            continue
        on_dev = best(plain, masked, DEV)
        for name in PAPER_SETS:
            on_test = best(plain, masked, name)
            if on_test is None:
                continue
            chosen = gain_on(plain, on_dev, name) if on_dev else None
            gain = gain_on(plain, on_test, name)
            candidates = [correction_counts(run.outcomes[name] for run in group.runs) for group in masked]
            rows.append(
                [
                    *(paper.display_name(plain.model, masked=True), letters[plain.protocol], name.upper()),
                    f"{on_test.ngram}{star(on_test)} {gain:+.2f}" if gain is not None else "–",
                    f"{on_dev.ngram}{star(on_dev)} {chosen:+.2f}" if on_dev and chosen is not None else "–",
                    f"{gain_of_picking(candidates):+.2f} of {len(candidates)}",
                ]
            )
    header = ["Speller", "Protocol", "Test set", "Best on the test set", "Best on dev", "By itself"]
    return table(header, rows) if rows else ""


def fates_table(groups: Sequence[RunGroup], letters: Mapping[str, str]) -> str:
    """A row for each speller and protocol; empty where no run has counted what became of the errors."""
    rows = [
        [*_title(group, letters), *(fate_share(group, *which) for which in FATES)]
        for group in groups
        if any(run.fates for run in group.runs)
    ]
    header = ["Speller", "n-gram", "Protocol", "Seeds", "Copied", "Corrected", "Beside: copied", "corrected"]
    return table(header, rows) if rows else ""


def fate_share(group: RunGroup, places: Sequence[str], fate: str) -> str:
    """The share of a fate among the errors of some places, over all runs and sets, in percent."""
    total: Counter[str] = Counter()
    for counts in (counts for run in group.runs for counts in run.fates.values()):
        total.update(counts)
    errors = sum(count for name, count in total.items() if name.startswith(tuple(places)))
    return f"{percent(sum(total[f'{place} {fate}'] for place in places), errors):.2f}" if errors else "–"


def leak_table(groups: Sequence[RunGroup], letters: Mapping[str, str]) -> str:
    """A row for each of paper.LEAK_RECIPES; none where not all were trained."""
    found = {
        group.config.get("recipe"): group
        for group in groups
        if (group.model, group.ngram) == ("bert", "none") and group.config.get("recipe") in paper.LEAK_RECIPES
    }
    if len(found) < len(paper.LEAK_RECIPES):
        return ""
    without = found[paper.LEAK_RECIPES[0]]
    rows = []
    for recipe in paper.LEAK_RECIPES:
        group, cells = found[recipe], []
        for name in PAPER_SETS:
            gain = compare_groups(without, group, name) if group is not without else None
            cells.append(
                spread(group.figures(name, *CORRECTION_F1))
                + (f" ({gain.difference:+.2f}, p {gain.p_randomisation:.3f})" if gain else "")
            )
        cells.append(spread(group.figures("cscd_ns_dev", *CORRECTION_F1)))
        rows.append([letters[group.protocol], use_of_wang(group.config), *cells])
    return table(["Protocol", "Wang271K", *(name.upper() for name in PAPER_SETS), "CSCD-NS dev"], rows)


def others_table(groups: Sequence[RunGroup], names: Sequence[str], letters: Mapping[str, str]) -> str:
    rows = []
    for group in groups:
        cells = []
        for name in names:
            changed = group.figures(name, "changed_clean")
            cells.append(
                spread(group.figures(name, *CORRECTION_F1)) + (f" / {mean(changed):.1f}" if changed else "")
            )
        rows.append([*_title(group, letters), *cells])
    return table(["Speller", "n-gram", "Protocol", "Seeds", *names], rows)


def runs_table(groups: Sequence[RunGroup]) -> str:
    """Every run, with a letter for its training data; each set of data is listed below, once."""
    runs = [run for group in groups for run in group.runs]
    data = {json.dumps(run.data_hashes): run.data_hashes for run in runs}
    letters = {key: f"D{number}" for number, key in enumerate(data, 1)}
    rows = [
        [run.name, str(run.seed), f"{run.seconds:,.0f}", letters[json.dumps(run.data_hashes)]] for run in runs
    ]
    sources = [
        f"{letters[key]}: " + ", ".join(f"{name} `{digest[:12]}`" for name, digest in hashes.items())
        for key, hashes in data.items()
    ]
    total = sum({(run.model, run.ngram, run.seed, run.protocol): run.seconds for run in runs}.values())
    spent = f"Training took {total:,.0f} seconds in all; one training gives the runs with and without star."
    return "\n\n".join([table(["Run", "Seed", "Seconds", "Data"], rows), spent, *sources])


def _title(group: RunGroup, letters: Mapping[str, str]) -> list[str]:
    speller = paper.display_name(group.model, masked=group.ngram != "none") + star(group)
    return [speller, group.ngram, letters[group.protocol], ", ".join(str(run.seed) for run in group.runs)]


def _as_in_the_paper(groups: Sequence[RunGroup]) -> list[RunGroup]:
    """The variants that the paper compares: its n-grams, with its start of the masking layer."""
    return [group for group in groups if group.ngram in paper.NGRAMS]


def star(group: RunGroup) -> str:
    return "*" if group.active == "training" else ""


def rank(group: RunGroup) -> tuple[int, str, int, str, str]:
    models, ngrams = paper.SPELLERS, paper.NGRAMS
    return (
        models.index(group.model) if group.model in models else len(models),
        group.model,
        ngrams.index(group.ngram) if group.ngram in ngrams else len(ngrams),
        group.ngram,
        group.protocol + group.active,
    )
