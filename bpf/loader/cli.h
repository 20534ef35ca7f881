/* SPDX-License-Identifier: GPL-2.0-only */
/* cli.h - the verbs of cellq, and how they fail: one line, a status */
#ifndef CELLQ_CLI_H
#define CELLQ_CLI_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,	/* the system refused something */
	STATUS_USAGE = 2,	/* a bad parameter */
};

int verb_load(int argc, char **argv);
int verb_read(int argc, char **argv);
int verb_record(int argc, char **argv);
int verb_unload(int argc, char **argv);

struct cellq_params;

/* The parameters of a loaded port; STATUS_OK, or prints one line. */
int read_params(const char *name, struct cellq_params *params);

/* Print "cellq: ..." to stderr and return `status`. */
__attribute__((format(printf, 2, 3)))
static inline int fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("cellq: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return status;
}

#endif /* CELLQ_CLI_H */
