# SPDX-License-Identifier: GPL-2.0-only
# make run           sets up, and runs four trials of the WAN experiment of 98-0876R1
# make test          sets up, also for the vm lab, and runs all tests
# make check         checks style and types, and runs the short tests without a lab: a minute
# make test-vagrant  runs the guide of the virtual machine with the Vagrant of Debian 12 and of
#                    Debian 13, which takes hours
# make lint          checks only style, types, spelling, and the English of pages and help
# make digests       runs twenty-two kept trials and compares their records with those of other machines
# make man           writes the manual pages into build/man
# make site          writes all pages as a website into build/site; it first installs Sphinx

PYTHON = $(shell lab/paths --environment | sed -n 's/^environment=//p')/bin/python -P
unexport PYTHONHOME PYTHONINSPECT PYTHONPATH PYTHONSTARTUP PYTHONUSERBASE

# Other files in this folder belong to the user, and lint does not check them.
OWN = $(wildcard $(shell git ls-files '*.py' '*.ipynb' 2> /dev/null))
TEXTS = $(wildcard $(shell git ls-files 2> /dev/null))

PARALLEL = -n $$(nproc) --dist loadgroup --no-loadscope-reorder

run: setup
	./cellbed run studies/ubrplus_1998/ubrplus-www.toml \
		--only network=WAN --only flavor=NewReno,SACK --only buffer=1

test: setup-all lint
	$(PYTHON) -m pytest $(PARALLEL)

check: lint
	$(PYTHON) -m pytest -q $(PARALLEL) -m "not lab and not slow"

test-vagrant: setup-all
	CELLBED_SLOW_TESTS=1 $(PYTHON) -m pytest -s tests/labs/test_vagrant.py

setup:
	@./cellbed setup

digests: setup
	./cellbed study digests

setup-check:
	@./cellbed setup --check

# Tests run Mininet scripts within limits that have no room for a kernel's build.
setup-all:
	@./cellbed setup --test
	@PYTHONPATH=. $(PYTHON) -c 'from harness.scripts import products; \
		products.require("uml", "virtual", ())'

lint: setup-check
	$(PYTHON) -m ruff check $(or $(OWN),.)
	$(PYTHON) -m mypy
	$(if $(TEXTS),@$(PYTHON) -m codespell_lib $(TEXTS))
	$(if $(TEXTS),PYTHONPATH=. $(PYTHON) -m tests.prose)

man: setup-check
	PYTHONPATH=. $(PYTHON) -m harness.cli.man build/man

setup-site:
	@./cellbed setup --site

site: setup-site
	rm -rf build/site build/site-pages
	PYTHONPATH=. $(PYTHON) docs/site/pages.py build/site-pages
	$(PYTHON) -m sphinx -q -W --keep-going -c docs/site build/site-pages build/site
	@echo "Open build/site/index.html in a browser."

.PHONY: run test test-vagrant check digests setup setup-check setup-site setup-all \
	lint man site
