"""Compiles the native engine when the package is built: the build hook of hatchling.

The library knows nothing of Python, which loads it with ctypes, so that one wheel for a platform serves all
versions. Where it cannot be compiled, the package is built without it, and the speller uses ONNX Runtime.
NMSPELLER_NATIVE=0 asks for such a package; NMSPELLER_NATIVE=1 makes it an error.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilder, WheelBuilderConfig

SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
LIBRARY = f"src/nmspeller/runtime/native/_library{SUFFIX}"
MACHINES = ("x86_64", "amd64", "aarch64", "arm64")
# Nothing here asks for the instructions of one processor: the sources do, function by function, and choose
# when they run. Multiplications and additions are not contracted, so that all compilers round alike.
FLAGS = ("-std=gnu11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off", "-pthread")
# Windows has none of the libraries that come with a compiler. GCC's code for AVX crashes there: it takes the
# stack for better aligned than it is (GCC's bug 54412).
STATIC = ("-static",) if sys.platform == "win32" else ()
COMPILERS = ("clang",) if sys.platform == "win32" else ("cc", "gcc", "clang")


class CannotCompile(Exception):
    """Says why, in a part of a sentence."""


class NativeEngine(BuildHookInterface[WheelBuilderConfig]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        native, library = Path(self.root, "native"), Path(self.root, LIBRARY)
        wanted = os.environ.get("NMSPELLER_NATIVE")
        if not is_up_to_date(native, library):
            library.unlink(missing_ok=True)  # an editable installation would load it
            try:
                if wanted != "0":
                    compile_library(native, library)
            except (CannotCompile, OSError) as error:
                if wanted == "1":
                    raise
                said = "nmspeller is built without its native engine and uses ONNX Runtime"
                print(f"{said}: {error}.", file=sys.stderr)
        if version == "standard" and wanted != "0" and library.exists():
            build_data["artifacts"].append(f"/{LIBRARY}")  # it is packed although git ignores it
            build_data["pure_python"] = False
            inferred = cast(WheelBuilder, self.build_config.builder).get_best_matching_tag()
            build_data["tag"] = f"py3-none-{inferred.rpartition('-')[2]}"


def is_up_to_date(native: Path, library: Path) -> bool:
    sources = (Path(__file__), native, *native.iterdir())  # the folder itself changes when a file goes
    return library.exists() and library.stat().st_mtime > max(path.stat().st_mtime for path in sources)


def compile_library(native: Path, library: Path) -> None:
    """Put the library in place in one step, so that nobody loads a part of it."""
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="_library.", dir=library.parent) as folder:
        made = Path(folder, library.name)
        sources = sorted(native.glob("*.c"))
        command = (*compiler, *FLAGS, *STATIC, "-o", made, *sources, "-lm")
        if subprocess.run(command).returncode:
            raise CannotCompile(f"{compiler[0]} fails")
        os.replace(made, library)


def find_compiler() -> list[str]:
    """The compiler's command, with its options if CC has some."""
    if platform.machine().lower() not in MACHINES or sys.maxsize < 2**32:
        raise CannotCompile("it needs a 64-bit processor of the x86 or ARM family")
    asked = os.environ.get("CC")
    for command in (asked,) if asked else COMPILERS:
        if shutil.which(command.split()[0]):
            return command.split()
    raise CannotCompile(f"{asked or 'a C compiler'} is not installed")
