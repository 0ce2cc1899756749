"""The section of results.md on the experiment `paper_setting`: figures, epochs, what is as in the paper."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean

from gains import best, common_seeds, compare_groups, gain_on, masked_variants
from nmspeller.lab.evaluation import paper, plots
from nmspeller.lab.evaluation.error_fates import BESIDE, COPIED, CORRECTED
from nmspeller.lab.evaluation.outcomes import DEV, PAPER_SETS, sentence_scores
from nmspeller.lab.evaluation.results_file import RunGroup
from page import table
from paper_tables import ANYWHERE, CORRECTION_F1, SIGNIFICANT, fate_share, spread, star, with_interval
from significance import Comparison

RECIPE = "paper_setting"
TITLE = "The paper's own setting"
F1_FIGURE, GAIN_FIGURE = "paper_setting_f1.png", "paper_setting_gain.png"
AS_IN_THE_PAPER = """\
As in the paper's appendix: AdamW at 5e-5, 32 sentences a step, ten epochs over the same pairs, as many pairs
as Wang271K has and SIGHAN's training sets once, BERT's dropout of 0.1, a dense layer over the vocabulary, the
model of the last step, no corrections to 地 and 得 in SIGHAN13. What the appendix leaves open is as in
ReaLiSe's released code, on which it builds: 10,000 steps of warm-up, then linear decay to zero, no weight
decay, gradients clipped at 1, sentences cut to 128 tokens, pairs in random order.

Not as in the paper: the encoder, which read less text than BERT-wwm and knows 8,372 characters instead of
21,128 tokens; Wang271K, of which 15,641 pairs are available and 255,688 are synthetic, with as many errors a
sentence and shorter sentences (36.7 characters instead of 42.6); a tenth of SIGHAN's training sets, which is
kept as dev; products in bfloat16; no step has more than 1,408 tokens, for which some pairs change places
between steps.

