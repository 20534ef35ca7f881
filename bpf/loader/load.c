// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - cellq load: open, set the parameters, load, pin, attach
 *
 * All or nothing: after any failure, the loader undoes its earlier steps.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach.h"
#include "cli.h"
#include "options.h"
#include "pins.h"
#include "table.h"


/* The program's file. */
static const char *program_for(const struct table *t)
{
	if (!t->rows)
		return "cellq.bpf.o";
	if (t->head.rows <= PATH_FEW_ROWS)
		return "cellq-few-path.bpf.o";
	return t->head.rows <= PATH_SHORT_ROWS ? "cellq-short-path.bpf.o" : "cellq-path.bpf.o";
}

/* --object, or a program beside the executable. */
static const char *object_path(const struct load_options *o, const struct table *t,
			       char *buffer, size_t size)
{
	const char *file = program_for(t);
	ssize_t length;
	char *slash;

	if (o->object)
		return o->object;
	length = readlink("/proc/self/exe", buffer, size - 1);
	buffer[length < 0 ? 0 : length] = '\0';
	slash = strrchr(buffer, '/');
	if (!slash || (size_t)(slash + 1 - buffer) + strlen(file) + 1 > size)
		return file;
	strcpy(slash + 1, file);
	return buffer;
}

static int set_params(struct bpf_object *object, const struct cellq_params *p)
{
	struct bpf_map *map;
	size_t size = 0;
	void *value;

	map = bpf_object__find_map_by_name(object, ".rodata");
	/* const in some versions of libbpf, and meant to be written to */
	value = map ? (void *)bpf_map__initial_value(map, &size) : NULL;
	if (!value || size != sizeof(*p))
		return fail(STATUS_FAILED, "cellq.bpf.o and cellq are from"
			    " different builds; build both again");
	memcpy(value, p, sizeof(*p));
	return STATUS_OK;
}

/* Put the table of a moving path into its map, which is not loaded yet. */
static int set_path(struct bpf_object *object, const struct table *t)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".bss");
	static const struct path_row filling = { .time_ps = PATH_AFTER_ALL, .work = PATH_AFTER_ALL };
	size_t size = 0, room, i;
	struct path_table *table = map ? (void *)bpf_map__initial_value(map, &size) : NULL;

	room = size < sizeof(t->head) ? 0 : (size - sizeof(t->head)) / sizeof(*t->rows);
	if (!table || t->head.rows > room)
		return fail(STATUS_FAILED, "the program for moving paths and cellq are from"
			    " different builds; build both again");
	table->head = t->head;
	memcpy(table->rows, t->rows, t->head.rows * sizeof(*t->rows));
	for (i = t->head.rows; i < room; i++)
		table->rows[i] = filling;
	return STATUS_OK;
}

/* Without records, a page for the ring buffer is enough. */
static int set_ring(struct bpf_object *object, const struct cellq_params *p)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "events");

	if (p->record_frames || p->record_drops || p->sample_ns)
		return STATUS_OK;
	if (!map || bpf_map__set_max_entries(map, sysconf(_SC_PAGESIZE)))
		return fail(STATUS_FAILED, "cellq.bpf.o and cellq are from"
			    " different builds; build both again");
	return STATUS_OK;
}

static struct bpf_object *open_object(const struct load_options *o,
				      const struct table *t)
{
	struct bpf_object *object;
	char buffer[4096];
	const char *path = object_path(o, t, buffer, sizeof(buffer));

	object = bpf_object__open_file(path, NULL);
	if (!object) {
		fail(STATUS_FAILED, "cannot open %s: %s", path,
		     strerror(errno));
		return NULL;
	}
	if (set_params(object, &o->params) || set_ring(object, &o->params) ||
	    (t->rows && set_path(object, t))) {
		bpf_object__close(object);
		return NULL;
	}
	if (bpf_object__load(object)) {
		fail(STATUS_FAILED, "the kernel refused %s: %s"
		     " (CELLQ_DEBUG=1 shows why)", path, strerror(errno));
		bpf_object__close(object);
		return NULL;
	}
	return object;
}

struct attacher {
	struct bpf_object *object;
	int attachments_fd;
	__u32 count;
};

