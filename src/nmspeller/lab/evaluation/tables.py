"""Results as Markdown, written from the runs' files; nothing in them is typed by hand."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, stdev

from nmspeller.lab.evaluation import paper, plots
from nmspeller.lab.evaluation.markdown import table
from nmspeller.lab.evaluation.metrics import DropDe, Outcomes, compare, score
from nmspeller.lab.evaluation.runs import Group, Run, group_runs, read_runs
from nmspeller.lab.evaluation.significance import Comparison, compare_f1, correction_counts, f1_interval
from nmspeller.lab.evaluation.suites import SETS, load

PAPER_SETS = ("sighan13", "sighan14", "sighan15")
CORRECTION_F1 = ("sentence", "correction", "f1")
FIGURES = [
    ("sentence", task, figure)
    for task in ("detection", "correction")
    for figure in ("precision", "recall", "f1")
]
HOW_TO_READ = f"""\
Written by a command from the runs' files. Sentence level, percent; mean ± sample deviation over seeds; in
parentheses the paper's figure ({paper.CITATION}). A star: the masking layer is off in prediction. Δ is the
gain in correction F1 over the same speller without masking, same protocol, the seeds that both have; p is
two-sided, by approximate randomisation over sentences.
The interval is the 95 % bootstrap interval of correction F1."""
HOW_TO_READ_SIGHAN13 = """\
Edits to 地 and 得 are dropped from reference and prediction. The last column drops them from the prediction
alone, as ReaLiSe's script does and the paper's recalls imply: that one is to be compared with the paper's."""


def write_results(runs_folder: str | Path, out_folder: str | Path) -> list[Path]:
    """Write `results.md`, and `loss.png` where logs lie beside the runs; returns what was written.

    Raises:
        InputError: there is no run, one is damaged, or the evaluation data is absent.
    """
    runs_folder, out = Path(runs_folder), Path(out_folder)
    groups = sorted(group_runs(read_runs(runs_folder)), key=_rank)
    out.mkdir(parents=True, exist_ok=True)
    written = [out / "results.md"]
    logs = sorted(runs_folder.rglob("*.jsonl"))
    if logs:
        plots.draw_losses(
            {str(log.relative_to(runs_folder).with_suffix("")): log for log in logs}, out / "loss.png"
        )
        written.append(out / "loss.png")
    written[0].write_text(results_page(groups, loss_curve=bool(logs)), encoding="utf-8")
    return written


def results_page(groups: Sequence[Group], *, loss_curve: bool = False) -> str:
    """The whole page of results."""
    letters = _letters(groups)
    parts = ["# Results", HOW_TO_READ]
    for name in PAPER_SETS:
        if any(group.figures(name, *CORRECTION_F1) for group in groups):
            parts += [f"## {name.upper()}", _paper_table(groups, name, letters)]
            if name == "sighan13":
                parts.append(HOW_TO_READ_SIGHAN13)
    others = [name for name in SETS if name not in PAPER_SETS]
    if any(group.figures(name, *CORRECTION_F1) for group in groups for name in others):
        parts += ["## Other sets", "Correction F1, and the share of clean sentences that were changed."]
        parts.append(_others_table(groups, others, letters))
    if loss_curve:
        parts += ["## Loss", "![Training loss of every run](loss.png)"]
    parts += ["## Protocols", *(f"{letter}:\n\n```json\n{text}\n```" for text, letter in letters.items())]
    parts += ["## Runs", _runs_table(groups)]
    return "\n\n".join(parts) + "\n"


def spread(figures: Sequence[float]) -> str:
    """Mean ± sample deviation; one run has no deviation."""
    if not figures:
        return "–"
    return f"{mean(figures):.2f}" + (f" ± {stdev(figures):.2f}" if len(figures) > 1 else "")


