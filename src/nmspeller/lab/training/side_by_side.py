"""Many small trainings on one device: one fine-tuning does not fill a large GPU, so several run at once."""

import multiprocessing
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Item = TypeVar("Item")


def run_side_by_side(work: Callable[[Item], None], jobs: Sequence[Item], workers: int) -> dict[int, str]:
    """Do all jobs, so many at a time, each in a process of its own.

    work: a function at module level (it travels to the processes by name), or a partial of one.
    Returns why each job that failed did so, by its number; the others go on, whatever happens to one.
    """
    with ThreadPoolExecutor(max(1, workers)) as pool:
        reasons = pool.map(lambda job: _run_alone(work, job), jobs)
        return {number: reason for number, reason in enumerate(reasons) if reason}


def _run_alone(work: Callable[[Any], None], job: Any) -> str:
    context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(work, job, theirs))
    process.start()
    theirs.close()
    try:
        reason: str = ours.recv()
    except EOFError:  # it died before it could say why
        reason = ""
    process.join()
    return reason or ("" if process.exitcode == 0 else f"the process ended with code {process.exitcode}.")


def _work(work: Callable[[Any], None], job: Any, answer: Connection) -> None:
    try:
        work(job)
    except Exception:
        answer.send(traceback.format_exc())
    else:
        answer.send("")
