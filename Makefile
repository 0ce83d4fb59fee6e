# `make test` and `make demo` do all of their own set-up; they need Python 3.11 or newer, and make.
#
# The environment lives in $(VENV). Its stamps carry a checksum of what was installed, so that a
# change of the requirements installs again and nothing else does.

# Every process that is started here would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

VENV   ?= .venv
BIN    := $(VENV)/bin
CASES  ?=
# How many scripts `make attack` makes, and what they follow from.
SCRIPTS ?= 200000
SEED    ?= 1
# How many examples laws take in `make laws`: full, or long for 5,000 and more each.
EXAMPLES ?= full
# With COVERAGE=1, `make unit` and `make test` measure which lines the tests run.
COVERAGE ?=
# The folder of another harness of engines, for `make bench-peers`.
HARNESS ?=

NEWEST := for p in python3.11 python3 python3.12 python3.13 python3.14 python; do \
            $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done
PYTHON ?= $(shell $(NEWEST))

checksum = $(firstword $(shell cat $(1) | cksum))
DEPENDENCIES := $(VENV)/.dependencies-$(call checksum,requirements/dev.txt)
PACKAGE      := $(VENV)/.package-$(call checksum,requirements/dev.txt pyproject.toml)
DOCS         := $(VENV)/.docs-$(call checksum,requirements/dev.txt requirements/docs.txt)
PEERS        := $(VENV)/.peers-$(call checksum,requirements/dev.txt requirements/bench.txt)

.DEFAULT_GOAL := help
.PHONY: help test test-long demo setup docs check-format lint types imports unit rules fmt laws coverage attack attack-quick corpus kills bench bench-quick bench-peers \
        manuals picture gate gate-counts gate-accept mcp-servers pin clean

help:
	@echo 'make test       everything that must hold: format, lint, types, imports, tests, rules, package'
	@echo 'make test-long  the tests that take long: whole pages, installed extras, every kill'
	@echo 'make demo       governs real calls, edits a rule while running, shows what changed'
	@echo
	@echo 'make fmt        format the code and the rules'
	@echo 'make lint       ruff, mypy and the import order'
	@echo 'make unit       the tests alone; CASES=tests/unit/values for a part'
	@echo 'make laws       the laws with all of their examples; EXAMPLES=long: 5,000 and more each'
	@echo 'make coverage   the tests alone, and which lines they run; COVERAGE=1 does so in `make test`'
	@echo 'make attack     run what the rules allow of 200,000 scripts; SCRIPTS=2000 SEED=7: others'
	@echo 'make attack-quick  the 2,000 scripts that CI takes'
	@echo 'make corpus     count what packs say to commands of coding agents, to tasks and attacks of AgentDojo'
	@echo 'make kills      kill the server at every step of a call, twenty times each; KILLS=3: others'
	@echo 'make mcp-servers  MCP servers and clients of others, those in JavaScript too (needs npm)'
	@echo 'make bench      measure beside other engines, into docs/performance.md; bench-quick: a look'
	@echo 'make bench-peers HARNESS=FOLDER  measure in another harness, beside its engines'
	@echo 'make manuals PROGRAMS="cp ls"  count which options of their manuals the profiles know'
	@echo 'make docs       build the site of the documentation, into build/site'
	@echo 'make picture    draw the screen of the demo that the README shows'
	@echo 'make gate       count what decisions, loads and calls take, and compare; gate-counts: no times'
	@echo 'make gate-accept  take what they take now for what they may take'
	@echo 'make pin        pin the requirements again (needs uv)'
	@echo 'make clean      remove the environment and everything made'

# What takes one core runs beside each other, and the tests take all.
test: $(PACKAGE)
	@$(MAKE) --no-print-directory --jobs=2 check-format lint rules
	@$(MAKE) --no-print-directory unit

# A file's tests run in one process, so that what they share is set up once. The files come in
# their order: those that start processes early, and small ones at the end.
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder

MEASURED := $(if $(COVERAGE),--cov --cov-report=term)

test-long: $(PACKAGE)
	$(BIN)/pytest $(PARALLEL) -m long

demo: $(PACKAGE)
	@$(BIN)/placet demo

setup: $(PACKAGE)

