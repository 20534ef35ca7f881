/* SPDX-License-Identifier: GPL-2.0-only */
/* The one way in which these programs fail: a line on stderr with the cause, and exit status 1. */
#ifndef FAIL_H
#define FAIL_H

#include <errno.h>	/* program_invocation_short_name */
#include <stdio.h>
#include <stdlib.h>

#define fail(...)                                                       \
	do {                                                            \
		fprintf(stderr, "%s: ", program_invocation_short_name); \
		fprintf(stderr, __VA_ARGS__);                           \
		fputc('\n', stderr);                                    \
		exit(1);                                                \
	} while (0)

#endif
