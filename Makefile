# make run    set up what is missing and start the app (PORT, default 8501)
# make test   set up what is missing and run every check and test, browser tests included; a skipped test fails
# make quick  style and the tests that catch most, while working (under 30 s on 2 cores)
# make fuzz   try 100,000 damaged inputs (FUZZ) on what reads them
# make calibrate   simulate every interval, test and verdict again; write docs/calibration.md and .csv
# make screenshots   draw every page in five states at two widths, into SCREENSHOTS, to be looked at
# make lowest  try the lowest versions that pyproject.toml allows, in an environment of their own (4 minutes of processor time)
# make docs   bring docs/architecture.md up to date, and build the documentation into site/
# make wheel  build the wheel into dist/, and its SBOM (CycloneDX) into build/; `make docs wheel` puts the documentation in it
# make release   run every check and test, build documentation, wheel and SBOM, and tag the version; nothing is pushed
# make lock   write requirements.lock: every package but torch, with its hashes
# make audit  look for known faults of these packages; without a network that is skipped, and said

PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
# Debian's Chromium and PostgreSQL are system packages: root installs them directly, others through sudo
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# pip would compile on one core, half of its time; a file that does not compile is none that is imported
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/tests/' $(VENV)/lib || true
APT := $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get

# what says so would have every program that tests start compile the pages again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test tests quick calibrate fuzz screenshots lowest docs wheel release lock audit setup setup-tests chromium postgresql check clean

run: setup
	$(BIN)/streamlit run app/server.py --server.port $(PORT) --server.headless true

# what is set up, and then what is checked, side by side: neither fills two cores; two workers wait for Chromium a
# fifth of their time, so there are three
test:
	@$(MAKE) --no-print-directory -j 2 setup-tests chromium postgresql
	@$(MAKE) --no-print-directory -j 2 check tests

tests: setup-tests
	EVENHAND_ALL_TESTS=1 $(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder

# one small test or two of every layer, from imports to pages
QUICK := tests/test_architecture.py tests/test_options.py tests/test_choices.py tests/stats/test_verdicts.py \
	tests/stats/test_cautious.py tests/transport/test_line.py tests/transport/test_costs.py tests/data/test_kinds.py \
	tests/data/test_building.py tests/models/test_subject.py tests/groups/test_judging.py tests/runs/test_spec.py \
	tests/runs/test_tables.py tests/cli/test_estimate.py tests/app/test_drafts.py

quick: setup-tests
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .
	$(BIN)/python -m pytest -q -n 2 --dist loadfile $(QUICK)

calibrate: setup-tests
	$(BIN)/python -m benchmarks.calibration

# FUZZ damaged inputs: tables, models, specs and API bodies
FUZZ ?= 100000
fuzz: setup-tests
	EVENHAND_FUZZ=$(FUZZ) $(BIN)/python -m pytest -q tests/security/test_fuzz.py

# what runs without torch and Streamlit, which have one version and no lower one that was tried
LOWEST := .venv-lowest
NEED_MORE := samples_by_design and (loss_ratio or mitigation or sensitivity) or test_mitigation \
	or cannot_be_saved or finished_run_again
lowest:
	python3 -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check packaging
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check $$($(LOWEST)/bin/python tests/lowest.py)
	$(LOWEST)/bin/python -m pytest -q -p no:cacheprovider --ignore-glob='*/test_page.py' \
		--ignore=tests/cli/test_serve.py \
		-k 'not ($(NEED_MORE))' \
		tests/groups tests/rule_sets tests/transport/test_exact.py tests/runs/test_spec.py tests/data/test_kinds.py \
		tests/reports/test_laws.py tests/cli

SCREENSHOTS ?= docs/screenshots
screenshots: setup-tests chromium
	$(BIN)/python -m benchmarks.screenshots $(SCREENSHOTS)

check: setup-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

setup: $(VENV)/.ready

setup-tests: $(VENV)/.ready-for-tests

$(BIN)/python:
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Evenhand needs Python 3.11 or newer; python3 is $$(python3 --version)." >&2; exit 1; }
	python3 -m venv $(VENV) || { $(APT) update -qq && $(APT) install -y -qq python3-venv && python3 -m venv --clear $(VENV); }

$(VENV)/.ready: requirements.txt | $(BIN)/python
	$(INSTALL) -r requirements.txt
	@$(COMPILE)
	@touch $@

$(VENV)/.ready-for-tests: requirements-dev.txt $(VENV)/.ready
	$(INSTALL) -r requirements-dev.txt
	@$(COMPILE)
	@touch $@

# without its window, which takes half of a page's time and is never seen; where that is not offered, with it
chromium: | $(BIN)/python
	@command -v chromium-headless-shell >/dev/null \
		|| { $(APT) update -qq && $(APT) install -y -qq chromium-headless-shell; } \
		|| command -v chromium >/dev/null || $(APT) install -y -qq chromium

# only the programs: the tests start a server of their own, in a folder of their own
postgresql: | chromium
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
		|| { $(APT) update -qq && $(APT) install -y -qq postgresql; }

docs: setup-tests
	$(BIN)/python docs/make_architecture.py
	$(BIN)/python docs/make_papers.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# tools that only look at packages, in an environment of their own: what they need would change what is looked at
TOOLS := .venv-tools
$(TOOLS)/.ready: requirements-tools.txt
	python3 -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-tools.txt
	@touch $@

wheel: $(TOOLS)/.ready
	$(TOOLS)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(TOOLS)/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o build/evenhand.cdx.json requirements.lock

VERSION := $(shell sed -n 's/^VERSION = "\(.*\)"/\1/p' audits/runs/version.py)
UNCHANGED := git diff --quiet HEAD || { echo "Commit your changes first: a tag names what was tested." >&2; exit 1; }
release:
	@$(UNCHANGED)
	@grep -q '^## $(VERSION) ' CHANGELOG.md || { echo "CHANGELOG.md has no section for $(VERSION)." >&2; exit 1; }
	@! git rev-parse -q --verify refs/tags/v$(VERSION) >/dev/null || { echo "v$(VERSION) is tagged already." >&2; exit 1; }
	@rm -rf dist
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory docs wheel audit
	@$(UNCHANGED)
	git tag -a v$(VERSION) -m "Evenhand $(VERSION)"
	@echo "dist/ holds the wheel, build/evenhand.cdx.json is its SBOM. To publish the tag: git push origin v$(VERSION)"

lock: $(TOOLS)/.ready
	grep -v '^torch==' requirements.txt | $(TOOLS)/bin/uv pip compile --quiet --python-version 3.11 --universal \
		--generate-hashes --no-annotate --custom-compile-command 'make lock' -o requirements.lock -

ONLINE := import urllib.request as u; u.urlopen("https://pypi.org/pypi/pip/json", timeout=10)
audit: $(TOOLS)/.ready
	@if $(TOOLS)/bin/python -c '$(ONLINE)' 2>/dev/null; then \
		$(TOOLS)/bin/pip-audit --require-hashes --disable-pip -r requirements.lock; \
	else echo "pip-audit is skipped: pypi.org, which knows the faults, cannot be reached"; fi

clean:
	rm -rf $(VENV) $(LOWEST) $(TOOLS) artefacts build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
