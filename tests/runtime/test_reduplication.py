"""What may stand twice on purpose."""

import pytest

from nmspeller.runtime.reduplication import may_stand_twice


@pytest.mark.parametrize(
    ("text", "start", "stop"),
    [
        ("我们研究研究再说", 4, 6),
        ("黄华华多次强调", 2, 3),
        ("演员范冰冰来了", 4, 5),
        ("陳圓圓是誰", 2, 3),
        ("欧阳倩倩来了", 3, 4),
        ("急急急，谁会修打印机", 2, 3),
        ("急急急，谁会修打印机", 0, 1),
    ],
)
def test_verbs_given_names_and_emphasis_may_be_meant(text, start, stop):
    assert may_stand_twice(text, start, stop)


@pytest.mark.parametrize(
    ("text", "start", "stop"),
    [
        ("我在在北京", 2, 3),
        ("他马上上来了", 3, 4),  # 马上
        ("张的的书", 2, 3),
        ("大家于是是走了", 4, 5),
        ("开会会", 2, 3),
        ("华华", 1, 2),
        ("电脑电脑坏了", 2, 4),
    ],
)
def test_other_repetitions_are_slips(text, start, stop):
    assert not may_stand_twice(text, start, stop)
