"""The user's file of words, which `review` and editors add to, and which every check reads."""

import pytest

from nmspeller.apps.project import config
from nmspeller.apps.project.my_words import WORDS_FILE, add_word, words_file
from nmspeller.errors import InputError


@pytest.fixture(autouse=True)
def fresh_settings():
    config.forget()
    yield
    config.forget()


def test_words_beside_the_document_are_correct(check, tmp_path):
    (tmp_path / "a.txt").write_text("我门去公圆。")
    assert check("a.txt").out.count("→") == 2
    add_word(tmp_path / WORDS_FILE, "我门")
    assert check("a.txt").out == "a.txt:1:5: 圆 → 园 (same sound, 0.91)\n"


def test_words_beside_the_settings_are_correct_in_the_whole_project(check, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("我门去公圆。天汽好。")
    (tmp_path / "names.txt").write_text("天汽\n")
    (tmp_path / ".nmspeller.toml").write_text('words = ["names.txt"]\n')
    add_word(tmp_path / WORDS_FILE, "我门")
    add_word(tmp_path / "docs" / WORDS_FILE, "公圆")  # settings say where the project's words are
    assert check("docs").out == "docs/a.txt:1:5: 圆 → 园 (same sound, 0.91)\n"


def test_where_new_words_go(tmp_path):
    document = tmp_path / "docs" / "a.txt"
    document.parent.mkdir()

    def place(*asked):
        config.forget()
        return words_file(document, config.config_for(document), asked)

    assert place() == tmp_path / "docs" / WORDS_FILE
    (tmp_path / ".nmspeller.toml").write_text("")
    assert place() == tmp_path / WORDS_FILE
    (tmp_path / ".nmspeller.toml").write_text('words = ["names.txt", "other.txt"]\n')
    assert place() == tmp_path / "names.txt"
    assert place(tmp_path / "mine.txt") == tmp_path / "mine.txt"
    # A project from elsewhere must not choose a file of the user's.
    (tmp_path / ".nmspeller.toml").write_text('words = ["../outside.txt"]\n')
    assert place() == tmp_path / WORDS_FILE
    (tmp_path / WORDS_FILE).symlink_to(tmp_path.parent / "outside.txt")
    with pytest.raises(InputError, match="points outside its folder"):
        place()


def test_a_word_is_added_once_on_a_line_of_its_own(tmp_path):
    file = tmp_path / WORDS_FILE
    file.write_text("天汽")
    for word in ("我门", " 我门 ", "天汽", "公圆"):
        add_word(file, word)
    assert file.read_text() == "天汽\n我门\n公圆\n"
    for word in ("", "  ", "#我门", "我\n门"):
        with pytest.raises(InputError, match="cannot be a line"):
            add_word(file, word)
