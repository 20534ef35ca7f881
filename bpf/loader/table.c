// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - reads the table of a moving path
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "table.h"

/* Below it, a sum of two times or of two works has 63 bits, as path_below() needs. */
#define MOST	(1ULL << 62)

static int read_rows(struct table *t, FILE *file)
{
	if (fread(&t->head, sizeof(t->head), 1, file) != 1 || t->head.rows < 1 ||
	    t->head.rows > PATH_LONG_ROWS)
		return 0;
	t->rows = calloc(t->head.rows, sizeof(*t->rows));
	return t->rows &&
	       fread(t->rows, sizeof(*t->rows), t->head.rows, file) == t->head.rows &&
	       fgetc(file) == EOF;
}

/* The searches need rows in the order of their times and works. */
static int in_order(const struct table *t)
{
	__u32 i;

	for (i = 0; i < t->head.rows; i++) {
		if (t->rows[i].time_ps >= MOST || t->rows[i].work >= MOST)
			return 0;
		if (i && (t->rows[i].time_ps <= t->rows[i - 1].time_ps ||
			  t->rows[i].work < t->rows[i - 1].work))
			return 0;
	}
	return 1;
}

int table_read(struct table *t, const char *name)
{
	FILE *file = fopen(name, "rbe");
	int whole;

	if (!file)
		return fail(STATUS_USAGE, "cannot read --path %s: %s", name,
			    strerror(errno));
	whole = read_rows(t, file);
	fclose(file);
	if (!whole)
		return fail(STATUS_USAGE, "--path %s: the file is no whole table"
			    " of a path", name);
	if (!in_order(t))
		return fail(STATUS_USAGE, "--path %s: times or works do not"
			    " ascend, or are 2^62 or more", name);
	return STATUS_OK;
}

void table_free(struct table *t)
{
	free(t->rows);
}
