"""The summary of a job, as figures and as text."""

from collections import Counter
from typing import Any

from nmspeller.apps.batch.filesystem import printable
from nmspeller.apps.batch.plan import Plan
from nmspeller.apps.batch.progress import duration
from nmspeller.apps.batch.store import Entries
from nmspeller.apps.counted import counted


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
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in summary["edits_by_reason"].items())
    lines = [
        f"{counted(summary['sentences'], 'sentence')} in {counted(summary['rows'], 'row')}"
        f" of {counted(summary['files'], 'file')},"
        f" written to {printable(output)} in {duration(summary['seconds'])}.",
        f"{counted(summary['edits'], 'edit')} in {counted(summary['changed'], 'row')}"
        + (f": {reasons}." if reasons else "."),
    ]
    if summary["texts"]:
        share = 100 * summary["remembered"] / summary["texts"]
        lines.append(f"{share:.1f} % of the texts were repetitions and not checked again.")
    if summary["quarantined"]:
        lines.append(
            f"{counted(summary['quarantined'], 'row')} could not be processed; "
            "nmspeller-quarantine.jsonl has them with the reasons."
        )
    if summary["shards_done_before"]:
        lines.append(f"{summary['shards_done_before']:,} of {summary['shards']:,} shards were done before.")
    if slowest := summary["slowest_shard"]:
        lines.append(
            f"Slowest shard: {slowest['seconds']:.1f} s, rows {slowest['first_row']:,} to "
            f"{slowest['first_row'] + slowest['rows'] - 1:,} of {slowest['file']}. "
            f"Peak memory of a worker: {summary['peak_memory'] / 1e6:.0f} MB."
        )
    return "\n".join(lines)
