import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmspeller import InputError, Speller
from nmspeller.runtime.analysis import Analyzer
from nmspeller.runtime.dictionary import (
    Replacements,
    ReplacementSources,
    read_replacements,
    read_words,
    word_sources,
)
from nmspeller.runtime.findings import Reason
from nmspeller.text.protect import ProtectedWords

TEXT = "我门去外国可以认识很多的人。"


def edited(speller: Speller, text: str = TEXT) -> set[int]:
    return {
        place for edit in speller.check(text).edits for place in range(edit.offset, edit.offset + edit.length)
    }


def test_a_word_file_is_read_again_when_it_changes(model_folder: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("# nothing yet\n", "utf-8")
    speller = Speller(model_folder, words=words, threads=1)
    before = edited(speller)
    assert before & set(range(0, 8))
    words.write_text("我门去外国可以认\n", "utf-8")
    os.utime(words, ns=(time.time_ns(), time.time_ns() + 1))
    assert not edited(speller) & set(range(0, 8))
    words.write_text("", "utf-8")
    assert edited(speller) == before


def test_a_file_that_changed_behind_its_time_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("张林\n", "utf-8")
    [_, words], status = word_sources(path), path.stat()
    path.write_text("李雷\n", "utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert words.current().words == ("李雷",)


def test_words_and_several_files_of_words_go_together(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).write_text(name + "\n", "utf-8")
    sources = word_sources([tmp_path / "first", "given", tmp_path / "second"])
    assert [source.current().words for source in sources] == [("given",), ("first",), ("second",)]


def test_replacements_and_several_files_of_them_go_together(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).write_text(f"帐号\t{name}\n{name}\t甲\n", "utf-8")
    sources = ReplacementSources([tmp_path / "first", {"登陆": "登录"}, tmp_path / "second"])
    assert sources.current().find("登陆帐号first") == [(0, 2, "登录"), (2, 4, "second"), (4, 9, "甲")]


def test_while_a_file_cannot_be_read_what_it_held_is_in_force(model_folder: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text(TEXT + "\n", "utf-8")
    speller = Speller(model_folder, words=words, threads=1)
    words.unlink()
    assert not edited(speller)
    words.write_bytes("我".encode()[:2])
    assert not edited(speller)
    words.write_text("", "utf-8")
    assert edited(speller)


def test_a_replacement_file_is_read_again_when_it_changes(model_folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "replacements.tsv"
    table.write_text("外国\t国外\n", "utf-8")
    speller = Speller(model_folder, replacements=table, threads=1)
    assert "国外" in speller.correct(TEXT)
    table.write_text("外国\t海外各国\n", "utf-8")
    result = speller.check(TEXT)
    (edit,) = [edit for edit in result.edits if edit.reason is Reason.USER_LIST]
    assert (edit.offset, edit.length, edit.source, edit.target) == (3, 2, "外国", "海外各国")
    assert edit.probability == 1.0
    assert "海外各国" in result.text


def test_a_hundred_thousand_words(model_folder: Path, eager: Speller) -> None:
    listed = [
        chr(0x4E00 + number % 20000) + chr(0x4E00 + number // 20000) + "甲" for number in range(100_000)
    ]
    speller = Speller(model_folder, words=[*listed, TEXT], threads=1)
    assert edited(eager)
    assert not edited(speller)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_do_anywhere(tmp_path: Path, line_end: str) -> None:
    words = tmp_path / "words.txt"
    words.write_bytes(line_end.join(("张林", "# names", "李雷")).encode())
    assert read_words(words) == ["张林", "李雷"]
    table = tmp_path / "table.tsv"
    table.write_bytes(line_end.join(("登陆\t登录", "的的\t", "")).encode())
    assert read_replacements(table) == {"登陆": "登录", "的的": ""}


def test_blanks_around_a_word_are_no_part_of_it(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("张林\t\n\u3000李雷\u3000\n\t\n\t# names\n王 五\xa0\r\n", "utf-8")
    assert read_words(words) == ["张林", "李雷", "王 五"]
    (given,) = word_sources(["张林\n", " 李雷"])
    assert given.current().words == ("张林", "李雷")


def test_a_replacement_may_be_empty_and_keeps_its_wide_blanks(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("的的\t\n\u3000\u3000\t\u3000\n", "utf-8")
    assert read_replacements(table) == {"的的": "", "\u3000\u3000": "\u3000"}


@pytest.mark.parametrize("line", ["登陆 登录", "\t登录", "登陆\t登录\t。"])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    table = tmp_path / "table.tsv"
    table.write_text(f"甲\t乙\n{line}\n", "utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_replacements(table)


def test_files_that_cannot_be_read(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        Speller(model_folder, words=tmp_path / "absent.txt")
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        Speller(model_folder, words=binary)
    with pytest.raises(InputError, match="replace"):
        Speller(model_folder, replacements={"": "甲"})


def test_a_replacement_is_made_where_a_longer_one_began() -> None:
    table = Replacements({"帐号": "账号", "登陆帐号密码": "登录账号密码"})
    assert table.find("请登陆帐号") == [(3, 5, "账号")]
    assert table.find("请登陆帐号密码") == [(1, 7, "登录账号密码")]


@given(
    st.lists(st.text("甲乙", min_size=1, max_size=4), min_size=1, max_size=5, unique=True),
    st.text("甲乙丙", max_size=12),
)
def test_the_first_of_the_longest_is_replaced(wrong: list[str], text: str) -> None:
    expected, start = [], 0
    while start < len(text):
        fitting = max((len(each) for each in wrong if text.startswith(each, start)), default=0)
        if fitting:
            expected.append((start, start + fitting))
        start += fitting or 1
    assert [each[:2] for each in Replacements(dict.fromkeys(wrong, "")).find(text)] == expected


@pytest.mark.parametrize(
    ("text", "word"),
    [("他們高心著說話。", "高心着"), ("陳乾以經決定了。", "陈乾以经"), ("我門說話。", "我门")],
)
def test_a_simplified_word_protects_its_traditional_form(text: str, word: str) -> None:
    (part,) = Analyzer(126, words=[ProtectedWords([word])]).analyze([text]).parts
    covered = {place for start, stop in part.locked for place in range(start, stop)}
    start = 2 if word == "高心着" else 0
    assert covered == set(range(start, start + len(word)))


@pytest.mark.parametrize("read", [read_words, read_replacements])
def test_a_name_that_no_file_can_have_is_rejected(read: Callable[[Path], object]) -> None:
    with pytest.raises(InputError, match="check the path"):
        read(Path("a\0b"))


@pytest.mark.parametrize("word", [5, b"\xe6\x88\x91", ("我门",)])
def test_what_is_no_string_is_rejected_at_once(word: Any) -> None:
    with pytest.raises(InputError, match="string"):
        word_sources(["我门", word])
    with pytest.raises(InputError, match="string"):
        ReplacementSources({word: "我们"})
    with pytest.raises(InputError, match="'我门' must be replaced by a string"):
        ReplacementSources({"我门": word})


@pytest.mark.parametrize("word", [None, 5, b"word"])
def test_what_is_no_word_is_rejected(model_folder: Path, eager: Speller, word: Any) -> None:
    sentence = rf"^a word must be a string, not {word!r}\.$"
    with pytest.raises(InputError, match=sentence):
        Speller(model_folder, words=["李雷", word], threads=1)
    with pytest.raises(InputError, match=sentence):
        eager.check("我门", words=["李雷", word])
    with pytest.raises(InputError, match=sentence):
        eager.check_many(["我门"], words=[word])


@pytest.mark.parametrize("wrong", [None, 0, 5, b"wrong"])
def test_only_a_text_can_be_replaced(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"a word must be a string, not "):
        Replacements({wrong: "right"})


@pytest.mark.parametrize("given", [None, 5, ("我门", "我们")])
def test_what_is_no_mapping_has_no_replacements(model_folder: Path, given: Any) -> None:
    with pytest.raises(InputError, match=r"^replacements must be a mapping, or a file as a Path, not "):
        Speller(model_folder, replacements=[given], threads=1)
