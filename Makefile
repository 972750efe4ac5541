# Rubato's commands. Setup, its steps and what they need: installer/setup.py.

PYTHON ?= python3
SETUP = $(PYTHON) installer/setup.py
BIN = .venv/bin

# A separate display if there is Xvfb, so that no window of the tests appears on yours.
XVFB = $(shell command -v xvfb-run >/dev/null && echo xvfb-run --auto-servernum)

# A run that hangs behind a test or at its end is told to abort (a test has a limit of its own, see
# pyproject.toml). The limit is three times what all of it takes.
LIMIT = $(shell command -v timeout >/dev/null && \
	echo timeout --foreground --signal=ABRT --kill-after=60 2700)

# Two processes on two cores, each with one thread of torch (see tests/help/process/sharing.py).
PYTEST = $(LIMIT) $(BIN)/pytest -n 2

VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

# What `make test` leaves out.
MORE = $(PYTEST) -m "weights or long"

.PHONY: words tar deb try-deb help run demo llm test test-more check format requirements

help:
	@echo "make run           set up what is missing and start the assistant"
	@echo "make demo          the same without a display or sound card: a spoken question and its answer"
	@echo "make llm           add language models inside the process (compiles llama.cpp, minutes)"
	@echo "make test          set up everything and run all checks and tests"
	@echo "make test-more     the tests that make test leaves out: real weights, fetched, and long ones"
	@echo "make check         the checks and tests alone"
	@echo "make format        format the code and mend what the linter can mend"
	@echo "make deb           a package for Debian 12, built in a clean root (SUITES=trixie: Debian 13)"
	@echo "make try-deb       installs, starts, updates, kills, rolls back and removes it in another"
	@echo "make tar           the release as a tar that installs itself for one person"
	@echo "make nsis          the installer for Windows (makensis makes it: apt-get install nsis)"
	@echo "make macos         the application for macOS, not signed"
	@echo "make release       a release in dist/: archives, hashes, list of parts, licences, notes"
	@echo "make words         collect the window's texts, compile their translations, write the page of settings"
	@echo "make requirements  pin all packages again from pyproject.toml (UPGRADE=1: newest versions)"

run demo:
	@$(SETUP) $@ $(ARGS)

llm:
	@$(SETUP) llm

test:
	@$(SETUP) test
	@$(MAKE) --no-print-directory check

test-more:
	@$(SETUP) test
	@OMP_NUM_THREADS=1 $(XVFB) $(MORE) tests

check:
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	@OMP_NUM_THREADS=1 $(XVFB) $(PYTEST) tests

format:
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

requirements:
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m installer.pin $(if $(UPGRADE),--upgrade) \
		$(or $(UV_FIND_LINKS),$(PIP_FIND_LINKS))

deb:
	installer/debian/deb.sh build $(or $(SUITES),bookworm)

try-deb:
	installer/debian/deb.sh try $(or $(SUITES),bookworm)

tar:
	$(BIN)/python -m installer.bundle dist/rubato-$(VERSION) --tar

release:
	$(BIN)/python -m installer.release dist/release $(ARGS)

# The window's texts: collects what is marked in the code into resources/languages/*.po, where it is
# translated, and compiles that; installer/babel.cfg says where texts stand. Texts that are gone
# from the code are removed there too. The page of settings, which has theirs, is written anew.
LANGUAGES = de es fr it pt
BABEL = PYTHONPATH=. $(BIN)/pybabel -q

words:
	@mkdir -p build
	$(BABEL) extract -F installer/babel.cfg --no-default-keywords -k tr -k tr_n:1,2 -k mark \
		--no-location --sort-output --omit-header -o build/rubato.pot .
	for code in $(LANGUAGES); do \
		file=resources/languages/$$code; \
		$(BABEL) update -N --ignore-obsolete --ignore-pot-creation-date --width 96 \
			-i build/rubato.pot -o $$file.po -l $$code && \
		$(BABEL) compile -i $$file.po -o $$file.mo || exit 1; \
	done
	$(BIN)/python -c "from engine.settings.page import page; print(page(), end='')" \
		>resources/pages/settings.md

.PHONY: nsis
# PYTHON_FOR_WINDOWS: python.org's embeddable package, unpacked, to be used in a release.
nsis:
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m installer.windows dist/windows \
		$(if $(PYTHON_FOR_WINDOWS),--python $(PYTHON_FOR_WINDOWS))

.PHONY: macos
macos:
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m installer.macos dist/macos
