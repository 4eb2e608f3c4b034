# `make demo`, `make test` and `make lint` each create what they need in .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test lint

demo: .venv/installed
	$(BIN)/dynrnn run examples/final_state.py

test: .venv/developed
	$(BIN)/python -m pytest

lint: .venv/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# Each rule ends by marking its work done, so that it is repeated only when a file that it depends on changes.
.venv/installed: pyproject.toml requirements-dev.txt
	$(PYTHON) -m venv .venv
	$(PIP) install --constraint requirements-dev.txt --editable .
	touch $@

.venv/developed: .venv/installed
	$(PIP) install --requirement requirements-dev.txt
	touch $@
