"""Run or resume a job."""

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Protocol

from nmspeller.apps.batch.assemble import assemble, write_quarantine
from nmspeller.apps.batch.filesystem import absolute
from nmspeller.apps.batch.identity import (
    check_output_folder,
    check_same_job,
    check_unchanged_input,
    identity,
)
from nmspeller.apps.batch.job import BatchJob
from nmspeller.apps.batch.plan import Plan, Shard, plan, size_of
from nmspeller.apps.batch.progress import JobProgress, Rate
from nmspeller.apps.batch.sources import Source, find_sources
from nmspeller.apps.batch.stopping import Stop, StopNow
from nmspeller.apps.batch.store import QUARANTINE, Entries, Store
from nmspeller.apps.batch.summary import summarise
from nmspeller.apps.batch.tally import timed
from nmspeller.apps.batch.verify import Facts, missing
from nmspeller.apps.batch.worker import WorkOrder, disk_error_message
from nmspeller.errors import InputError
from nmspeller.messages import _, language, ngettext

DEFAULT_CACHE = 50_000
DEFAULT_BAD_SHARE = 0.01


class ShardEngine(Protocol):
    """Where shards are corrected."""

    def correct(
        self, order: WorkOrder, shards: Sequence[Shard], stop: Stop
    ) -> Generator[dict[str, Any] | None, None, None]:
        """The entries of the shards in any order, and None from time to time, so that progress can be shown.

        After one request to `stop`, running shards are finished and no others started; after two, all work is
        dropped.
        """
        ...


class Interrupted(Exception):
    """The user stopped the job; the message has its state and how to resume."""


def run(
    job: BatchJob,
    engine: ShardEngine,
    *,
    cache: int = DEFAULT_CACHE,
    max_bad_share: float = DEFAULT_BAD_SHARE,
    verify: bool = False,
    progress: JobProgress | None = None,
) -> dict[str, Any]:
    """Run the job and return its summary; a finished job is only summarised.

    The files of a finished job are verified by their sizes, and with `verify` by their hashes.
    """
    progress = progress or JobProgress(quiet=True)
    stop = Stop()
    try:
        with stop.listening():
            return _run(job, engine, cache, max_bad_share, verify, progress, stop)
    except StopNow as asked:
        progress.clear()
        raise Interrupted(_("stopped; run the same command again to resume.")) from asked


def _run(
    job: BatchJob,
    engine: ShardEngine,
    cache: int,
    max_bad_share: float,
    verify: bool,
    progress: JobProgress,
    stop: Stop,
) -> dict[str, Any]:
    # Workers may run in another folder or on another machine.
    job = replace(job, output=absolute(job.output))
    store = Store(job.output)
    began = time.monotonic()
    model_hash = job.speller.load().model_hash
    with _disk_errors_as_input_errors(job), ExitStack() as stack:
        sources = find_sources(job, progress.say)
        check_output_folder(job, sources, store)
        stack.enter_context(store.lock())
        finished = store.read_manifest()
        if finished is not None:
            check_same_job(finished, job, model_hash, sources)
            check_unchanged_input(finished, job, sources)
            if _is_complete(finished, store, verify):
                store.remove_work()
                summary: dict[str, Any] = finished["summary"]
                return summary
        store.remove_leftovers()
        phases = {"start": time.monotonic() - began}
        with timed(phases, "plan"):
            the_plan = _plan(job, sources, model_hash, store, progress)
            for source in _missing_outputs(store.outputs(), store):
                store.forget_output(source)
            entries = store.entries()
        skipped = len(entries)
        order = WorkOrder(job, the_plan.sources, model_hash, cache, language())
        with timed(phases, "correct"):
            _correct(order, engine, the_plan, entries, store, max_bad_share, progress, stop)
        started = identity(job, model_hash, the_plan)
        check_unchanged_input(started, job, sources)
        progress.show(_("writing the output"))
        with timed(phases, "assemble"):
            outputs = assemble(job, the_plan, entries, store)
            quarantine = write_quarantine(entries, store)
            _check_nothing_was_removed(outputs, store)
        summary = summarise(the_plan, entries, phases, skipped)
        facts = [outputs[index] for index in sorted(outputs)]
        store.end({**started, "outputs": facts, "quarantine": quarantine, "summary": summary})
        progress.clear()
        return summary


