"""A choice among a few names, as given on command lines and in requests."""

from enum import Enum
from typing import TypeVar

from nmspeller.errors import InputError
from nmspeller.messages import N_, _

AnyChoice = TypeVar("AnyChoice", bound="Choice")


_CHOSEN = {"Level": N_("level"), "Device": N_("device")}


class Choice(str, Enum):
    """A set of names."""

    # Python's versions differ in what a mixed enumeration is in an f-string.
    __str__ = str.__str__

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
            what = _(_CHOSEN[cls.__name__])
            raise InputError(
                _("there is no {what} {name!r}; choose one of {names}.").format(
                    what=what, name=name, names=names
                )
            ) from None