$(DEPENDENCIES):
	@test -n "$(PYTHON)" || { echo 'make: no Python 3.11 or newer on the PATH; name one with PYTHON=' >&2; exit 1; }
	@echo "setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@rm -f $(VENV)/.dependencies-*
	@touch $@

$(PACKAGE): $(DEPENDENCIES)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@rm -f $(VENV)/.package-*
	@touch $@

$(PEERS): $(PACKAGE)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@rm -f $(VENV)/.peers-*
	@touch $@

$(DOCS): $(PACKAGE)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	@rm -f $(VENV)/.docs-*
	@touch $@

docs: $(DOCS)
	$(BIN)/sphinx-build -E -W --keep-going -q -b html docs build/site
	@echo 'the site is in build/site; open build/site/index.html'

picture: $(PACKAGE)
	$(BIN)/python docs/demo_screen.py

check-format: $(PACKAGE)
	$(BIN)/ruff format --check .

lint: $(PACKAGE)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

unit: $(PACKAGE)
ifeq ($(CASES),)
	$(BIN)/pytest $(PARALLEL) -m 'not long' $(MEASURED)
else
	$(BIN)/pytest $(CASES)
endif

rules: $(PACKAGE)
	$(BIN)/placet check rules/
	$(BIN)/placet fmt --check rules/

fmt: $(PACKAGE)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/placet fmt rules/

laws: $(PACKAGE)
	$(BIN)/pytest $(PARALLEL) --hypothesis-profile=$(EXAMPLES) -m 'hypothesis or counted'

coverage:
	@$(MAKE) --no-print-directory unit COVERAGE=1

attack: $(PACKAGE)
	$(BIN)/python -m tests.attack --scripts $(SCRIPTS) --seed $(SEED)

attack-quick: $(PACKAGE)
	$(BIN)/python -m tests.attack --scripts 2000 --seed 1

corpus: $(PACKAGE)
	$(BIN)/python -m tests.corpora.count_verdicts --rows
	$(BIN)/python -m tests.corpora.agentdojo

# The versions stand in tests/mcp_servers/npm, with the digests of all packages.
SERVERS := build/mcp-servers
mcp-servers: $(PACKAGE)
	@mkdir -p $(SERVERS)
	@cp tests/mcp_servers/npm/package.json tests/mcp_servers/npm/package-lock.json $(SERVERS)
	@cd $(SERVERS) && npm ci --silent --ignore-scripts --no-audit --no-fund
	PLACET_NPM_SERVERS=$(abspath $(SERVERS))/node_modules $(BIN)/pytest tests/e2e/test_mcp_servers.py tests/e2e/test_typescript_clients.py

KILLS ?= 20
kills: $(PACKAGE)
	PLACET_KILLS=$(KILLS) $(BIN)/pytest -n auto tests/e2e/test_killed.py

bench: $(PEERS)
	$(BIN)/python -m bench
	$(BIN)/python -m bench.resources
	$(BIN)/python -m bench.linear
	$(BIN)/python -m bench.gateway

bench-quick: $(PEERS)
	$(BIN)/python -m bench --quick

bench-peers: $(PEERS)
	@test -n "$(HARNESS)" || { echo 'make: name the folder of the other harness with HARNESS=' >&2; exit 1; }
	$(BIN)/python -m bench.beside_peers $(HARNESS)

manuals: $(PACKAGE)
	$(BIN)/python -m tests.manuals $(PROGRAMS)

gate: $(PACKAGE)
	$(BIN)/python -m bench.gate

gate-counts: $(PACKAGE)
	$(BIN)/python -m bench.gate --counts

gate-accept: $(PACKAGE)
	$(BIN)/python -m bench.gate --accept

# Extras stay in the pins: without them pip looks for a newer version of the package for its extra,
# which has no hash, and refuses the whole set as soon as one is published.
pin:
	@for set in core dev bench docs; do \
	  uv pip compile --quiet --upgrade --generate-hashes --no-strip-extras --no-header --no-annotate --python-version 3.11 \
	    --no-emit-index-url --no-emit-find-links requirements/$$set.in -o requirements/$$set.txt || exit 1; done

clean:
	rm -rf $(VENV) dist build htmlcov .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
