# SPDX-License-Identifier: GPL-2.0-only
# How a kind of workload builds its programs: included by the Makefile in its programs/, which says
# their names in PROGRAMS, and in a variable of each one's name its parts: C files, without ".c".

OUT ?= build
CC = clang
CFLAGS = -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror

COMMON := $(dir $(lastword $(MAKEFILE_LIST)))
MADE := $(PROGRAMS:%=$(OUT)/%)

Q = $(if $(V),,@)
say = @printf '  %-8s %s\n'

all: $(MADE)

.SECONDEXPANSION:
$(MADE): $(OUT)/%: $$(addsuffix .c,$$($$*)) $(wildcard *.h) $(wildcard $(COMMON)*.h) | $(OUT)
	$(say) CC $@
	$(Q)$(CC) $(CFLAGS) -o $@ $(filter %.c,$^)

$(OUT):
	$(Q)mkdir -p $@

clean:
	rm -f $(MADE)

.PHONY: all clean
