"""What `import nmspeller` offers, and what it costs."""

import subprocess
import sys

import docx
import pytest

import nmspeller
from nmspeller import InputError, Level, Reason, Speller, check_file
from nmspeller.messages import speaking


@pytest.fixture(scope="module")
def speller():
    return Speller(threads=1)


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import nmspeller", ("numpy", "onnxruntime")),
        ("import nmspeller.runtime", ("numpy", "onnxruntime", "nmspeller.runtime.speller")),
        ("from nmspeller import Level, Reason, Edit, Hint, Correction, InputError", ("onnxruntime",)),
        ("from nmspeller import Speller", ("onnxruntime", "torch", "docx")),
    ],
)
def test_what_is_not_used_is_not_loaded(statement, absent):
    program = (
        f"import sys\n{statement}\nloaded = set({absent!r}) & set(sys.modules)\nassert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_name_is_there():
    assert {*nmspeller.__all__} <= {*dir(nmspeller)}
    for name in nmspeller.__all__:
        assert getattr(nmspeller, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'spellchecker'"):
        _ = nmspeller.spellchecker


def shown(correction):
    return [(edit.source, edit.target) for edit in correction.edits]


def test_a_file_is_checked_in_its_own_format_and_stays_as_it_is(tmp_path, speller):
    file = tmp_path / "letter.md"
    text = "# 信\n\n`我门`：昨天**我门**去公园玩。\n"
    file.write_text(text, "utf-8")
    result = check_file(file, speller)
    assert shown(result) == [("门", "们")]
    assert (result.source, result.text) == (text, text.replace("**我门**", "**我们**"))
    assert text[result.edits[0].offset] == "门"
    assert file.read_text("utf-8") == text
    assert check_file(str(file)) == result  # the shipped model


def test_encoding_and_format_are_found_or_given(tmp_path, speller):
    file = tmp_path / "letter.md"
    file.write_bytes("昨天我门去公园玩，`我门`很高兴。".encode("gb18030"))
    assert len(check_file(file, speller).edits) == 1
    assert check_file(file, speller, format="text", encoding="gb18030").source.startswith("昨天我门")
    with pytest.raises(InputError, match=r"letter\.md"):
        check_file(file, speller, encoding="utf-8")


def test_a_word_file_is_the_text_of_its_paragraphs(tmp_path, speller):
    letter = docx.Document()
    for paragraph in ("今天天气很好。", "昨天我门去公园玩。"):
        letter.add_paragraph(paragraph)
    letter.save(tmp_path / "letter.docx")
    result = check_file(tmp_path / "letter.docx", speller)
    assert shown(result) == [("门", "们")]
    assert "今天天气很好。" in result.source
    assert "昨天我们去公园玩。" in result.text


def test_the_level_and_the_rules_are_those_that_were_asked_for(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("他来了。。", "utf-8")
    speller = Speller(threads=1, rules=["doubled_punctuation"])
    for level in ("careful", Level.CAREFUL, None):
        assert shown(check_file(file, speller, level=level)) == [("。。", "。")]
    with pytest.raises(InputError, match="perfect"):
        check_file(file, speller, level="perfect")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"encoding": "latin-1"}, "auto, utf-8, gb18030, big5, utf-16"),
        ({"encoding": 3}, "auto, utf-8"),
        # Pygments knows these as languages, in whose comments alone errors would be found.
        *(({"format": name}, f"no format {name!r}; choose one of auto, text,") for name in ("md", "TEXT")),
        ({"format": None}, "there is no format None"),
        ({"format": ["text"]}, "there is no format"),
        ({"speller": "balanced"}, "give a Speller, not 'balanced'"),
    ],
)
def test_what_cannot_be_meant_is_answered_by_one_sentence(tmp_path, given, said):
    file = tmp_path / "a.txt"
    file.write_text("今天天气很好。", "utf-8")
    with pytest.raises(InputError, match=said):
        check_file(file, **given)


def test_a_file_that_cannot_be_read_is_named(tmp_path, speller):
    with pytest.raises(InputError, match=r"nowhere\.txt"):
        check_file(tmp_path / "nowhere.txt", speller)
    with pytest.raises(InputError, match="cannot be read"):
        check_file("\ud800.txt", speller)


def test_an_edit_is_explained_in_the_present_language(speller):
    result = speller.check("我门去公园玩。")
    (edit,) = result.edits
    assert result.explain(edit) == "门 mén and 们 men sound the same and look similar; 我们 is a word."
    with speaking("zh"):
        assert result.explain(edit) == "“门”（mén）与“们”（men）同音且形近；“我们”是一个词。"


def test_a_reason_and_a_level_are_printed_as_what_identifies_them():
    assert (str(Reason.SAME_SOUND), f"{Reason.SAME_SOUND}") == ("same_sound", "same_sound")
    assert (str(Level.CAREFUL), f"{Level.CAREFUL}") == ("careful", "careful")


def test_edits_of_a_file_are_explained_from_its_text(tmp_path, speller):
    file = tmp_path / "a.html"
    file.write_text("<p>昨天<b>我门</b>去公园玩。</p>", "utf-8")
    result = check_file(file, speller)
    assert [result.explain(edit).rpartition("; ")[2] for edit in result.edits] == ["我们 is a word."]


@pytest.mark.parametrize("path", [None, 3, b"letter.txt", "letter\0.txt"])
def test_a_file_to_check_is_a_path(path):
    with pytest.raises(InputError, match="give a path as a string or a Path, not"):
        check_file(path)
