"""The wheel is complete: installed into an environment of its own, it works in an empty folder."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "nmspeller"
IGNORED = {"__pycache__", ".DS_Store"}

pytestmark = pytest.mark.slow


def run(*command, cwd):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, encoding="utf-8"
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    built = run(sys.executable, "-m", "pip", "wheel", *options, ROOT, cwd=folder)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The `nmspeller` command of an environment with the wheel and the dependencies of this one.

    The dependencies come from a .pth file. Python does not read further .pth files behind it, so an
    editable installation of the checkout stays invisible there.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    Path(packages.stdout.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    result = run(*pip, "--no-deps", "--no-index", "--no-compile", wheel, cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder / "bin" / "nmspeller"


def test_the_wheel_holds_every_file_of_the_package(wheel):
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("nmspeller/")}
    files = {
        f"nmspeller/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and not IGNORED.intersection(path.parts)
    }
    assert packed == files
    assert "nmspeller/lab/configs/datasets.yaml" in packed
    for folder in ("models", "pretrain", "recipes"):
        assert any(name.startswith(f"nmspeller/lab/configs/{folder}/") for name in packed)


def test_the_installed_command_checks_a_text_and_imports_nothing_of_the_checkout(installed, tmp_path):
    result = run(installed, "check", "--text", "我门去公园玩。", cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    assert "门 → 们" in result.stdout
    place = run(
        installed.with_name("python"), "-c", "import nmspeller; print(nmspeller.__file__)", cwd=tmp_path
    )
    assert Path(place.stdout.strip()).is_relative_to(installed.parents[1])
    assert list(tmp_path.iterdir()) == []


def test_training_finds_models_and_recipes_by_name(installed, little_prepared, little_start, tmp_path):
    data = ("--data", little_prepared.folder, "--start", little_start)
    result = run(installed, "lab", "train", "bert", "--recipe", "fast", *data, "--dry-run", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "one step, loss" in result.stdout
