"""A prefilter learns without a GPU what a model edits."""

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

from nmspeller.lab.export.weights import read_weights
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import collate
from nmspeller.lab.models.registry import from_arrays
from nmspeller.runtime.edits import Change
from nmspeller.text.vocabulary import Vocabulary
from tune_prefilter import Labelled, edit_confidences, tune

WRONG = "门"


def test_an_edit_scores_where_it_stands_and_an_insertion_on_either_side(source_folder: Path) -> None:
    vocabulary = Vocabulary.from_file(source_folder / "vocab.txt")
    changes = [
        Change(offset=1, target="们", probability=0.9, confidence=0.75, others=()),
        Change(offset=3, target="得", probability=0.9, confidence=0.5, others=(), length=0),
    ]
    pipeline = SimpleNamespace(vocabulary=vocabulary, read=lambda parts, level: [changes] * len(parts))
    (found,) = edit_confidences(pipeline, [vocabulary.encode("我门觉很好").astype(np.uint16)])
    assert found.tolist() == [0, 0.75, 0.5, 0.5, 0]


def test_a_student_learns_what_is_edited(small_source: Path, texts: list[str], tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_file(small_source / "vocab.txt")
    wrong = vocabulary.encode(WRONG)[0]
    rows = [vocabulary.encode(text).astype(np.uint16) for text in texts if WRONG not in text]
    edited = [np.append(row, wrong).astype(np.uint16) for row in rows]
    sentences = [(row, (row == wrong).astype(np.float16)) for row in (*rows, *edited)]
    np.savez(tmp_path / "labels.npz", **Labelled.of(sentences)._asdict())
    start, out, weights = tmp_path / "start", tmp_path / "tuned", read_weights(small_source)
    checkpoint.save(start, from_arrays(weights.encoder, weights.weights), vocabulary.tokens, card="# Small\n")
    tune(Namespace(student=start, labels=tmp_path / "labels.npz", out=out, epochs=80, rate=1e-2))
    student, _ = checkpoint.load(out)
    with torch.no_grad():
        row = np.concatenate(([vocabulary.cls], edited[0], [vocabulary.sep]))
        scores = 1 - student.source_scores(collate([row]))[0, 1 : len(row) - 1].sigmoid()
    others = scores[:-1][torch.tensor(vocabulary.is_hanzi())[row[1:-2].tolist()]]  # only characters count
    assert scores[-1] > 0.5 > others.max()


def test_labels_are_read_as_they_were_written() -> None:
    sentences = [(np.arange(n, dtype=np.uint16), np.full(n, n / 8, np.float16)) for n in (3, 1, 2)]
    again = Labelled.of(sentences).sentences()
    assert all(np.array_equal(a, b) for one, other in zip(sentences, again, strict=True)
               for a, b in zip(one, other, strict=True))  # fmt: skip
