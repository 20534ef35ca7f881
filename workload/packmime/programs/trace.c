// SPDX-License-Identifier: GPL-2.0-only
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../../common/fail.h"
#include "../../common/file.h"
#include "../../common/grown.h"
#include "loop.h"
#include "request.h"

struct row {
	int64_t connection, wait_ns, round_trip_ns, request_bytes, delay_ns, response_bytes;
};

struct reader {
	const char *name;
	uint32_t hosts, host;
	uint32_t connection_room, exchange_room;
	struct trace *trace;
};

/* Reads the numbers behind a row's direction; returns 0 if they are wrong. */
static int read_row(const char *text, struct row *row)
{
	int64_t *const values[] = { &row->connection, &row->wait_ns, &row->round_trip_ns,
				    &row->request_bytes, &row->delay_ns, &row->response_bytes };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char *end;

		if (*text++ != ',' || *text < '0' || *text > '9')
			return 0;
		*values[i] = strtoll(text, &end, 10);
		text = end;
	}
	return strcmp(text, "\n") == 0 && row->connection < UINT32_MAX &&
	       row->request_bytes <= REQUEST_MAX_BYTES && row->response_bytes >= 1 &&
	       row->response_bytes <= RESPONSE_MAX_BYTES && row->delay_ns <= DELAY_MAX_NS;
}

static void add_connection(struct reader *reader, const struct row *row)
{
	struct trace *trace = reader->trace;
	uint32_t own = (uint32_t)row->connection / reader->hosts;

	if (own / CLIENT_PORTS >= SERVER_PORTS)
		fail("%s has more than %u connections for this host", reader->name, CLIENT_PORTS * SERVER_PORTS);
	trace->connections = grown(trace->connections, trace->connection_count,
				   &reader->connection_room, sizeof(*trace->connections));
	trace->connections[trace->connection_count++] = (struct connection){
		.number = (uint32_t)row->connection,
		.first = trace->exchange_count,
		.fd = -1,
		.client_port = (uint16_t)(FIRST_CLIENT_PORT + own % CLIENT_PORTS),
		.server_port = (uint16_t)(FIRST_SERVER_PORT + own / CLIENT_PORTS),
		.low_water_bytes = 1,	/* the kernel's default */
	};
}

static void add(struct reader *reader, const struct row *row)
{
	struct trace *trace = reader->trace;
	uint32_t count = trace->connection_count;

	if (row->request_bytes < REQUEST_MIN_BYTES)
		fail("%s: connection %" PRId64 ": a request has %" PRId64 " bytes, but must have %d or more",
		     reader->name, row->connection, row->request_bytes, REQUEST_MIN_BYTES);
	if (row->connection % reader->hosts != reader->host)
		return;
	if (!count || trace->connections[count - 1].number != (uint32_t)row->connection)
		add_connection(reader, row);
	trace->connections[trace->connection_count - 1].count++;
	trace->exchanges = grown(trace->exchanges, trace->exchange_count, &reader->exchange_room,
				 sizeof(*trace->exchanges));
	trace->exchanges[trace->exchange_count++] = (struct exchange){
		.wait_ns = row->wait_ns,
		.request_bytes = row->request_bytes,
		.response_bytes = row->response_bytes,
		.delay_ns = row->delay_ns,
		.begun_ns = MISSING, .connected_ns = MISSING, .sent_ns = MISSING,
		.first_byte_ns = MISSING, .last_byte_ns = MISSING,
	};
}

static void read_rows(struct reader *reader, FILE *file, const char *direction)
{
	size_t len = strlen(direction);
	unsigned long rows = 0, said;
	char line[256], newline;
	struct row row;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "end,%lu%c", &said, &newline) == 2 && newline == '\n') {
			if (said == rows && fgetc(file) == EOF)
				return;
			break;
		}
		rows++;
		if (strncmp(line, direction, len) != 0)
			continue;	/* the hosts of the other direction read it */
		if (!read_row(line + len, &row))
			fail("%s:%lu: the trace is cut short or damaged here", reader->name, rows + 2);
		add(reader, &row);
	}
	fail("%s: the trace is cut short; its last line must be end,ROWS", reader->name);
}

void trace_read(struct trace *trace, const char *name, const char *direction, uint32_t hosts,
		uint32_t host)
{
	static const char format[] = "cellbed-packmime/1 ";
	static const char columns[] = "direction,connection,wait_ns,round_trip_ns,request_bytes,"
				      "server_delay_ns,response_bytes\n";
	struct reader reader = { .name = name, .hosts = hosts, .host = host, .trace = trace };
	char line[4096];
	FILE *file = file_open(name, "r");

	if (!file)
		fail("cannot read %s: %s", name, strerror(errno));
	if (!fgets(line, sizeof(line), file) || strncmp(line, format, sizeof(format) - 1) != 0)
		fail("%s is no file of the format cellbed-packmime/1", name);
	if (!fgets(line, sizeof(line), file) || strcmp(line, columns) != 0)
		fail("%s: the second line must be the columns of the format cellbed-packmime/1", name);
	read_rows(&reader, file, direction);
	fclose(file);
}
