"""Whatever a document is made of, a correction changes the errors in its prose and not one other byte."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_documents import FORMATS, document
from random_tokens import ErrorChecker

from nmspeller.apps.documents.document import check, from_bytes


def members(raw):
    """Everything that an archive records of its members, and its comment."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        found = [
            (one.filename, one.date_time, one.compress_type, one.external_attr, archive.read(one))
            for one in archive.infolist()
        ]
        return found, archive.comment


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_nothing_but_the_errors_changes(format, seed):
    before, after = document(format, seed)
    read = from_bytes(FORMATS[format], before)
    corrected = read.with_edits(check(ErrorChecker(), read).edits)
    if not zipfile.is_zipfile(io.BytesIO(before)):
        assert corrected == after
        return
    assert members(corrected) == members(after)
    if before == after:
        assert corrected == before
