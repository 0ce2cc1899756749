from pathlib import Path

import pytest

from nmspeller.errors import InputError
from nmspeller.lab.models import describe

PAGE = Path(__file__).resolve().parents[3] / "docs" / "models.md"


def test_the_page_has_the_table_that_the_command_writes():
    text = PAGE.read_text(encoding="utf-8")
    assert describe.with_table(text, "\n".join(describe.table())) == text


def test_a_page_without_the_markers_is_an_error():
    with pytest.raises(InputError, match="the page has no"):
        describe.with_table("# Models\n", "")
