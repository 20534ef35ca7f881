# SPDX-License-Identifier: GPL-2.0-only
# make run   set up, then a small factorial of 98-0876R1's WAN case
# make test  set up, the vm lab too, then all tests
# make lint  style and types only

PYTHON = $(shell lab/paths --environment | sed -n 's/^environment=//p')/bin/python

run: setup
	./cellbed run studies/ubrplus_1998/ubrplus-www.toml \
		--only network=WAN --only flavor=NewReno,SACK --only buffer=1

test: setup-all lint
	$(PYTHON) -m pytest -n $$(nproc) --dist loadgroup --no-loadscope-reorder

setup:
	@./cellbed setup

setup-check:
	@./cellbed setup --check

setup-all:
	@./cellbed setup --test

lint: setup-check
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy

.PHONY: run test setup setup-check setup-all lint
