"""The package is built with the native engine where there is a C compiler, and without it elsewhere."""

import ctypes
import os
import shutil
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling import build
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).parents[1]
FILES = (".gitignore", "LICENSE", "NOTICE", "README.md", "hatch_build.py", "pyproject.toml")
SOURCE = """
#include "answer.h"
__attribute__((visibility("default"))) int answer(void) { return ANSWER; }
"""

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler is installed"
)


class Project:
    """A copy of what the build needs, with one function for the engine."""

    def __init__(self, folder):
        self.folder = folder
        self.package = folder / "src" / "nmspeller" / "runtime" / "native"
        self.package.mkdir(parents=True)
        (folder / "src" / "nmspeller" / "__init__.py").touch()
        for name in FILES:
            shutil.copy2(ROOT / name, folder)
        (folder / "native").mkdir()
        (folder / "native" / "answer.h").write_text("#define ANSWER 42\n")
        (folder / "native" / "answer.c").write_text(SOURCE)

    def wheel(self):
        """Whether the wheel has the library, and its tag."""
        path = self.folder / "dist" / build.build_wheel(str(self.folder / "dist"))
        with ZipFile(path) as file:
            packed = [name for name in file.namelist() if "/_library." in name]
        (tag,) = parse_wheel_filename(path.name)[3]
        return bool(packed), tag

    def library(self):
        (found,) = self.package.iterdir()
        return found


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name in ("CC", "NMSPELLER_NATIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def test_the_library_is_compiled_and_packed_for_this_platform(project):
    has_library, tag = project.wheel()
    assert has_library
    assert (tag.interpreter, tag.abi) == ("py3", "none")
    assert tag.platform != "any"
    assert tag in set(sys_tags())
    assert ctypes.CDLL(str(project.library())).answer() == 42
    with ZipFile(next((project.folder / "dist").iterdir())) as file:
        (metadata,) = (file.read(name) for name in file.namelist() if name.endswith("/WHEEL"))
    assert b"Root-Is-Purelib: false" in metadata  # or auditwheel would refuse it


def test_it_is_compiled_again_only_if_something_is_newer(project):
    project.wheel()
    for changed in ("native/answer.c", "native/answer.h", "hatch_build.py"):
        compiled = project.library().stat().st_mtime_ns
        assert project.wheel()[0]
        assert project.library().stat().st_mtime_ns == compiled
        os.utime(project.folder / changed, ns=(compiled, compiled))
        assert project.wheel()[0]
        assert project.library().stat().st_mtime_ns > compiled


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [("", " fails"), ("/nonexistent", "/nonexistent is not installed"), ("./broken", "Exec format error")],
)
def test_without_it_the_wheel_serves_every_platform(project, monkeypatch, capfd, compiler, reason):
    project.wheel()
    monkeypatch.setenv("CC", compiler)
    (project.folder / "broken").touch(0o755)
    (project.folder / "broken").write_text("of another machine")
    (project.folder / "native" / "answer.h").write_text("#define ANSWER mistake\n")
    has_library, tag = project.wheel()
    assert not has_library
    assert str(tag) == "py3-none-any"
    assert list(project.package.iterdir()) == []  # nor the outdated one
    said = capfd.readouterr().err
    assert said.count("nmspeller is built without its native engine") == 1
    assert reason in said.splitlines()[-1]


def test_a_release_is_not_built_without_it(project, monkeypatch):
    monkeypatch.setenv("NMSPELLER_NATIVE", "1")
    monkeypatch.setenv("CC", "/nonexistent")
    with pytest.raises(Exception, match="/nonexistent is not installed"):
        project.wheel()
    assert not (project.folder / "dist").exists() or not list((project.folder / "dist").iterdir())


@pytest.mark.parametrize("is_outdated", [False, True])
def test_it_can_be_declined(project, monkeypatch, capfd, is_outdated):
    project.wheel()
    library = project.library()
    if is_outdated:
        (project.folder / "native" / "answer.c").touch()
    monkeypatch.setenv("NMSPELLER_NATIVE", "0")
    has_library, tag = project.wheel()
    assert not has_library
    assert str(tag) == "py3-none-any"
    assert library.exists() is not is_outdated
    assert capfd.readouterr().err == ""


def test_the_source_distribution_has_what_compiles_it(project):
    project.wheel()
    path = project.folder / "dist" / build.build_sdist(str(project.folder / "dist"))
    with tarfile.open(path) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"hatch_build.py", "native/answer.c", "native/answer.h"} <= names
    assert not [name for name in names if "_library." in name]
