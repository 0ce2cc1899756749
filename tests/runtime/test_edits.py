from nmspeller.runtime import edits
from nmspeller.runtime.edits import Change
from nmspeller.runtime.explain import reason
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.text.script import Simplified, simplify


def change(offset: int, target: str, probability: float = 0.9, **others: float) -> Change:
    return Change(offset, target, probability, probability / 2, tuple(others.items()))


def edits_of(changes: list[Change], text: Simplified) -> list[Edit]:
    """The edits of a text that is read as it is written."""
    return edits.edits_of(changes, text, [change.offset for change in changes])


def test_reasons() -> None:
    assert reason("门", "们") is Reason.SAME_SOUND
    assert reason("借", "介") is Reason.SAME_SOUND
    assert reason("少", "绍") is Reason.SAME_SOUND
    assert reason("兵", "宾") is Reason.SIMILAR_SOUND
    assert reason("未", "末") is Reason.SIMILAR_SHAPE
    assert reason("的", "得") is Reason.DE
    assert reason("人", "树") is Reason.CONTEXT


def test_neighbours_are_one_edit_with_the_weakest_reason() -> None:
    text = simplify("就可以兵少。")
    (edit,) = edits_of([change(3, "宾", 0.9, 冰=0.06), change(4, "绍", 0.8, 肖=0.1)], text)
    assert (edit.offset, edit.length, edit.source, edit.target) == (3, 2, "兵少", "宾绍")
    assert (edit.probability, edit.confidence) == (0.8, 0.4)
    assert edit.reason is Reason.SIMILAR_SOUND
    assert edit.alternatives == ("宾肖", "冰绍")


def test_particles_are_separate_edits() -> None:
    edits = edits_of([change(1, "兴"), change(2, "地")], simplify("高心得走"))
    assert [(edit.source, edit.target, edit.reason) for edit in edits] == [
        ("心", "兴", Reason.SIMILAR_SOUND),
        ("得", "地", Reason.DE),
    ]


def test_changes_apart_are_edits_apart() -> None:
    edits = edits_of([change(1, "们"), change(3, "绍")], simplify("我门去少"))
    assert [(edit.offset, edit.length) for edit in edits] == [(1, 1), (3, 1)]


def test_edits_are_in_the_script_of_the_text() -> None:
    (edit,) = edits_of([change(3, "们", 0.9, 盟=0.01)], simplify("這是他門的書。"))
    assert (edit.source, edit.target) == ("門", "們")


def test_what_is_one_character_in_traditional_is_no_edit() -> None:
    text = simplify("我們在檯灣讀書")
    for offset, target in enumerate(text.text):
        assert edits_of([change(offset, target)], text) == []


def test_the_source_character_is_no_alternative() -> None:
    (edit,) = edits_of([change(1, "们", 0.9, 门=0.05, 俩=0.03)], simplify("我門都很高興。"))
    assert edit.target == "們"
    assert edit.alternatives == ("倆",)


def test_characters_that_change_together_decide_their_script() -> None:
    (edit,) = edits_of([change(2, "头"), change(3, "发")], simplify("她的投法很長。"))
    assert edit.target == "頭髮"


def test_two_characters_in_the_wrong_order_are_one_edit() -> None:
    (edit,) = edits_of([change(0, "自", 0.9, 己=0.02), change(1, "己", 0.8)], simplify("己自去"))
    assert (edit.source, edit.target, edit.reason) == ("己自", "自己", Reason.SWAPPED)
    assert edit.alternatives == ()


def test_an_insertion_and_a_deletion_have_their_reasons() -> None:
    missing = Change(2, "得", 0.9, 0.8, (("的", 0.05),), length=0)
    extra = [Change(4, "", 0.7, 0.7), Change(5, "", 0.6, 0.6)]
    inserted, deleted = edits_of([missing, *extra], simplify("我觉很好今天"))
    assert (inserted.offset, inserted.length, inserted.source, inserted.target) == (2, 0, "", "得")
    assert (inserted.reason, inserted.alternatives) == (Reason.MISSING, ("的",))
    assert (deleted.offset, deleted.length, deleted.source, deleted.target) == (4, 2, "今天", "")
    assert (deleted.reason, deleted.confidence) == (Reason.EXTRA, 0.6)


def test_a_replacement_beside_an_insertion_or_a_deletion_is_an_edit_of_its_own() -> None:
    changes = [change(1, "们"), Change(2, "都", 0.9, 0.9, length=0), change(2, "取"), Change(3, "", 0.9, 0.9)]
    found = edits_of(changes, simplify("我门去了玩"))
    assert [(edit.source, edit.target) for edit in found] == [
        ("门", "们"),
        ("", "都"),
        ("去", "取"),
        ("了", ""),
    ]


def test_an_inserted_character_is_in_the_script_of_the_text() -> None:
    (edit,) = edits_of([Change(2, "们", 0.9, 0.9, length=0)], simplify("讓我去讀書吧。"))
    assert edit.target == "們"
