# The two commands of the README: make demo, make test. Both create .venv when needed and are quick the second time.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
REPORT ?= report
export OMP_NUM_THREADS ?= 1

.PHONY: demo test check formal clean

demo: $(VENV)/.installed          ## install, run the main job, write $(REPORT)/index.html
	$(BIN)/headcount demo --out $(REPORT)

test: $(VENV)/.installed-dev      ## install with the development tools and run every test
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(VENV)/.installed-dev     ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

formal:                           ## compile the machine-checked proofs (needs Coq; says what is missing)
	$(MAKE) -C formal

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "headcount needs Python 3.11 or newer: try make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build *.egg-info report