Of the n-grams, trigram alone was trained. The runs do not share one start: they were trained in three
rounds, each from an encoder pretrained anew by the config `masked_only`: first seed 0 of both spellers, then
seed 1 of BERT, then seed 1 of NM-BERT and seed 2 of both. For seed 1 the difference between two starts is
thus part of the gain."""
HOW_TO_READ = """\
Correction F1 in percent, mean ± sample deviation over seeds; the gain is in points over BERT, in the mean of
the three sets, with its 95 % interval and its p. Copied: the share of the misspelt characters of the three
sets that were left as they were. Beside: corrected, of those beside another error. A star: the masking layer
is off in prediction."""
EPOCHS = """\
After each epoch, means over seeds: correction F1 of BERT on the dev parts of SIGHAN's training sets / in the
mean of the three test sets, and in the columns of the n-grams the gain in points on dev / on the tests.
Nothing was chosen by these figures; the tables above are of the last epoch."""

Counts = Mapping[str, Mapping[str, int]]


def own_groups(groups: Sequence[RunGroup]) -> list[RunGroup]:
    """The groups of the experiment."""
    return [group for group in groups if group.config.get("recipe") == RECIPE]


def _plain(groups: Sequence[RunGroup]) -> RunGroup | None:
    """BERT without masking, where masked variants were trained beside it."""
    own = own_groups(groups)
    return next((group for group in own if masked_variants(own, group)), None)


def answer(groups: Sequence[RunGroup]) -> str:
    """What the experiment found, in a paragraph; empty where it was not run."""
    plain = _plain(groups)
    chosen = best(plain, masked_variants(groups, plain), DEV) if plain else None
    together = compare_groups(plain, chosen, *PAPER_SETS) if plain and chosen else None
    if plain is None or chosen is None or together is None:
        return ""
    seeds = len(common_seeds(plain, chosen, DEV))
    found = "no significant gain" if together.p_randomisation >= SIGNIFICANT else "a significant gain"
    if found == "a significant gain" and together.difference < 0:
        found = "a significant loss"
    in_the_paper = _gain_in_the_paper()
    low, high = together.interval
    includes = "includes" if low <= in_the_paper <= high else "excludes"
    return (
        f"**In the paper's own setting** (AdamW at 5e-5, steps of 32 sentences, ten epochs, {seeds}"
        f" {'seed' if seeds == 1 else 'seeds'} each) NM-BERT shows {found} over BERT: the variant chosen on"
        f" dev, {chosen.ngram}{star(chosen)}, differs by {_gain(together)} in the mean of the three sets, and"
        f" by {gain_on(plain, chosen, DEV) or 0.0:+.2f} on dev. In the paper's tables, where the n-gram"
        f" is the best of each test set, the mean gain is {in_the_paper:+.2f}, which the interval {includes}."
        f" Of the misspelt characters {fate_share(chosen, ANYWHERE, COPIED)} % are copied with masking and"
        f" {fate_share(plain, ANYWHERE, COPIED)} % without."
        f"{_early_and_late(plain, chosen)}"
        " Optimiser, steps, epochs, number of pairs and head are the paper's; the encoder, most of Wang271K's"
        f" pairs and the vocabulary are not ([{TITLE.lower()}](#the-papers-own-setting))."
    )


def _gain_in_the_paper() -> float:
    """NM-BERT's correction F1 less BERT's, in the mean of the three sets."""
    masked, plain = (
        mean(
            row.paper.correction[-1]
            for name in PAPER_SETS
            if (row := paper.find_row("bert", name, masked=on))
        )
        for on in (True, False)
    )
    return masked - plain


def _early_and_late(plain: RunGroup, group: RunGroup) -> str:
    """Whether the gain in the mean of the test sets comes early or late, in a sentence."""
    gains = _gains_by_epoch(plain, group, _test_f1)
    if len(gains) < 2:
        return ""
    middle = len(gains) // 2
    early, late = mean(gains[:middle]), mean(gains[middle:])
    return (
        f" After single epochs the difference lies between {min(gains):+.2f} and {max(gains):+.2f}; its mean"
        f" is {early:+.2f} over epochs 1 to {middle} and {late:+.2f} over {middle + 1} to {len(gains)}."
    )


def section(groups: Sequence[RunGroup]) -> str:
    """The section; empty where the experiment was not run."""
    plain = _plain(groups)
    if plain is None:
        return ""
    masked = masked_variants(groups, plain)
    parts = [f"## {TITLE}", AS_IN_THE_PAPER, _figures_table(plain, masked), HOW_TO_READ]
    parts += [_choices(plain, masked)]
    if epochs := _epochs_table(plain, masked):
        parts += [EPOCHS, epochs]
        parts.append(f"![F1 by epoch]({F1_FIGURE})\n![Gain over BERT by epoch]({GAIN_FIGURE})")
    return "\n\n".join(parts)


def _figures_table(plain: RunGroup, masked: Sequence[RunGroup]) -> str:
    rows = []
    for group in (plain, *masked):
        together = None if group is plain else compare_groups(plain, group, *PAPER_SETS)
        rows.append(
            [
                paper.display_name(group.model, masked=group is not plain) + star(group),
                *(group.ngram, ", ".join(str(run.seed) for run in group.runs)),
                *(spread(group.figures(name, *CORRECTION_F1)) for name in PAPER_SETS),
                "–" if together is None else _gain(together),
                *(fate_share(group, *which) for which in ((ANYWHERE, COPIED), ((BESIDE,), CORRECTED))),
            ]
        )
    sets = [name.upper() for name in PAPER_SETS]
    header = ["Speller", "n-gram", "Seeds", *sets, "Gain, mean of three", "Copied", "Beside: corrected"]
    return table(header, rows)


def _gain(comparison: Comparison) -> str:
    return f"{with_interval(comparison)}, p {comparison.p_randomisation:.3f}"


def _choices(plain: RunGroup, masked: Sequence[RunGroup]) -> str:
    """What the variant that is best on dev gains, and the best of each test set, as the paper has it."""
    on_dev = best(plain, masked, DEV)
    lines = []
    for name in PAPER_SETS:
        on_test = best(plain, masked, name)
        if on_test is not None:
            own = f"{on_test.ngram}{star(on_test)} {gain_on(plain, on_test, name) or 0.0:+.2f}"
            gain = gain_on(plain, on_dev, name) if on_dev else None
            chosen = f"{on_dev.ngram}{star(on_dev)} {gain:+.2f}" if on_dev and gain is not None else "–"
            lines.append([name.upper(), chosen, own])
    return table(["Test set", "Chosen on dev", "Chosen on the test set, as in the paper"], lines)


def _dev_f1(epoch: Counts) -> float:
    return sentence_scores(epoch[DEV]).correction.f1


def _test_f1(epoch: Counts) -> float:
    return mean(sentence_scores(epoch[name]).correction.f1 for name in PAPER_SETS)


def _by_epoch(group: RunGroup, seeds: Sequence[int], figure: Callable[[Counts], float]) -> list[float]:
    """A figure after each epoch, the mean over the runs of these seeds."""
    runs = [run.epochs for run in group.runs if run.seed in seeds and run.epochs]
    return [mean(map(figure, epoch)) for epoch in zip(*runs, strict=False)]


def _gains_by_epoch(plain: RunGroup, group: RunGroup, figure: Callable[[Counts], float]) -> list[float]:
    seeds = common_seeds(plain, group, DEV)
    pairs = zip(_by_epoch(group, seeds, figure), _by_epoch(plain, seeds, figure), strict=False)
    return [ours - theirs for ours, theirs in pairs]


def _epochs_table(plain: RunGroup, masked: Sequence[RunGroup]) -> str:
    """A row for each epoch; empty where none was measured."""
    seeds = [run.seed for run in plain.runs]
    columns = [list(zip(*(_by_epoch(plain, seeds, figure) for figure in (_dev_f1, _test_f1)), strict=True))]
    columns += [
        list(zip(*(_gains_by_epoch(plain, group, figure) for figure in (_dev_f1, _test_f1)), strict=True))
        for group in masked
    ]
    rows = []
    for number, cells in enumerate(zip(*columns, strict=False), start=1):
        (dev, test), *gains = cells
        rows.append([str(number), f"{dev:.2f} / {test:.2f}", *(f"{d:+.2f} / {t:+.2f}" for d, t in gains)])
    header = ["Epoch", "BERT", *(f"{group.ngram}{star(group)}" for group in masked)]
    return table(header, rows) if rows else ""


def draw_epochs(groups: Sequence[RunGroup], folder: Path) -> None:
    """Draw F1 and the gains over BERT by epoch, on dev and on the tests, where they were measured."""
    plain = _plain(groups)
    if plain is None or not plain.runs[0].epochs:
        return
    figures = (
        (F1_FIGURE, "correction F1", [plain, *masked_variants(groups, plain)]),
        (GAIN_FIGURE, "gain over BERT in correction F1, points", masked_variants(groups, plain)),
    )
    for name, label, variants in figures:
        figure, axes = plots.new_figure("epoch", label)
        for number, group in enumerate(variants):
            title = "BERT" if group is plain else f"{group.ngram}{star(group)}"
            for what, f1, style in (("dev", _dev_f1, "-"), ("tests", _test_f1, "--")):
                values = (
                    _by_epoch(group, [run.seed for run in group.runs], f1)
                    if name == F1_FIGURE
                    else _gains_by_epoch(plain, group, f1)
                )
                epochs = range(1, len(values) + 1)
                axes.plot(epochs, values, style, color=f"C{number}", linewidth=1.2, label=f"{title}, {what}")
        axes.legend(fontsize="small", ncols=2)
        plots.save(figure, folder / name)
