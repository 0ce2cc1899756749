"""The settings file: where it is found and what its patterns mean."""

from pathlib import Path

import pytest

from nmspeller.apps.project.config import Config, _config_of_folder, config_for
from nmspeller.errors import InputError


@pytest.fixture(autouse=True)
def _forget():
    _config_of_folder.cache_clear()
    yield
    _config_of_folder.cache_clear()


def test_the_nearest_file_counts(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".nmspeller.toml").write_text('level = "careful"')
    (tmp_path / "a" / ".nmspeller.toml").write_text('level = "thorough"\nwords = ["w.txt"]')
    assert config_for(tmp_path / "x.txt").level == "careful"
    nearest = config_for(tmp_path / "a" / "b" / "x.txt")
    assert nearest.level == "thorough"
    assert nearest.words == (tmp_path / "a" / "w.txt",)


@pytest.mark.parametrize(
    ("pattern", "path", "ignored"),
    [
        ("*.min.html", "deep/x.min.html", True),
        ("drafts/", "drafts/x.txt", True),
        ("drafts/", "deep/drafts/x.txt", True),
        ("drafts/", "drafts", False),
        ("drafts", "drafts", True),
        ("/drafts", "deep/drafts/x.txt", False),
        ("docs/*.md", "docs/x.md", True),
        ("docs/*.md", "other/docs/x.md", False),
        ("docs/*.md", "docs/sub/x.md", False),
        ("docs/*.md", "docs/sub.md/x.txt", True),
        ("docs/**/*.md", "docs/x.md", True),
        ("docs/**/*.md", "docs/a/b/x.md", True),
        ("docs/**", "docs/a/x.txt", True),
        ("docs/**", "docs", False),
        ("**/docs", "a/b/docs/x.txt", True),
        ("**/docs", "docs", True),
        ("/*.md", "x.md", True),
        ("/*.md", "docs/x.md", False),
        ("a/b/", "a/b/x.txt", True),
        ("a/b/", "a/b", False),
        ("?.md", "deep/x.md", True),
        ("[!a-c].md", "x.md", True),
        ("[^a-c].md", "b.md", False),
        (r"\*.md", "x.md", False),
        (r"\!x.md", "!x.md", True),
        ("!x.md", "x.md", False),
        ("", "x.md", False),
        ("*.md", "x.txt", False),
        ("草稿*", "草稿一.txt", True),
    ],
)
def test_patterns(pattern, path, ignored):
    assert Config(folder=Path("/p"), ignore=(pattern,)).ignores(Path("/p", path)) is ignored


@pytest.mark.parametrize(
    ("patterns", "path", "ignored"),
    [
        (["*.md", "!drafts/keep.md"], "drafts/keep.md", False),
        (["*.md", "!drafts/keep.md"], "drafts/other.md", True),
        (["!drafts/keep.md", "*.md"], "drafts/keep.md", True),
        (["drafts/", "!drafts/keep.md"], "drafts/keep.md", True),
        (["drafts/*", "!drafts/keep.md"], "drafts/keep.md", False),
        (["drafts/", "!drafts/"], "drafts/keep.md", False),
        (["drafts/**", "!drafts/keep.md"], "drafts/keep.md", False),
        (["# drafts", "", "*.md"], "drafts/keep.md", True),
    ],
)
def test_the_last_pattern_wins_outside_ignored_folders(patterns, path, ignored):
    assert Config(folder=Path("/p"), ignore=tuple(patterns)).ignores(Path("/p", path)) is ignored


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'level = "careful"\n# \xce\xd2', "is not UTF-8 (byte 20); save it as UTF-8."),
        (b"level = 2026-01-01", "level is 2026-01-01, but must be one of careful, balanced, thorough."),
        (b"level = 09:30:00", "level is 09:30:00, but must be one of careful, balanced, thorough."),
        (b"level = [true]", "level is [true], but must be one of careful, balanced, thorough."),
        (b'lang = "fr"', 'lang is "fr", but must be one of en, zh.'),
        (b"format = {a = 2026-01-01}", "2026-01-01 is not a format; there are auto, "),
        (b'ignore = ["*.md", "!"]', '"!" is not a pattern of .gitignore.'),
        (b'format = "word"', '"word" is not a format; there are auto, '),
    ],
)
def test_what_is_wrong_is_shown_as_it_was_written(tmp_path, content, complaint):
    (tmp_path / ".nmspeller.toml").write_bytes(content)
    with pytest.raises(InputError) as wrong:
        config_for(tmp_path / "a.txt")
    assert complaint in str(wrong.value)


def test_a_format_goes_by_the_first_pattern_that_fits():
    config = Config(folder=Path("/p"), formats=(("notes/*.txt", "markdown"), ("*.txt", "rst")))
    named = ("notes/x.txt", "notes/deep/x.txt", "notes/x.md")
    assert [config.format_of(Path("/p", name)) for name in named] == ["markdown", "rst", "auto"]


def test_the_way_up_and_down_again_does_not_pass_through_a_folder(tmp_path, monkeypatch):
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "mine" / ".nmspeller.toml").write_text('ignore = ["*"]')
    monkeypatch.chdir(tmp_path / "mine")
    assert config_for(Path("../other/x.txt")) == Config()
    assert not config_for(Path("x.txt")).ignores(Path("../other/x.txt"))
    assert config_for(Path("../mine/x.txt")).ignores(Path("../mine/x.txt"))
