import pickle
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nmspeller import InputError, Speller
from nmspeller.runtime.checker import open_checker
from nmspeller.runtime.correction import Correction, apply_edits
from nmspeller.runtime.findings import Reason
from nmspeller.text.hanzi import is_hanzi
from nmspeller.text.protect import protected_spans

CHARACTERS = "我们门去外国可以认识很多的人就借介少绍地得在再他她它对不起气，。！？abc123"
SENTENCES = [
    "我门去外国可以认识很多的人。",
    "他在国外得人很少，可以借少？",
    "对不气",
    "我们abc再123去！",
    "的地得" * 9,
]

anything = st.text(st.characters(exclude_categories=()), max_size=60)
chinese = st.text(CHARACTERS + "\n 😀`#", max_size=90)


def test_the_tiny_speller_does_propose_edits(eager: Speller) -> None:
    assert sum(len(each.edits) for each in eager.check_many(SENTENCES)) > 5


@settings(deadline=None, max_examples=60)
@given(text=anything | chinese)
@example(text="㐀们们㐀")
def test_edits_are_inside_in_order_disjoint_and_give_the_text(eager: Speller, text: str) -> None:
    result = eager.check(text)
    assert result.source == text
    assert result.text == apply_edits(text, result.edits)
    end = 0
    for edit in result.edits:
        assert end <= edit.offset < edit.offset + edit.length <= len(text)
        assert edit.source == text[edit.offset : edit.offset + edit.length] != edit.target
        assert edit.target not in edit.alternatives
        assert all(map(is_hanzi, edit.source + edit.target))
        assert 0 < edit.probability <= 1
        end = edit.offset + edit.length
    changed = sum(len(edit.target) - edit.length for edit in result.edits)  # a rule may delete: 㐀们们㐀
    assert len(result.text) == len(text) + changed


@settings(deadline=None, max_examples=25)
@given(texts=st.lists(chinese, max_size=12))
def test_many_at_once_are_as_one_by_one(eager: Speller, texts: list[str]) -> None:
    together = eager.check_many(texts)
    for text, result in zip(texts, together, strict=True):
        alone = eager.check(text)
        assert [(e.offset, e.target, e.reason) for e in alone.edits] == [
            (e.offset, e.target, e.reason) for e in result.edits
        ]
        assert alone.text == result.text


@settings(deadline=None, max_examples=40)
@given(text=chinese, words=st.lists(st.text(CHARACTERS, min_size=1, max_size=3), max_size=3))
def test_what_is_protected_stays(eager: Speller, text: str, words: list[str]) -> None:
    result = eager.check(text, words=words)
    touched = {place for edit in result.edits for place in range(edit.offset, edit.offset + edit.length)}
    for span in protected_spans(text):
        assert touched.isdisjoint(range(span.start, span.stop))
    for word in words:
        place = text.find(word)
        while place >= 0:
            assert touched.isdisjoint(range(place, place + len(word)))
            place = text.find(word, place + 1)


def test_a_call_takes_words_of_the_kinds_that_a_speller_takes(eager: Speller, tmp_path: Path) -> None:
    sentence = SENTENCES[0]
    assert eager.check(sentence).edits
    file = tmp_path / "words.txt"
    file.write_text(f"# names\n{sentence}\n", "utf-8")
    for words in (file, [file], ["李雷", file], [sentence], iter([sentence])):
        assert eager.check(sentence, words=words).edits == ()
    assert all(not each.edits for each in eager.check_many([sentence] * 2, words=file))
    file.write_text("", "utf-8")
    assert eager.check(sentence, words=file) == eager.check(sentence)


def test_a_call_takes_replacements_that_go_before_those_of_the_speller(
    model_folder: Path, tmp_path: Path
) -> None:
    speller = Speller(model_folder, replacements={"abc": "甲", "123": "乙"}, threads=1)
    file = tmp_path / "replacements.tsv"
    file.write_text("abc\t丙\n", "utf-8")
    for replacements in (file, [file], {"abc": "丙"}, [{"abc": "丁"}, file]):
        assert _replaced(speller.check("abc123", replacements=replacements)) == ["丙", "乙"]
        both = speller.check_many(["abc", "123"], replacements=replacements)
        assert [_replaced(each) for each in both] == [["丙"], ["乙"]]
    for nothing in (None, {}, []):
        assert _replaced(speller.check("abc123", replacements=nothing)) == ["甲", "乙"]


