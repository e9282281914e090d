# Headwater's tasks; `make help` lists them. Only Python (3.11 or newer) is needed to begin: the
# first task that needs an environment makes .venv from the pins in requirements/, by uv where it
# is installed and by venv and pip elsewhere.

PYTHON ?= python3
PY := .venv/bin/python
PACKAGES := core_log schemas service console examples
FAST := not slow and not interop and not chaos
SEED ?= random
SEEDS ?= 500
SCENARIO ?=
ARGS ?=
# Kafka's message definitions, once `python -m tools.kafka_schemas` has unpacked them.
export HEADWATER_KAFKA_SCHEMAS ?= $(abspath $(wildcard .cache/kafka/schemas))
ifeq ($(HEADWATER_KAFKA_SCHEMAS),)
unexport HEADWATER_KAFKA_SCHEMAS
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format lint types contracts spelling fast sim interop chaos \
        bench bench-log bench-compaction bench-transactions compile uncompile docs wheel test-wheel pins clean

help: ## list the tasks
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

setup: .venv/.ready ## make .venv: pins with hashes, and this checkout as `headwater`

.venv/.ready: requirements/dev.txt pyproject.toml
	@tools/environment $(PYTHON)
	@touch $@

demo: .venv/.ready ## 336,776 flights consumed, copied and compacted while everything is killed: none missed, none doubled
	@$(PY) -m headwater.examples.flights $(ARGS)

test: .venv/.ready ## every test this machine can run; what is left out is told by name and count
	@$(PY) -m pytest $(ARGS)

check: format lint types contracts spelling fast ## what must pass before a commit, in a minute or two

format: .venv/.ready ## is the code formatted
	@$(PY) -m ruff format --check .

lint: .venv/.ready ## ruff, with everything on
	@$(PY) -m ruff check .

types: .venv/.ready ## mypy, strict, code and tests
	@$(PY) -m mypy $(foreach package,$(PACKAGES),-p headwater.$(package))
	@$(PY) -m mypy tests tools benchmarks

contracts: .venv/.ready ## who may import whom
	@.venv/bin/lint-imports --no-logo --no-cache

spelling: .venv/.ready ## words commonly misspelt
	@$(PY) -m codespell_lib

fast: .venv/.ready ## tests that start nothing and take less than a quarter of a second each
	@$(PY) -m pytest -q -m "$(FAST)" $(ARGS)

sim: .venv/.ready ## models and crashes with many more examples; SEED=1 SCENARIO=disk replays
	@HEADWATER_TEST_PROFILE=sim $(PY) -m pytest -q tests/core_log -m "not interop and not chaos" \
	    $(if $(filter-out random,$(SEED)),--hypothesis-seed=$(SEED)) $(ARGS)
	@HEADWATER_SIM_SEED=$(filter-out random,$(SEED)) HEADWATER_SIM_SEEDS=$(SEEDS) \
	    HEADWATER_SIM_SCENARIO=$(SCENARIO) $(PY) -m pytest -q tests/simulation

interop: .venv/.ready ## other people's clients; HEADWATER_INTEROP_TARGET=kafka checks the suite itself
	@$(PY) -m pytest tests/interop $(ARGS)

chaos: .venv/.ready ## kill -9 under load, and bad input
	@$(PY) -m pytest tests/chaos $(ARGS)

bench: bench-log bench-compaction bench-transactions ## every comparison

bench-log: .venv/.ready ## Apache Kafka 4.3 and Headwater in turn, the same clients; ARGS=--quick
	@$(PY) -m benchmarks.log $(ARGS)

docs: .venv/.ready ## write docs/reference from the code
	@$(PY) -m tools.docs

bench-compaction: .venv/.ready ## Kafka's log cleaner and ours over the same 10,000,000 records
	@$(PY) -m benchmarks.compaction $(ARGS)

bench-transactions: .venv/.ready ## one transaction after another on Apache Kafka and on Headwater
	@$(PY) -m benchmarks.transactions $(ARGS)

compile: .venv/.ready ## compiled twins of the hot modules, in place; small requests cost a third less
	@$(PY) -m tools.compile

uncompile: .venv/.ready ## Python alone again
	@$(PY) -m tools.compile --remove

wheel: .venv/.ready ## build dist/*.whl and the source archive
	@rm -rf dist && $(PY) -m hatchling build

test-wheel: wheel ## the tests against the installed wheel, away from the checkout
	@tools/test-wheel $(PYTHON) $(ARGS)

pins: ## make requirements/*.txt from pyproject.toml, with hashes and without addresses (needs uv)
	@tools/pins

clean: ## remove what the tasks made, but not .venv
	@rm -rf dist build demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
