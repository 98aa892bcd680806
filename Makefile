# Two commands: `make demo` and `make test`. Each makes its own .venv from requirements.lock.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test slow lint bench docs pythons lock fuzz soak
demo: $(READY)
	$(BIN)/bdl demo

test: lint
	$(BIN)/pytest -q -n 2 -m "not slow"

# A test that hangs ends alone, not with the whole run.
slow: $(READY)
	$(BIN)/pytest -q -n 2 --timeout 900 --durations 20 -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m bench

# Damaged files at every reader, each limited in time and memory.
MUTATIONS ?= 100000
SEED ?= 0
fuzz: $(READY)
	$(BIN)/python -m fuzz --mutations $(MUTATIONS) --seed $(SEED)

# Everything over and over in one process; memory, files, threads and processes must not grow.
MINUTES ?= 30
soak: $(READY)
	$(BIN)/python -m bench.soak --minutes $(MINUTES)

docs: $(READY)
	$(BIN)/mkdocs build --strict

pythons: $(READY)
	.ci/pythons

# The versions installed now become the lock; torch is first because it must be there before
# anything asks for a newer one.
lock:
	@{ echo "torch==$$($(BIN)/pip show torch | sed -n 's/^Version: \([^+]*\).*/\1/p')"; \
	   $(BIN)/pip freeze --all --exclude-editable --exclude torch --exclude pip | grep -v '^bdl-events' ; } > requirements.lock

# The lock is whole, so nothing is left to resolve; torch alone brings what its build needs.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check "$$(head -n 1 requirements.lock)"
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)
