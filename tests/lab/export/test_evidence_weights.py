"""The weights of the evidence for edits are fitted to what brings sentences nearer to what they were."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from nmspeller.lab.data.edit_noise import EditNoise
from nmspeller.lab.data.neighbours import count_neighbours
from nmspeller.lab.export.evidence_weights import fit_evidence
from nmspeller.runtime.edits import Change
from nmspeller.runtime.evidence import Evidence
from nmspeller.runtime.reading import Part
from nmspeller.runtime.tag_decoder import Proposal
from nmspeller.text.vocabulary import Vocabulary

SENTENCE = "我们在学校门口等了很久才看到老师"
VOCABULARY = Vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(SENTENCE)])
WORDS = [("我们", 9), ("学校", 9), ("老师", 9), ("看到", 9), ("在", 9), ("等", 9), ("了", 9)]


class KnowingPipeline:
    """Proposes to fill every gap, sure of what is really missing, and to fill one where nothing is."""

    window, vocabulary = 126, VOCABULARY

    def proposals(self, parts: Sequence[Part]) -> Iterator[tuple[int, Proposal]]:
        random = np.random.default_rng(0)
        for number, part in enumerate(parts):
            place = next(
                (at for at, (a, b) in enumerate(zip(part.text, SENTENCE, strict=False)) if a != b), 5
            )
            filled = (
                0.9 + 0.09 * random.random()
                if len(part.text) < len(SENTENCE)
                else 0.4 + 0.5 * random.random()
            )
            # Where the tag is likely, it is likely by chance.
            evidence = Evidence(tag=0.2 + 0.7 * random.random(), filled=filled)
            target = SENTENCE[place : place + len(SENTENCE) - len(part.text)] or "久"
            yield number, Proposal(0, "missing", Change(place, target, 0.9, 0.9, length=0), evidence)


@pytest.fixture(scope="module")
def noise() -> EditNoise:
    neighbours = count_neighbours(VOCABULARY.encode(SENTENCE * 3).astype(np.uint16), VOCABULARY, WORDS)
    return EditNoise(neighbours, VOCABULARY, limit=60)


def test_what_tells_right_from_wrong_counts(noise: EditNoise) -> None:
    found = fit_evidence(KnowingPipeline(), [SENTENCE] * 200, noise)  # type: ignore[arg-type]
    assert set(found) == {"missing"}
    weights = found["missing"]
    assert weights.filled > 3 * weights.tag >= 0
    # What never varies says nothing.
    assert weights.needed == weights.target == weights.settled == 0
    sure, unsure = (weights.confidence(Evidence(0.5, filled=filled)) for filled in (0.98, 0.5))
    assert sure > 0.8
    assert unsure < 0.2


def test_few_examples_fit_nothing(noise: EditNoise) -> None:
    pipeline = SimpleNamespace(window=126, vocabulary=VOCABULARY, proposals=KnowingPipeline().proposals)
    assert fit_evidence(pipeline, [SENTENCE] * 10, noise) == {}  # type: ignore[arg-type]
