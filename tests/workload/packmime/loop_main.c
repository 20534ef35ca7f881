// SPDX-License-Identifier: GPL-2.0-only
/* Notes the times on standard input, each as its line's number, then takes what is due by argv[1]. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

int main(int argc, char **argv)
{
	struct loop loop;
	uint32_t line = 0;
	int64_t at_ns;

	if (argc != 2)
		return 2;
	loop_open(&loop);
	while (scanf("%" SCNd64, &at_ns) == 1)
		loop_note(&loop, at_ns, line++);
	loop.rung_ns = atoll(argv[1]);
	while (loop_take(&loop, &line))
		printf("%u\n", line);
	return 0;
}
