"""Train a prefilter on with what a model edits, as it edits: without a GPU, in half an hour on two cores.

    python benchmarks/tune_prefilter.py label MODEL PREPARED LABELS [--seconds 420]
    python benchmarks/tune_prefilter.py tune STUDENT LABELS OUT [--epochs 1]

`label` corrects training pairs and synthetic errors with an exported model at `thorough`, tags, second pass
and all, and records how confident each edit was; it stops after so many seconds with what it has. `tune`
trains a checkpoint of `lab train --recipe model3_prefilter` on that, beside as many sentences of the corpus,
in which nothing is wrong. Each character learns its confidence, and each sentence, by its most suspicious
character, the highest one: that is what decides whether the model reads it.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from nmspeller.lab.data.prepared import Prepared, sentence_windows
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import Batch
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level
from nmspeller.runtime.reading import Part
from nmspeller.text.vocabulary import Vocabulary

Sentence = tuple[NDArray[np.uint16], NDArray[np.float16]]
"""Ids, and what each character is to score."""

# How many sentences of each set are read.
SETS = {
    "native": 4500, "revisions": 2500, "revisions2": 2500, "sighan14_train": 2500, "sighan15_train": 1800,
    "learners": 1500, "lang8": 1200, "hard": 1200, "ecspell_law_train": 1000, "ecspell_med_train": 1000,
    "ecspell_odw_train": 1000, "medical": 900, "edits_revisions": 900, "edits_native_word": 900,
    "queries": 600, "leftovers": 400, "ocr": 300, "rules": 300, "sighan13_train": 250,
}  # fmt: skip
SYNTHETIC = 5000
PROFILES = ("writer", "input_method", "learner")
ERRORS = 1.2  # expected in a synthetic sentence
LONGEST = 120  # characters
CLEAN = 1.2  # sentences of the corpus for each labelled one
AT_ONCE = 500  # sentences that are labelled together
SENTENCE_WEIGHT = 0.05  # of the loss of a sentence beside that of its characters
BATCH_TOKENS = 3000


class Labelled(NamedTuple):
    """Sentences end to end: their ids, what they are to score, and their lengths."""

    ids: NDArray[np.uint16]  # (characters,)
    scores: NDArray[np.float16]  # (characters,)
    lengths: NDArray[np.int64]  # (sentences,)

    def sentences(self) -> list[Sentence]:
        cuts = np.cumsum(self.lengths)[:-1]
        return list(zip(np.split(self.ids, cuts), np.split(self.scores, cuts), strict=True))

    @classmethod
    def of(cls, sentences: list[Sentence]) -> "Labelled":
        ids, scores = (np.concatenate(each) for each in zip(*sentences, strict=True))
        return cls(ids, scores, np.array([len(each) for each, _ in sentences]))


def label(options: argparse.Namespace) -> None:
    prepared, random = Prepared(options.prepared), np.random.default_rng(0)
    wrong = [*_real(prepared, random), *_synthetic(prepared, random)]
    pipeline = Pipeline(options.model)
    found: list[Sentence] = []
    began, order = time.perf_counter(), random.permutation(len(wrong))
    for first in range(0, len(order), AT_ONCE):
        rows = [wrong[number] for number in order[first : first + AT_ONCE]]
        found += zip(rows, edit_confidences(pipeline, rows), strict=True)
        if time.perf_counter() - began > options.seconds:
            break
    count = int(CLEAN * len(found))
    found += [(row, np.zeros(len(row), np.float16)) for row in _clean(prepared, random, count)]
    np.savez(options.labels, **Labelled.of(found)._asdict())
    print(f"{len(found):,} sentences, {sum(scores.any() for _, scores in found):,} of them edited")


def edit_confidences(pipeline: Pipeline, rows: list[NDArray[np.uint16]]) -> Iterator[NDArray[np.float16]]:
    """How confident the model is of its edit of each character; an insertion is one of both neighbours."""
    tokens = pipeline.vocabulary.tokens
    texts = ["".join(tokens[id] if len(tokens[id]) == 1 else "□" for id in row) for row in rows]
    parts = [Part(text, 0, len(text)) for text in texts]
    for row, changes in zip(rows, pipeline.read(parts, Level.THOROUGH), strict=True):
        scores = np.zeros(len(row), np.float16)
        for change in changes:
            beside = 0 if change.length else 1
            places = slice(max(change.offset - beside, 0), change.offset + change.length + beside)
            scores[places] = np.maximum(scores[places], np.float16(change.confidence))
        yield scores


def _real(prepared: Prepared, random: np.random.Generator) -> Iterator[NDArray[np.uint16]]:
    for name, most in SETS.items():
        if name not in prepared.absent:
            pairs = prepared.pairs(name)
            for number in random.permutation(len(pairs))[:most]:
                source = pairs[int(number)][0]
                if len(source) <= LONGEST:
                    yield np.asarray(source, np.uint16)


def _synthetic(prepared: Prepared, random: np.random.Generator) -> Iterator[NDArray[np.uint16]]:
    noise = prepared.noise
    profiles = [noise.profile_index(name) for name in PROFILES]
    for row in _clean(prepared, random, SYNTHETIC):
        right, profile = row.astype(np.int32)[None], random.choice(profiles, size=1)
        yield noise.corrupt(right, profile, np.array([ERRORS]), random)[0].astype(np.uint16)


def _clean(prepared: Prepared, random: np.random.Generator, count: int) -> list[NDArray[np.uint16]]:
    ids, vocabulary = prepared.corpus(), prepared.vocabulary
    starts, stops = sentence_windows(ids, vocabulary, random, limit=LONGEST, join=0.3)
    chosen = random.permutation(len(starts))[:count]
    return [ids[starts[number] : stops[number]].astype(np.uint16) for number in chosen]


def tune(options: argparse.Namespace) -> None:
    torch.manual_seed(0)
    student, tokens = checkpoint.load(options.student)
    vocabulary = Vocabulary(tokens)
    with np.load(options.labels) as arrays:
        sentences = Labelled(arrays["ids"], arrays["scores"], arrays["lengths"]).sentences()
    optimiser = torch.optim.AdamW(student.parameters(), options.rate, betas=(0.9, 0.98), weight_decay=0.01)
    hanzi, random = torch.tensor(vocabulary.is_hanzi()), np.random.default_rng(1)
    batches = [batch for _ in range(options.epochs) for batch in _batches(sentences, random)]
    student.train()
    for step, rows in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(1, (step + 1) / 50) * (1 - step / len(batches))
        ids, expected = _tensors(rows, vocabulary)
        counted = hanzi[ids]
        scores = -student.source_scores(Batch(ids=ids, mask=ids != vocabulary.pad)).float()
        losses = functional.binary_cross_entropy_with_logits(scores, expected, reduction="none")
        highest = scores.masked_fill(~counted, -30.0).amax(dim=1)
        whole = functional.binary_cross_entropy_with_logits(highest, expected.amax(dim=1))
        loss = (losses * counted).sum() / counted.sum().clamp(min=1) + SENTENCE_WEIGHT * whole
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        if step % 50 == 0:
            print(f"step {step} of {len(batches)}, loss {loss.item():.4f}", flush=True)
    checkpoint.save(options.out, student.eval(), tokens, card="# Prefilter\n")


def _batches(sentences: list[Sentence], random: np.random.Generator) -> list[list[Sentence]]:
    """All sentences once, those of a batch of similar length."""
    order = random.permutation(len(sentences))
    batches = []
    for first in range(0, len(order), 2000):
        chosen = (sentences[number] for number in order[first : first + 2000])
        some = sorted(chosen, key=lambda sentence: len(sentence[0]))
        while some:
            rows = max(1, BATCH_TOKENS // (len(some[-1][0]) + 2))
            batches.append(some[-rows:])
            del some[-rows:]
    return [batches[number] for number in random.permutation(len(batches))]


def _tensors(rows: list[Sentence], vocabulary: Vocabulary) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids, with [CLS] and [SEP], and expected scores: (sentences, tokens) each."""
    shape = len(rows), max(len(row) for row, _ in rows) + 2
    ids, expected = np.full(shape, vocabulary.pad), np.zeros(shape, np.float32)
    for number, (row, scores) in enumerate(rows):
        ids[number, : len(row) + 2] = vocabulary.cls, *row.tolist(), vocabulary.sep
        expected[number, 1 : len(row) + 1] = scores
    return torch.from_numpy(ids), torch.from_numpy(expected)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for command, places in ((label, ("model", "prepared", "labels")), (tune, ("student", "labels", "out"))):
        own = commands.add_parser(command.__name__)
        own.set_defaults(command=command)
        for place in places:
            own.add_argument(place, type=Path)
        if command is label:
            own.add_argument("--seconds", type=float, default=420.0)
        else:
            own.add_argument("--epochs", type=int, default=1)
            own.add_argument("--rate", type=float, default=3e-4)
    options = parser.parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
