"""The configs of the package, found by name: models, recipes, pretraining, and rows of the paper's tables."""

from pathlib import Path

from nmspeller.errors import InputError

FOLDER = Path(__file__).resolve().parent


def find_config(kind: str, given: str | Path) -> Path:
    """The file of a config.

    kind: its folder in the package: models, recipes, pretrain, table1 or table2.
    given: a name in that folder, such as `nm-bert`; a folder and a name, such as `table1/sighan15-bert`; or
    the path of a YAML or JSON file.

    Raises:
        InputError: the package has no config of this name.
    """
    if str(given).endswith((".yaml", ".yml", ".json")):
        return Path(given)
    for path in (FOLDER / kind / f"{given}.yaml", FOLDER / f"{given}.yaml"):
        if path.is_file():
            return path
    known = ", ".join(path.stem for path in config_files(kind))
    raise InputError(f"there is no config {str(given)!r} in {kind}; name a YAML file, or one of {known}.")


def config_files(kind: str) -> list[Path]:
    """The files of one folder, by name."""
    return sorted((FOLDER / kind).glob("*.yaml"))
