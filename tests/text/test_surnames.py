"""Where personal names may be."""

import pytest

from nmspeller.text.surnames import given_names


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("张琳来了", ["琳来"]),
        ("会议由王晓峣主持", ["晓峣"]),
        ("昨天，吳峣说他不来", ["峣"]),
        ("李先生和刘的人", []),
        ("他姓张", []),
        ("很高兴见到你", []),
        ("开张大吉", []),
        ("", []),
    ],
)
def test_what_stands_behind_a_surname_may_be_a_given_name(text, given):
    assert [text[start:stop] for start, stop in given_names(text)] == given