def _is_complete(manifest: dict[str, Any], store: Store, verify: bool) -> bool:
    """Whether all files of a finished job are there; if not, the others will be written again as well."""
    written = [*manifest["outputs"], *filter(None, [manifest.get("quarantine")])]
    if not missing(written, store.output, by_hash=verify):
        return True
    missing(written, store.output, by_hash=True)
    return False


def _missing_outputs(outputs: dict[int, Facts], store: Store) -> list[int]:
    gone = missing(outputs.values(), store.output, by_hash=True)
    return [source for source, facts in outputs.items() if facts in gone]


def _check_nothing_was_removed(outputs: dict[int, Facts], store: Store) -> None:
    """Compare all output files with their hashes: some may have been written long ago."""
    for source in _missing_outputs(outputs, store):
        store.forget_output(source)
        raise InputError(
            _("{file} was removed while the job ran; run the same command again to write it.").format(
                file=store.output.path(outputs[source]["name"])
            )
        )


def _plan(job: BatchJob, sources: list[Source], model_hash: str, store: Store, progress: JobProgress) -> Plan:
    """The plan of the job to resume, or a new one."""
    started = store.read_job()
    if started is not None:
        check_same_job(started, job, model_hash, sources)
        check_unchanged_input(started, job, sources)
        return Plan.from_json(started["plan"])
    total = sum(size_of(source) for source in sources)
    read = 0

    def on_bytes(count: int) -> None:
        nonlocal read
        read += count
        progress.show(_("reading: {read:,.0f} of {total:,.0f} MB").format(read=read / 1e6, total=total / 1e6))

    made = plan(job, sources, store.pieces, on_bytes)
    store.begin({**identity(job, model_hash, made), "plan": made.as_json()})
    return made


def _correct(
    order: WorkOrder,
    engine: ShardEngine,
    the_plan: Plan,
    entries: Entries,
    store: Store,
    max_bad_share: float,
    progress: JobProgress,
    stop: Stop,
) -> None:
    """Correct the shards that are not in `entries`, and add their entries."""
    todo = [shard for shard in the_plan.shards if shard.number not in entries]
    bad = sum(entry["quarantined"] for entry in entries.values())
    rate = Rate(the_plan.rows, sum(entry["rows"] for entry in entries.values()))

    def announce(times: int) -> None:
        if times == 1:
            announced = _("finishing the running shards; press again to stop at once.")
            progress.say(f"nmspeller: {announced}")

    def check_bad_rows() -> None:
        # The share is one of all rows, also those to come: the job stops once it is certain to exceed it.
        if bad > max_bad_share * the_plan.rows:
            write_quarantine(entries, store)
            raise InputError(
                _(
                    "{bad} of {rows} rows could not be processed, more than the allowed share of {share:g}; "
                    "see why in {file}, or allow more with --max-bad-share to resume."
                ).format(bad=bad, rows=the_plan.rows, share=max_bad_share, file=store.output.path(QUARANTINE))
            )

    check_bad_rows()
    if not todo:
        return
    stop.hooks.append(announce)
    with stop.patiently():
        results = engine.correct(order, todo, stop)
        try:
            for entry in results:
                if entry is not None:
                    entries[entry["shard"]] = entry
                    rate.add(entry["rows"], entry["sentences"])
                    bad += entry["quarantined"]
                    check_bad_rows()
                bad_rows = ngettext("{count:,} bad row", "{count:,} bad rows", bad).format(count=bad)
                progress.show(f"{rate}  {bad_rows}" if bad else str(rate))
        except StopNow:
            pass
        finally:
            results.close()
    if len(entries) < len(the_plan.shards):
        progress.clear()
        raise Interrupted(
            _("stopped with {done} of {shards} shards done; run the same command again to resume.").format(
                done=len(entries), shards=len(the_plan.shards)
            )
        )


@contextmanager
def _disk_errors_as_input_errors(job: BatchJob) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(disk_error_message(error, job.output)) from error