def paper_figures(model: str, ngram: str, name: str) -> tuple[float | None, ...]:
    """The paper's six figures of a row, in the order of `FIGURES`; None where it gives none."""
    nothing: tuple[float | None, ...] = (None,) * 6
    masked = ngram != "none"
    if not masked or paper.BEST_NGRAMS.get(model, {}).get(name) == ngram:
        row = paper.RESULTS.get((model, masked, name))
        return (*row.detection, *row.correction) if row else nothing
    if model == "bert" and ngram in paper.BERT_NGRAMS:
        return (*nothing[:5], paper.BERT_NGRAMS[ngram][name])
    return nothing


def compare_groups(plain: Group, masked: Group, name: str) -> Comparison | None:
    """What masking gains in correction F1 on a set, over the seeds that both have, if there are any."""
    seeds = {run.seed for run in plain.runs if name in run.predictions}
    seeds &= {run.seed for run in masked.runs if name in run.predictions}
    if not seeds:
        return None
    one, other = (
        correction_counts(outcomes(run, name) for run in group.runs if run.seed in seeds)
        for group in (plain, masked)
    )
    return compare_f1(one, other)


def outcomes(run: Run, name: str, drop_de: DropDe | None = None) -> Outcomes:
    """What a run did to each sentence of a set, by its own rule for 地 and 得 unless another is given."""
    pairs = load(name)
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    rule = SETS[name].drop_de if drop_de is None else drop_de
    return compare(sources, targets, run.predictions[name], drop_de=rule)


def _paper_table(groups: Sequence[Group], name: str, letters: dict[str, str]) -> str:
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
        theirs = paper_figures(group.model, group.ngram, name)
        cells = [
            spread(group.figures(name, *path)) + (f" ({their:.2f})" if their is not None else "")
            for path, their in zip(FIGURES, theirs, strict=True)
        ]
        rows.append([*_title(group, letters), *cells, *_significance(groups, group, name)])
        if name == "sighan13":
            rows[-1].append(spread([_f1_reference_kept(run, name) for run in _with(group, name)]))
    return table(header, rows)


def _significance(groups: Sequence[Group], group: Group, name: str) -> list[str]:
    if not _with(group, name):
        return ["–", "–", "–"]
    interval = f1_interval(correction_counts(outcomes(run, name) for run in _with(group, name)))
    cells = [f"{interval.low:.1f} to {interval.high:.1f}"]
    plain = next(
        (g for g in groups if (g.model, g.ngram, g.protocol) == (group.model, "none", group.protocol)), None
    )
    comparison = compare_groups(plain, group, name) if plain and group.ngram != "none" else None
    return [
        *cells,
        *([f"{comparison.difference:+.2f}", f"{comparison.p_randomisation:.3f}"] if comparison else "––"),
    ]


def _others_table(groups: Sequence[Group], names: Iterable[str], letters: dict[str, str]) -> str:
    names = list(names)
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


def _runs_table(groups: Sequence[Group]) -> str:
    """Every run, and by letter the data it learnt from; the sets of data stand below, once each."""
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
    spent = f"Seconds are those of the training, in all {total:,.0f}; a run with the layer on and off is one."
    return "\n\n".join([table(["Run", "Seed", "Seconds", "Data"], rows), spent, *sources])


def _title(group: Group, letters: dict[str, str]) -> list[str]:
    plain, masked = paper.MODELS.get(group.model, (group.model, f"NM-{group.model}"))
    star = "*" if group.active == "training" else ""
    speller = plain if group.ngram == "none" else masked + star
    return [speller, group.ngram, letters[group.protocol], ", ".join(str(run.seed) for run in group.runs)]


def _with(group: Group, name: str) -> list[Run]:
    return [run for run in group.runs if name in run.predictions]


def _f1_reference_kept(run: Run, name: str) -> float:
    return score(outcomes(run, name, "prediction")).sentence.correction.f1


def _rank(group: Group) -> tuple[int, str, int, str, str]:
    models, ngrams = list(paper.MODELS), list(paper.NGRAMS)
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
