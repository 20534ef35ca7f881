// SPDX-License-Identifier: GPL-2.0-only
/* unload.c - cellq unload: undo what load recorded */
#include <unistd.h>

#include "attach.h"
#include "cli.h"
#include "options.h"
#include "pins.h"

int verb_unload(int argc, char **argv)
{
	struct name_options o;
	int fd, status = parse_name(argc, argv, "n", &o);

	if (status)
		return status;
	fd = pins_open(o.name, PIN_ATTACHMENTS);
	if (fd < 0)
		return STATUS_FAILED;
	status = detach_all(fd);
	close(fd);
	return status ? status : pins_remove(o.name);
}
