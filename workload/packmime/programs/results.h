/* SPDX-License-Identifier: GPL-2.0-only */
/* The output of packmime_client: a table of exchanges, and one line of JSON on stdout. */
#ifndef RESULTS_H
#define RESULTS_H

#include "trace.h"

struct totals {
	const char *direction;
	uint32_t host;
	int64_t t0_ns, duration_ns, max_late_ns;
	uint32_t open, most_open, done;
	int64_t received_bytes;
};

/* Whether an exchange has ended, in any way. */
int is_over(enum state state);

void results_write(const struct trace *trace, const struct totals *totals, const char *name);
void results_print_summary(const struct trace *trace, const struct totals *totals);

#endif
