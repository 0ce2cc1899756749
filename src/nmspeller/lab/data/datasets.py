"""The table of data sets: the files of each, whether it is learnt from or measured on, and its terms.

The package's own table is configs/datasets.yaml, which explains its columns. A file datasets.yaml in a data
folder adds sets to it, or replaces some of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nmspeller.errors import InputError
from nmspeller.lab.configs import FOLDER
from nmspeller.lab.configs.parsing import check_range, from_mapping, read_yaml

NAME = "datasets.yaml"

Role = Literal["train", "dev", "test"]
Format = Literal["pairs", "edits", "confusions", "text"]
Profile = Literal["learner", "writer", "input_method", "scanner"]


@dataclass(frozen=True)
class Groups:
    """The column, from 1, of a file that says, line by line, what belongs together."""

    file: str
    column: int

    def __post_init__(self) -> None:
        check_range(self, "column", least=1)


@dataclass(frozen=True)
class DataSet:
    """One row of the table; configs/datasets.yaml explains the columns."""

    files: tuple[str, ...]
    role: Role
    licence: str
    format: Format = "pairs"
    dev: int = 10
    clean_dev: int | None = None
    groups: Groups | None = None
    noise: Profile | None = None
    keep: Mapping[str, float] = field(default_factory=dict)
    drop_de: bool = False
    same_text: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_range(self, "dev", "clean_dev", least=2)

    @property
    def is_measured(self) -> bool:
        """Whether it is an evaluation set, of which training text may contain nothing."""
        return self.role != "train"

    @property
    def all_files(self) -> tuple[str, ...]:
        """All that the row names, each once."""
        groups = (self.groups.file,) if self.groups else ()
        return tuple(dict.fromkeys((*self.files, *groups, *self.same_text)))

    @property
    def clean_files(self) -> tuple[str, ...]:
        """Where sentences of the same files lie in which nothing was found; not every file has some."""
        return tuple(file.removesuffix(".tsv") + ".clean.txt" for file in self.files)


class DataTable(dict[str, DataSet]):
    """All sets by name, and the data folder whose files they are."""

    def __init__(self, folder: Path, sets: Mapping[str, DataSet]) -> None:
        super().__init__(sets)
        self.folder = folder

    @classmethod
    def read(cls, folder: str | Path) -> "DataTable":
        """The package's table with that of the data folder, if there is one.

        Raises:
            InputError: the folder's table is not one.
        """
        folder = Path(folder)
        tables = [FOLDER / NAME, *(path for path in [folder / NAME] if path.is_file())]
        rows = {name: row for path in tables for name, row in _rows(path)}
        return cls(folder, rows)

    def training(self, data_format: Format = "pairs") -> dict[str, DataSet]:
        """The sets of one format to learn from, of which at least one file is there."""
        return {
            name: one
            for name, one in self.items()
            if one.role == "train" and one.format == data_format and self.paths(one)
        }

    def measured(self) -> dict[str, DataSet]:
        """The evaluation sets that are there whole: a part of one would give figures that mean nothing."""
        return {name: one for name, one in self.items() if one.is_measured and self.is_whole(one)}

    def is_whole(self, one: DataSet) -> bool:
        """Whether all sentences of a set are there; copies of it, and what groups it, need not be."""
        return len(self.paths(one)) == len(one.files)

    def paths(self, one: DataSet) -> list[Path]:
        """The files of a set that are there."""
        return [self.folder / file for file in one.files if (self.folder / file).exists()]

    def missing(self) -> dict[str, list[str]]:
        """The files of each set that are not there; sets that are whole are not listed."""
        absent = {
            name: [file for file in one.all_files if not (self.folder / file).exists()]
            for name, one in self.items()
        }
        return {name: files for name, files in absent.items() if files}


def describe_missing(table: DataTable) -> list[str]:
    """What the data folder lacks, as lines for people, one a set; none if it lacks nothing."""
    roles = {"train": "to learn from", "dev": "to measure on", "test": "to measure on"}
    left_out: list[str] = []
    beside: list[str] = []
    for name, files in table.missing().items():
        rows = beside if table.is_whole(table[name]) else left_out
        rows.append(f"  {name} ({roles[table[name].role]}): {', '.join(files)}")
    return [
        *([f"not in {table.folder}, and left out:", *left_out] if left_out else []),
        *([f"not in {table.folder}; the sets are used without these files:", *beside] if beside else []),
    ]


def _rows(path: Path) -> Iterator[tuple[str, DataSet]]:
    for name, values in read_yaml(path).items():
        try:
            yield str(name), from_mapping(DataSet, _listed(values), str(name))
        except InputError as error:
            raise InputError(f"{path}, {name}: {error}") from None


def _listed(values: Any) -> Any:
    """A row in which one file may stand without brackets."""
    if not isinstance(values, Mapping):
        return values
    return {
        key: [each] if key in ("files", "same_text") and isinstance(each, str) else each
        for key, each in values.items()
    }
