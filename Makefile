# SPDX-License-Identifier: GPL-2.0-only
# make run   set up, then a small factorial of 98-0876R1's WAN case
# make test  set up, the vm lab too, then all tests
# make check style, types, and the tests that need no lab and little time: a minute
# make lint  style and types only
# make man   manual pages, in build/man

PYTHON = $(shell lab/paths --environment | sed -n 's/^environment=//p')/bin/python

PARALLEL = -n $$(nproc) --dist loadgroup --no-loadscope-reorder

run: setup
	./cellbed run studies/ubrplus_1998/ubrplus-www.toml \
		--only network=WAN --only flavor=NewReno,SACK --only buffer=1

test: setup-all lint
	$(PYTHON) -m pytest $(PARALLEL)

check: lint
	$(PYTHON) -m pytest -q $(PARALLEL) -m "not lab and not slow"

setup:
	@./cellbed setup

setup-check:
	@./cellbed setup --check

setup-all:
	@./cellbed setup --test

lint: setup-check
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy

man: setup-check
	$(PYTHON) -m harness.cli.man build/man

.PHONY: run test check setup setup-check setup-all lint man
