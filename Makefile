# The commands of the project; `make up` and `make test` are all that a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin
# Tests are shared out by file, those of the browser one by one. Two processes more than processors, as many tests wait for others of
# their processes; at most four, as each starts a Redis, a server and a worker.
PROCESSES ?= -n $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) + 2))') --dist loadgroup --no-loadscope-reorder
# The files of the tests that run after the others; the other files need not be collected again.
ALONE = $(shell grep -rl --include='test_*.py' 'pytest.mark.alone' tests)

# Tests start hundreds of Python processes; without this, each compiles all modules again where the environment says so.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: up assets test test-all test-without-browser bench faults fuzz load workshop rehearsal workshop-load pages smooth pictures manifests messages install install-dev chromium tools lint types lock clean

up: .venv/runtime
	@exec $(BIN)/python manage.py up

# For a class, whose devices reach this machine by its address. OPTIONS: "--address teach.example".
workshop: .venv/runtime
	@exec $(BIN)/python manage.py workshop $(OPTIONS)

# Opens a room with 30 simulated learners on the schedviz that runs (`make up`, `make workshop`), to rehearse a class.
rehearsal: .venv/runtime
	@exec $(BIN)/python manage.py rehearsal

install: .venv/runtime

install-dev: tools

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "schedviz needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "schedviz needs Python's module venv (Debian: apt-get install python3-venv)" >&2; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/runtime: requirements/runtime.txt | .venv/bin/python
	@echo "Installing locked dependencies into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.venv/dev: requirements/dev.txt | .venv/bin/python
	@echo "Installing locked development dependencies into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch .venv/runtime $@

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djangofmt --check templates
	$(BIN)/oxfmt --check static tests/clients/javascript tests/programs/page_files
	$(BIN)/lint-imports

types: .venv/dev
	$(BIN)/mypy

# Each of these uses one processor, or the network: together they take as long as the longest.
TOGETHER = @$(MAKE) --no-print-directory -j types tools .venv/compiled

test: lint
	$(TOGETHER) chromium
	$(BIN)/pytest -m "not long and not alone" $(PROCESSES)
	$(BIN)/pytest -m "not long and alone" $(PROCESSES) $(ALONE)

# What `make test` leaves out: the tests that take long, and all inputs of those that use a sample of them.
test-all: chromium tools
	WHOLE=1 $(BIN)/pytest -m "(long or sampled) and not alone" $(PROCESSES)
	$(BIN)/pytest -m "long and alone" $(PROCESSES) $(ALONE)

# Where there can be no Chromium.
test-without-browser: lint
	$(TOGETHER)
	$(BIN)/pytest -m "not long and not alone and not browser" $(PROCESSES)
	$(BIN)/pytest -m "not long and alone" $(PROCESSES) $(ALONE)

chromium: .venv/dev
	@$(BIN)/python -m tests.chromium

tools: .venv/dev
	@$(BIN)/python -m tests.tools
	@$(BIN)/python -m tests.node_packages

# Once after an installation: else each of the processes that share the tests compiles all of them.
.venv/compiled: .venv/dev
	@$(BIN)/pytest --collect-only --quiet > /dev/null; touch $@

bench: .venv/runtime
	$(BIN)/python -m simulator bench

# Kills, stops and cuts off the real processes, and prints how long it took until all was well again.
faults: .venv/dev
	WHOLE=1 $(BIN)/pytest -n 0 tests/faults

# Sends 40,000 requests of all sorts to the real processes. REQUESTS, SEED: others.
# PART=cost: measures what 2,000 large objects cost, each alone. OBJECTS, SEED: others; OBJECTS=0: all; MINUTES: ends after so many.
fuzz: .venv/dev
ifeq ($(PART),cost)
	$(BIN)/python -m tests.programs.costs --objects $(or $(OBJECTS),2000) --seed $(or $(SEED),1) $(if $(MINUTES),--minutes $(MINUTES))
else
	$(BIN)/python -m tests.programs.fuzz --requests $(or $(REQUESTS),40000) --seed $(or $(SEED),1)
endif

# Puts a load on the real processes and prints what it cost. PARTS: "watched idle"; OPTIONS: "--sandboxes 30".
load: .venv/dev
	$(BIN)/python -m tests.programs.load $(PARTS) $(OPTIONS)

# Simulates a workshop of 100 learners and prints how long people waited. OPTIONS: "--learners 30 --lesson taints".
workshop-load: .venv/dev
	$(BIN)/python -m tests.programs.workshop_load $(OPTIONS)

# Bundles and compresses the styles and scripts of pages, after a change in static/.
assets: .venv/dev
	$(BIN)/python -m tests.programs.page_files

# Counts what the home page and a live page cost a browser with an empty cache.
pages: .venv/dev
	$(BIN)/python -m tests.programs.measure_page

# Scrolls and zooms a large cluster's page.
smooth: .venv/dev
	$(BIN)/python -m tests.programs.smooth

# Takes the pictures of README and docs from the running product.
pictures: .venv/dev
	$(BIN)/python -m tests.programs.pictures

# Writes the plain Kubernetes manifests from the Helm chart.
manifests: .venv/dev
	$(BIN)/python -m tests.chart

# Gathers every string to translate, and compiles what is translated (locale/).
messages: .venv/dev
	$(BIN)/python -m tests.messages

# Writes the lock files again; it refuses a package of the runtime without wheels.
lock: .venv/dev
	for set in runtime tracing accounts dev tools; do $(BIN)/uv pip compile --quiet --generate-hashes --universal --python-version 3.11 \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
		requirements/$$set.in -o requirements/$$set.txt $$([ $$set = tools ] && echo --no-deps) || exit; done
	$(BIN)/python -m tests.wheels

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
