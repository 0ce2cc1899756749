"""The working folder of a job inside OUTPUT: its description and its finished shards."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nmspeller.apps.batch.filesystem import Folder, file_system
from nmspeller.apps.batch.formats.jsonl import dump
from nmspeller.errors import InputError
from nmspeller.files import TEMPORARY
from nmspeller.messages import _

MANIFEST = "nmspeller-batch.json"
QUARANTINE = "nmspeller-quarantine.jsonl"
WORK = ".nmspeller-batch"

# The entries of finished shards, by number; see `Tally.entry` for their content.
Entries = dict[int, dict[str, Any]]


def piece_name(number: int) -> str:
    """The file that holds a shard of a compressed input."""
    return f"{number:08d}.gz"


class Store:
    """Finished shards, each a data file and an entry, which is written last; both are needed."""

    def __init__(self, output: str) -> None:
        self.output = Folder(output)
        self.work = Folder(self.output.path(WORK))
        self.pieces = Folder(self.work.path("input"))

    def read_job(self) -> dict[str, Any] | None:
        """The description of the job that was started here, or None."""
        return _parse(self.work.read("job.json"))

    def begin(self, job: dict[str, Any]) -> None:
        """Write the description of the job, which can be resumed from now on."""
        self.work.write("job.json", dump(job).encode())

    def data_name(self, number: int) -> str:
        """The file of a finished shard's output."""
        return f"done/{number:08d}.data"

    def quarantine_name(self, number: int) -> str:
        """The file of a finished shard's quarantined rows, if there are any."""
        return f"done/{number:08d}.bad"

    def finish(self, number: int, data: bytes, quarantine: bytes, entry: dict[str, Any]) -> None:
        """Write a finished shard, its entry last."""
        self.work.write(self.data_name(number), data)
        if quarantine:
            self.work.write(self.quarantine_name(number), quarantine)
        self.work.write(f"done/{number:08d}.json", dump(entry).encode())

    def entry(self, number: int) -> dict[str, Any] | None:
        """The entry of a finished shard whose files exist."""
        entry = _parse(self.work.read(f"done/{number:08d}.json"))
        if entry is None:
            return None
        data, quarantine = (self.work.size(name(number)) for name in (self.data_name, self.quarantine_name))
        return entry if (data, quarantine or 0) == (entry["size"], entry.get("quarantine_size")) else None

    def entries(self) -> Entries:
        """The entries of all finished shards whose files exist; the data may be part of a finished output."""
        sizes = self.work.sizes()
        outputs = self.outputs()
        found = {}
        for name in sizes:
            if not (name.startswith("done/") and name.endswith(".json")):
                continue
            entry = _parse(self.work.read(name))
            if entry is None:
                continue
            number = entry["shard"]
            has_data = entry["source"] in outputs or sizes.get(self.data_name(number)) == entry["size"]
            if has_data and sizes.get(self.quarantine_name(number), 0) == entry.get("quarantine_size"):
                found[number] = entry
        return found

    def finish_output(self, source: int, facts: dict[str, Any]) -> None:
        """Record that an output file is complete."""
        self.work.write(f"outputs/{source:08d}.json", json.dumps({"source": source, **facts}).encode())

    def outputs(self) -> dict[int, dict[str, Any]]:
        """The facts about the output files that are complete."""
        names = [name for name in self.work.sizes() if name.startswith("outputs/") and name.endswith(".json")]
        found = [_parse(self.work.read(name)) for name in names]
        return {facts["source"]: facts for facts in found if facts is not None}

    def forget_output(self, source: int) -> None:
        """Remove the record of an output file, so that it is written again."""
        self.work.remove(f"outputs/{source:08d}.json")

    def forget(self, number: int) -> None:
        """Remove a shard's entry, so that it is corrected again."""
        self.work.remove(f"done/{number:08d}.json")

    def ask_workers_to_stop(self, stop: bool) -> None:
        """Ask workers on other machines to start no more shards, or withdraw this."""
        if stop:
            self.work.write("stop", b"")
        else:
            self.work.remove("stop")

    def workers_should_stop(self) -> bool:
        """Whether workers were asked to stop."""
        return self.work.size("stop") is not None

    def count_try(self, number: int) -> int:
        """Record that a shard is started, and return how often it was since `forget_tries`."""
        name = f"tries/{number:08d}"
        tries = int(self.work.read(name) or b"0") + 1
        self.work.write(name, str(tries).encode())
        return tries

    def forget_tries(self) -> None:
        """Reset the counts of tries."""
        self.work.remove("tries")

    def remove_leftovers(self) -> None:
        """Remove incomplete files of killed processes."""
        for name in self.output.sizes():
            if TEMPORARY.search(name):
                self.output.remove(name)

    def read_manifest(self) -> dict[str, Any] | None:
        """The manifest of a finished job."""
        return _parse(self.output.read(MANIFEST))

    def end(self, manifest: dict[str, Any]) -> None:
        """Write the manifest of the finished job, and remove what is no longer needed."""
        self.output.write(MANIFEST, f"{dump(manifest, indent=1)}\n".encode())
        self.remove_work()

    def remove_work(self) -> None:
        """Remove the job's own folder."""
        self.work.remove("")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other jobs out of the folder while this one runs; the lock of a killed job is released."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        self.work.make()
        if not self.work.is_local:
            yield
            return
        path = file_system(self.work.path("lock"))[1]
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(
                _("another job is writing to {output}; wait for it to end.").format(
                    output=self.output.address
                )
            ) from error
        else:
            yield
        finally:
            os.close(handle)


def _parse(content: bytes | None) -> dict[str, Any] | None:
    """The object in a file; None if there is no file, or a crash left it incomplete."""
    try:
        value = json.loads(content or b"")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
