"""The settings file: where it is found and what its patterns mean."""

from pathlib import Path

import pytest

from nmspeller.apps.documents.config import Config, _config_of_folder, config_for


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
        ("*.md", "x.txt", False),
        ("草稿*", "草稿一.txt", True),
    ],
)
def test_patterns(pattern, path, ignored):
    assert Config(folder=Path("/p"), ignore=(pattern,)).ignores(Path("/p", path)) is ignored
