"""The page of results, written from a results file alone; nothing in it is typed by hand."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from nmspeller.lab.evaluation import paper
from nmspeller.lab.evaluation.error_fates import ALONE, BESIDE, COPIED, CORRECTED
from nmspeller.lab.evaluation.gains import (
    best,
    common_seeds,
    compare_groups,
    gain_on,
    masked_variants,
    unmasked,
)
from nmspeller.lab.evaluation.markdown import table
from nmspeller.lab.evaluation.metrics import percent
from nmspeller.lab.evaluation.outcomes import DEV, PAPER_SETS, REFERENCE_KEPT
from nmspeller.lab.evaluation.results_file import Group, group_runs, read_results
from nmspeller.lab.evaluation.significance import (
    Comparison,
    correction_counts,
    f1_interval,
    gain_of_picking,
)
from nmspeller.lab.evaluation.suites import SETS

LEAK_RECIPES = ("masked_only_no_wang", "masked_only", "masked_only_wang2018")
"""Without Wang271K, with its pairs, and with the confusion set that was published with it."""
CORRECTION_F1 = ("correction", "f1")
SIGNIFICANT = 0.05
FIGURES = [(task, figure) for task in ("detection", "correction") for figure in ("precision", "recall", "f1")]
HOW_TO_READ = f"""\
Written by `nmspeller lab experiment results` from results.json. Sentence level, percent; mean ± sample
deviation over seeds; in parentheses the paper's figure ({paper.CITATION}, its Tables 2 to 4). A star: the
masking layer is off in prediction. Δ is the gain in correction F1 over the same speller without masking, same
protocol, over the seeds that both have; p is two-sided, by approximate randomisation over sentences.
Intervals, of correction F1 and of Δ, are 95 % bootstrap intervals. The masking layer starts as a copy of the
encoder's first layer; where the n-gram is followed by `identity`, it starts as the identity."""
HOW_TO_READ_SUMMARY = """\
Does masking gain? Correction F1 without masking, and the gain in points of one masked variant, chosen on the
dev parts of SIGHAN's training sets. The last column is the gain in the mean of the three sets, with its 95 %
interval and its p."""
HOW_TO_READ_SIGHAN13 = """\
Edits to 地 and 得 are dropped from reference and prediction. The last column drops them from the prediction
only, as ReaLiSe's script does and the paper's recalls imply: compare that one with the paper's figure."""
HOW_TO_READ_GAINS = """\
Each n-gram with a better correction F1 than the same speller without masking, and its gain in points; a star:
the masking layer is off in prediction. In parentheses the n-grams that gain in the paper (its Table 5)."""
HOW_TO_READ_SELECTION = """\
The paper reports for each test set the best of eight: four n-grams, each with the masking layer on or off in
prediction. Here the same choice is made on the test set, and on the dev parts of SIGHAN's training sets; both
with their gain on the test set over no masking, in points of correction F1. By itself: how much too high a
figure becomes by picking the best on the set that measures it (bootstrap), were all equally good."""
HOW_TO_READ_FATES = """\
Misspelt characters of SIGHAN13, 14 and 15 together, in percent. Copied: left as they were, which label
leakage would raise. Beside: another error stands next to the character, which disturbance would leave
uncorrected. A star: the masking layer is off in prediction."""
HOW_TO_READ_LEAK = """\
BERT without masking, trained with as many pairs, without and with Wang271K. Correction F1; in parentheses the
gain in points over the training without Wang271K, and its p, two-sided. CSCD-NS has hardly any of the
errors that leak (see leak.md)."""
WANG = """\
Wang271K very probably contains error pairs of the SIGHAN tests (see leak.md): figures on SIGHAN of a protocol
that uses it are helped by that, as the paper's are."""


def write_page(folder: Path) -> Path:
    """Write results.md from the results.json in the same folder; returns its path.

    Raises:
        InputError: results.json is absent or damaged.
    """
    path = folder / "results.md"
    groups = sorted(group_runs(read_results(folder / "results.json")), key=_rank)
    path.write_text(results_page(groups), encoding="utf-8")
    return path


