"""Whether the files that a job wrote are still there, as it wrote them."""

from collections.abc import Iterable
from typing import Any

from nmspeller.apps.batch.filesystem import Folder
from nmspeller.errors import InputError
from nmspeller.messages import _

# What is recorded of an output file: its name, size and sha256, and of a corrected file its rows.
Facts = dict[str, Any]


def missing(written: Iterable[Facts], output: Folder, *, by_hash: bool) -> list[Facts]:
    """Those of some files that do not exist any more.

    Raises:
        InputError: a file has another size or, `by_hash`, other content. Whoever changed it may want to keep
            it, so it is not written again.
    """
    gone = []
    for facts in written:
        size = output.size(facts["name"])
        if size is None:
            gone.append(facts)
        elif size != facts["size"] or (by_hash and output.sha256(facts["name"]) != facts["sha256"]):
            raise InputError(
                _(
                    "{file} has changed since the job wrote it; move it away and run the same command again "
                    "to have it written once more."
                ).format(file=output.path(facts["name"]))
            )
    return gone


def check_written(facts: Facts, output: Folder) -> None:
    """Read a file that was just written back from the disk.

    Raises:
        InputError: it is not as it was written.
    """
    if output.sha256(facts["name"]) != facts["sha256"]:
        raise InputError(
            _(
                "{file} cannot be read back as it was written; check the disk and run the same command again."
            ).format(file=output.path(facts["name"]))
        )
