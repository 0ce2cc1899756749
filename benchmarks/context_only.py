"""What does the context alone say, and does it tell errors from names? Writes docs/results/context_only.md.

Three readings of the same sentences: an ordinary speller, which sees each character; the oracle, a masked
language model that reads a sentence once for each position, with that position hidden; and the context-only
speller (lab/models/context_only.py), which reads it once and never shows a position its own character.

    python benchmarks/context_only.py --speller CHECKPOINT --oracle BERT --context CHECKPOINT --data PREPARED
"""

import argparse
import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.evaluation.markdown import table
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import collate
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.training.start import start_model
from nmspeller.text.vocabulary import Vocabulary

ROOT = Path(__file__).parent.parent
DEV = (
    *("sighan13_train_dev", "sighan14_train_dev", "sighan15_train_dev"),
    *("native_dev", "learners_dev", "hard_dev", "native_clean_dev"),
)
TOKENS = 32_768
FOLDS = 5
RECALL = 0.8

Floats = NDArray[np.float64]


class Reading:
    """Log-probabilities of one model at every position of the sentences, laid end to end."""

    def __init__(
        self, best: NDArray[np.int64], of_best: Floats, of_source: Floats, of_proposal: Floats
    ) -> None:
        self.best, self.of_best, self.of_source, self.of_proposal = best, of_best, of_source, of_proposal


