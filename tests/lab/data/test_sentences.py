"""Sentences are read from lines and from pairs alike, and a bad file is named with its reason."""

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.data.sentences import read_sentences


def test_lines_and_sources_of_pairs(tmp_path):
    path = tmp_path / "texts"
    path.write_bytes("\ufeff 我门去 \r\n\n再家\t在家\n\t空\n甲\u2028乙".encode())
    assert read_sentences(path) == ["我门去", "再家", "甲\u2028乙"]


@pytest.mark.parametrize(
    ("content", "reason"), [(b"\n \n", "no text"), ("好\n".encode() + b"\xff", "line 2: byte 1 is not UTF-8")]
)
def test_a_file_without_text_is_an_error(tmp_path, content, reason):
    path = tmp_path / "texts"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"texts.*{reason}"):
        read_sentences(path)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match="absent cannot be read"):
        read_sentences(tmp_path / "absent")
