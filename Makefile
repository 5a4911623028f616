# All paths are relative, because make cannot name a target whose path has a space.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
# A group of `make test`; .ci/run names the one that has the recorder's tests and the gate too.
GROUP ?= all
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
RUST := Cargo.toml Cargo.lock $(shell find crates -type f \( -name '*.rs' -o -name '*.toml' \) -not -path 'crates/*/tests/*' 2>/dev/null)
DEVELOP = env -u CONDA_PREFIX PIP_QUIET=1 VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(PY) -m maturin develop --release --locked
# The commit is built into the Python bindings; only they are rebuilt for a new one.
RUST += $(wildcard .git/logs/HEAD)
# Models and tests are built in; a folder's time changes with added and removed files.
RUST += models litmus $(shell find models litmus -type f -o -type d 2>/dev/null)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: $(VENV)/.native ## Make .venv and build everything into it: .venv/bin/strandline; after an edit, what it changes

.PHONY: demo
demo: setup ## Set up, then compare x86 with the same program unordered
	$(VENV)/bin/strandline run sps -d x86,unordered

.PHONY: test
test: $(VENV)/.dev ## Set up, and run all tests and linters; the last line counts them
	@$(PY) tools/check.py $(GROUP)

# DynamoRIO takes minutes to build; target/recorder keeps it, and cargo rebuilds it only after a change. The command needs
# no compiled module, so `make setup` need not be first.
.PHONY: recorder
recorder: $(VENV)/.base ## Build the recorder of real programs, which 'strandline record' uses (needs cmake, compilers, zlib and libclang)
	@PYTHONPATH=python $(PY) -m strandline setup-recorder

.PHONY: test-recorder
test-recorder: $(VENV)/.dev setup recorder ## Record real programs (PMDK's examples and small ones) and check the recordings
	@$(PY) tools/check.py recorder

.PHONY: figures
figures: setup ## Rerun every figure in experiments/ into out/
	@$(PY) tools/figures.py

.PHONY: promote
promote: setup $(VENV)/.dev ## Rewrite generated files: expected litmus states, generated docs, the notebook's output
	$(VENV)/bin/strandline litmus --promote litmus
	STRANDLINE_PROMOTE=1 cargo test --quiet --workspace --locked --test cases -- tables::docs
	$(PY) -m tools.docs
	$(PY) -m tools.docs.visit
	$(PY) -m tools.notebook
	$(PY) -m tools.man

.PHONY: promote-records
promote-records: setup ## Rewrite the reference records, after a change that should move results
	$(PY) -m tools.records --promote

.PHONY: thorough
thorough: $(VENV)/.dev setup recorder ## The slow suites, each with its time
	@$(PY) tools/check.py thorough

.PHONY: site
site: $(VENV)/.site ## Build the documentation as a site, out/site; in seconds, without a compiler
	@$(PY) tools/book.py
	$(VENV)/bin/mdbook build

.PHONY: bench
bench: ## Measure the simulator's own speed
	cargo bench --workspace

.PHONY: gate
gate: setup ## Count host instructions per simulated instruction (needs valgrind)
	@$(PY) tools/gate.py

.PHONY: fmt
fmt: $(VENV)/.dev ## Format all Rust and Python
	cargo fmt --all
	$(PY) -m ruff check --quiet --fix-only python tools
	$(PY) -m ruff format --quiet python tools

.PHONY: clean
clean: ## Remove all build products and results: .venv, target, out
	rm -rf $(VENV) target out .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	rm -f python/strandline/_native*.so
	find python tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@command -v "$(PYTHON)" >/dev/null || { echo "strandline: $(PYTHON) not found: install Python 3.10 or newer, or name one: make PYTHON=..." >&2; exit 2; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "strandline: $(PYTHON) is older than 3.10: name a newer one: make PYTHON=python3.12" >&2; exit 2; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "strandline: $(PYTHON) cannot make virtual environments: run 'sudo apt-get install python3-venv' and try again" >&2; exit 2; }
	"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(VENV)/.base: requirements.lock $(VENV)/.made
	$(PIP) install -r requirements.lock
	@touch $@

# Nothing of strandline is in it: mdBook is a program in a package.
$(VENV)/.site: requirements-site.lock $(VENV)/.made
	$(PIP) install -r requirements-site.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.base
	$(PIP) install -r requirements-dev.lock
	@touch $@

$(VENV)/.native: $(VENV)/.base pyproject.toml $(RUST)
	@command -v cargo >/dev/null || { echo "strandline: cargo not found: install Rust 1.85 or newer from https://rustup.rs and try again" >&2; exit 2; }
	$(DEVELOP)
	@touch $@
