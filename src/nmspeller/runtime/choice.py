"""A choice among a few names, as given on command lines and in requests."""

from enum import Enum
from typing import TypeVar

from nmspeller.errors import InputError

AnyChoice = TypeVar("AnyChoice", bound="Choice")


class Choice(str, Enum):
    """A set of names; error messages use the class's name for what is chosen."""

    @classmethod
    def parse(cls: type[AnyChoice], name: "AnyChoice | str") -> AnyChoice:
        """The choice of that name.

        Raises:
            InputError: there is no such choice.
        """
        try:
            return cls(name)
        except ValueError:
            names = ", ".join(known.value for known in cls)
            what = cls.__name__.lower()
            raise InputError(f"there is no {what} {name!r}; choose one of {names}.") from None
