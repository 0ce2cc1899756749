# make run         installs the core and checks a sample text
# make test        installs everything and runs all tests
# make test-fast   the inner loop: the tests that take about a minute together
# make lint        style, types, and the direction of imports
# make docs        builds the documentation site into site/
# make clean       removes everything that the others created

PYTHON ?= python3
WORKERS ?= 2

venv := .venv
bin := $(venv)/bin
pip := $(bin)/python -m pip install --quiet --disable-pip-version-check

# The tests start hundreds of processes, which share compiled modules even where the environment asks for none.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-fast lint docs clean

run: $(venv)/core.stamp
	@$(bin)/python examples/try_it.py
	@echo
	@echo "The command is $(abspath $(bin))/nmspeller; try: $(bin)/nmspeller check --text 我门去公园玩"

# Each test worker gets one thread: more would compete for the cores.
test: $(venv)/dev.stamp $(venv)/system.stamp
	OMP_NUM_THREADS=1 $(bin)/python -m pytest -n $(WORKERS) --dist loadfile

# The unit tests of the product and the quick ones of the apps and the laboratory: about 80 s of processor time.
fast := tests/text tests/knowledge tests/runtime tests/apps/documents tests/lab/data tests/lab/evaluation \
    $(wildcard tests/test_files.py tests/apps/check/test_check.py tests/apps/check/test_check_reports.py \
    tests/apps/http/test_native.py tests/lab/models/test_masking.py tests/lab/models/test_registry.py \
    tests/lab/training/test_streams.py)

test-fast: $(venv)/dev.stamp
	OMP_NUM_THREADS=1 $(bin)/python -m pytest -n $(WORKERS) --dist loadfile -m "not slow" -k "not hostile" \
	    --ignore tests/runtime/test_names.py --ignore tests/runtime/test_torch_engine.py $(fast)

lint: $(venv)/dev.stamp
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports

# The variable silences an advertisement of MkDocs Material about the next MkDocs.
docs: $(venv)/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(bin)/python -m mkdocs build --strict
	@echo "Open site/index.html"

clean:
	rm -rf $(venv) build dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis tests/apps/http/node/node_modules
	find src tests benchmarks scripts examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(bin)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' || \
	    { echo "nmspeller needs Python 3.10 to 3.13: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(venv) || \
	    { rm -rf $(venv); echo "$(PYTHON) cannot make a virtual environment; on Debian, install python3-venv."; exit 1; }

# A stamp is written only when pip is done, so that an interrupted installation is repeated.
$(venv)/core.stamp: pyproject.toml | $(bin)/python
	@echo "Installing nmspeller into $(venv)"
	@$(pip) --editable .
	@touch $@

# Python compiles what the tests import; pip would compile all of it, which takes as long as the rest.
$(venv)/dev.stamp: pyproject.toml constraints.txt | $(bin)/python
	@echo "Installing nmspeller and its development tools into $(venv) (some minutes the first time)"
	@$(pip) --no-compile --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(venv)/core.stamp

$(venv)/system.stamp: scripts/system_packages.sh | $(bin)/python
	@scripts/system_packages.sh
	@touch $@
