/* SPDX-License-Identifier: GPL-2.0-only */
/* A number on the command line. */
#ifndef COMMON_NUMBER_H
#define COMMON_NUMBER_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "fail.h"

/* A whole number, `least` or more. */
static inline int64_t number(const char *option, const char *text, int least)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < least)
		fail("--%s %s: must be a whole number from %d", option, text, least);
	return value;
}

#endif /* COMMON_NUMBER_H */
