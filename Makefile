# make run   start the application        make test   everything that must hold
# make bench speed against its peers      make lint   style and types
# make docs  the documentation, in site/

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8501
# The papers' corpora, when they stand beside the project; tests that need them are skipped otherwise.
export FACTSCOPE_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: run setup test lint docs bench load browser clean

run: setup
	@echo "FactScope: http://$(HOST):$(PORT)"
	$(BIN)/streamlit run serve.py --server.address $(HOST) --server.port $(PORT)

setup: $(VENV)/.run

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "FactScope needs Python 3.10 or newer; name one with make PYTHON=…" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	@touch $@

$(VENV)/.run: $(VENV)/.python requirements.txt pyproject.toml
	$(BIN)/pip install --quiet -r requirements.txt
	$(BIN)/pip install --quiet --no-deps -e .
	@touch $@

$(VENV)/.test: $(VENV)/.run requirements-dev.txt
	$(BIN)/pip install --quiet -r requirements-dev.txt
	@touch $@

# A Chromium for the browser tests: the system's, else Debian's, else Playwright's own.
browser: $(VENV)/.test
	@for b in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$b >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; then exit 0; fi; \
	$(BIN)/playwright install chromium

# One BLAS thread for each of the test workers: more of them would fight over the cores.
test: lint browser
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The documentation is in site/index.html."

bench: setup
	$(BIN)/python -m benchmarks

# Thirty visitors for three minutes while two studies run.
load: $(VENV)/.test
	$(BIN)/python -m benchmarks.load

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache build *.egg-info tests/artefacts
