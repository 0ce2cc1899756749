"""What experiments leave behind: one JSON file a run, read again to make tables."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.lab.evaluation.suites import answers_of

# These differ between the runs of one protocol, or are a column of their own.
_NOT_PROTOCOL = frozenset({"seed", "name", "out", "model"})


@dataclass(frozen=True, eq=False)
class Run:
    """One trained speller and how it did.

    `ngram` is none or the n-gram that was masked; `active` says when: training or always. `metrics` and
    `edits` are by evaluation set; an edit is [sentence, position, character].
    """

    name: str
    model: str
    ngram: str
    active: str
    seed: int
    config: Mapping[str, Any]
    data_hashes: Mapping[str, str]
    seconds: float
    metrics: Mapping[str, Any]
    edits: Mapping[str, list[list[int | str]]]

    @cached_property
    def predictions(self) -> Mapping[str, list[str]]:
        """The answer to every sentence, by evaluation set; needs the evaluation data."""
        return {name: answers_of(name, edits) for name, edits in self.edits.items()}

    @property
    def protocol(self) -> str:
        """How it was trained, apart from speller and seed, as JSON; runs of one protocol may be averaged."""
        return json.dumps(_protocol(self.config), ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, eq=False)
class Group:
    """The runs of one speller under one protocol, which differ in their seeds alone."""

    model: str
    ngram: str
    active: str
    protocol: str
    runs: tuple[Run, ...]

    def figures(self, name: str, *path: str) -> list[float]:
        """One figure of a set, such as ("sentence", "correction", "f1"), of each run that has it."""
        found = []
        for run in self.runs:
            if name in run.metrics:
                figure = run.metrics[name]
                for key in path:
                    figure = figure[key]
                found.append(float(figure))
        return found


def read_runs(folder: str | Path) -> list[Run]:
    """Every run under a folder; JSON files without metrics and edits are not runs and are passed over.

    Raises:
        InputError: there is no run, or a file is damaged.
    """
    runs = []
    for path, content in json_objects(Path(folder)):
        if {"metrics", "edits"} <= content.keys():
            runs.append(_run(content, path))
    if not runs:
        raise InputError(f"no runs under {folder}; run `nmspeller experiment` first.")
    return runs


def json_objects(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every JSON file under a folder that holds an object.

    Raises:
        InputError: a file is damaged.
    """
    for path in sorted(folder.rglob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as wrong:
            raise InputError(f"{path} cannot be read as JSON; remove it or run it again.") from wrong
        if isinstance(content, dict):
            yield path, content


def group_runs(runs: Iterable[Run]) -> list[Group]:
    """Put the seeds of one speller and protocol together, in the order of their first appearance.

    Raises:
        InputError: a seed appears twice, which would count one result double.
    """
    groups: dict[tuple[str, str, str, str], dict[int, Run]] = {}
    for run in runs:
        seeds = groups.setdefault((run.model, run.ngram, run.active, run.protocol), {})
        if run.seed in seeds:
            raise InputError(
                f"runs {seeds[run.seed].name} and {run.name} are the same but for their names; remove one."
            )
        seeds[run.seed] = run
    return [Group(*key, tuple(seeds[seed] for seed in sorted(seeds))) for key, seeds in groups.items()]


def _run(content: dict[str, Any], path: Path) -> Run:
    names = [field.name for field in fields(Run)]
    missing = [name for name in names if name not in content]
    if missing:
        raise InputError(f"{path} has no {', '.join(missing)}; it is no complete run, run it again.")
    values = {name: content[name] for name in names}
    # An unmasked speller has no masking to be active.
    if values["ngram"] in (None, "none"):
        values |= {"ngram": "none", "active": ""}
    return Run(**values)


def _protocol(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _protocol(each) for key, each in value.items() if key not in _NOT_PROTOCOL}
    if isinstance(value, list):
        return [_protocol(each) for each in value]
    # Where a file lay on the machine that trained is nobody's business; its name says what it was.
    if isinstance(value, str) and Path(value).is_absolute():
        return Path(value).name
    return value
