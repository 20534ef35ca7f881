# SPDX-License-Identifier: GPL-2.0-only
# make run   set up, then a small factorial of 98-0876R1's WAN case
# make test  set up, the vm lab too, then all tests
# make check style, types, and the tests that need no lab and little time: a minute
# make test-vagrant  the guide of the virtual machine, with the Vagrant of Debian 12 and 13: hours
# make lint  style, types, misspellings and the English of pages and help only
# make digests  twenty trials of all studies: what they leave, beside other machines' digests
# make man   manual pages, in build/man
# make site  all pages as a site, in build/site (first installs Sphinx: ./cellbed setup --site)

PYTHON = $(shell lab/paths --environment | sed -n 's/^environment=//p')/bin/python -P
unexport PYTHONHOME PYTHONINSPECT PYTHONPATH PYTHONSTARTUP PYTHONUSERBASE

# What else lies in this folder is a user's own, and not judged.
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

setup-all:
	@./cellbed setup --test

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
	@echo open build/site/index.html in a browser

.PHONY: run test test-vagrant check digests setup setup-check setup-site setup-all \
	lint man site
