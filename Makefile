# make run         installs the core and checks a sample text
# make test        installs everything and runs all tests
# make test-fast   the inner loop: the tests that need no browser, server, torch or LibreOffice
# make lint        style, types, and the direction of imports
# make docs        builds the documentation site into site/, and tests that it is self-contained
# make wheel       builds the wheel into dist/, and tests it in an environment of its own
# make clean       removes everything that the others created

PYTHON ?= python3
WORKERS ?= 6

venv := .venv
bin := $(venv)/bin
# Even if NMSPELLER_NATIVE says that tests or a wheel do without the native engine, the next ones may need it.
pip := NMSPELLER_NATIVE= $(bin)/python -m pip install --quiet --disable-pip-version-check

# What the library of the native engine is compiled from.
native := hatch_build.py $(wildcard native/*)
library := src/nmspeller/runtime/native/_library.*

# The tests start hundreds of processes, which share compiled modules even where the environment asks for none.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-fast lint docs wheel clean

run: $(venv)/core.stamp
	@$(bin)/python examples/try_it.py
	@echo
	@echo "The command is $(abspath $(bin))/nmspeller; try: $(bin)/nmspeller check --text 我门去公园玩"

# Each test worker gets one thread: more would compete for the cores. They often wait, for browsers and servers, so
# that six workers keep two cores busy. Beside them Ray takes its own workers, which start slowly, for dead, and
# starts others, again and again: its tests run before. They leave a core free, on which everything is compiled meanwhile
# that all six workers are about to import.
ray_tests := tests/apps/batch/test_faults_ray.py
test: $(venv)/dev.stamp $(venv)/system.stamp
	@OMP_NUM_THREADS=1 $(bin)/python -m pytest --collect-only > /dev/null & \
	    OMP_NUM_THREADS=1 $(bin)/python -m pytest $(ray_tests); status=$$?; wait; exit $$status
	OMP_NUM_THREADS=1 $(bin)/python -m pytest --ignore $(ray_tests) -n $(WORKERS) --dist loadfile \
	    --no-loadscope-reorder

# Without the tests that need more than Python and the core: see the markers in pyproject.toml. The two plugins, which
# only the others use, take each process longer to import than pytest itself.
test-fast: $(venv)/dev.stamp
	OMP_NUM_THREADS=1 $(bin)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
	    -p no:pytest-lsp -p no:schemathesis -m "not (slow or browser or server or train or office)"

lint: $(venv)/dev.stamp
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports
	$(bin)/pre-commit validate-manifest .pre-commit-hooks.yaml
	$(bin)/pre-commit validate-config .pre-commit-config.yaml

# The variable silences an advertisement of MkDocs Material about the next MkDocs.
docs: $(venv)/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(bin)/python -m mkdocs build --quiet --strict
	$(bin)/python scripts/self_contained.py site
	@echo "Open site/index.html"

wheel: $(venv)/dev.stamp
	rm -rf dist
	$(bin)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	$(bin)/python scripts/try_wheel.py dist/*.whl

clean:
	rm -rf $(venv) $(library) __pycache__ build dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis tests/apps/http/node/node_modules
	find src tests benchmarks scripts examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(bin)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' || \
	    { echo "nmspeller needs Python 3.10 to 3.14: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(venv) || \
	    { rm -rf $(venv); echo "$(PYTHON) cannot make a virtual environment; on Debian, install python3-venv."; exit 1; }

# A stamp is written only when pip is done, so that an interrupted installation is repeated.
$(venv)/core.stamp: pyproject.toml $(native) | $(bin)/python
	@echo "Installing nmspeller into $(venv)"
	@$(pip) --editable .
	@touch $@

# Python compiles what the tests import; pip would compile all of it, which takes as long as the rest.
$(venv)/dev.stamp: pyproject.toml constraints.txt $(native) | $(bin)/python
	@echo "Installing nmspeller and its development tools into $(venv) (some minutes the first time)"
	@$(pip) --no-compile --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(venv)/core.stamp

$(venv)/system.stamp: scripts/system_packages.sh | $(bin)/python
	@scripts/system_packages.sh
	@touch $@
