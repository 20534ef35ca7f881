// SPDX-License-Identifier: GPL-2.0-only
#include "results.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../../common/fail.h"
#include "../../common/file.h"
#include "loop.h"

static const char *const state_names[] = {
	"not_begun", "connecting", "sending", "waiting", "receiving", "done",
	"refused", "reset", "timed_out", "unreachable", "closed",
};

#define STATES (sizeof(state_names) / sizeof(state_names[0]))

int is_over(enum state state)
{
	return state >= DONE;
}

static void write_time(FILE *file, int64_t time_ns, int64_t t0_ns)
{
	if (time_ns == MISSING)
		fputc(',', file);
	else
		fprintf(file, "%" PRId64 ",", time_ns - t0_ns);
}

static void write_exchange(FILE *file, const struct exchange *exchange, int64_t t0_ns)
{
	write_time(file, exchange->begun_ns, t0_ns);
	write_time(file, exchange->connected_ns, t0_ns);
	write_time(file, exchange->sent_ns, t0_ns);
	write_time(file, exchange->first_byte_ns, t0_ns);
	write_time(file, exchange->last_byte_ns, t0_ns);
	fprintf(file, "%" PRId64 ",%s\n", exchange->received_bytes, state_names[exchange->state]);
}

void results_write(const struct trace *trace, const struct totals *totals, const char *name)
{
	FILE *file = file_open(name, "w");
	int broken;

	if (!file)
		fail("cannot write %s: %s", name, strerror(errno));
	fputs("direction,connection,exchange,begun_ns,connected_ns,sent_ns,first_byte_ns,last_byte_ns,"
	      "received_bytes,state\n", file);
	for (uint32_t i = 0; i < trace->connection_count; i++) {
		const struct connection *connection = &trace->connections[i];

		for (uint32_t j = 0; j < connection->count; j++) {
			fprintf(file, "%s,%u,%u,", totals->direction, connection->number, j);
			write_exchange(file, &trace->exchanges[connection->first + j], totals->t0_ns);
		}
	}
	/* Buffered writes fail late: a full disk is noticed only here. */
	broken = ferror(file);
	if (fclose(file) != 0 || broken)
		fail("cannot write %s: %s", name, strerror(errno));
}

void results_print_summary(const struct trace *trace, const struct totals *totals)
{
	uint32_t states[STATES] = { 0 };

	for (uint32_t i = 0; i < trace->exchange_count; i++)
		states[trace->exchanges[i].state]++;
	printf("{\"format\": \"cellbed-packmime-client/1\", \"direction\": \"%s\", \"host\": %u"
	       ", \"t0_ns\": %" PRId64 ", \"duration_ns\": %" PRId64 ", \"connections\": %u"
	       ", \"exchanges\": %u, \"received_bytes\": %" PRId64 ", \"most_open\": %u"
	       ", \"max_late_ns\": %" PRId64 ", \"states\": {",
	       totals->direction, totals->host, totals->t0_ns, totals->duration_ns,
	       trace->connection_count, trace->exchange_count, totals->received_bytes,
	       totals->most_open, totals->max_late_ns);
	for (size_t i = 0; i < STATES; i++)
		printf("%s\"%s\": %u", i ? ", " : "", state_names[i], states[i]);
	puts("}}");
}
