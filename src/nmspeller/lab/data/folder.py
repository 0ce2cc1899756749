"""The folder of the corpora and evaluation sets, which are not part of the package."""

import os
from pathlib import Path

from nmspeller.errors import InputError


def data_folder() -> Path:
    """`$NMSPELLER_DATA`, or `../shared/data` beside the project.

    Raises:
        InputError: neither exists.
    """
    named = os.environ.get("NMSPELLER_DATA")
    project = Path(__file__).resolve().parents[4]
    folder = Path(named) if named else project.parent / "shared" / "data"
    if not folder.is_dir():
        raise InputError(
            f"no data folder at {folder}; set NMSPELLER_DATA to the folder with sighan/ and corpus/."
        )
    return folder
