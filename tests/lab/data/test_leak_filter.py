"""Evaluation sentences and their long clauses are found anywhere in a text; nothing else is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import assert_linear

from nmspeller.errors import InputError
from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.leak_filter import LeakFilter, evaluation_sentences
from nmspeller.lab.data.pairs import read_pairs, write_pairs

EVALUATION = [
    "昨天晚上我和弟弟一起去看电影，很好看。",
    "你好！",
    "我在Ｎｅｗ　Ｙｏｒｋ住了１２年，喜欢Washington。",
]
CLAUSE = "昨天晚上我和弟弟一起去看电影"


@pytest.mark.parametrize(
    "text",
    [
        EVALUATION[0],
        f"他说{CLAUSE}是最好的事",
        f"{CLAUSE}！",
        "昨天 晚上我和弟弟\u3000一起去看电影\n",
        "你好！",
        "听说我在new york住了12年了",
    ],
)
def test_leaks_are_found(text):
    assert LeakFilter(EVALUATION).leaks(text)


@pytest.mark.parametrize(
    "text", ["", "你好！你好！", CLAUSE[:-1], CLAUSE[1:], "我去过Washington。", "很好看。"]
)
def test_other_text_passes(text):
    assert not LeakFilter(EVALUATION).leaks(text)


def test_the_leaking_clause_is_returned():
    leak_filter = LeakFilter(EVALUATION)
    assert leak_filter.find(f"是{CLAUSE}吗") == CLAUSE
    assert leak_filter.find("好的。") is None


letters = st.text("天地人我你他，。", min_size=1, max_size=40)


@st.composite
def evaluation_and_training(draw):
    """Sentences, and a text that contains a piece of one."""
    evaluation = draw(st.lists(letters, min_size=1, max_size=5))
    sentence = draw(st.sampled_from(evaluation))
    start = draw(st.integers(0, len(sentence)))
    piece = sentence[start : draw(st.integers(start, len(sentence)))]
    return evaluation, draw(st.text("天地人日月", max_size=12)) + piece + draw(
        st.text("天地人日月", max_size=3)
    )


@settings(deadline=None)
@given(evaluation_and_training())
def test_a_plain_search_agrees(evaluation_and_training):
    evaluation, text = evaluation_and_training
    pieces = [piece for sentence in evaluation for piece in sentence.replace("。", "，").split("，")]
    expected = text in evaluation or any(len(piece) >= 10 and piece in text for piece in pieces)
    assert LeakFilter(evaluation).leaks(text) == expected


@pytest.mark.parametrize("before", range(12))
def test_a_clause_is_found_at_any_place(before):
    assert LeakFilter(["一二三四五六七八九十。"]).leaks("零" * before + "一二三四五六七八九十零")


def test_long_text_takes_linear_time():
    leak_filter = LeakFilter(EVALUATION)
    assert_linear(lambda count: leak_filter.leaks("春眠不觉晓处处闻啼鸟" * count), 20_000)


def test_a_set_that_is_added_is_in_the_filter(tmp_path):
    secret = "这一句只在新加的测试集里出现过"
    write_pairs(tmp_path / "mine.tsv", [(secret, secret)])
    assert not LeakFilter(evaluation_sentences(DataTable.read(tmp_path))).leaks(f"他说{secret}。")
    row = "mine: {files: [mine.tsv], role: test, licence: mine}\n"
    (tmp_path / "datasets.yaml").write_text(row, encoding="utf-8")
    assert LeakFilter(evaluation_sentences(DataTable.read(tmp_path))).leaks(f"他说{secret}。")


def test_the_evaluation_sets_themselves_leak_and_the_wang_slices_do_not():
    try:
        folder = data_folder()
    except InputError as absent:
        pytest.skip(str(absent))
    sentences = evaluation_sentences(DataTable.read(folder))
    leak_filter = LeakFilter(sentences)
    assert all(leak_filter.leaks(sentence) for sentence in sentences)
    wang = read_pairs(folder / "wang271k" / "slices_union.tsv")
    assert not any(leak_filter.leaks(side) for pair in wang[:3000] for side in pair)
