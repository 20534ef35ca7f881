/* SPDX-License-Identifier: GPL-2.0-only */
/* The one way this program gives up: a line on stderr that says what and why, exit status 1. */
#ifndef FAIL_H
#define FAIL_H

#include <stdio.h>
#include <stdlib.h>

#define fail(...)                                      \
	do {                                           \
		fputs("www_client: ", stderr);         \
		fprintf(stderr, __VA_ARGS__);          \
		fputc('\n', stderr);                   \
		exit(1);                               \
	} while (0)

#endif