def results_page(groups: Sequence[Group]) -> str:
    """The whole page."""
    letters = _letters(groups)
    parts = ["# Results", HOW_TO_READ]
    summary = _summary_table(groups, letters)
    if summary:
        parts += ["## In short", HOW_TO_READ_SUMMARY, summary, _significant_differences(groups)]
    for name in PAPER_SETS:
        if any(group.figures(name, *CORRECTION_F1) for group in groups):
            parts += [f"## {name.upper()}", _paper_table(groups, name, letters)]
            if name == "sighan13":
                parts.append(HOW_TO_READ_SIGHAN13)
    gains = _gains_table(groups, letters)
    if gains:
        parts += ["## N-grams that gain", HOW_TO_READ_GAINS, gains]
    selection = _selection_table(groups, letters)
    if selection:
        parts += ["## Selection", HOW_TO_READ_SELECTION, selection]
    fates = _fates_table(groups, letters)
    if fates:
        parts += ["## Copied errors, and errors beside errors", HOW_TO_READ_FATES, fates]
    leak = _leak_table(groups, letters)
    if leak:
        parts += ["## What Wang271K is worth", HOW_TO_READ_LEAK, leak]
    others = [
        name
        for name in SETS
        if name not in PAPER_SETS and any(group.figures(name, *CORRECTION_F1) for group in groups)
    ]
    if others:
        parts += ["## Other sets", "Correction F1, and the share of clean sentences that were changed."]
        parts.append(_others_table(groups, others, letters))
    parts += ["## Protocols", WANG]
    for protocol, letter in letters.items():
        config = json.loads(protocol)
        parts += [f"{letter}: {_inputs(config)}; {_wang(config)}", f"```json\n{protocol}\n```"]
    parts += ["## Runs", _runs_table(groups)]
    return "\n\n".join(parts) + "\n"


def spread(figures: Sequence[float]) -> str:
    """Mean ± sample deviation; one run has no deviation."""
    if not figures:
        return "–"
    return f"{mean(figures):.2f}" + (f" ± {stdev(figures):.2f}" if len(figures) > 1 else "")


def _summary_table(groups: Sequence[Group], letters: Mapping[str, str]) -> str:
    """A row for each speller and protocol that was measured on dev, with and without masking."""
    rows = []
    for plain in groups:
        chosen = best(plain, masked_variants(groups, plain), DEV)
        together = compare_groups(plain, chosen, *PAPER_SETS) if chosen else None
        if chosen is None or together is None:
            continue
        start = json.loads(plain.protocol).get("start", "–")
        cells = []
        for name in PAPER_SETS:
            gain = gain_on(plain, chosen, name)
            cells.append(spread(plain.figures(name, *CORRECTION_F1)) + f" ({gain:+.2f})")
        rows.append(
            [
                *(paper.display_name(plain.model, masked=False), start),
                *(letters[plain.protocol], ", ".join(map(str, common_seeds(plain, chosen, DEV)))),
                *(f"{chosen.ngram}{_star(chosen)}", *cells),
                f"{_with_interval(together)}, p {together.p_randomisation:.3f}",
            ]
        )
    header = ["Speller", "Start", "Protocol", "Seeds", "Chosen", *map(str.upper, PAPER_SETS)]
    header.append("Gain, mean of three")
    return table(header, rows) if rows else ""


def _significant_differences(groups: Sequence[Group]) -> str:
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


def _paper_table(groups: Sequence[Group], name: str, letters: Mapping[str, str]) -> str:
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


def _significance(groups: Sequence[Group], group: Group, name: str) -> list[str]:
    interval = f1_interval(
        correction_counts(run.outcomes[name] for run in group.runs if name in run.outcomes)
    )
    cells = [f"{interval.low:.1f} to {interval.high:.1f}"]
    plain = unmasked(groups, group)
    comparison = compare_groups(plain, group, name) if plain else None
    if comparison is None:
        return [*cells, "–", "–"]
    return [*cells, _with_interval(comparison), f"{comparison.p_randomisation:.3f}"]


def _with_interval(comparison: Comparison) -> str:
    low, high = comparison.interval
    return f"{comparison.difference:+.2f} ({low:+.1f} to {high:+.1f})"


def _gains_table(groups: Sequence[Group], letters: Mapping[str, str]) -> str:
    """A row for each speller and protocol with more than one n-gram; empty where there is none."""
    rows = []
    for plain in groups:
        masked = _as_in_the_paper(masked_variants(groups, plain))
        if len({group.ngram for group in masked}) > 1:
            cells = [_gaining(plain, masked, name) for name in PAPER_SETS]
            rows.append([paper.display_name(plain.model, masked=True), letters[plain.protocol], *cells])
    return table(["Speller", "Protocol", *map(str.upper, PAPER_SETS)], rows) if rows else ""


def _gaining(plain: Group, masked: Sequence[Group], name: str) -> str:
    found = []
    for group in masked:
        gain = gain_on(plain, group, name)
        if gain and gain > 0:
            found.append(f"{group.ngram}{_star(group)} {gain:+.2f}")
    row = paper.find_row(plain.model, name, masked=True)
    theirs = f" ({', '.join(row.paper.gaining) or 'none'})" if row else ""
    return (", ".join(found) or "none") + theirs


