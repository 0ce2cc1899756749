"""A replacement that would double a character is a deletion."""

import pytest

from nmspeller.runtime.doubling import without_doubling
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.runtime.rules import RULES

RULE = [RULES["doubled_character"]]


def edit(source, offset, target):
    return Edit(offset, 1, source[offset], target, 0.9, ("另",), Reason.SAME_SOUND, 0.9)


@pytest.mark.parametrize(
    ("source", "offset", "target"),
    [
        ("今天我门们去公园。", 3, "们"),
        ("今天我们门去公园。", 4, "们"),
        ("我门们去公园。", 1, "们"),
        ("这是我得的书。", 3, "的"),
    ],
)
def test_what_would_double_a_character_is_deleted(source, offset, target):
    [found] = without_doubling(source, [edit(source, offset, target)], RULE)
    assert (found.offset, found.source, found.target) == (offset, source[offset], "")
    assert (found.reason, found.alternatives, found.confidence) == (Reason.EXTRA, (), 0.9)


@pytest.mark.parametrize(
    ("source", "offset", "target"),
    [
        ("今天我门去公园。", 3, "们"),
        ("我想看砍这本书。", 3, "看"),
        ("他的目地的地方。", 3, "的"),
        ("门", 0, "们"),
        ("门们", 0, "们"),
    ],
)
def test_other_replacements_stay(source, offset, target):
    given = edit(source, offset, target)
    assert [*without_doubling(source, [given], RULE)] == [given]


def test_without_the_rule_nothing_changes():
    given = edit("今天我门们去公园。", 3, "们")
    assert [*without_doubling("今天我门们去公园。", [given], [])] == [given]
