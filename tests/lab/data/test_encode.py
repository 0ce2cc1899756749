"""Preparation of a little data folder, and pairs made from its text."""

import json
import shutil
from itertools import islice

import numpy as np
import pytest

from nmspeller.errors import InputError
from nmspeller.lab.data.corpus import read_lines
from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.encode import prepare
from nmspeller.lab.data.leak_filter import LeakFilter, evaluation_sentences
from nmspeller.lab.data.pairs import read_pairs, write_pairs
from nmspeller.lab.data.prepared import Prepared, sentence_windows
from nmspeller.lab.data.synthesis import PairMaker


def text_of(ids, vocabulary):
    return "".join(vocabulary.tokens[number] if number else "\n" for number in ids)


def pairs_of(prepared, label):
    arrays = prepared.pairs(label)
    return {
        tuple(text_of(side, prepared.vocabulary) for side in arrays[number]) for number in range(len(arrays))
    }


def test_pairs_come_back_as_they_were_but_for_those_of_another_dev_set(little_prepared, little_data):
    table = DataTable.read(little_data)
    measured = {
        side
        for name in table.training()
        for pair in pairs_of(little_prepared, f"{name}_dev")
        for side in pair
    }
    for name in ("sighan13_train", "wang", "native", "medical"):
        training = pairs_of(little_prepared, name)
        everything = {tuple(pair) for pair in read_pairs(little_data / table[name].files[0])}
        assert training == {pair for pair in everything if measured.isdisjoint(pair)}
        assert training | pairs_of(little_prepared, f"{name}_dev") <= everything


def test_text_is_either_learnt_or_held_out(little_prepared, little_data):
    lines = (little_data / "corpus" / "part.txt").read_text(encoding="utf-8").splitlines()
    learnt, held = (
        text_of(little_prepared.corpus(part), little_prepared.vocabulary) for part in ("corpus", "heldout")
    )
    assert held.splitlines() == lines[1470:1500]
    assert learnt.splitlines() == lines[:1470] + lines[1500:]


def test_the_manifest_names_every_source(little_prepared, little_data):
    manifest = json.loads((little_prepared.folder / "manifest.json").read_text(encoding="utf-8"))
    places = {file for one in DataTable.read(little_data).training().values() for file in one.files}
    assert set(manifest["sources"]) == {*places, "corpus/part.txt", "confusion/wang2018.txt"}
    assert all(len(digest) == 64 for digest in manifest["sources"].values())


