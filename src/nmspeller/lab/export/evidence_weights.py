"""Fitting what counts for an insertion or a deletion, on clean sentences without and with errors.

The errors are those of the noise that models are trained with. A logistic regression for each kind of edit
learns which of the model's proposals bring a sentence nearer to what it was.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data.alignment import brings_nearer
from nmspeller.lab.data.edit_noise import EditNoise, Line
from nmspeller.runtime.evidence import Evidence, EvidenceWeights
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import TAGGED
from nmspeller.runtime.reading import Part
from nmspeller.text.vocabulary import Vocabulary

_SENTENCES = 1_500
_SHARES = np.cumsum([0.5, 0.32, 0.18])  # of missing, extra and swapped characters, as in the recipes
_FEWEST = 20  # right edits of a kind, and wrong ones, below which nothing can be fitted
_PENALTY = 1.0
_STEPS = 50


def fit_evidence(pipeline: Pipeline, clean: Sequence[str], noise: EditNoise) -> dict[str, EvidenceWeights]:
    """The weights of each kind of which there are enough proposals."""
    sentences = [text for text in clean if len(text) <= pipeline.window - 4][:_SENTENCES]
    pairs = [(text, text) for text in sentences] + _with_errors(sentences, noise, pipeline.vocabulary)
    evidence: dict[str, list[Evidence]] = {kind: [] for kind in TAGGED}
    right: dict[str, list[bool]] = {kind: [] for kind in TAGGED}
    sources = [Part(source, 0, len(source), ()) for source, _ in pairs]
    for number, proposal in pipeline.proposals(sources):
        (source, target), change = pairs[number], proposal.change
        edited = source[: change.offset] + change.target + source[change.offset + change.length :]
        evidence[proposal.kind].append(proposal.evidence)
        right[proposal.kind].append(brings_nearer(source, edited, target))
    return {
        kind: _fit(evidence[kind], np.array(marks, float))
        for kind, marks in right.items()
        if min(sum(marks), len(marks) - sum(marks)) >= _FEWEST
    }


def _with_errors(sentences: Sequence[str], noise: EditNoise, vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """Each sentence with an error or two, beside itself."""
    random = np.random.default_rng(0)
    pairs = []
    for text in sentences:
        ids = vocabulary.encode(text).tolist()
        if vocabulary.unk not in ids:
            line = Line(ids, ids.copy())
            noise.edit(line, _SHARES, random)
            pairs.append(("".join(vocabulary.tokens[number] for number in line.ids), text))
    return pairs


def _fit(evidence: Sequence[Evidence], right: NDArray[np.float64]) -> EvidenceWeights:
    """Weights of at least 0: no probability that should speak for an edit speaks against it."""
    odds = np.array([each.log_odds() for each in evidence])
    used = np.flatnonzero(odds.std(axis=0) > 0)
    while True:
        bias, *weights = _logistic_regression(odds[:, used], right)
        if min(weights) >= 0:
            break
        used = np.delete(used, int(np.argmin(weights)))
    found = dict.fromkeys(Evidence._fields, 0.0)
    found |= {
        Evidence._fields[number]: round(weight, 4) for number, weight in zip(used, weights, strict=True)
    }
    return EvidenceWeights(bias=round(bias, 4), **found)


def _logistic_regression(features: NDArray[np.float64], right: NDArray[np.float64]) -> list[float]:
    """The bias and a weight for each feature, by Newton's method; features: (examples, features)."""
    inputs = np.column_stack((np.ones(len(right)), features))
    penalty = np.diag([0.0] + [_PENALTY] * features.shape[1])
    weights = np.zeros(inputs.shape[1])
    for _ in range(_STEPS):
        expected = 0.5 + 0.5 * np.tanh(inputs @ weights / 2)
        gradient = inputs.T @ (expected - right) + penalty @ weights
        curvature = (inputs * (expected * (1 - expected))[:, None]).T @ inputs + penalty
        weights -= np.linalg.solve(curvature + 1e-9 * np.eye(len(weights)), gradient)
    return [float(weight) for weight in weights]
