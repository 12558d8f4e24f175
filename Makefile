# Everything that is done with this repository, one target each. `make help` lists them.
# Needs Python 3.11 or newer with pip, and make; the rest comes from requirements-dev.txt.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
RAY := .venvs/ray
RAY_READY := $(RAY)/.ready
FRAMEWORKS := $(notdir $(patsubst %/requirements.txt,%,$(wildcard tests/frameworks/*/requirements.txt)))
ENVIRONMENT_OF_FRAMEWORKS := DEEPEVAL_TELEMETRY_OPT_OUT=YES LANGSMITH_TRACING=false
# The layers that hold the judgement: their branches are covered to at least 95 %.
INNER := src/planproof/[a-z]*.py,src/planproof/checking/**,src/planproof/contracts/**,src/planproof/core/**,src/planproof/llm/audit/**,src/planproof/llm/prompting/**,src/planproof/llm/cascade.py,src/planproof/llm/panel.py,src/planproof/llm/prompt.py,src/planproof/monitor/**,src/planproof/planning/**,src/planproof/readers/**
EDGES := src/planproof/config.py

# The same examples every time; `HYPOTHESIS_PROFILE=long make test` tries 10,000 a property.
export HYPOTHESIS_PROFILE ?= ci
# Tests start Python some hundred times: what was compiled once is kept.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup fmt check projection projection-record browser unit test test-ray test-frameworks bench reading asking beside running serving pages picture docs quality quality-docs calibration demo examples lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with what requirements-dev.txt pins

$(READY): requirements-dev.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11) and "planproof needs Python 3.11 or newer: make setup PYTHON=python3.11")'
	$(BIN)/python -m ensurepip --upgrade >/dev/null
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

fmt: $(READY) ## format, and mend what can be mended
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

check: $(READY) ## formatting, lint, types, import rules, verdicts as recorded
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright
	$(BIN)/python -m scripts.verdict_projection check

projection: $(READY) ## verdicts on fixed cases are those recorded in tests/projection
	$(BIN)/python -m scripts.verdict_projection check

projection-record: $(READY) ## accept the verdicts on fixed cases as they are now
	$(BIN)/python -m scripts.verdict_projection record

browser: ## the Chromium that tests open pages in: found, or installed with apt-get by root
	@command -v chromium || command -v chromium-browser || command -v google-chrome || test -n "$$PLANPROOF_CHROMIUM" \
		|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq \
			&& apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; } \
		|| { echo "There is no Chromium. Install it (Debian: apt-get install chromium), or set PLANPROOF_CHROMIUM to one."; exit 1; }

unit: $(READY) ## unit tests: one process, no network, no browser; under a minute
	$(BIN)/pytest -n auto --dist worksteal tests/unit

test: $(READY) browser ## everything that must hold: tests, coverage of the inner layers, check
	$(BIN)/pytest -n auto --dist worksteal --cov --cov-report=
	$(BIN)/coverage report --include '$(INNER)' --omit '$(EDGES)' --fail-under 95
	# While one is installed, another computes.
	$(MAKE) --jobs 2 --output-sync check $(RAY_READY) .venvs/deepeval/.ready .venvs/langgraph/.ready
	$(MAKE) test-ray test-deepeval test-langgraph

test-ray: $(RAY_READY) ## the engine on a real Ray, in an environment of its own (part of test)
	# Ray warns of itself in each of its releases.
	$(RAY)/bin/python -m pytest -o filterwarnings=default tests/ray_engine

test-frameworks: $(FRAMEWORKS:%=test-%) ## planproof inside every other framework, one environment each

# `make test-deepeval` and so on: a folder of tests/frameworks has its tests and its requirements.
$(FRAMEWORKS:%=test-%): test-%: .venvs/%/.ready
	# What frameworks warn of themselves is theirs to mend, and none of them shall call home.
	$(ENVIRONMENT_OF_FRAMEWORKS) .venvs/$*/bin/python -m pytest -o filterwarnings=default tests/frameworks/$*

$(RAY_READY): REQUIREMENTS := requirements-ray.txt
$(RAY_READY): requirements-ray.txt
$(FRAMEWORKS:%=.venvs/%/.ready): REQUIREMENTS = tests/frameworks/$(@:.venvs/%/.ready=%)/requirements.txt
$(FRAMEWORKS:%=.venvs/%/.ready): .venvs/%/.ready: tests/frameworks/%/requirements.txt

# They have no pip of their own, which would take longer to install than some of them.
.venvs/%/.ready: pyproject.toml | $(READY)
	test -x $(@D)/bin/python || $(BIN)/python -m venv --without-pip $(@D)
	$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r $(REQUIREMENTS)
	$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

test-real-model: $(READY) ## a small real model judges a case (downloads 110 MB, takes minutes)
	PLANPROOF_REAL_MODEL=$${PLANPROOF_REAL_MODEL:-openai:smollm2} $(BIN)/pytest tests/real_model

bench: $(READY) ## speed, as ratios measured in one run, against the budgets
	$(BIN)/python -m benchmarks

reading: $(READY) ## the speed of reading every format at 1, 10 and 50 MB
	$(BIN)/python -m benchmarks.reading

asking: $(READY) .venvs/deepeval/.ready .venvs/openevals/.ready ## the wall time of judges that ask a model, against a bare client's and two peers'
	$(BIN)/python -m benchmarks.asking

beside: $(READY) .venvs/deepeval/.ready ## DeepEval's metric and planproof on the same cases: calls, time, faults
	$(BIN)/python -m benchmarks.beside_deepeval

pages: $(READY) browser ## how long pages of 5,000 events and of 1,000 cases take to make and to open
	$(BIN)/python -m benchmarks.pages

picture: $(READY) browser ## draw the pictures in the docs again
	$(BIN)/python -m scripts.draw_picture
	$(BIN)/python -m scripts.draw_runs

running: $(READY) $(RAY_READY) ## cases a second, CPU and memory of runs over many cases, against a bare loop
	$(BIN)/python -m benchmarks.running

serving: $(READY) ## the server under load: spans and verdicts a second, memory, refusals (eight minutes)
	$(BIN)/python -m benchmarks.serving

docs: $(READY) ## build the site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

quality: $(READY) ## figures on labelled cases (minutes)
	$(BIN)/python -m scripts.quality

quality-docs: $(READY) ## the same, written into README.md and docs
	$(BIN)/python -m scripts.quality --write-docs

calibration: $(READY) ## figures of every judge on the built-in cases, with scripted models (a minute)
	$(BIN)/python -m scripts.calibration_quality

demo: $(READY) ## three short cases, judged
	$(BIN)/planproof demo

examples: $(READY) ## run the real frameworks again that made examples/ (downloads them)
	$(BIN)/python -m examples

lock: ## write uv.lock, and the requirements files from it (needs uv)
	uv lock
	uv export --quiet --frozen --all-extras --no-extra ray --no-emit-project --output-file requirements-dev.txt
	uv export --quiet --frozen --extra ray --extra zstd --no-default-groups --group tests-apart --no-emit-project --output-file requirements-ray.txt
	for name in $(FRAMEWORKS); do uv export --quiet --frozen --no-default-groups --group $$name --no-emit-project --output-file tests/frameworks/$$name/requirements.txt || exit 1; done

clean: ## remove everything that was made here
	rm -rf .venv .venvs site dist build .coverage .hypothesis .import_linter_cache .pytest_cache .ruff_cache .projection
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
