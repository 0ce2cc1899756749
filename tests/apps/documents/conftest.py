"""Tests of documents share small Word files, and one running LibreOffice."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def libreoffice(tmp_path_factory):
    """Lets LibreOffice open a file, do something with it, and save it as another one."""
    if not shutil.which("soffice") or subprocess.run(["/usr/bin/python3", "-c", "import uno"]).returncode:
        pytest.skip(
            "LibreOffice and python3-uno are not installed (scripts/system_packages.sh installs them)"
        )
    process = subprocess.Popen(
        [
            "/usr/bin/python3",
            Path(__file__).parent / "libreoffice.py",
            tmp_path_factory.mktemp("libreoffice"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def convert(source, target, *commands):
        print(json.dumps([str(source), str(target), *commands]), file=process.stdin, flush=True)
        answer = process.stdout.readline()
        assert answer == "done\n", answer
        return target

    yield convert
    process.stdin.close()
    process.wait(60)
