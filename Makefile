# Everything a newcomer needs: `make demo`, `make test`. Both set themselves up with only Python, make and git here.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# uv: the one on PATH, else one of our own in .uv (pip alone takes five times as long over the lmms-eval stack).
UV     := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)

.PHONY: help install demo test lint format tasks docs perf wheel clean
help:
	@echo 'make demo     run the mini benchmarks with a tiny real model and print one table'
	@echo 'make test     the whole test suite'
	@echo 'make install  .venv with reelbench (editable), lmms-eval and the development tools'
	@echo 'make lint     ruff, import-linter, pyright      make format   let ruff format'
	@echo 'make tasks    write the YAML and lmms.py of our tasks from their specs'
	@echo 'make docs     write the lists of commands and settings from the code'
	@echo 'make perf     the measurements of perf/README.md'

.uv/bin/uv:
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv

install: $(VENV)/.installed

# Remade when what it installs has changed. decord is for lmms-eval's qwen2_5_vl adapter, which imports it; we never do.
$(VENV)/.installed: setup.cfg pyproject.toml requirements-dev.txt tools/link_rooms.py $(filter .uv/bin/uv,$(UV))
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python --editable '.[lmms-eval]' --requirement requirements-dev.txt
	$(BIN)/python tools/link_rooms.py
	@touch $@

demo: install
	$(BIN)/python tools/demo.py

test: install
	$(BIN)/python tools/setup_browser.py
	$(BIN)/python tools/setup_checkers.py
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

# Type checkers can't follow an editable install's import hook, so they read the built package.
wheel: install
	rm -rf built build
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --target built .

lint: wheel
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cd built && ../$(BIN)/lint-imports --config ../.importlinter
	$(BIN)/pyright

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

tasks: install
	$(BIN)/python -m reelbench.tasks.lmms.written $(addprefix reelbench.tasks.,curve dramaqa_cogme moviechat moviecore rextime)

docs: install
	$(BIN)/python -m tools.write_docs

perf: install
	$(BIN)/python -m perf

clean:
	rm -rf built build *.egg-info .pytest_cache .ruff_cache
