"""Which options of a command need others, and which cannot be used together.

A command declares it in a table; `require` compares the table with what the user wrote. An option stands
there by its long name, alone (`--fix`) or with its value (`--engine ray`); `-` is standard input, `FILE` any
file, and the name of the command itself is always given.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import typer

from nmspeller.errors import InputError
from nmspeller.messages import _


class Needs(NamedTuple):
    """The option needs at least one of the others."""

    option: str
    others: tuple[str, ...]


class Excludes(NamedTuple):
    """The options, all together, cannot be used with any of the others."""

    options: tuple[str, ...]
    others: tuple[str, ...]


def require(context: typer.Context, table: Iterable[Needs | Excludes]) -> None:
    """Raise an `InputError` for the first line of the table that the options contradict."""
    given = set(_given(context))
    for line in table:
        if isinstance(line, Needs):
            if line.option in given and given.isdisjoint(line.others):
                others = _(" or ").join(line.others)
                raise InputError(_("{option} needs {others}.").format(option=line.option, others=others))
        elif given.issuperset(line.options):
            for other in line.others:
                if other in given:
                    raise InputError(
                        _("{options} cannot be used with {other}.").format(
                            options=" ".join(line.options), other=other
                        )
                    )


def _given(context: typer.Context) -> Iterable[str]:
    """The command, its options and its files, as far as the user wrote them."""
    yield str(context.info_name)
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is None or source.name != "COMMANDLINE":
            continue
        value: Any = context.params.get(str(parameter.name))
        if parameter.param_type_name == "argument":
            yield "FILE"
            if "-" in (value if isinstance(value, list | tuple) else [value]):
                yield "-"
        else:
            option = max(parameter.opts, key=len)
            yield from (option, f"{option} {getattr(value, 'value', value)}")
