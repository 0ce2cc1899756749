"""Whether a text has a habit of its own, which a rule about the form of marks respects."""

_LEAST = 5
_SHARE = 0.9


def is_habit(times: int, otherwise: int) -> bool:
    """Whether a text that does something so many times, and otherwise so many, does it on purpose."""
    return times >= _LEAST and times >= _SHARE * (times + otherwise)
