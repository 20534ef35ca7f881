// SPDX-License-Identifier: GPL-2.0-only
/*
 * delays.c - puts delays.bpf.c on devices for as long as it runs
 *
 * Links to devices (tcx, Linux 6.6) live as long as the process that holds them, so nothing remains
 * after its end. Start it in the namespace of the devices. It prints "ready" when they delay, and
 * on SIGTERM or SIGINT one line of JSON with its counters.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "delays.h"

#define MAX_DEVICES 16
#define MAX_ENTRIES (1 << 23)
#define BATCH 4096
#define MAX_ROUND_TRIP_NS 100000000000ULL

static const char usage[] =
"usage: delays --table FILE --device DEV [--device DEV]... [--object FILE]\n"
"  FILE has a line a connection: CLIENT_IPV4 CLIENT_PORT SERVER_PORT ROUND_TRIP_NS\n";

#define fail(...)                              \
	do {                                   \
		fputs("delays: ", stderr);     \
		fprintf(stderr, __VA_ARGS__);  \
		fputc('\n', stderr);           \
		exit(1);                       \
	} while (0)

struct table {
	struct delays_key *keys;
	struct delays_connection *connections;
	__u32 count, room;
};

/* libbpf's own messages are only for debugging. */
static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	return getenv("DELAYS_DEBUG") ? vfprintf(stderr, format, args) : 0;
}

/* ---- the table ---- */

static void make_room(struct table *table)
{
	if (table->count < table->room)
		return;
	table->room = table->room ? 2 * table->room : 1024;
	table->keys = realloc(table->keys, table->room * sizeof(*table->keys));
	table->connections = realloc(table->connections, table->room * sizeof(*table->connections));
	if (!table->keys || !table->connections)
		fail("out of memory");
}

static int read_line(struct table *table, const char *line)
{
	unsigned client_port, server_port;
	unsigned long long round_trip_ns;
	char address[32], rest;
	struct in_addr client;

	if (sscanf(line, "%31s %u %u %llu %c", address, &client_port, &server_port, &round_trip_ns,
		   &rest) != 4 || inet_pton(AF_INET, address, &client) != 1 || client_port < 1 ||
	    client_port > 65535 || server_port < 1 || server_port > 65535 ||
	    round_trip_ns > MAX_ROUND_TRIP_NS || table->count == MAX_ENTRIES)
		return -1;
	make_room(table);
	table->keys[table->count] = (struct delays_key){ .client = client.s_addr,
							 .client_port = htons(client_port),
							 .server_port = htons(server_port) };
	table->connections[table->count] = (struct delays_connection){ .round_trip = round_trip_ns,
								       .number = table->count };
	table->count++;
	return 0;
}

static void read_table(struct table *table, const char *name)
{
	FILE *file = fopen(name, "r");
	unsigned number = 0;
	char line[256];

	if (!file)
		fail("cannot read %s: %s", name, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		number++;
		if (read_line(table, line) != 0)
			fail("%s:%u: the line must be 'CLIENT_IPV4 CLIENT_PORT SERVER_PORT "
			     "ROUND_TRIP_NS'; allowed are 0 to %llu ns, and at most %u lines", name, number, MAX_ROUND_TRIP_NS,
			     MAX_ENTRIES);
	}
	fclose(file);
	if (!table->count)
		fail("%s has no connection", name);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct delays_key));
}

/* A batch of map entries overwrites existing entries without an error. */
static void refuse_twins(const struct table *table, const char *name)
{
	size_t bytes = table->count * sizeof(*table->keys);
	struct delays_key *sorted = malloc(bytes);

	if (!sorted)
		fail("out of memory");
	memcpy(sorted, table->keys, bytes);
	qsort(sorted, table->count, sizeof(*sorted), compare);
	for (__u32 i = 1; i < table->count; i++)
		if (!compare(&sorted[i - 1], &sorted[i]))
			fail("%s: the connection of client port %u and server port %u appears twice",
			     name, ntohs(sorted[i].client_port), ntohs(sorted[i].server_port));
	free(sorted);
}

/* ---- the program ---- */

/* delays.bpf.o beside the executable. */
static const char *object_beside(char *buffer, size_t size)
{
	static const char name[] = "delays.bpf.o";
	ssize_t length = readlink("/proc/self/exe", buffer, size - sizeof(name));
	char *slash;

	buffer[length < 0 ? 0 : length] = '\0';
	slash = strrchr(buffer, '/');
	strcpy(slash ? slash + 1 : buffer, name);
	return buffer;
}

static struct bpf_object *load(const char *path, __u32 entries)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_map *map;

	if (!object)
		fail("cannot open %s: %s", path, strerror(errno));
	map = bpf_object__find_map_by_name(object, "connections");
	if (!map || bpf_map__set_max_entries(map, entries))
		fail("%s and delays are from different builds; build both again", path);
	if (bpf_object__load(object))
		fail("the kernel refused %s: %s (DELAYS_DEBUG=1 shows why)", path, strerror(errno));
	return object;
}

static int map_fd(struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

static void fill(struct bpf_object *object, const struct table *table)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	int fd = map_fd(object, "connections");

	for (__u32 done = 0; done < table->count;) {
		__u32 count = table->count - done < BATCH ? table->count - done : BATCH;

		if (bpf_map_update_batch(fd, table->keys + done, table->connections + done, &count,
					 &options))
			fail("cannot note the round trips: %s", strerror(errno));
		done += count;
	}
}

static void attach(struct bpf_object *object, const char *device)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "delay");
	LIBBPF_OPTS(bpf_tcx_opts, options);
	unsigned index = if_nametoindex(device);

	if (!index)
		fail("--device %s: this device does not exist", device);
	if (!bpf_program__attach_tcx(program, (int)index, &options))
		fail("--device %s: cannot attach to it: %s", device, strerror(errno));
}

static void report(struct bpf_object *object, __u32 connections)
{
	struct delays_stats stats;
	__u32 zero = 0;

	if (bpf_map_lookup_elem(map_fd(object, "stats"), &zero, &stats))
		fail("cannot read the counters: %s", strerror(errno));
	printf("{\"format\": \"cellbed-delays/1\", \"connections\": %u, \"to_server\": %llu, "
	       "\"to_client\": %llu, \"not_tcp\": %llu, \"unknown\": %llu, \"refused\": %llu}\n",
	       connections, stats.to_server, stats.to_client, stats.not_tcp, stats.unknown,
	       stats.refused);
}

static void wait_for_end(void)
{
	sigset_t ends;
	int which;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&ends, &which);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{ "table", required_argument, NULL, 't' },
		{ "device", required_argument, NULL, 'd' },
		{ "object", required_argument, NULL, 'o' },
		{ 0 },
	};
	const char *devices[MAX_DEVICES], *file = NULL, *path = NULL;
	int count = 0, key, bad = 0;
	struct bpf_object *object;
	struct table table = { 0 };
	char buffer[4096];

	while ((key = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (key) {
		case 't': file = optarg; break;
		case 'o': path = optarg; break;
		case 'd':
			if (count < MAX_DEVICES)
				devices[count++] = optarg;
			break;
		default: bad = 1;
		}
	}
	if (bad || optind != argc || !file || !count) {
		fputs(usage, stderr);
		return 2;
	}
	libbpf_set_print(print);
	read_table(&table, file);
	refuse_twins(&table, file);
	object = load(path ? path : object_beside(buffer, sizeof(buffer)), table.count);
	fill(object, &table);
	for (int i = 0; i < count; i++)
		attach(object, devices[i]);
	wait_for_end();
	report(object, table.count);
	return 0;
}
