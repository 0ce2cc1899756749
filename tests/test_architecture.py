"""Rules for the whole project that no linter knows."""

import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import grimp
import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent


def run(*command, **options):
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True, encoding="utf-8", **options
    )


def test_the_product_loads_without_torch():
    modules = "nmspeller.apps.cli.checking, nmspeller.runtime.speller, nmspeller.lab.evaluation.metrics"
    result = run(sys.executable, "-c", f"import sys, {modules}; sys.exit('torch' in sys.modules)")
    assert result.returncode == 0, result.stderr


def circles(graph):
    """Each circle of imports in the order in which its modules import one another."""
    imports = (
        (one, other) for one in graph.modules for other in graph.find_modules_directly_imported_by(one)
    )
    back = ((one, graph.find_shortest_chain(importer=other, imported=one)) for one, other in imports)
    found = {frozenset(chain): (one, *chain) for one, chain in back if chain}
    return sorted(" → ".join(circle) for circle in found.values())


def test_no_imports_go_in_circles():
    """Imports inside functions and for type checkers count: they only hide a circle."""
    graph = grimp.build_graph("nmspeller", cache_dir=None)
    assert graph.count_imports() > 1000
    assert circles(graph) == []


def test_a_circle_is_named():
    graph = grimp.build_graph("nmspeller", cache_dir=None)
    graph.add_import(importer="nmspeller.runtime.explain", imported="nmspeller.runtime.correction")
    assert [set(circle.split(" → ")) for circle in circles(graph)] == [
        {f"nmspeller.runtime.{name}" for name in ("correction", "why", "explain")}
    ]


def test_nothing_is_unpickled():
    forbidden = re.compile(r"\bimport pickle\b|\btorch\.load\(|allow_pickle=True|\bpickle\.loads?\(")
    for path in (ROOT / "src").rglob("*.py"):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path


def test_every_dependency_is_explained():
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.match(r"[\w.-]+", requirement).group().lower() for requirement in requirements} - {
        "nmspeller"
    }
    rows = re.findall(
        r"^\| ([^|]+) \|", (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    explained = {name.strip().lower() for row in rows for name in row.split(",")} - {"library", "---"}
    assert explained == names


def test_both_version_numbers_agree():
    import nmspeller

    with open(ROOT / "pyproject.toml", "rb") as file:
        assert tomllib.load(file)["project"]["version"] == nmspeller.__version__


def test_the_public_names_can_be_listed_and_imported():
    import nmspeller
    from nmspeller.runtime.findings import Reason

    assert nmspeller.Reason is Reason
    assert set(nmspeller.__all__) <= set(dir(nmspeller))
    assert all(hasattr(nmspeller, name) for name in nmspeller.__all__)


@pytest.mark.server
@pytest.mark.parametrize(
    ("text", "fail", "expected"),
    [("很好。", "true", 0), ("我门去公园玩。", "true", 1), ("我门去公园玩。", "false", 0)],
)
def test_the_github_action_checks_and_annotates(tmp_path, text, fail, expected):
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "文.md").write_text(text, encoding="utf-8")
    (tmp_path / "nmspeller").symlink_to(BIN.parent)
    step = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"][1]
    variables = {"PATHS": "*/*.md", "LEVEL": "careful", "FAIL": fail, "RUNNER_TEMP": str(tmp_path)}
    result = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert result.returncode == expected, result.stderr
    assert ("::warning file=a b/文.md,line=1,col=2," in result.stdout) is ("门" in text)


def test_make_names_the_python_versions_it_needs(tmp_path):
    fake = tmp_path / "old-python"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    result = run("make", "--no-print-directory", f"PYTHON={fake}", f"venv={tmp_path}/venv", "run")
    assert result.returncode != 0
    assert "3.10 to 3.14" in result.stdout


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        (["there is no data folder", "no backbone", "Docker is not installed"], "2 tests skipped"),
        (["there is no data folder"], "1 test skipped"),
        (["Docker is not installed"], None),
    ],
)
def test_one_line_counts_the_tests_that_need_the_corpora(request, reasons, said):
    lines = []
    skipped = [SimpleNamespace(longrepr=reason) for reason in reasons]
    reporter = SimpleNamespace(stats={"skipped": skipped}, write_line=lines.append)
    conftest = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    conftest.pytest_terminal_summary(reporter)
    assert lines == ([f"{said}: they need the corpora, see docs/training.md"] if said else [])


def test_every_option_of_check_is_documented():
    help_text = run(sys.executable, "-m", "nmspeller", "check", "--help").stdout
    options = set(re.findall(r"--[a-z][a-z-]+", help_text)) - {"--help"}
    manual = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert len(options) > 10
    assert not {option for option in options if f"`{option}`" not in manual}
