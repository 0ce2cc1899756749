"""Loss curves and reliability diagrams, drawn with matplotlib (extra `train`), which is imported lazily."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nmspeller.errors import InputError


def draw_losses(logs: Mapping[str, Path], path: str | Path) -> None:
    """Draw the training loss over steps of one or more JSON-lines logs, each line with `step` and `loss`.

    Raises:
        InputError: a log is damaged, or matplotlib is missing.
    """
    figure, axes = _figure("step", "loss")
    everything: list[float] = []
    for name, log in logs.items():
        steps, losses = read_losses(log)
        axes.plot(steps, losses, label=name, linewidth=1)
        everything += losses
    if everything and max(everything) > 10 * min(everything):
        axes.set_yscale("log")  # within one power of ten its labels are hard to read
    axes.legend(fontsize="small")
    _save(figure, path)


def draw_reliability(probabilities: ArrayLike, right: ArrayLike, path: str | Path, *, bins: int = 10) -> None:
    """Draw the share of right edits against their probability: arrays of shape (edits,).

    Raises:
        InputError: there are no edits, or matplotlib is missing.
    """
    sure, share, sizes = reliability(probabilities, right, bins=bins)
    figure, axes = _figure("probability of the edit", "share of edits that are right")
    axes.plot([0, 1], [0, 1], color="grey", linestyle="--", linewidth=1)
    axes.plot(sure, share, marker="o")
    for x, y, size in zip(sure, share, sizes, strict=True):
        axes.annotate(f"{size:,}", (x, y), textcoords="offset points", xytext=(4, -10), fontsize="small")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    _save(figure, path)


def read_losses(log: str | Path) -> tuple[list[int], list[float]]:
    """Steps and losses of a JSON-lines log.

    Raises:
        InputError: a line is damaged; the last one may be incomplete, from an interrupted training.
    """
    lines = Path(log).read_text(encoding="utf-8").split("\n")
    steps: list[int] = []
    losses: list[float] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            step, loss = int(entry["step"]), float(entry["loss"])
        except (ValueError, KeyError, TypeError):
            if number == len(lines):
                break
            raise InputError(f"{log}, line {number}: an object with step and loss is expected.") from None
        steps.append(step)
        losses.append(loss)
    return steps, losses


def reliability(
    probabilities: ArrayLike, right: ArrayLike, *, bins: int = 10
) -> tuple[list[float], list[float], list[int]]:
    """Mean probability, share right and number of edits in each bin that has any.

    Raises:
        InputError: there are no edits.
    """
    sure, correct = np.asarray(probabilities, dtype=float), np.asarray(right, dtype=float)
    if not len(sure) or len(sure) != len(correct):
        raise InputError("reliability needs some edits, each with a probability and whether it was right.")
    which = np.clip((sure * bins).astype(int), 0, bins - 1)
    sizes = np.bincount(which, minlength=bins)
    used = sizes > 0
    means = np.bincount(which, weights=sure, minlength=bins)[used] / sizes[used]
    shares = np.bincount(which, weights=correct, minlength=bins)[used] / sizes[used]
    return means.tolist(), shares.tolist(), sizes[used].tolist()


def _figure(x: str, y: str) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise InputError(
            "plots need matplotlib; install it with `pip install nmspeller[train]`."
        ) from missing
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def _save(figure: Any, path: str | Path) -> None:
    # Without the date and version that matplotlib adds, the same data gives the same file.
    figure.savefig(path, dpi=120, metadata={"Software": None})
