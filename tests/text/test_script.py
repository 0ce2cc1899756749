import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.strategies import texts

from nmspeller.text import script
from nmspeller.text.script import Script, detect, is_traditional, simplify


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("我们说汉语", Script.SIMPLIFIED),
        ("我們說漢語", Script.TRADITIONAL),
        ("天地大水", Script.NEUTRAL),
        ("皇后的里面", Script.NEUTRAL),
        ("", Script.NEUTRAL),
        ("abc 123 😀\ud800", Script.NEUTRAL),
        ("我們說汉语的時候", Script.TRADITIONAL),
        ("我们说漢语的时候", Script.SIMPLIFIED),
    ],
)
def test_detect(text: str, script: Script) -> None:
    assert detect(text) is script


def test_traditional_sentences_are_lent_a_simplified_face() -> None:
    text = "我們說漢語。我们说汉语，寫著。"
    simplified = simplify(text)
    assert simplified.text == "我们说汉语。我们说汉语，写著。"
    assert simplified.source == text


def test_phrases_are_converted_as_opencc_does() -> None:
    assert simplify("乾隆曬乾頭髮。").text == "乾隆晒干头发。"


@pytest.mark.parametrize(
    ("text", "index", "target", "expected"),
    [
        ("他的頭發很長。", 3, "发", "發"),  # 发 is already there: nothing changes.
        ("他的頭法很長。", 3, "发", "髮"),
        ("我們法現問題。", 2, "发", "發"),
        ("我們在這裹見面。", 4, "里", "裡"),
        ("我們說漢雨。", 4, "语", "語"),
        ("我们说汉雨。", 4, "语", "语"),
        ("天地大谁。", 3, "水", "水"),
    ],
)
def test_a_replacement_is_in_the_script_of_its_sentence(
    text: str, index: int, target: str, expected: str
) -> None:
    assert simplify(text).to_source_script(index, target) == expected


def test_each_sentence_has_its_own_script() -> None:
    simplified = simplify("我們說漢雨。我们说汉雨。")
    assert simplified.to_source_script(4, "语") == "語"
    assert simplified.to_source_script(10, "语") == "语"


def test_a_sentence_that_could_be_of_either_script_has_that_of_its_line() -> None:
    simplified = simplify("老師說：「你好！」我很高心。\n我们说。\n我很高心。他们说。")
    assert simplified.to_source_script(12, "兴") == "興"
    assert simplified.to_source_script(23, "兴") == "兴"


@pytest.mark.parametrize(("rest", "target"), [("老師說好。", "興"), ("老师说好。", "兴"), ("你好。", "兴")])
def test_a_line_that_could_be_of_either_script_has_that_of_the_text(rest: str, target: str) -> None:
    simplified = simplify(f"我很高心。\n{rest}")
    assert simplified.text[:6] == "我很高心。\n"
    assert simplified.to_source_script(3, "兴") == target


@pytest.mark.parametrize(
    ("document_script", "target"),
    [(Script.TRADITIONAL, "興"), (Script.SIMPLIFIED, "兴"), (Script.NEUTRAL, "兴")],
)
def test_a_text_that_could_be_of_either_script_has_that_of_the_document(
    document_script: Script, target: str
) -> None:
    simplified = simplify("我很高心。", document_script)
    assert simplified.text == "我很高心。"
    assert simplified.to_source_script(3, "兴") == target


def test_other_replacements_decide_too() -> None:
    simplified = simplify("她的投法很長。")
    assert simplified.to_source_script(3, "发") == "發"
    assert simplified.to_source_script(3, "发", "她的头发很长。") == "髮"


def test_a_lone_surrogate_stays_in_its_place() -> None:
    simplified = simplify("我們\ud800說。我們說。")
    assert simplified.text == "我们\ud800说。我们说。"
    assert simplified.to_source_script(3, "话") == "話"


@pytest.mark.parametrize("odd", ["\0", "\ud800", "\0\ud800"], ids=["NUL", "surrogate", "both"])
def test_what_opencc_cannot_read_hides_no_neighbours(odd: str) -> None:
    simplified = simplify(f"{odd}她的頭法很長。")
    assert simplified.text == f"{odd}她的头法很长。"
    assert simplified.to_source_script(len(odd) + 3, "发") == "髮"


def test_only_the_neighbours_are_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    simplified = simplify("我們說漢雨，" * 500)
    monkeypatch.setattr(script, "_convert", lambda text, converter: read.append(text) or text)
    simplified.to_source_script(1504, "语")
    assert max(map(len, read)) < 50


def test_simplified_text_never_loads_opencc() -> None:
    code = (
        "import sys; from nmspeller.text.script import simplify; "
        "assert simplify('我们说汉语').text == '我们说汉语'; assert 'opencc' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@given(texts)
def test_simplified_and_neutral_text_is_untouched(text: str) -> None:
    simplified = simplify(text)
    assert len(simplified.text) == len(text)
    if detect(text) is not Script.TRADITIONAL and not simplified.converted:
        assert simplified.source == text
        changed = [old for old, new in zip(text, simplified.text, strict=True) if old != new]
        assert all(map(is_traditional, changed))


traditional = st.text("我們說漢語這裡頭髮發現乾燥著於。\n，a\ud800", min_size=1)


@given(traditional, st.data())
def test_the_faces_agree_character_by_character(text: str, data: st.DataObject) -> None:
    simplified = simplify(text)
    assert len(simplified.text) == len(text)
    index = data.draw(st.integers(0, len(text) - 1))
    assert simplified.to_source_script(index, simplified.text[index]) == text[index]
    assert len(simplified.to_source_script(index, "发")) == 1
