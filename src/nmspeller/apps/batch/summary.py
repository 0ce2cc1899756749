"""The summary of a job, as figures and as text."""

from collections import Counter
from typing import Any

from nmspeller.apps.batch.filesystem import printable
from nmspeller.apps.batch.plan import Plan
from nmspeller.apps.batch.progress import duration
from nmspeller.apps.batch.store import QUARANTINE, Entries
from nmspeller.messages import _, ngettext
from nmspeller.runtime.findings import Reason


def summarise(plan: Plan, entries: Entries, phases: dict[str, float], skipped: int) -> dict[str, Any]:
    """The figures of a finished job; stages are summed over workers, phases are those of this run alone."""
    edits: Counter[str] = Counter()
    stages: Counter[str] = Counter()
    for entry in entries.values():
        edits.update(entry["edits"])
        stages.update(entry["stages"])

    def total(name: str) -> int:
        return sum(entry[name] for entry in entries.values())

    summary: dict[str, Any] = {
        "files": len(plan.sources),
        "shards": len(plan.shards),
        "shards_done_before": skipped,
        "rows": plan.rows,
        "texts": total("texts"),
        "sentences": total("sentences"),
        "changed": total("changed"),
        "edits": sum(edits.values()),
        "edits_by_reason": dict(edits.most_common()),
        "quarantined": total("quarantined"),
        "remembered": total("remembered"),
        "seconds": round(sum(phases.values()), 3),
        "phase_seconds": {phase: round(spent, 3) for phase, spent in phases.items()},
        "worker_seconds": {stage: round(spent, 6) for stage, spent in stages.items()},
        "peak_memory": max((entry["peak_memory"] for entry in entries.values()), default=0),
        "slowest_shard": None,
    }
    if entries:
        slowest = max(entries.values(), key=lambda entry: entry["seconds"])
        shard = plan.shards[slowest["shard"]]
        summary["slowest_shard"] = {
            "shard": shard.number,
            "file": plan.sources[shard.source].source.shown,
            "first_row": shard.first_row,
            "rows": shard.rows,
            "seconds": round(slowest["seconds"], 3),
        }
    return summary


def as_text(summary: dict[str, Any], output: str) -> str:
    """The summary as text."""
    lines = [
        _("{sentences} in {rows} of {files}, written to {output} in {duration}.").format(
            sentences=_sentences(summary["sentences"]),
            rows=_rows(summary["rows"]),
            files=_files(summary["files"]),
            output=printable(output),
            duration=duration(summary["seconds"]),
        ),
        _edits(summary),
    ]
    if summary["texts"]:
        share = 100 * summary["remembered"] / summary["texts"]
        lines.append(
            _("{share:.1f} % of the texts were repetitions and not checked again.").format(share=share)
        )
    if summary["quarantined"]:
        lines.append(
            _("{rows} could not be processed; {file} has them with the reasons.").format(
                rows=_rows(summary["quarantined"]), file=QUARANTINE
            )
        )
    if summary["shards_done_before"]:
        lines.append(
            _("{done:,} of {shards:,} shards were done before.").format(
                done=summary["shards_done_before"], shards=summary["shards"]
            )
        )
    if slowest := summary["slowest_shard"]:
        lines.append(
            _(
                "Slowest shard: {seconds:.1f} s, rows {first:,} to {last:,} of {file}. "
                "Peak memory of a worker: {memory:.0f} MB."
            ).format(
                seconds=slowest["seconds"],
                first=slowest["first_row"],
                last=slowest["first_row"] + slowest["rows"] - 1,
                file=slowest["file"],
                memory=summary["peak_memory"] / 1e6,
            )
        )
    return "\n".join(lines)


def _edits(summary: dict[str, Any]) -> str:
    count = summary["edits"]
    edits = ngettext("{count:,} edit", "{count:,} edits", count).format(count=count)
    rows = _rows(summary["changed"])
    if not count:
        return _("{edits} in {rows}.").format(edits=edits, rows=rows)
    reasons = _(", ").join(
        _("{count:,} {reason}").format(count=times, reason=Reason(reason).label)
        for reason, times in summary["edits_by_reason"].items()
    )
    return _("{edits} in {rows}: {reasons}.").format(edits=edits, rows=rows, reasons=reasons)


def _sentences(count: int) -> str:
    return ngettext("{count:,} sentence", "{count:,} sentences", count).format(count=count)


def _rows(count: int) -> str:
    return ngettext("{count:,} row", "{count:,} rows", count).format(count=count)


def _files(count: int) -> str:
    return ngettext("{count:,} file", "{count:,} files", count).format(count=count)