def _replaced(result: Correction) -> list[str]:
    return [edit.target for edit in result.edits if edit.reason is Reason.USER_LIST]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"words": 5}, "a word must be a string, not 5."),
        ({"words": "我们"}, "give a file as a Path and words as a list; a plain string could mean either."),
        ({"replacements": 5}, "replacements must be a mapping, or a file as a Path, not 5."),
        (
            {"replacements": ["我们"]},
            "replacements must be a mapping, or a file as a Path, not '我们'.",
        ),
        (
            {"replacements": "house-style.tsv"},
            "replacements must be a mapping, or a file as a Path, not 'house-style.tsv'.",
        ),
        (
            {"words": "我们".encode()},
            "give a file as a Path and words as a list; a plain string could mean either.",
        ),
        (
            {"words": Path("absent.txt")},
            "cannot read absent.txt (No such file or directory); check the path.",
        ),
        (
            {"replacements": Path("absent.txt")},
            "cannot read absent.txt (No such file or directory); check the path.",
        ),
    ],
)
def test_wrong_words_and_replacements_are_the_same_error_everywhere(
    model_folder: Path, eager: Speller, given: dict[str, Any], sentence: str
) -> None:
    calls: list[Callable[..., object]] = [
        partial(Speller, model_folder, threads=1),
        partial(eager.check, "我门"),
        partial(eager.check_many, ["我门"]),
    ]
    for call in calls:
        with pytest.raises(InputError) as error:
            call(**given)
        assert str(error.value) == sentence


def test_empty_and_nothing(eager: Speller) -> None:
    assert eager.check("").edits == ()
    assert eager.check_many([]) == []
    assert eager.check_many(["", "", ""])[2].text == ""


def test_a_lone_surrogate_passes_through(eager: Speller) -> None:
    assert eager.correct("\ud800我\udfff")[0] == "\ud800"


def test_neighbours_are_one_edit(eager: Speller) -> None:
    for result in eager.check_many(SENTENCES):
        for left, right in zip(result.edits, result.edits[1:], strict=False):
            if left.offset + left.length == right.offset:
                assert Reason.DE in (left.reason, right.reason)


def test_a_long_text_is_read_like_its_lines(eager: Speller) -> None:
    lines = [sentence[:38] for sentence in SENTENCES] * 300
    whole = eager.check("\n".join(lines))
    assert whole.text.split("\n") == [eager.correct(line) for line in lines[:5]] * 300


def test_threads_share_a_speller(eager: Speller) -> None:
    expected = [eager.correct(sentence) for sentence in SENTENCES]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(eager.correct, SENTENCES * 20))
    assert answers == expected * 20


def test_a_pickled_speller_loads_the_model_again(model_folder: Path) -> None:
    speller = Speller(model_folder, level="careful", words=["我门"], replacements={"abc": "甲"}, threads=1)
    stored = pickle.dumps(speller)
    assert len(stored) < 2000
    again = pickle.loads(stored)
    assert again.check_many(SENTENCES) == speller.check_many(SENTENCES)
    assert again.model_hash == speller.model_hash


