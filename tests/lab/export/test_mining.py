"""Which sentences of a corpus are hard, and which are considered mistakes of the corpus."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from nmspeller.__main__ import run
from nmspeller.lab.data.corpus import LINE_END
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.export.mining import hard_sentences
from nmspeller.runtime.engine import Scores
from nmspeller.text.vocabulary import Vocabulary

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
RIGHT, MISTAKE, PLAIN = "他在门外等了很久。", "我门明天去外国看他。", "今天天气很好，我们去外国。"


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    tokens = [*SPECIALS, *sorted(set(RIGHT + MISTAKE + PLAIN))]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens) + "\n", "utf-8")
    known = hashlib.sha256((tmp_path / "vocab.txt").read_bytes()).hexdigest()
    (tmp_path / "manifest.json").write_text(json.dumps({"vocabulary": known, "sources": {}}), "utf-8")
    (tmp_path / "pairs").mkdir()
    vocabulary = Vocabulary(tokens)
    rows = [[*vocabulary.encode(text).tolist(), LINE_END] for text in (RIGHT, MISTAKE, PLAIN)]
    (tmp_path / "corpus-0.u16").write_bytes(np.concatenate(rows).astype(np.uint16).tobytes())
    return Prepared(tmp_path)


class Suspicious:
    """Would write 们 for every 门; where it does not see the character, it goes by the one before."""

    longest, characters_per_batch = 100, 1000

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.door, self.many, self.i = (vocabulary.id(character) for character in "门们我")
        self.mask = vocabulary.mask

    def scores(self, ids, starts, stops, most=np.inf, least=np.inf, few=False):
        for window, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            for place in range(start, stop):
                if ids[place] == self.door:
                    own = 0.1
                elif ids[place] == self.mask:
                    own = 0.001 if ids[place - 1] == self.i else 0.3
                else:
                    continue
                best = np.array([[self.many, self.door, 0, 0, 0]], np.int32)
                probabilities = np.array([[1 - own, own, 0, 0, 0]], np.float32)
                kept = np.array([own if ids[place] == self.door else 0.0], np.float32)
                yield Scores(np.array([window]), np.array([place]), best, probabilities, kept)


def test_a_sentence_is_hard_where_both_characters_fit(prepared: Prepared) -> None:
    found = hard_sentences(Suspicious(prepared.vocabulary), prepared)
    assert len(found) == 1
    source, target = found[0]
    assert "".join(prepared.vocabulary.tokens[number] for number in source) == RIGHT
    assert (source == target).all()


def test_hard_sentences_become_a_set_of_pairs(prepared: Prepared) -> None:
    found = hard_sentences(Suspicious(prepared.vocabulary), prepared)
    prepared.add_pairs("mined", found)
    again = prepared.pairs("mined")
    assert (again.source == found.source).all()
    assert (again.starts == found.starts).all()
    assert not list(prepared.folder.glob("pairs/*.partial"))


def test_the_command_reports_how_many_were_found(
    model_folder: Path, tmp_path: Path, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    vocabulary = Vocabulary.from_file(model_folder / "vocab.txt")
    (tmp_path / "vocab.txt").write_bytes((model_folder / "vocab.txt").read_bytes())
    known = hashlib.sha256((tmp_path / "vocab.txt").read_bytes()).hexdigest()
    (tmp_path / "manifest.json").write_text(json.dumps({"vocabulary": known, "sources": {}}), "utf-8")
    (tmp_path / "pairs").mkdir()
    rows = [[*vocabulary.encode(text).tolist(), LINE_END] for text in texts]
    (tmp_path / "corpus-0.u16").write_bytes(np.concatenate(rows).astype(np.uint16).tobytes())
    assert run(["lab", "data", "mine", str(tmp_path), "--model", str(model_folder)]) == 0
    count = int(capsys.readouterr().out.split()[0])
    assert len(Prepared(tmp_path).pairs("mined")) == count


def test_a_folder_that_was_not_prepared_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "data", "mine", str(tmp_path)]) == 2
    assert "data prepare" in capsys.readouterr().err
