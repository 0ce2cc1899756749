"""Damaged documents of every format are corrected or refused, in bounded time and memory.

NMSPELLER_DAMAGED_DOCUMENTS sets how many of each format are tried. Where there is a real file of the format,
every second document is a damaged copy of it.
"""

import os
import subprocess
from pathlib import Path

import pytest
from random_documents import FORMATS
from real_files import WRITTEN_BY_LIBREOFFICE, real_files
from tests.forking import starting

EXAMPLES = os.environ.get("NMSPELLER_DAMAGED_DOCUMENTS", "100")


@pytest.fixture(scope="module")
def mutations():
    """The command of the program that damages documents."""
    with starting(
        Path(__file__).with_name("mutations.py"), {**os.environ, "PYTHONWARNINGS": "ignore"}
    ) as command:
        yield command


@pytest.mark.parametrize("format", FORMATS)
def test_a_damaged_document_is_corrected_or_refused(mutations, format):
    file = [str(real_files()[format])] if format in real_files() else []
    command = [*mutations, format, EXAMPLES, "0", *file]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600 + int(EXAMPLES), check=False)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-5000:]


def test_files_that_another_program_wrote_are_found_in_their_place(tmp_path):
    office = ("docx", "odt", "odp", "pptx", "epub", "html")
    assert {real_files()[format].parent for format in office} == {WRITTEN_BY_LIBREOFFICE}
    (tmp_path / "empty.rst").touch()
    (tmp_path / "real.rst").write_text("A line.\n" * 50)
    assert real_files(tmp_path) == {"rst": tmp_path / "real.rst"}
