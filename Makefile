# make run    set up what is missing and start the app (PORT, default 8501)
# make test   set up what is missing and run every check and test, browser tests included
# make calibrate   simulate every interval, test and verdict again, and write docs/calibration.md

PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
# Debian's Chromium and PostgreSQL are system packages: root installs them directly, others through sudo
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
APT := $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get

.PHONY: calibrate run test setup setup-tests chromium postgresql check clean

run: setup
	$(BIN)/streamlit run app/server.py --server.port $(PORT) --server.headless true

test: setup-tests chromium postgresql check
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --ignore=tests/browser
	$(BIN)/python -m pytest -q -n 2 --dist loadfile tests/browser

calibrate: setup-tests
	$(BIN)/python -m benchmarks.calibration --write

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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.ready-for-tests: requirements-dev.txt $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
		|| { $(APT) update -qq && $(APT) install -y -qq chromium; }

# only the programs: the tests start a server of their own, in a folder of their own
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
		|| { $(APT) update -qq && $(APT) install -y -qq postgresql; }

clean:
	rm -rf $(VENV) artefacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
