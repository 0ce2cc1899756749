"""What is remembered of parts that were read: by client and level, the last ones, and no text."""

from nmspeller.apps.http.part_memory import PartMemory
from nmspeller.runtime.edits import Change
from nmspeller.runtime.reading import Part

CHANGE = (Change(1, "兴", 0.98, 0.97),)


def part(text):
    return Part(text, 0, len(text))


def test_a_part_is_known_to_its_client_at_its_level_with_what_is_locked_in_it():
    memory = PartMemory()
    memory.keep("a", "careful", [part("高心"), part("\ud800")], [CHANGE, ()])
    asked = [
        part("高心"),
        part("平果"),
        part("高心"),
        part("\ud800"),
        part("高心")._replace(locked=((0, 2),)),
    ]
    assert memory.recall("a", "careful", asked) == [CHANGE, None, CHANGE, (), None]
    assert memory.recall("b", "careful", asked[:1]) == memory.recall("a", "thorough", asked[:1]) == [None]


def test_what_was_not_asked_for_longest_is_forgotten():
    memory = PartMemory(most=3)
    one, two, three, four = (part(text) for text in "一二三四")
    memory.keep("a", "careful", [one, two, three], [CHANGE] * 3)
    memory.recall("a", "careful", [one])
    memory.keep("a", "careful", [four], [CHANGE])
    assert memory.recall("a", "careful", [one, two, three, four]) == [CHANGE, None, CHANGE, CHANGE]


def test_no_text_is_kept():
    memory = PartMemory()
    memory.keep("a", "careful", [part("我很高心")], [CHANGE])
    assert "高心" not in repr(vars(memory))
    assert "\\u9ad8" not in ascii(vars(memory))
