"""Whether work grows in proportion to its input: a ratio within one run, on whatever machine."""

import gc
import time
from collections.abc import Callable


def assert_linear(work: Callable[[int], object], length: int) -> None:
    """Four times the input is not sixteen times the work of the processor."""
    ratios = _superlinear_ratios(work, length)
    assert not ratios, f"four times the input takes {ratios} times as long"


def is_linear(work: Callable[[int], object], length: int) -> bool:
    """The same, for a test that looks at many."""
    return not _superlinear_ratios(work, length)


def _superlinear_ratios(work: Callable[[int], object], length: int) -> list[float]:
    """A single measurement can be disturbed, and a quadratic one is so every time: all of five must fail."""
    ratios = []
    for _ in range(5):
        short, long = _seconds(work, length // 4), _seconds(work, length)
        if long < 9 * short:
            return []
        ratios.append(round(long / short, 1))
    return ratios


def _seconds(work: Callable[[int], object], length: int) -> float:
    # The collector would look through all that earlier tests hold, the oftener the more is made.
    gc.disable()
    try:
        start = time.process_time()
        work(length)
        return time.process_time() - start
    finally:
        gc.enable()