def _selection_table(groups: Sequence[Group], letters: Mapping[str, str]) -> str:
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
                    f"{on_test.ngram}{_star(on_test)} {gain:+.2f}" if gain is not None else "–",
                    f"{on_dev.ngram}{_star(on_dev)} {chosen:+.2f}" if on_dev and chosen is not None else "–",
                    f"{gain_of_picking(candidates):+.2f} of {len(candidates)}",
                ]
            )
    header = ["Speller", "Protocol", "Test set", "Best on the test set", "Best on dev", "By itself"]
    return table(header, rows) if rows else ""


def _fates_table(groups: Sequence[Group], letters: Mapping[str, str]) -> str:
    """A row for each speller and protocol; empty where no run has counted what became of the errors."""
    rows = []
    for group in groups:
        total: Counter[str] = Counter()
        for run in group.runs:
            for counts in run.fates.values():
                total.update(counts)
        cells = []
        for where in (ALONE, BESIDE):
            errors = sum(count for fate, count in total.items() if fate.startswith(where))
            cells += [
                f"{percent(total[f'{where} {fate}'], errors):.2f}" for fate in (COPIED, CORRECTED) if errors
            ]
        if cells:
            rows.append([*_title(group, letters), *cells])
    header = ["Speller", "n-gram", "Protocol", "Seeds", "Copied", "Corrected", "Beside: copied", "corrected"]
    return table(header, rows) if rows else ""


def _leak_table(groups: Sequence[Group], letters: Mapping[str, str]) -> str:
    """A row for each of LEAK_RECIPES; none where not all were trained."""
    found = {
        group.config.get("recipe"): group
        for group in groups
        if (group.model, group.ngram) == ("bert", "none") and group.config.get("recipe") in LEAK_RECIPES
    }
    if len(found) < len(LEAK_RECIPES):
        return ""
    without = found[LEAK_RECIPES[0]]
    rows = []
    for recipe in LEAK_RECIPES:
        group, cells = found[recipe], []
        for name in PAPER_SETS:
            gain = compare_groups(without, group, name) if group is not without else None
            cells.append(
                spread(group.figures(name, *CORRECTION_F1))
                + (f" ({gain.difference:+.2f}, p {gain.p_randomisation:.3f})" if gain else "")
            )
        cells.append(spread(group.figures("cscd_ns_dev", *CORRECTION_F1)))
        rows.append([letters[group.protocol], _wang(group.config), *cells])
    return table(["Protocol", "Wang271K", *(name.upper() for name in PAPER_SETS), "CSCD-NS dev"], rows)


def _others_table(groups: Sequence[Group], names: Sequence[str], letters: Mapping[str, str]) -> str:
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


def _inputs(config: Mapping[str, Any]) -> str:
    """What a protocol starts from and is trained by."""
    inputs = [f"start `{config['start']}`"] if config.get("start") else []
    if config.get("modalities"):
        inputs.append("pretrained phonetic and graphic encoders")
    inputs.append(f"recipe `{config.get('recipe')}`")
    inputs += [f"{name} {value}" for name, value in config.get("settings", {}).items()]
    return ", ".join(inputs)


def _wang(config: Mapping[str, Any]) -> str:
    """What a protocol takes from Wang271K."""
    stages = config.get("stages", ())
    sources = []
    if any(stage["copies"].get("wang") for stage in stages):
        sources.append("its pairs")
    profiles = {name for stage in stages if stage["synthetic"] for name in stage["noise"]["profiles"]}
    if "scanner" in profiles:
        sources.append("synthetic errors with the frequencies of its errors (`scanner`)")
    if "wang2018" in profiles:
        sources.append("synthetic errors of its confusion set (`wang2018`), which leaks errors of the tests")
    return f"uses Wang271K: {' and '.join(sources)}." if sources else "does not use Wang271K."


def _runs_table(groups: Sequence[Group]) -> str:
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


def _title(group: Group, letters: Mapping[str, str]) -> list[str]:
    speller = paper.display_name(group.model, masked=group.ngram != "none") + _star(group)
    return [speller, group.ngram, letters[group.protocol], ", ".join(str(run.seed) for run in group.runs)]


def _as_in_the_paper(groups: Sequence[Group]) -> list[Group]:
    """The variants that the paper compares: its n-grams, with its start of the masking layer."""
    return [group for group in groups if group.ngram in paper.NGRAMS]


def _star(group: Group) -> str:
    return "*" if group.active == "training" else ""


def _rank(group: Group) -> tuple[int, str, int, str, str]:
    models, ngrams = paper.SPELLERS, paper.NGRAMS
    return (
        models.index(group.model) if group.model in models else len(models),
        group.model,
        ngrams.index(group.ngram) if group.ngram in ngrams else len(ngrams),
        group.ngram,
        group.protocol + group.active,
    )


def _letters(groups: Sequence[Group]) -> dict[str, str]:
    protocols = list(dict.fromkeys(group.protocol for group in groups))
    return {protocol: f"P{number}" for number, protocol in enumerate(protocols, start=1)}
