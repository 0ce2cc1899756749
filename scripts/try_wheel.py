"""Fails unless a wheel holds every file of the package and, installed alone, works in an empty folder.

python scripts/try_wheel.py dist/nmspeller-….whl
"""

import fnmatch
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "nmspeller"
IGNORED = {"__pycache__", ".DS_Store"}
LIBRARY = "nmspeller/runtime/native/_library.*"
LOADING = "from nmspeller.runtime.native import library; exit(library.load() is None)"


def main(wheel: Path) -> None:
    compare_files(wheel)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python, command = install(wheel, folder / "environment")
        empty = folder / "empty"
        empty.mkdir()
        checked = run(command, "check", "--text", "我门去公园玩。", cwd=empty)
        require(checked.returncode == 1 and "门 → 们" in checked.stdout, checked.stdout + checked.stderr)
        place = run(python, "-c", "import nmspeller; print(nmspeller.__file__)", cwd=empty).stdout.strip()
        require(Path(place).is_relative_to(folder), f"nmspeller was imported from {place}")
        if has_library(wheel):
            loaded = run(python, "-c", LOADING, cwd=empty)
            require(loaded.returncode == 0, f"The library is not loaded. {loaded.stderr}")
        sets = run(command, "lab", "data", "sets", cwd=empty, NMSPELLER_DATA=str(empty))
        require(sets.returncode == 0, f"The wheel lacks the laboratory's table: {sets.stderr}")
        require(not list(empty.iterdir()), "A command left files behind.")


def has_library(wheel: Path) -> bool:
    """Whether it was built for one platform, with the library of the native engine."""
    return not wheel.name.endswith("-any.whl")


def compare_files(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("nmspeller/")}
    files = {
        f"nmspeller/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and not IGNORED.intersection(path.parts)
    }
    libraries = fnmatch.filter(packed, LIBRARY)
    require(len(libraries) == has_library(wheel), f"{wheel.name} has these libraries: {libraries}")
    # Whether the package has one depends on what was built here last.
    different = sorted(name for name in packed ^ files if not fnmatch.fnmatch(name, LIBRARY))
    require(not different, f"In the wheel or in the package only: {different}")


def install(wheel: Path, folder: Path) -> tuple[Path, Path]:
    """Python and the `nmspeller` command of an environment with the wheel and the dependencies of this one.

    The dependencies come from a .pth file. Python does not read further .pth files behind it, so an
    editable installation of the checkout stays invisible there. Another one would be seen, and is ignored.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    Path(packages.stdout.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    options = ("--no-deps", "--no-index", "--no-compile", "--ignore-installed")
    done = run(*pip, *options, wheel.resolve(), cwd=folder)
    require(done.returncode == 0, done.stderr)
    return python, folder / "bin" / "nmspeller"


def run(*command: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def require(holds: bool, otherwise: str) -> None:
    if not holds:
        sys.exit(otherwise)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
