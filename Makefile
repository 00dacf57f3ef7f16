# Two commands for a newcomer: `make demo` and `make test`. Both prepare .venv where it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test example docs dist core lowest lint audit lock clean

$(VENV)/installed: requirements.lock requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed (set PYTHON=...)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(VENV)/installed
	rm -rf runs/demo
	$(BIN)/paretognn train --dataset digits --preset quick --steps 100 --out runs/demo
	$(BIN)/paretognn evaluate runs/demo

test: $(VENV)/installed
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

# The example of a package with components of its own: installed beside, tested as its author would.
example: $(VENV)/installed
	rm -rf build/example
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--target build/example examples/paretognn-example
	PYTHONPATH=build/example $(BIN)/python -m pytest -c pyproject.toml examples/paretognn-example/tests

# The documentation as a site; what mkdocs would warn of is an error.
docs: $(VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Wheel and source archive.
dist: $(VENV)/installed
	rm -rf dist build/lib
	$(BIN)/python -m build --no-isolation --outdir dist .

# What the tests below need is in the core: no extra, nothing of development but pytest.
CORE_TESTS := tests/test_estimator.py tests/test_registry.py tests/test_release.py tests/cli/test_evaluate.py \
	tests/training/test_tracking.py tests/training/test_config.py

# The source archive with the pinned core alone, in an environment of its own.
core: dist
	rm -rf build/core && $(PYTHON) -m venv build/core
	build/core/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.lock pytest
	build/core/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation dist/*.tar.gz
	build/core/bin/python -m pip check
	build/core/bin/python -m pytest $(CORE_TESTS)
	rm -rf build/core

# The wheel with the lowest versions that pyproject.toml allows; torch alone is the pinned one (.ci/lowest.py).
lowest: dist
	rm -rf build/lowest && $(PYTHON) -m venv build/lowest
	$(BIN)/python .ci/lowest.py > build/lowest/requirements.txt
	build/lowest/bin/python -m pip install --quiet --disable-pip-version-check -r build/lowest/requirements.txt pytest
	build/lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps dist/*.whl
	build/lowest/bin/python -m pip check
	build/lowest/bin/python -m pytest $(CORE_TESTS) tests/cli/test_commands.py
	rm -rf build/lowest

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Known vulnerabilities of the pinned versions; a notice where the database cannot be reached.
audit: $(VENV)/installed
	$(BIN)/python .ci/audit.py requirements-dev.lock

# Resolve the newest versions afresh; commit what it writes.
lock:
	rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet 'setuptools>=77' 'torch==2.13.0' && $(VENV)-lock/bin/python -m pip install --quiet .
	$(VENV)-lock/bin/python -m pip freeze --all --exclude paretognn --exclude pip | sed 's/+cpu$$//' > requirements.lock
	$(VENV)-lock/bin/python -m pip install --quiet '.[dev]'
	( echo '-r requirements.lock'; $(VENV)-lock/bin/python -m pip freeze --all --exclude paretognn --exclude pip | sed 's/+cpu$$//' | grep -vxFf requirements.lock ) > requirements-dev.lock
	rm -rf $(VENV)-lock build

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
