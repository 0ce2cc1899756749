"""Regular expressions that are compiled when they are first used.

Python takes milliseconds to compile a class of all Chinese characters, and a text needs few of the patterns.
"""

import re
from functools import partial
from typing import Any, AnyStr, cast


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` returns, compiled when something of it is first used."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(partial(re.compile, pattern, flags)))


class _Uncompiled:
    """Has the attributes of a pattern; each one becomes an attribute of its own when it is first used."""

    def __init__(self, compile_pattern: partial[re.Pattern[Any]]) -> None:
        self._compile = compile_pattern

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._compile(), name)
        setattr(self, name, value)
        return value