def read_once(
    model: SpellerModel,
    vocabulary: Vocabulary,
    rows: Sequence[NDArray[np.int64]],
    proposals: Sequence[NDArray[np.int64]],
) -> Reading:
    """One pass a sentence; proposals: another character for each position, whose score is wanted as well."""
    parts = [
        _scores(model, vocabulary, rows[first:last], rows[first:last], proposals[first:last])
        for first, last in _chunks(rows)
    ]
    return Reading(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def read_each_hidden(
    model: SpellerModel,
    vocabulary: Vocabulary,
    rows: Sequence[NDArray[np.int64]],
    proposals: Sequence[NDArray[np.int64]],
) -> Reading:
    """One pass a position, with that position behind [MASK]."""
    hidden, sources, offered, places = [], [], [], []
    for row, offer in zip(rows, proposals, strict=True):
        for place in range(len(row)):
            masked = row.copy()
            masked[place] = vocabulary.mask
            hidden.append(masked)
            sources.append(row)
            offered.append(offer)
            places.append(place)
    parts = []
    for first, last in _chunks(hidden):
        scores = _scores(model, vocabulary, hidden[first:last], sources[first:last], offered[first:last])
        starts = np.concatenate(([0], np.cumsum([len(row) for row in hidden[first : last - 1]])))
        own = (starts + np.array(places[first:last])).astype(np.int64)
        parts.append(tuple(each[own] for each in scores))
    return Reading(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _chunks(rows: Sequence[NDArray[np.int64]]) -> list[tuple[int, int]]:
    """Ranges of rows that fit one batch."""
    edges, longest, first = [], 0, 0
    for number, row in enumerate(rows):
        longest = max(longest, len(row) + 2)
        if (number + 1 - first) * longest > TOKENS and number > first:
            edges.append((first, number))
            first, longest = number, len(row) + 2
    return [*edges, (first, len(rows))]


@torch.no_grad()
def _scores(
    model: SpellerModel,
    vocabulary: Vocabulary,
    rows: Sequence[NDArray[np.int64]],
    sources: Sequence[NDArray[np.int64]],
    proposals: Sequence[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """The best Hanzi of each position, its log-probability, and those of the source and the proposal."""
    device = next(model.parameters()).device
    half = torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()
    batch = collate(
        [np.concatenate(([vocabulary.cls], row, [vocabulary.sep])) for row in rows], pad=vocabulary.pad
    )
    with half:
        scores = model(batch.to(device))
    places = torch.tensor(
        [
            number * batch.ids.shape[1] + place
            for number, row in enumerate(rows)
            for place in range(1, len(row) + 1)
        ],
        device=device,
    )
    chosen = scores.flatten(0, 1)[places].float().log_softmax(dim=-1)
    hanzi = torch.from_numpy(vocabulary.is_hanzi()).to(device)
    best = chosen[:, : len(hanzi)].masked_fill(~hanzi, -torch.inf).max(dim=-1)

    def of(ids: Sequence[NDArray[np.int64]]) -> Floats:
        wanted = torch.from_numpy(np.concatenate(ids)).to(device)
        return chosen.gather(1, wanted[:, None])[:, 0].double().cpu().numpy()

    return best.indices.cpu().numpy(), best.values.double().cpu().numpy(), of(sources), of(proposals)


def auc(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """The probability that a positive scores higher than a negative, in percent; a tie counts half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positives, negatives = int(positive.sum()), int((~positive).sum())
    return float(100 * (ranks[positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def combined(features: Floats, positive: NDArray[np.bool_], fold: NDArray[np.int64]) -> Floats:
    """The score of a logistic regression on the features (examples, features), fitted on the other folds."""
    scores = np.zeros(len(features))
    for number in range(FOLDS):
        fitted, judged = fold != number, fold == number
        centre, width = features[fitted].mean(axis=0), features[fitted].std(axis=0) + 1e-9
        ones = np.ones((len(features), 1))
        terms = np.hstack((ones, (features - centre) / width))
        weights = np.zeros(terms.shape[1])
        for _ in range(30):
            expected = 1 / (1 + np.exp(-terms[fitted] @ weights))
            gradient = terms[fitted].T @ (positive[fitted] - expected) - 1e-3 * weights
            curvature = (terms[fitted].T * (expected * (1 - expected))) @ terms[fitted] + 1e-3 * np.eye(
                len(weights)
            )
            weights = weights + np.linalg.solve(curvature, gradient)
        scores[judged] = terms[judged] @ weights
    return scores


def false_alarms_at_recall(scores: Floats, positive: NDArray[np.bool_], alarms: NDArray[np.bool_]) -> int:
    """How many of the alarms score at least as high as the positive at 80 % recall."""
    threshold = np.quantile(scores[positive], 1 - RECALL)
    return int((alarms & (scores >= threshold)).sum())


def analyse(
    pairs: Sequence[Pair], named: int, vocabulary: Vocabulary, readings: dict[str, Reading]
) -> dict[str, Any]:
    """The figures of the page. The last `named` pairs are the clean sentences with names."""
    source = np.concatenate([vocabulary.encode(pair.source) for pair in pairs])
    right = np.concatenate([vocabulary.encode(pair.target) for pair in pairs])
    sentence = np.repeat(np.arange(len(pairs)), [len(pair.source) for pair in pairs])
    hanzi = vocabulary.is_hanzi()
    use = hanzi[source] & hanzi[right]
    wrong = source != right
    of_names = sentence >= len(pairs) - named
    ordinary = readings["ordinary"]
    clean_sentence = ~np.isin(sentence, sentence[wrong])
    figures: dict[str, Any] = {
        "sentences": len(pairs),
        "sentences_with_names": named,
        "positions": int(use.sum()),
        "errors": int((use & wrong).sum()),
        "detection_auc": {
            name: auc(-reading.of_source[use & ~of_names], wrong[use & ~of_names])
            for name, reading in readings.items()
        },
        "right_in_clean_sentences": {
            name: float(100 * (reading.best == right)[use & clean_sentence].mean())
            for name, reading in readings.items()
            if name != "ordinary"
        },
    }
    ranks = [np.argsort(np.argsort(readings[name].of_source[use])) for name in ("oracle", "context")]
    figures["rank_correlation"] = float(np.corrcoef(*ranks)[0, 1])

    proposed = use & (ordinary.best != source)
    corrects = (ordinary.best == right)[proposed]
    confidence = (ordinary.of_best - ordinary.of_source)[proposed]
    fold = (sentence % FOLDS)[proposed]
    alarms = (~corrects) & of_names[proposed]
    evidence = {
        name: (readings[name].of_proposal - readings[name].of_source)[proposed]
        for name in ("oracle", "context")
    }
    candidates: dict[str, Floats] = {
        "ordinary": combined(confidence[:, None], corrects, fold),
        **{name: combined(one[:, None], corrects, fold) for name, one in evidence.items()},
        **{
            f"ordinary + {name}": combined(np.stack((confidence, one), axis=1), corrects, fold)
            for name, one in evidence.items()
        },
    }
    figures["proposals"] = {
        "all": len(corrects),
        "right": int(corrects.sum()),
        "false_on_names": int(alarms.sum()),
    }
    figures["decision"] = {
        name: {
            "auc": auc(scores, corrects),
            "false_alarms": false_alarms_at_recall(scores, corrects, ~corrects),
            "false_alarms_on_names": false_alarms_at_recall(scores, corrects, alarms),
        }
        for name, scores in candidates.items()
    }
    return figures


NAMES = {
    "ordinary": "ordinary speller",
    "oracle": "oracle, one pass a position",
    "context": "context only, one pass",
}


PAGE = """\
# What the context alone says

Written by `benchmarks/context_only.py` from context_only.json. Dev parts of the training sets and
{sentences_with_names} clean sentences with names: {sentences:,} sentences, {positions:,} Hanzi, {errors:,}
errors. No test set is used.

The paper's masking layer hides a character in one layer; through the residual, a position still sees itself.
Two readings without any leak stand beside an ordinary speller. The oracle hides each position in a pass of
its own. The context-only speller reads a sentence once, with keys and values from the embeddings of the other
positions in every layer; it was trained for {context_seconds:.0f} s on {context_tokens:,} tokens, from the
oracle's weights.

## Readings

Predicted: the share of characters that a reading gives the highest score in sentences without errors, in
percent. Detection AUC: the probability, in percent, that an error gets a lower score than a right character.
Time: for the same sentences, in one run on one {device}.

{readings}

The scores of the two readings without a leak have a rank correlation of {rank_correlation:.3f}.

## As evidence

The ordinary speller would change {all:,} characters; {right:,} of these changes are right, and
{false_on_names} of the others are in the sentences with names. Which score tells them apart? A logistic
regression on one score, or on two, is fitted on four fifths of the sentences and measured on the fifth part.
False alarms: those left where {recall:.0%} of the right changes are kept.

{decisions}
"""


def page(figures: dict[str, Any]) -> str:
    """The page, from the figures alone."""
    proposals = figures["proposals"]
    reading_rows = [
        [
            label,
            f"{figures['right_in_clean_sentences'].get(name, float('nan')):.1f}"
            if name != "ordinary"
            else "–",
            f"{figures['detection_auc'][name]:.2f}",
            f"{figures['seconds'][name] / figures['seconds']['ordinary']:.1f} ×",
        ]
        for name, label in NAMES.items()
    ]
    decision_rows = [
        [name, f"{one['auc']:.2f}", str(one["false_alarms"]), str(one["false_alarms_on_names"])]
        for name, one in figures["decision"].items()
    ]
    return PAGE.format(
        readings=table(["Reading", "Predicted", "Detection AUC", "Time"], reading_rows),
        decisions=table(["Decision by", "AUC", "False alarms", "of these on names"], decision_rows),
        recall=RECALL,
        **{**figures, **figures["training"], **proposals},
    )


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("speller", "oracle", "context", "data"):
        options.add_argument(f"--{name}", type=Path)
    options.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    options.add_argument("--sentences", type=int, help="only so many, for a try")
    given = options.parse_args()
    stored = given.out / "context_only.json"
    if given.speller:
        stored.write_text(json.dumps(measure(given), indent=1) + "\n", encoding="utf-8")
    figures = json.loads(stored.read_text(encoding="utf-8"))
    stored.with_suffix(".md").write_text(page(figures), encoding="utf-8")
    print(stored.with_suffix(".md"))


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Read all sentences in the three ways and analyse what comes out."""
    prepared = Prepared(given.data)
    vocabulary = prepared.vocabulary
    device = "cuda" if torch.cuda.is_available() else "cpu"
    lines = (ROOT / "tests" / "assets" / "names.tsv").read_text(encoding="utf-8").splitlines()
    names = [line.split("\t")[0] for line in lines if line and not line.startswith("#")]
    pairs = [pair for name in DEV for pair in prepared.pair_texts(name)][: given.sentences]
    pairs += [Pair(name, name) for name in names[: given.sentences]]
    rows = [vocabulary.encode(pair.source).astype(np.int64) for pair in pairs]
    models = {
        "ordinary": checkpoint.load(given.speller)[0],
        "oracle": start_model({"speller": "bert"}, given.oracle, vocabulary=vocabulary),
        "context": checkpoint.load(given.context)[0],
    }
    readings: dict[str, Reading] = {}
    seconds: dict[str, float] = {}
    proposals = rows
    for name, model in models.items():
        read = read_each_hidden if name == "oracle" else read_once
        model.to(device).eval()
        read(model, vocabulary, rows[:64], proposals[:64])  # the first call loads kernels
        began = time.perf_counter()
        readings[name] = read(model, vocabulary, rows, proposals)
        seconds[name] = time.perf_counter() - began
        if name == "ordinary":
            cuts = np.cumsum([len(row) for row in rows])[:-1]
            proposals = np.split(readings[name].best, cuts)
    named = len(names[: given.sentences])
    trained = json.loads((given.context / "pretrain.json").read_text(encoding="utf-8"))
    return analyse(pairs, named, vocabulary, readings) | {
        "seconds": seconds,
        "device": torch.cuda.get_device_name() if device == "cuda" else "processor",
        "training": {"context_seconds": trained["seconds"], "context_tokens": trained["tokens"]},
    }


if __name__ == "__main__":
    main()
