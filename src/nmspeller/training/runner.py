"""Many small trainings on one device: one fine-tuning does not fill a large GPU, so several run at once."""

import multiprocessing
import queue
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Job = TypeVar("Job")


def run_side_by_side(work: Callable[[Job], None], jobs: Sequence[Job], workers: int) -> dict[int, str]:
    """Do all jobs with so many processes, each taking the next job when it is done with one.

    work: a function at module level (it travels to the processes by name), or a partial of one.
    Returns the traceback of every job that failed, by its number; the others go on.
    """
    context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
    waiting, failed = context.Queue(), context.Queue()
    for entry in enumerate(jobs):
        waiting.put(entry)
    processes = [
        context.Process(target=_work_off, args=(work, waiting, failed))
        for _ in range(min(workers, len(jobs)))
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    failures: dict[int, str] = {}
    while not failed.empty():
        number, trace = failed.get()
        failures[number] = trace
    return failures


def _work_off(work: Callable[[Any], None], waiting: Any, failed: Any) -> None:
    while True:
        try:
            number, job = waiting.get(timeout=1)
        except queue.Empty:
            return
        try:
            work(job)
        except Exception:
            failed.put((number, traceback.format_exc()))
