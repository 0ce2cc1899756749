"""Trained spellers and their outcomes: a JSON file per run of an experiment, and one results file for all.

A cases file has, in the same way, the answers of all runs to the paper's example sentences.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.evaluation.error_fates import count_fates
from nmspeller.lab.evaluation.outcomes import PAPER_SETS, changed_clean, sentence_scores

Answers = dict[str, dict[str, list[str]]]
"""By sentence, then by answer: the names of the runs that gave it."""

# These differ between the runs of one protocol, have a column of their own, or change nothing that is learnt.
_NOT_PROTOCOL = frozenset({"seed", "name", "out", "model", "workers", "log_every", "save_seconds"})


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """One trained speller and its outcomes.

    ngram: none, or the masked n-gram.
    active: when it is masked, training or always; empty without masking.
    config: the recipe and the other inputs.
    outcomes, counts: a letter per sentence of the paper's sets, and the number of each letter in other sets;
    see the module `outcomes`.
    fates: what happened to the misspelt characters of the paper's sets; see the module `error_fates`.
    epochs: the number of each letter in the dev parts and the paper's sets after each epoch, where measured.
    """

    name: str
    model: str
    ngram: str
    active: str
    seed: int
    config: Mapping[str, Any]
    data_hashes: Mapping[str, str]
    seconds: float
    outcomes: Mapping[str, str]
    counts: Mapping[str, Mapping[str, int]]
    fates: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    epochs: Sequence[Mapping[str, Mapping[str, int]]] = ()

    @property
    def protocol(self) -> str:
        """How it was trained, apart from speller and seed, as JSON; runs of one protocol may be averaged."""
        return json.dumps(_protocol(self.config), ensure_ascii=False, sort_keys=True)

    def figure(self, name: str, *path: str) -> float | None:
        """One figure of a set, ("correction", "f1") or ("changed_clean",), if the run was measured on it."""
        counts = Counter(self.outcomes[name]) if name in self.outcomes else self.counts.get(name)
        if counts is None:
            return None
        if path == ("changed_clean",):
            return changed_clean(counts)
        task, figure = path
        return float(getattr(getattr(sentence_scores(counts), task), figure))


@dataclass(frozen=True, eq=False)
class RunGroup:
    """The runs of one speller under one protocol, which differ in their seeds alone."""

    model: str
    ngram: str
    active: str
    protocol: str
    runs: tuple[TrainingRun, ...]

    @property
    def config(self) -> Mapping[str, Any]:
        return self.runs[0].config

    def figures(self, name: str, *path: str) -> list[float]:
        """One figure of a set, such as ("correction", "f1"), of each run that was measured on it."""
        found = (run.figure(name, *path) for run in self.runs)
        return [figure for figure in found if figure is not None]


def read_runs(folder: Path) -> list[TrainingRun]:
    """The runs of an experiment's folder, each named after the folder and its own name.

    Raises:
        InputError: there is no run, or a file is damaged.
    """
    runs = []
    for path, content in run_files(folder):
        if {"outcomes", "edits"} <= content.keys():
            fates = {
                name: count_fates(name, edits)
                for name, edits in content["edits"].items()
                if name in PAPER_SETS
            }
            runs.append(_run(content | {"name": run_name(folder, path, content), "fates": fates}, path))
    if not runs:
        raise InputError(f"no runs in {folder}; run `nmspeller lab experiment` first.")
    return runs


def run_files(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every JSON file in a folder and below that contains an object.

    Raises:
        InputError: a file is damaged.
    """
    for path in sorted(folder.rglob("*.json")):
        content = _read_json(path)
        if isinstance(content, dict):
            yield path, content


def run_name(folder: Path, path: Path, content: Mapping[str, Any]) -> str:
    """A name that stays unique when the runs of several folders are put together."""
    return (Path(folder.resolve().name) / path.parent.relative_to(folder) / str(content["name"])).as_posix()


def read_results(path: Path) -> list[TrainingRun]:
    """The runs of a results file.

    Raises:
        InputError: the file is absent or damaged.
    """
    if not path.is_file():
        raise InputError(f"there is no {path}; run `nmspeller lab experiment` first.")
    content = _read_json(path)
    try:
        return [
            _run(
                run
                | {
                    "config": content["configs"][run["config"]],
                    "data_hashes": content["data"][run["data_hashes"]],
                },
                path,
            )
            for run in content["runs"]
        ]
    except (KeyError, IndexError, TypeError):
        raise InputError(f"{path} is not a results file; run the experiment again.") from None


