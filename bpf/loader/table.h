/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CELLQ_TABLE_H
#define CELLQ_TABLE_H

#include "../path.h"

/* The table of a moving path, as topology/moving/table.py writes it. */
struct table {
	struct path_head head;
	struct path_row *rows;
};

/* Read a table from a file; a status, and a sentence if there is none. */
int table_read(struct table *t, const char *name);

void table_free(struct table *t);

#endif
