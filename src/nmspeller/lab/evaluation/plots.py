"""Loss curves, drawn with matplotlib (extra `train`), which is imported lazily."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError


def draw_losses(logs: Mapping[str, Path], path: str | Path) -> None:
    """Draw the training loss over steps of one or more JSON-lines logs, each line with `step` and `loss`.

    Raises:
        InputError: a log is damaged, or matplotlib is missing.
    """
    figure, axes = new_figure("step", "loss")
    everything: list[float] = []
    for name, log in logs.items():
        steps, losses = read_losses(log)
        axes.plot(steps, losses, label=name, linewidth=1)
        everything += losses
    if everything and max(everything) > 10 * min(everything):
        axes.set_yscale("log")  # within one power of ten its labels are hard to read
    axes.legend(fontsize="small")
    save(figure, path)


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


def new_figure(x: str, y: str) -> tuple[Any, Any]:
    """A figure and its axes with these labels."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("plots need matplotlib; install it with `pip install nmspeller[train]`.") from error
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def save(figure: Any, path: str | Path) -> None:
    """Write a figure; the same data gives the same file."""
    # Without the date and version that matplotlib adds.
    figure.savefig(path, dpi=120, metadata={"Software": None})