def write_results(path: Path, runs: Iterable[TrainingRun]) -> None:
    """Write a results file, one run a line; configs and data that runs share are written once."""
    configs: dict[str, int] = {}
    data: dict[str, int] = {}
    lines = []
    for run in sorted(runs, key=lambda run: run.name):
        values = {each.name: getattr(run, each.name) for each in fields(TrainingRun)}
        values["config"] = configs.setdefault(_dump(run.config), len(configs))
        values["data_hashes"] = data.setdefault(_dump(run.data_hashes), len(data))
        values["seconds"] = round(run.seconds, 1)
        if not run.epochs:
            del values["epochs"]
        lines.append(_dump(values))
    parts = [
        f'"{name}": [\n' + ",\n".join(each) + "\n]"
        for name, each in (("configs", configs), ("data", data), ("runs", lines))
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, ("{\n" + ",\n".join(parts) + "\n}\n").encode())


def add_results(path: Path, runs: Iterable[TrainingRun]) -> list[TrainingRun]:
    """Add runs to a results file, where they replace those of the same name; returns all of its runs.

    Raises:
        InputError: the file is damaged, or a run is there twice under different names.
    """
    old = read_results(path) if path.is_file() else []
    together = list({run.name: run for run in (*old, *runs)}.values())
    group_runs(together)
    write_results(path, together)
    return read_results(path)


def group_runs(runs: Iterable[TrainingRun]) -> list[RunGroup]:
    """Put the seeds of one speller and protocol together, in the order of their first appearance.

    Raises:
        InputError: a seed appears twice, which would count one result double.
    """
    groups: dict[tuple[str, str, str, str], dict[int, TrainingRun]] = {}
    for run in runs:
        seeds = groups.setdefault((run.model, run.ngram, run.active, run.protocol), {})
        if run.seed in seeds:
            raise InputError(
                f"runs {seeds[run.seed].name} and {run.name} differ only in their names; remove one."
            )
        seeds[run.seed] = run
    return [RunGroup(*key, tuple(seeds[seed] for seed in sorted(seeds))) for key, seeds in groups.items()]


def add_cases(path: Path, runs_folder: Path) -> None:
    """Add the answers of an experiment's runs to a cases file, where they replace those of the same names."""
    new = {
        run_name(runs_folder, file, content): content["cases"]
        for file, content in run_files(runs_folder)
        if "cases" in content
    }
    answers = read_cases(path) if path.is_file() else {}
    for by_answer in answers.values():
        for names in by_answer.values():
            names[:] = [name for name in names if name not in new]
    for name, cases in new.items():
        for case in cases:
            by_answer = answers.setdefault(case["input"], {})
            by_answer[case["answer"]] = sorted([*by_answer.get(case["answer"], ()), name])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, (json.dumps(answers, ensure_ascii=False, indent=1) + "\n").encode())


def read_cases(path: Path) -> Answers:
    """The answers of a cases file.

    Raises:
        InputError: the file is absent or damaged.
    """
    if not path.is_file():
        raise InputError(f"there is no {path}; run `nmspeller lab experiment` first.")
    answers: Answers = _read_json(path)
    return answers


def _run(content: Mapping[str, Any], path: Path) -> TrainingRun:
    names = [each.name for each in fields(TrainingRun)]
    missing = [name for name in names if name not in content and name not in ("fates", "epochs")]
    if missing:
        raise InputError(f"{path} has no {', '.join(missing)}; it is not a complete run, run it again.")
    return TrainingRun(**{name: content[name] for name in names if name in content})


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON; remove it or run it again.") from error


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _protocol(value: Any) -> Any:
    if isinstance(value, Mapping):
        # An option that did not exist yet when a run was recorded was off.
        return {
            key: _protocol(each)
            for key, each in value.items()
            if key not in _NOT_PROTOCOL and each is not False
        }
    if isinstance(value, list):
        return [_protocol(each) for each in value]
    # The name of a file identifies it; its folder depends on the machine that trained.
    if isinstance(value, str) and Path(value).is_absolute():
        return Path(value).name
    return value
