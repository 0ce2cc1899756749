"""The configs of the package, found by name: models, recipes, pretraining, and rows of the paper's tables."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import read_yaml

FOLDER = Path(__file__).resolve().parent
TABLES = ("table1", "table2")


def read_config(kind: str, given: str, known: Collection[str] = ()) -> dict[str, Any]:
    """The values of a config, with its `name`.

    kind: its folder in the package: models, recipes or pretrain.
    given: a name in that folder, such as `nm-bert`; a row of the paper's tables, such as
    `table1/sighan15-bert`; or the path of a YAML or JSON file.
    known: the keys that it may contain; any, if none are given.

    Raises:
        InputError: the package has no config of this name, or the file is not one.
    """
    table, _, row = given.partition("/")
    if table in TABLES and row in (rows := read_table(table)):
        return {"name": row, **{key: value for key, value in rows[row].items() if key in known}}
    path = Path(given)
    if not given.endswith((".yaml", ".yml", ".json")):
        path = FOLDER / kind / f"{given}.yaml"
        if not path.is_file():
            names = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
            raise InputError(f"there is no config {given!r} in {kind}; name a YAML file, or one of {names}.")
    return {"name": path.stem, **read_yaml(path, known)}


def read_table(name: str) -> dict[str, dict[str, Any]]:
    """The rows of one of the paper's tables by their names."""
    return {row: {"recipe": "paper", **values} for row, values in read_yaml(FOLDER / f"{name}.yaml").items()}
