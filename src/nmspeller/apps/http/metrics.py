"""Metrics for Prometheus: counts and times, never texts."""

import os
import re
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # by the client library: the folder that workers share


class Metrics:
    """The figures of one process; where several work together, `page` shows their sum."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        own: dict[str, Any] = {"registry": self._registry}
        self.requests = Counter("nmspeller_requests", "Requests answered", ["path", "status"], **own)
        self.seconds = Histogram(
            "nmspeller_request_seconds",
            "Seconds from request to answer",
            ["path"],
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
            **own,
        )
        self.characters = Counter("nmspeller_characters", "Characters checked", **own)
        self.edits = Counter("nmspeller_edits", "Edits proposed", ["reason"], **own)
        self.batch_texts = Histogram(
            "nmspeller_batch_texts", "Texts in one engine call", buckets=(1, 2, 4, 8, 16, 32, 64, 128), **own
        )
        self.batch_seconds = Histogram("nmspeller_batch_seconds", "Seconds of one engine call", **own)
        self.failures = Counter("nmspeller_engine_failures", "Engine calls that failed", **own)
        self.waiting = Gauge(
            "nmspeller_queue_tokens", "Tokens that wait for the engine", multiprocess_mode="livesum", **own
        )

    def page(self) -> bytes:
        """The figures in Prometheus's text format."""
        folder = os.environ.get(_FOLDER)
        if not folder:
            return generate_latest(self._registry)
        _forget_dead_workers(Path(folder))
        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together, path=folder)  # type: ignore[no-untyped-call]
        return generate_latest(together)


def _forget_dead_workers(folder: Path) -> None:
    """Remove the gauges of killed workers; their counters stay in the sums."""
    for file in folder.glob("gauge_live*.db"):
        process = re.search(r"_(\d+)\.db$", file.name)
        if process and not Path("/proc", process[1]).exists() and Path("/proc").is_dir():
            multiprocess.mark_process_dead(  # type: ignore[no-untyped-call]
                int(process[1]), path=str(folder)
            )
