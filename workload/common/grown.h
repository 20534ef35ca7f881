/* SPDX-License-Identifier: GPL-2.0-only */
/* An array that grows. */
#ifndef COMMON_GROWN_H
#define COMMON_GROWN_H

#include <stdint.h>
#include <stdlib.h>

#include "fail.h"

/* Make room for one more item behind `count`; `room` is the number of items that fit. */
static inline void *grown(void *items, uint32_t count, uint32_t *room, size_t item_size)
{
	if (count < *room)
		return items;
	*room = *room ? *room * 2 : 128;
	items = realloc(items, *room * item_size);
	if (!items)
		fail("out of memory");
	return items;
}

#endif /* COMMON_GROWN_H */