def test_the_hash_follows_the_policy(model_folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(model_folder, tmp_path / "other")
    policy = (other / "policy.json").read_text("utf-8")
    (other / "policy.json").write_text(policy.replace('"passes": 2', '"passes": 1'), "utf-8")
    one, another = (Speller(folder, threads=1) for folder in (other, model_folder))
    assert one.model_hash != another.model_hash


def test_traditional_text_stays_traditional(eager: Speller) -> None:
    text = "我們去外國可以認識很多的人。"
    result = eager.check(text)
    simplified_only = set("们国认识")
    assert not simplified_only & set(result.text)
    assert len(result.text) == len(text)


def test_an_unknown_level(model_folder: Path, eager: Speller) -> None:
    with pytest.raises(InputError, match="careful, balanced, thorough"):
        Speller(model_folder, level="brave")
    with pytest.raises(InputError, match="brave"):
        eager.check("我", level="brave")


@pytest.mark.parametrize("text", [None, b"\xe6\x88\x91", 1, float("nan"), ["我"]])
def test_what_is_no_text_is_rejected(eager: Speller, text: Any) -> None:
    with pytest.raises(InputError, match=f"a text must be a string, not {type(text).__name__}"):
        eager.check_many(["我门", text])


@pytest.mark.parametrize("texts", [None, 3, "我门", "我门".encode()])
def test_many_texts_are_given_as_a_list(eager: Speller, texts: Any) -> None:
    with pytest.raises(InputError, match="give texts as a list of texts"):
        eager.check_many(texts)


@pytest.mark.parametrize("rules", [3, "idiom", b"idiom"])
def test_rules_are_given_as_a_list(model_folder: Path, eager: Speller, rules: Any) -> None:
    for call in (partial(Speller, model_folder), partial(eager.check, "我门")):
        with pytest.raises(InputError, match=f"a list of their ids, not as {rules!r}"):
            call(rules=rules)


@pytest.mark.parametrize("model", [3, b"model", "model\0"])
def test_a_model_is_a_path(model: Any) -> None:
    with pytest.raises(InputError, match="give a path as a string or a Path, not"):
        Speller(model)


@pytest.mark.parametrize("threads", [0, -1, "2", 1.5])
def test_what_is_no_number_of_threads_is_rejected(model_folder: Path, threads: Any) -> None:
    with pytest.raises(InputError, match=f"threads must be a whole number above 0, not {threads!r}"):
        Speller(model_folder, threads=threads)


def test_there_are_no_more_threads_than_can_work(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("nmspeller.runtime.checker.Pipeline", lambda *_, threads, **__: asked.append(threads))
    monkeypatch.setattr("nmspeller.runtime.checker.cores", lambda: 4)
    for threads in (None, 3, 100_000):
        open_checker(threads=threads)
    assert asked == [None, 3, 64]


@pytest.mark.parametrize("missing", ["model.onnx", "vocab.txt", "policy.json"])
def test_a_folder_that_lacks_a_file(model_folder: Path, tmp_path: Path, missing: str) -> None:
    broken = shutil.copytree(model_folder, tmp_path / "broken")
    (broken / missing).unlink()
    with pytest.raises(InputError, match=missing):
        Speller(broken)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_model(model_folder: Path, tmp_path: Path, share: float) -> None:
    broken = shutil.copytree(model_folder, tmp_path / "broken")
    content = (broken / "model.onnx").read_bytes()
    (broken / "model.onnx").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=r"model\.onnx"):
        Speller(broken)


def test_a_model_of_another_vocabulary(model_folder: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(model_folder, tmp_path / "broken")
    with (broken / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("龘\n")
    with pytest.raises(InputError, match=r"vocab\.txt"):
        Speller(broken)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": "another"}', '{"format": "nmspeller policy 2"}', "[" * 100_000],
)
def test_a_policy_that_is_none(model_folder: Path, tmp_path: Path, content: str) -> None:
    broken = shutil.copytree(model_folder, tmp_path / "broken")
    (broken / "policy.json").write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"policy\.json"):
        Speller(broken)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"window": 40', '"window": 0'),
        ('"window": 40', '"window": Infinity'),
        ('"passes": 2', '"passes": 0'),
        ('"explained": 0.002', '"explained": null'),
        ('"unexplained": 0.002', '"unexplained": "0.9"'),
    ],
)
def test_a_policy_with_a_wrong_number(model_folder: Path, tmp_path: Path, right: str, wrong: str) -> None:
    broken = shutil.copytree(model_folder, tmp_path / "broken")
    policy = (broken / "policy.json").read_text("utf-8")
    assert right in policy
    (broken / "policy.json").write_text(policy.replace(right, wrong), "utf-8")
    with pytest.raises(InputError, match=r"policy\.json"):
        Speller(broken)


def test_windows_longer_than_the_model_reads(model_folder: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(model_folder, tmp_path / "broken")
    policy = (broken / "policy.json").read_text("utf-8")
    (broken / "policy.json").write_text(policy.replace('"window": 40', '"window": 63'), "utf-8")
    with pytest.raises(InputError, match="62 characters"):
        Speller(broken)
