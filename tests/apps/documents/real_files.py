"""Files that our own code did not write, one for each suffix: those in `real`, and what the machine has."""

import sysconfig
from functools import cache
from pathlib import Path

from random_documents import FORMATS

WRITTEN_BY_LIBREOFFICE = Path(__file__).with_name("real")
_PLACES = (WRITTEN_BY_LIBREOFFICE, Path(sysconfig.get_path("purelib")), Path("/usr/share"))
_SIZES = range(200, 50_000)  # an empty file shows nothing, and a large one takes long


@cache
def real_files(*places):
    """The first file of each format that these places have, by the name of the format."""
    formats = {Path(name).suffix: format for format, name in FORMATS.items() if Path(name).suffix}
    found = {}
    for path in (path for place in places or _PLACES for path in sorted(place.rglob("*.*"))):
        format = formats.get(path.suffix)
        if format and format not in found and path.is_file() and path.stat().st_size in _SIZES:
            found[format] = path
    return found