/* A program of the object, with the name that libbpf would give its filter. */
static int find_program(struct attacher *a, const char *name, struct tc_program *found)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	found->fd = bpf_program__fd(bpf_object__find_program_by_name(a->object, name));
	if (bpf_prog_get_info_by_fd(found->fd, &info, &size))
		return fail(STATUS_FAILED, "cannot ask for the program %s: %s", name,
			    strerror(errno));
	snprintf(found->name, sizeof(found->name), "%s:[%u]", info.name, info.id);
	return STATUS_OK;
}

static int attach_one(struct attacher *a, const struct tc_program *program, __u32 pid,
		      const char *dev, __u32 min, __u32 max, int ingress)
{
	struct cellq_attachment done;
	int status;

	if (a->count == CELLQ_MAX_ATTACHMENTS)
		return fail(STATUS_USAGE, "--announce-list names more than %d"
			    " devices", CELLQ_MAX_ATTACHMENTS - 1);
	status = attach(program, pid, dev, min, max, ingress, &done);
	if (status)
		return status;
	if (bpf_map_update_elem(a->attachments_fd, &a->count, &done, 0))
		return fail(STATUS_FAILED, "cannot note an attachment: %s",
			    strerror(errno));
	a->count++;
	return STATUS_OK;
}

/* Lines "PID DEV"; empty ones and those that begin with # are skipped. */
static int attach_list(struct attacher *a, const struct load_options *o)
{
	__u32 base = o->params.ifindex_base, pid, line_number = 0;
	FILE *list = fopen(o->announce_list, "re");
	struct tc_program announce;
	char line[256], dev[17], rest;
	int status;

	if (!list)
		return fail(STATUS_USAGE, "cannot read --announce-list %s: %s",
			    o->announce_list, strerror(errno));
	status = find_program(a, "announce", &announce);
	while (!status && fgets(line, sizeof(line), list)) {
		line_number++;
		if (line[strspn(line, " \t")] == '\n' || line[0] == '#')
			continue;
		if (sscanf(line, "%u %16s %c", &pid, dev, &rest) != 2 || !pid)
			status = fail(STATUS_USAGE, "--announce-list %s, line"
				      " %u: must be PID DEV",
				      o->announce_list, line_number);
		else
			status = attach_one(a, &announce, pid, dev, base + 1,
					    base + o->params.vcs, 0);
	}
	fclose(list);
	if (!status && !a->count)
		return fail(STATUS_USAGE, "--announce-list %s names no device",
			    o->announce_list);
	return status;
}

static int attach_all(struct attacher *a, const struct load_options *o)
{
	struct tc_program program;
	int status;

	a->attachments_fd = bpf_object__find_map_fd_by_name(a->object,
							    "attachments");
	status = attach_list(a, o);
	if (!status)
		status = find_program(a, "verdict", &program);
	if (!status)
		status = attach_one(a, &program, 0, o->verdict_dev, 1, ~0U, 0);
	if (!status && o->far_dev[0])
		status = find_program(a, "far_end", &program);
	if (!status && o->far_dev[0])
		status = attach_one(a, &program, o->far_pid, o->far_dev, 1, ~0U,
				    1);
	if (status)
		detach_all(a->attachments_fd);
	return status;
}

/* Print as JSON the values for which the caller must build the network. */
static void report(const struct load_options *o, __u32 devices)
{
	const struct cellq_params *p = &o->params;
	__u64 access_ns = p->access_ps / 1000;

	printf("{\"name\": \"%s\", \"devices\": %u, \"threshold_cells\": %u, "
	       "\"service_ps\": %llu, \"access_cell_ns\": %llu, "
	       "\"netem_rate_bit_per_s\": %llu}\n",
	       o->name, devices, p->threshold_cells,
	       (unsigned long long)p->service_ps,
	       (unsigned long long)access_ns,
	       53 * 1000000000ULL / access_ns * 8);
}

int verb_load(int argc, char **argv)
{
	struct load_options o;
	struct attacher a = {};
	struct table t = {};
	int status = parse_load(argc, argv, &o);

	if (!status && o.path)
		status = table_read(&t, o.path);
	if (status) {
		table_free(&t);
		return status;
	}
	a.object = open_object(&o, &t);
	table_free(&t);
	if (!a.object)
		return STATUS_FAILED;
	status = pins_create(o.name);
	if (!status) {
		status = pins_fill(o.name, a.object);
		if (!status)
			status = attach_all(&a, &o);
		if (status)
			pins_remove(o.name);
		else
			report(&o, a.count);
	}
	bpf_object__close(a.object);
	return status;
}
