// SPDX-License-Identifier: GPL-2.0-only
/* pins.c - where a loaded port lives: /sys/fs/bpf/cellq/NAME/ */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cli.h"
#include "pins.h"

/* Object file names and pin names; the programs are pinned under their own. */
static const struct { const char *in_object, *pin; int program; } pins[] = {
	{ "stats", PIN_STATS, 0 },
	{ ".rodata", PIN_PARAMS, 0 },
	{ "events", PIN_EVENTS, 0 },
	{ "attachments", PIN_ATTACHMENTS, 0 },
	{ "wire", PIN_WIRE, 0 },
	{ "state", "state", 0 },
	{ "announce", "announce", 1 },
	{ "verdict", "verdict", 1 },
	{ "far_end", "far_end", 1 },
};

#define PINS (sizeof(pins) / sizeof(pins[0]))

static const char *pin_path(char *buffer, size_t size, const char *name,
			    const char *pin)
{
	snprintf(buffer, size, PIN_ROOT "/%s%s%s", name, pin ? "/" : "",
		 pin ? pin : "");
	return buffer;
}

int pins_create(const char *name)
{
	struct statfs fs;
	char path[256];

	if (statfs("/sys/fs/bpf", &fs) || fs.f_type != BPF_FS_MAGIC)
		return fail(STATUS_FAILED, "/sys/fs/bpf is not a BPF file"
			    " system; run mount -t bpf bpf /sys/fs/bpf");
	if (mkdir(PIN_ROOT, 0755) && errno != EEXIST)
		return fail(STATUS_FAILED, "cannot make %s: %s", PIN_ROOT,
			    strerror(errno));
	pin_path(path, sizeof(path), name, NULL);
	if (!mkdir(path, 0755))
		return STATUS_OK;
	if (errno == EEXIST)
		return fail(STATUS_FAILED, "%s is loaded already; run cellq"
			    " unload --name %s", name, name);
	return fail(STATUS_FAILED, "cannot make %s: %s", path, strerror(errno));
}

static int object_fd(struct bpf_object *object, size_t i)
{
	if (pins[i].program)
		return bpf_program__fd(bpf_object__find_program_by_name(
			object, pins[i].in_object));
	return bpf_object__find_map_fd_by_name(object, pins[i].in_object);
}

int pins_fill(const char *name, struct bpf_object *object)
{
	char path[256];
	size_t i;

	for (i = 0; i < PINS; i++) {
		pin_path(path, sizeof(path), name, pins[i].pin);
		if (bpf_obj_pin(object_fd(object, i), path))
			return fail(STATUS_FAILED, "cannot pin %s: %s", path,
				    strerror(errno));
	}
	return STATUS_OK;
}

int pins_remove(const char *name)
{
	char path[256];
	size_t i;

	for (i = 0; i < PINS; i++)
		unlink(pin_path(path, sizeof(path), name, pins[i].pin));
	if (rmdir(pin_path(path, sizeof(path), name, NULL)))
		return fail(STATUS_FAILED, "cannot remove %s: %s", path,
			    strerror(errno));
	rmdir(PIN_ROOT);	/* when it was the last port */
	return STATUS_OK;
}

int pins_open(const char *name, const char *map)
{
	char path[256];
	int fd = bpf_obj_get(pin_path(path, sizeof(path), name, map));

	if (fd < 0 && errno == ENOENT)
		fail(STATUS_FAILED, "--name %s: no port of this name is loaded",
		     name);
	else if (fd < 0)
		fail(STATUS_FAILED, "cannot open %s: %s", path,
		     strerror(errno));
	return fd;
}
