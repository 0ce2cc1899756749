"""The parts of an open document that are read, and the findings in it."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from nmspeller.apps.documents import document
from nmspeller.apps.documents.prose import passages
from nmspeller.apps.lsp.findings import Prose, batches, place
from nmspeller.runtime.checker import Checker
from nmspeller.runtime.edits import Change
from nmspeller.runtime.reading import Part

KNOWN = {"高心": (1, "兴"), "他门": (1, "们"), "开心的笑": (2, "地"), "借少": (0, "介"), "按步": (1, "部")}


class ModelByHeart:
    """Knows a few errors, and which parts it was given."""

    model_hash = "by heart"
    batch_characters = 1 << 15

    def __init__(self, window=126):
        self.window = window
        self.given = []

    def read(self, parts, level):
        self.given += parts
        return [
            tuple(sorted(self._changes(part), key=lambda one: (one.offset, one.length))) for part in parts
        ]

    def _changes(self, part):
        for wrong, (shift, right) in KNOWN.items():
            for found in re.finditer(wrong, part.text):
                at = found.start() + shift
                if not any(start <= at < stop for start, stop in part.locked):
                    yield Change(at, right, 0.9, 0.9)
        for found in re.finditer("了了", part.text):
            if not any(start <= found.start() < stop for start, stop in part.locked):
                yield Change(found.start(), "", 0.9, 0.9)
        for found in re.finditer("看完", part.text):
            yield Change(found.end(), "了", 0.9, 0.9, length=0)


def checker(*, window=126, rules=False):
    return Checker(ModelByHeart(window), rules=rules, replacements={"登陆": "登录"})


def in_editor(checker, text, format, known=None):
    """What an editor shows of a text, if it has shown another one before whose parts are `known`."""
    known = {} if known is None else known
    found = passages(text, format)
    prose = Prose(found, checker.begin([passage.text for passage in found]))
    for batch in batches(part for part in prose.check.parts if part not in known):
        known.update(zip(batch, checker.read(batch), strict=True))
    return place(text, prose, known)


def shown(findings):
    return [(one.start, one.edit.source, one.edit.target) for one in findings]


def test_neighbours_of_rules_and_model_are_both_kept():
    findings, _ = in_editor(checker(rules=True), "我很高心。。他门走了。", "text")
    assert shown(findings) == [(3, "心", "兴"), (4, "。。", "。"), (7, "门", "们")]


def test_findings_and_hints_are_placed_around_markup():
    text = "我很**高心**。。他门和`高心`走了，。"
    findings, (hint,) = in_editor(checker(rules=["doubled_punctuation"]), text, "markdown")
    assert [(text[one.start : one.stop], one.edit.target) for one in findings] == [("心", "兴"), ("门", "们")]
    assert (hint.source, text[hint.offset : hint.stop]) == ("，。", "，。")


def test_parts_that_are_not_read_yet_have_the_findings_that_need_no_model():
    text = "我很高心。。登陆\n他门走了。。"
    found = passages(text, "text")
    prose = Prose(found, checker(rules=True).begin([passage.text for passage in found]))
    findings, _ = place(text, prose, {})
    assert [one.edit.target for one in findings] == ["。", "登录", "。"]
    first = prose.check.parts[0]
    findings, _ = place(text, prose, {first: [Change(3, "兴", 0.9, 0.9)]})
    assert [one.edit.target for one in findings] == ["兴", "。", "登录", "。"]


def test_an_edit_in_the_context_of_another_part_is_found_once():
    text = "这句话没有他门个完" * 300
    findings, _ = in_editor(checker(), text, "text")
    assert [one.start for one in findings] == [at for at, sign in enumerate(text) if sign == "门"]


def test_a_finding_is_known_by_what_surrounds_it_on_its_line():
    (finding,), _ = in_editor(checker(), "第一行\n今天他门都走了，再见", "text")
    assert finding.key == ("门", "们", "今天他|都走了，再见")


def test_batches_hold_each_part_once_and_in_order_and_are_short():
    parts = [Part(str(number) * 126, 0, 126) for number in range(9)]
    found = [*batches([*parts, *parts[:3]])]
    assert [part for batch in found for part in batch] == parts
    assert max(sum(len(part.text) for part in batch) for batch in found) <= 1_000
    assert len(found) == 2


def test_a_part_that_is_longer_than_a_batch_is_read_alone():
    short, long = Part("短", 0, 1), Part("长" * 2_000, 0, 2_000)
    assert [*batches([short, long, short])] == [[short], [long]]
    assert [*batches([])] == []


ERRORS = ["高心", "他门", "开心的笑", "借少", "按步就班", "登陆", "了了", "看完", "的的"]
OTHERS = ["老師說", "这句话很平常", "好", "abc", "12", " ", "\n", "\n\n", "`", "**", "# "]
MARKS = ["。", "。。", "，", "，，", "，。", "!", "？", "“", "”"]
PIECES = st.sampled_from([*ERRORS, *OTHERS, *MARKS])
TEXTS = st.lists(PIECES, max_size=60).map("".join)


@settings(max_examples=150, deadline=None)
@given(
    TEXTS,
    st.data(),
    st.sampled_from(["text", "markdown"]),
    st.sampled_from([8, 20, 126]),
    st.sampled_from([False, True, ("mixed_spacing", "doubled_punctuation")]),
)
def test_an_editor_shows_what_a_check_of_the_file_finds(text, data, format, window, rules):
    known = {}
    in_editor(checker(window=window, rules=rules), text, format, known)
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(start + 3, len(text))))
    text = text[:start] + data.draw(PIECES) + text[stop:]
    of_editor = checker(window=window, rules=rules)
    findings, hints = in_editor(of_editor, text, format, dict(known))

    expected = document.check(
        checker(window=window, rules=rules), document.from_text(text, "text", format=format)
    )
    assert [one.edit for one in findings] == [*expected.edits]
    assert hints == [*expected.hints]
    assert all((one.start, one.stop) == (one.edit.offset, one.edit.stop) for one in findings)
    for one, following in pairwise(findings):
        assert one.stop <= following.start
        assert (one.start, one.stop) != (following.start, following.stop)
    assert not set(of_editor.model.given) & set(known)
