# Two commands matter to a newcomer: `make demo` and `make test`.
PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
INSTALLER ?= uv
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# uv takes a fifth of pip's time. It does not read pip's settings, an index of one's own among them: make INSTALLER=pip test
BY_UV = $(PIP) uv && $(BIN)/python -m uv pip install --quiet --python $(BIN)/python --editable "$(1)"
BY_PIP = $(PIP) --editable "$(1)"
PIP_INSTEAD := uv could not install it, as is told above: pip does so now, which takes longer …
INSTALLED = $(if $(filter uv,$(INSTALLER)),$(BY_UV) || { echo "$(PIP_INSTEAD)"; $(BY_PIP); },$(BY_PIP))
# Neither compiles what it installs: what is imported is compiled then, and kept, which is a third of all files.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test tests check style imports types scripts kernels collected browser bench peers load worst-cases processors latency kills page figures reference reference-check pictures docs site wheel-test release-check clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# An environment of an older Python would stay in the way of the right one: it is not even made.
OLD := Seeker needs Python 3.11 or newer. Name one: make PYTHON=python3.12 demo
VENV_MADE = @$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("$(OLD)")' \
	&& echo "Installing Seeker into $(VENV): $(1). That takes a while, once …" \
	&& $(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml
	$(call VENV_MADE,half a gigabyte)
	$(call INSTALLED,.[demo])
	touch $@

$(VENV)/.dev: pyproject.toml
	$(call VENV_MADE,two gigabytes with all that development needs)
	$(call INSTALLED,.[dev])
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## the web service on the built-in catalog; PORT=8001 if 8000 is taken
	$(BIN)/seeker demo --port $(PORT)

# TypeScript checks the page's types, Prettier its style and axe its accessibility; all are used here only.
PAGE := tests/browser
$(PAGE)/node_modules/.made: $(PAGE)/package-lock.json $(VENV)/.dev
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/npm ci --prefix $(PAGE) --no-audit --no-fund --loglevel=error
	touch $@

# On two processors at once.
READY := $(VENV)/.dev $(PAGE)/node_modules/.made

# What tests need comes first. They wait for a third of their time, in which the longer checks find room.
test: $(READY)  ## the checks and all tests
	+$(MAKE) --no-print-directory --jobs 2 style kernels collected browser
	+$(MAKE) --no-print-directory --jobs 2 tests types scripts

tests: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadgroup

check: $(READY)  ## style, types, imports, docs
	+$(MAKE) --no-print-directory --jobs 2 imports style types scripts docs

style: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check

# These and the site are among the tests: `make test` does not do them twice.
imports: $(READY)
	$(BIN)/python -m pytest -q tests/test_architecture.py

reference-check: $(VENV)/.dev
	$(BIN)/python docs/make/reference.py --check

types: $(READY)
	$(BIN)/mypy

scripts: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PAGE)/node_modules/.bin/tsc --project $(PAGE)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PAGE)/node_modules/.bin/prettier --log-level warn --print-width 110 --check "src/seeker/web/**/*.js" "tests/web/*.js" "examples/**/*.js"

# These two once, not in every process of tests at its start: what is compiled for this machine, and modules that tests import.
kernels: $(READY)
	$(BIN)/python tests/support/compiled.py

collected: $(READY)
	$(BIN)/python -m pytest --collect-only -qq > $(VENV)/.collected || { cat $(VENV)/.collected; exit 1; }

browser: $(VENV)/.dev  ## the browser that the tests of the page use; one is installed if need be
	$(BIN)/python $(PAGE)/chromium.py

bench: $(VENV)/.dev  ## what a click costs, as ratios; writes docs/benchmarks
	$(BIN)/python -P benchmarks/click.py

peers: $(VENV)/.dev  ## Seeker beside other engines, on the same data; writes docs/benchmarks
	$(call INSTALLED,.[peers])
	$(BIN)/python -P benchmarks/peers.py

load: $(VENV)/.dev  ## how many people one machine serves, in a quarter of an hour; writes docs/benchmarks
	$(BIN)/python -P benchmarks/load.py

worst-cases: $(VENV)/.dev  ## what costs most, and how long a click waits for others' work, in minutes; writes docs/benchmarks
	$(BIN)/python -P benchmarks/worst_cases.py

latency: $(VENV)/.dev  ## what the service adds to HTTP, in a minute; writes docs/benchmarks
	$(BIN)/python -P benchmarks/latency.py

kills: $(VENV)/.dev  ## killed a hundred times under load, in some ten minutes: nothing is lost; writes docs/benchmarks
	$(BIN)/python -P benchmarks/kills.py

processors: $(VENV)/.dev  ## the same pages and beliefs with kernels compiled for other processors
	$(BIN)/python tests/support/processors.py

page: $(VENV)/.dev browser  ## from a click to the repainted grid, in a browser; writes docs/benchmarks
	$(BIN)/python -P benchmarks/page.py

figures: $(VENV)/.dev browser  ## all that is measured in less than an hour, and which pages are out of date
	$(BIN)/python -P benchmarks/figures.py

reference: $(VENV)/.dev  ## the reference pages that follow from the code
	$(BIN)/python docs/make/reference.py

pictures: $(VENV)/.dev browser  ## the pictures of the docs: drawings, and the page in a browser
	$(BIN)/python docs/make/pictures.py
	$(BIN)/python docs/make/way_of_a_click.py
	$(BIN)/python docs/pictures/stills.py
	$(BIN)/python docs/pictures/record.py

docs: reference-check site  ## the documentation as a site, in build/site; no link may be broken

site: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

wheel-test: $(VENV)/.dev  ## what `pip install` gives, away from the checkout
	$(BIN)/python tests/distribution/wheel.py

release-check: $(VENV)/.dev  ## whether it could be published: archives, metadata, licences
	$(BIN)/python tests/distribution/release.py

clean:  ## remove what was made
	rm -rf $(VENV) $(PAGE)/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks docs examples -name __pycache__ -prune -exec rm -rf {} +
