# Two commands matter to a newcomer: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test check browser bench clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[demo]"
	touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[dev,demo,lab,parquet,postgres,bench]"
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## the web service on the built-in catalog
	$(BIN)/seeker demo

# TypeScript checks the page's types and axe its accessibility; both are used here only.
PAGE := tests/browser
$(PAGE)/node_modules/.made: $(PAGE)/package-lock.json $(VENV)/.dev
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm ci --prefix $(PAGE) --no-audit --no-fund --loglevel=error
	touch $@

test: check browser  ## the checks and all tests
	$(BIN)/python -m pytest -n auto

check: $(VENV)/.dev $(PAGE)/node_modules/.made  ## style and types
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PAGE)/node_modules/.bin/tsc --project $(PAGE)

browser: $(VENV)/.dev  ## the browser that the tests of the page use; one is installed if need be
	$(BIN)/python $(PAGE)/chromium.py

bench: $(VENV)/.dev  ## what a click costs, as ratios; writes docs/benchmarks
	$(BIN)/python benchmarks/click.py

clean:  ## remove what was made
	rm -rf $(VENV) $(PAGE)/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
