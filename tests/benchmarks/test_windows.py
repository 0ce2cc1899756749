"""The page on how much the model reads at a time, from figures; and how they are counted."""

from types import SimpleNamespace

from nmspeller.runtime.findings import Edit, Reason
from windows import judge, page

FIGURES = {
    "paragraphs": 2,
    "characters": 1234,
    "errors": 40,
    "shipped": 48,
    "rows": {
        "16": {"found": 30, "corrected": 28, "others": 7, "edits_of_right": 5},
        "48": {"found": 31, "corrected": 29, "others": 3, "edits_of_right": 2},
    },
}


def test_the_page_marks_what_is_shipped():
    text = page(FIGURES)
    assert "| 16 | 75.0 % | 70.0 % | 7 | 5 |" in text
    assert "| 48 (shipped) | 77.5 % | 72.5 % | 3 | 2 |" in text
    assert "1,234 characters" in text


def test_errors_are_counted_by_character_and_other_edits_apart():
    right, wrong = "我们去公园玩了。", "我门去公元玩了。"

    def edit(offset, source, target):
        return Edit(offset, len(source), source, target, 0.9, (), Reason.CONTEXT)

    found = {
        wrong: [edit(1, "门", "们"), edit(4, "元", "员"), edit(5, "玩", "完")],
        right: [edit(5, "玩", "完")],
    }
    speller = SimpleNamespace(check_many=lambda texts: [SimpleNamespace(edits=found[text]) for text in texts])
    assert judge(speller, [right], [wrong]) == {
        "found": 2, "corrected": 1, "others": 1, "edits_of_right": 1
    }  # fmt: skip
