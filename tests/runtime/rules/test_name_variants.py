import random

import pytest
from tests.growth import assert_linear

from nmspeller.runtime.rules import RULES, RuleMatch


def matches(text):
    return list(RULES["name_variants"].matches(text, []))


def test_the_rarer_spelling_is_hinted_at_wherever_it_stands():
    text = "张林说好。张林同志也来。张琳说不。张琳走了。张林笑了。"
    found = matches(text)
    assert [match._replace(note=None) for match in found] == [
        RuleMatch(12, 2, "张琳", None, "name_variants"),
        RuleMatch(17, 2, "张琳", None, "name_variants"),
    ]
    assert {str(match.note) for match in found} == {"The text also has 张林 (3×; this form 2×)."}


@pytest.mark.parametrize(
    "right",
    [
        "张林说好。张林同志也来。张琳说不。",  # once only
        "张林说好，张林走了。张强说不，张强走了。",  # another sound
        "张林说好，张林走了。王林说不，王林走了。",  # another surname
        "張國強說好，張國強走了。张国强说好，张国强走了。",  # the same name in both scripts
        "高手说好，高手走了。高守说好，高守走了。",  # a word
    ],
)
def test_different_names_are_right(right):
    assert matches(right) == []


@pytest.mark.slow
def test_many_names_take_no_quadratic_time():
    # In an order of chance: characters of one sound, which are compared, are no neighbours in Unicode.
    codes = random.Random(0).sample(range(0x4E00, 0x9FA0), 4_000)

    def work(count):
        matches("".join(f"李{chr(code)}说，李{chr(code)}走了。" for code in codes[:count]))

    assert_linear(work, len(codes))
