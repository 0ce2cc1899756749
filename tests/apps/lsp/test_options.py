"""Where words come from and go to, without an editor."""

import os
from pathlib import Path

import pytest

from nmspeller.apps.lsp.options import DocumentPlace
from nmspeller.apps.lsp.settings import EditorSettings
from nmspeller.errors import InputError


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "project"
    root.mkdir()

    def make(**settings):
        return DocumentPlace(root / "a.txt", root, EditorSettings(**settings))

    return make


def words(place):
    options, warnings = place.options("plaintext")
    assert warnings == []
    return options.words


def test_a_new_word_makes_the_file(place):
    place().add_word("平果")
    assert (place().root / ".nmspeller-words.txt").read_text("utf-8") == "平果\n"
    assert words(place()) == ("平果",)


def test_a_word_is_added_once(place):
    place().add_word("平果")
    place().add_word("平果")
    assert words(place()) == ("平果",)


def test_the_file_of_the_settings_comes_first(place):
    (place().root / "lists").mkdir()
    place(words="lists/mine.txt").add_word("平果")
    assert (place().root / "lists" / "mine.txt").read_text("utf-8") == "平果\n"
    assert words(place(words="lists/mine.txt")) == ("平果",)
    assert words(place()) == ()


def test_a_file_with_other_line_ends_and_a_mark_stays_as_it_is(place):
    file = place().root / ".nmspeller-words.txt"
    file.write_bytes("\ufeff张三\r\n李四".encode())
    place().add_word("平果")
    assert file.read_bytes() == "\ufeff张三\r\n李四\n平果\n".encode()
    assert words(place()) == ("张三", "李四", "平果")


def test_what_the_model_has_read_is_worth_keeping_unless_model_or_level_change(place):
    before, _ = place().options("plaintext")
    place().add_word("头发")
    after, _ = place(rules=True).options("markdown")
    assert after != before
    assert (
        after.reading == before.reading
    )  # words, rules and format decide on the parts, not on their reading
    others = [place(level="careful"), place(model="m"), place(prefilter=True)]
    assert all(other.options("plaintext")[0].reading != before.reading for other in others)


@pytest.mark.parametrize("word", ["", "  ", "# 注", "一\n二", "一\u2028二", "\ud800"])
def test_what_is_no_word_is_rejected(place, word):
    with pytest.raises(InputError):
        place().add_word(word)
    assert not (place().root / ".nmspeller-words.txt").exists()


def test_a_file_that_cannot_be_written_is_named(place):
    with pytest.raises(InputError, match=r"mine\.txt"):
        place(words="no/such/folder/mine.txt").add_word("平果")


def test_a_name_that_is_too_long_for_a_file_costs_nothing_but_itself(place):
    place().add_word("平果")
    assert words(place(words="张三，" * 200)) == ("平果",)
    with pytest.raises(InputError, match="could not be added"):
        place(words="张三，" * 200).add_word("李四")


def test_a_file_that_cannot_be_read_costs_a_sentence(place):
    (place().root / ".nmspeller-words.txt").write_bytes("平果".encode("gb18030"))
    options, (warning,) = place().options("plaintext")
    assert options.words == ()
    assert ".nmspeller-words.txt" in warning
    (place().root / ".nmspeller-words.txt").write_text("平果", "utf-8")
    assert words(place()) == ("平果",)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_project_cannot_choose_a_file_outside_for_new_words(place):
    outside = place().root.parent / "precious.txt"
    outside.write_text("张三\n", "utf-8")
    (place().root / ".nmspeller.toml").write_text('words = ["../precious.txt"]', "utf-8")
    (place().root / ".nmspeller-words.txt").symlink_to(outside)
    with pytest.raises(InputError, match="Open a folder"):
        place().add_word("平果")
    assert outside.read_text("utf-8") == "张三\n"
    assert words(place()) == ("张三",)  # reading is another matter


def test_a_project_file_that_changes_counts_at_once(place):
    project = place().root / ".nmspeller.toml"
    for level in ("careful", "thorough"):
        project.write_text(f'level = "{level}"', "utf-8")
        assert place().options("plaintext")[0].level == level
    project.unlink()
    assert place().options("plaintext")[0].level is None


def test_an_unsaved_text_belongs_to_the_open_folder(place):
    (place().root / ".nmspeller.toml").write_text('level = "careful"', "utf-8")
    options, _ = DocumentPlace(None, place().root, EditorSettings()).options("markdown")
    assert (options.level, options.format) == ("careful", "markdown")
    options, _ = DocumentPlace(None, None, EditorSettings()).options("markdown")
    assert options.level is None


def test_a_model_is_found_from_the_open_folder_or_the_home_folder(place):
    assert place(model="m").options("text")[0].model == str(place().root / "m")
    assert place(model="~/m").options("text")[0].model == str(Path.home() / "m")


def test_the_editors_rules_win_over_the_projects(place):
    assert place().options("text")[0].rules == ("spelling",)
    (place().root / ".nmspeller.toml").write_text('rules = ["idiom"]', "utf-8")
    assert place().options("text")[0].rules == ("idiom",)
    assert place(rules=True).options("text")[0].rules is True
    assert place(rules=False).options("text")[0].rules is False
