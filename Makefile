# Development commands. `make help` lists the targets.
# Requires Python 3.11 or newer with pip, and make; requirements-dev.txt has the rest.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
RAY := .venvs/ray
RAY_READY := $(RAY)/.ready
FRAMEWORKS := $(notdir $(patsubst %/requirements.txt,%,$(wildcard tests/frameworks/*/requirements.txt)))
ENVIRONMENT_OF_FRAMEWORKS := DEEPEVAL_TELEMETRY_OPT_OUT=YES LANGSMITH_TRACING=false
# The inner layers: at least 95 % branch coverage.
INNER := src/planproof/[a-z]*.py,src/planproof/checking/**,src/planproof/contracts/**,src/planproof/core/**,src/planproof/llm/audit/**,src/planproof/llm/prompting/**,src/planproof/llm/cascade.py,src/planproof/llm/panel.py,src/planproof/llm/prompt.py,src/planproof/monitor/**,src/planproof/planning/**,src/planproof/readers/**
# What hostile input, kills and faults are tried on; `make test` runs these with fewer inputs.
HOSTILE := tests/hostile tests/security $(addprefix tests/conformance/,test_killed_runs.py test_killed_server.py test_failing_stores.py test_faults.py test_images.py test_mcp.py test_forged_runs.py)
EDGES := src/planproof/config.py

# Deterministic examples; `HYPOTHESIS_PROFILE=long make test` tries 10,000 per property.
export HYPOTHESIS_PROFILE ?= ci
# Tests start Python hundreds of times: keep the compiled bytecode.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup fmt check projection projection-record browser unit test hostile soak bill audit dead-code test-ray test-frameworks bench bench-readers bench-models bench-deepeval bench-runs bench-contracts bench-server bench-pages picture docs quality quality-docs calibration demo examples lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv with the versions pinned in requirements-dev.txt

$(READY): requirements-dev.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11) and "planproof needs Python 3.11 or newer: make setup PYTHON=python3.11")'
	$(BIN)/python -m ensurepip --upgrade >/dev/null
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

fmt: $(READY) ## format, and fix what ruff can fix
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

check: $(READY) ## formatting, lint, import rules, banned words, types, recorded verdicts
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m scripts.check_words
	$(BIN)/pyright
	$(BIN)/python -m scripts.verdict_projection check

projection: $(READY) ## compare verdicts on fixed cases with those recorded in tests/projection
	$(BIN)/python -m scripts.verdict_projection check

projection-record: $(READY) ## record the current verdicts on fixed cases
	$(BIN)/python -m scripts.verdict_projection record

browser: ## find the Chromium for browser tests, or install it with apt-get (as root)
	@command -v chromium || command -v chromium-browser || command -v google-chrome || test -n "$$PLANPROOF_CHROMIUM" \
		|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq \
			&& apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; } \
		|| { echo "Chromium not found. Install it (Debian: apt-get install chromium), or set PLANPROOF_CHROMIUM to its path."; exit 1; }

unit: $(READY) ## unit tests: no network, no browser; under a minute
	$(BIN)/pytest -n auto --dist worksteal tests/unit

test: $(READY) browser ## all tests, coverage of the inner layers, check
	$(BIN)/pytest -n auto --dist worksteal --cov --cov-report=
	$(BIN)/coverage report --include '$(INNER)' --omit '$(EDGES)' --fail-under 95
	# Install the other environments while check is running.
	$(MAKE) --jobs 2 --output-sync check $(RAY_READY) .venvs/deepeval/.ready .venvs/langgraph/.ready
	$(MAKE) test-ray test-deepeval test-langgraph

hostile: $(READY) ## hostile inputs in full: fuzz, bombs, kills, faults, tampered verdicts (under 15 minutes)
	PLANPROOF_HOSTILE=full $(BIN)/pytest -n auto --dist worksteal $(HOSTILE)

test-ray: $(RAY_READY) ## the Ray engine on a real Ray, in a separate environment (part of test)
	# Every release of Ray raises warnings of its own.
	$(RAY)/bin/python -m pytest -o filterwarnings=default tests/ray_engine

test-frameworks: $(FRAMEWORKS:%=test-%) ## the framework integrations, one environment each

# `make test-deepeval` and so on: each folder of tests/frameworks has tests and requirements.
$(FRAMEWORKS:%=test-%): test-%: .venvs/%/.ready
	# Frameworks raise warnings of their own. The variables turn their telemetry off.
	$(ENVIRONMENT_OF_FRAMEWORKS) .venvs/$*/bin/python -m pytest -o filterwarnings=default tests/frameworks/$*

$(RAY_READY): REQUIREMENTS := requirements-ray.txt
$(RAY_READY): requirements-ray.txt
$(FRAMEWORKS:%=.venvs/%/.ready): REQUIREMENTS = tests/frameworks/$(@:.venvs/%/.ready=%)/requirements.txt
$(FRAMEWORKS:%=.venvs/%/.ready): .venvs/%/.ready: tests/frameworks/%/requirements.txt

# Without pip, which takes longer to install than some of these frameworks.
.venvs/%/.ready: pyproject.toml | $(READY)
	test -x $(@D)/bin/python || $(BIN)/python -m venv --without-pip $(@D)
	$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r $(REQUIREMENTS)
	$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

test-real-model: $(READY) ## judge a case with a small real model (downloads 110 MB, takes minutes)
	PLANPROOF_REAL_MODEL=$${PLANPROOF_REAL_MODEL:-openai:smollm2} $(BIN)/pytest tests/real_model

bench: $(READY) ## benchmark speed and memory, as ratios with budgets
	$(BIN)/python -m benchmarks

bench-readers: $(READY) ## benchmark the readers: every format at 1, 10 and 50 MB
	$(BIN)/python -m benchmarks.readers

bench-models: $(READY) .venvs/deepeval/.ready .venvs/openevals/.ready ## benchmark judges that call a model, against a bare client and two other tools
	$(BIN)/python -m benchmarks.models

bench-deepeval: $(READY) .venvs/deepeval/.ready ## compare with DeepEval's metric on the same cases: calls, time, faults
	$(BIN)/python -m benchmarks.deepeval_peer

bench-pages: $(READY) browser ## benchmark HTML pages with 5,000 events and 1,000 cases
	$(BIN)/python -m benchmarks.pages

bench-runs: $(READY) $(RAY_READY) ## benchmark runs: cases per second, CPU and memory, against a bare loop
	$(BIN)/python -m benchmarks.runs

bench-contracts: $(READY) ## benchmark one contract on 10,000 traces, against rules on the same traces
	$(BIN)/python -m benchmarks.contracts

bench-server: $(READY) ## load-test the server: spans and verdicts per second, memory, refusals (eight minutes)
	$(BIN)/python -m benchmarks.server

soak: $(READY) ## send traces to the server for 20 minutes; fails if its memory grows
	$(BIN)/python -m benchmarks.server --only-soak --soak 1200

picture: $(READY) browser ## regenerate the pictures in the docs
	$(BIN)/python -m scripts.draw_picture
	$(BIN)/python -m scripts.draw_runs

docs: $(READY) ## build the site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

quality: $(READY) ## measure the judge on labelled cases (minutes)
	$(BIN)/python -m scripts.quality

quality-docs: $(READY) ## the same, and write the figures into README.md and docs
	$(BIN)/python -m scripts.quality --write-docs

calibration: $(READY) ## measure every judge on the built-in cases, with scripted models (a minute)
	$(BIN)/python -m scripts.calibration_quality

demo: $(READY) ## judge three short cases
	$(BIN)/planproof demo

examples: $(READY) ## run the frameworks that generate examples/ again (downloads them)
	$(BIN)/python -m examples

lock: ## write uv.lock, and the requirements files from it (needs uv)
	uv lock
	uv export --quiet --frozen --all-extras --no-extra ray --no-emit-project --output-file requirements-dev.txt
	uv export --quiet --frozen --extra ray --extra zstd --no-default-groups --group tests-apart --no-emit-project --output-file requirements-ray.txt
	for name in $(FRAMEWORKS); do uv export --quiet --frozen --no-default-groups --group $$name --no-emit-project --output-file tests/frameworks/$$name/requirements.txt || exit 1; done

bill: ## write the bill of materials of a release, dist/planproof.cdx.json (CycloneDX; needs uv)
	mkdir -p dist
	uv export --quiet --frozen --all-extras --no-dev --preview-features sbom-export --format cyclonedx1.5 --output-file dist/planproof.cdx.json

audit: ## look up known vulnerabilities of the locked versions (needs uv, and a network)
	uv audit --frozen

dead-code: ## list functions, classes and methods that nothing uses (needs uv)
	uv tool run vulture | awk '/^src.* unused (function|class|method|property)/ { print; found = 1 } END { exit found }'

clean: ## remove everything that make created
	rm -rf .venv .venvs site dist build .coverage .hypothesis .import_linter_cache .pytest_cache .ruff_cache .projection
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
