"""Damaged documents of every format are corrected or refused, in bounded time and memory.

NMSPELLER_DAMAGED_DOCUMENTS sets how many of each format are tried. Where `real` has a file of the format,
which LibreOffice wrote, every second document is a damaged copy of it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from random_documents import FORMATS

EXAMPLES = os.environ.get("NMSPELLER_DAMAGED_DOCUMENTS", "100")


@pytest.mark.parametrize("format", FORMATS)
def test_a_damaged_document_is_corrected_or_refused(format):
    program = Path(__file__).with_name("mutations.py")
    real = program.parent / "real" / FORMATS[format]
    file = [str(real)] if real.exists() else []
    command = [sys.executable, "-W", "ignore", str(program), format, EXAMPLES, "0", *file]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600 + int(EXAMPLES), check=False)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-5000:]