@pytest.mark.usefixtures("few_words")
def test_leaks_are_left_out(little_data, little_prepared, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(little_data, data)
    secret = "这是一个只在考卷里出现的长句子"
    write_pairs(data / "cscd_ns/dev.tsv", [(secret, secret)])
    write_pairs(
        data / "sighan/simplified/train15.tsv", [(f"听说{secret}。", f"听说{secret}。"), ("好的", "好的")]
    )
    with (data / "corpus" / "part.txt").open("a", encoding="utf-8") as file:
        file.write(f"他说，{secret}，真的吗？\n")
    prepare(data, little_prepared.folder / "vocab.txt", tmp_path / "out")
    made = Prepared(tmp_path / "out")
    assert made.manifest["pairs"]["sighan15_train"]["left out as leaks"] == 1
    assert len(made.corpus()) == len(little_prepared.corpus())


def test_missing_things_are_input_errors(tmp_path, little_prepared):
    with pytest.raises(InputError, match="data prepare"):
        Prepared(tmp_path)
    with pytest.raises(InputError, match="there are"):
        little_prepared.pairs("sighan16")
    with pytest.raises(InputError, match="nothing to learn from"):
        prepare(tmp_path, little_prepared.folder / "vocab.txt", tmp_path / "out")


@pytest.mark.parametrize("join", [0.0, 0.5, 1.0])
def test_windows_are_whole_sentences_of_one_paragraph(little_prepared, join):
    ids, vocabulary = little_prepared.corpus(), little_prepared.vocabulary
    starts, stops = sentence_windows(ids, vocabulary, np.random.default_rng(0), limit=60, join=join)
    assert len(starts)
    assert (starts[1:] >= stops[:-1]).all()
    assert ((stops - starts >= 6) & (stops - starts <= 60)).all()
    text = text_of(ids, vocabulary)
    for start, stop in list(zip(starts, stops, strict=True))[:200]:
        assert "\n" not in text[start:stop]
        assert text[stop - 1] in "。！？" or text[stop] == "\n"
        assert start == 0 or text[start - 1] in "。！？\n"
    if join == 0.0:
        assert not any(
            mark in text[a : b - 1] for a, b in zip(starts, stops, strict=True) for mark in "。！？"
        )


def test_without_a_limit_every_sentence_is_in_some_window(little_prepared):
    ids = little_prepared.corpus()
    starts, stops = sentence_windows(
        ids, little_prepared.vocabulary, np.random.default_rng(0), limit=10**6, join=0.3, least=1
    )
    assert (stops - starts).sum() == np.count_nonzero(ids)


@pytest.fixture
def maker(little_prepared, little_data):
    leaks = LeakFilter(evaluation_sentences(DataTable.read(little_data)))
    return PairMaker(little_prepared.noise, little_prepared.vocabulary, leaks)


def test_made_pairs_are_the_same_for_a_seed(maker, little_data):
    one, again, other = (list(islice(maker.pairs(little_data / "corpus", seed), 300)) for seed in (0, 0, 1))
    assert one == again
    assert one != other


def test_made_pairs_have_errors_as_wang_s(maker, little_data):
    pairs = list(islice(maker.pairs(little_data / "corpus", 0), 6000))  # more than one pass over the text
    errors = np.array([sum(a != b for a, b in zip(*pair, strict=True)) for pair in pairs])
    assert errors.min() == 1
    assert errors.mean() == pytest.approx(1.41, abs=0.06)


def test_a_share_may_stay_clean(maker, little_data):
    maker.clean = 0.25
    pairs = list(islice(maker.pairs(little_data / "corpus", 0), 3000))
    assert np.mean([source == target for source, target in pairs]) == pytest.approx(0.25, abs=0.04)


def test_unknown_characters_survive_and_leaks_do_not(maker, tmp_path):
    secret = "这是一个只在考卷里出现的长句子"
    path = tmp_path / "text.txt"
    path.write_text(f"今天😀我们去学校看书。\n{secret}。\n今天的\t天气很好很好。\n", encoding="utf-8")
    maker.leaks = LeakFilter([secret])
    pairs = list(islice(maker.pairs(path, 0), 50))
    assert {target for _, target in pairs} == {"今天😀我们去学校看书。"}
    assert all(source[2] == "😀" for source, _ in pairs)


def test_text_without_sentences_is_an_input_error(maker, tmp_path):
    (tmp_path / "text.txt").write_text("abc\n\n123\n", encoding="utf-8")
    with pytest.raises(InputError, match="no sentence"):
        next(maker.pairs(tmp_path / "text.txt", 0))


@pytest.mark.usefixtures("few_words")
def test_preparing_again_leaves_nothing_of_before(little_data, little_prepared, tmp_path):
    out = tmp_path / "out"
    prepare(little_data, little_prepared.folder / "vocab.txt", out)
    Prepared(out).add_pairs("mined", Prepared(out).pairs("wang"))
    # Another vocabulary, read from the very file that is replaced, and no corpus this time.
    tokens = (out / "vocab.txt").read_text(encoding="utf-8").splitlines()
    (out / "vocab.txt").write_text("\n".join([*tokens[:5], *reversed(tokens[5:])]), encoding="utf-8")
    prepare(little_data, out / "vocab.txt", out, corpus=False)
    made = Prepared(out)
    with pytest.raises(InputError, match="no corpus text"):
        made.corpus()
    with pytest.raises(InputError, match="'mined'"):
        made.pairs("mined")


@pytest.mark.parametrize("content", [b"", b"no such file", "half"], ids=["empty", "other", "half"])
@pytest.mark.parametrize("name", ["pairs/wang.npz", "corpus-0.u16.xz", "noise.npz", "manifest.json"])
def test_damaged_arrays_are_input_errors(little_prepared, tmp_path, name, content):
    folder = tmp_path / "prepared"
    shutil.copytree(little_prepared.folder, folder)
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2] if content == "half" else content)

    def read_all():
        made = Prepared(folder)
        return made.pairs("wang"), made.corpus(), made.noise

    with pytest.raises(InputError, match="data prepare"):
        read_all()


def test_another_vocabulary_in_the_folder_is_noticed(little_prepared, tmp_path):
    folder = tmp_path / "prepared"
    shutil.copytree(little_prepared.folder, folder)
    with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("龘\n")
    with pytest.raises(InputError, match="not the one"):
        Prepared(folder)


def test_a_byte_order_mark_is_no_text(tmp_path):
    path = tmp_path / "windows.txt"
    path.write_bytes("\ufeff我们明天去。\r\n好的。\r\n".encode())
    assert list(read_lines(path)) == ["我们明天去。", "好的。"]
