// SPDX-License-Identifier: GPL-2.0-only
/* parse_main.c - cellq's command line without libbpf: parses, prints what the
 * kernel side would get, and returns the status */
#include <stdio.h>

#include "loader/cli.h"
#include "loader/options.h"

int main(int argc, char **argv)
{
	struct load_options o;
	int status = parse_load(argc, argv, &o);

	if (!status)
		printf("%u %u %llu %llu %u\n", o.params.threshold_cells,
		       o.params.z_ppm, (unsigned long long)o.params.service_ps,
		       (unsigned long long)o.params.access_ps,
		       o.params.max_frame_cells);
	return status;
}
