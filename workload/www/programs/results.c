// SPDX-License-Identifier: GPL-2.0-only
#include "results.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../../common/fail.h"
#include "../../common/file.h"
#include "sockets.h"

static FILE *create(const char *dir, const char *name, char *full, size_t room)
{
	FILE *file;

	if ((size_t)snprintf(full, room, "%s/%s", dir, name) >= room)
		fail("the name %s/%s is too long", dir, name);
	file = file_open(full, "w");
	if (!file)
		fail("cannot write %s: %s", full, strerror(errno));
	return file;
}

/* Buffered writes fail late: a full disk is noticed only here. */
static void finish(FILE *file, const char *full)
{
	int broken = ferror(file);

	if (fclose(file) != 0 || broken)
		fail("cannot write %s: %s", full, strerror(errno));
}

static void write_flow(FILE *file, const struct connection *connection)
{
	const struct server_state *server = &connection->at_server;

	fprintf(file, "%u,%" PRIu64 ",%" PRId64 ",%u,%u,%u,", connection->pair,
		connection->received_bytes, connection->scheduled_bytes, connection->requests,
		connection->sent, connection->answered);
	fprintf(file, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", connection->header_bytes,
		connection->part_bytes, connection->unread_bytes);
	if (!server->known) {
		fputs(",,,,,\n", file);
		return;
	}
	fprintf(file, "%u,%u,", server->retransmits, server->timeouts);
	if (server->cwnd_segments != MISSING)
		fprintf(file, "%" PRId64, server->cwnd_segments);
	fprintf(file, ",%u,%u,%u\n", server->ssthresh_segments, server->srtt_us,
		server->peer_window_bytes);
}

static void write_time(FILE *file, int64_t time_ns, int64_t t0_ns)
{
	if (time_ns == MISSING)
		fputc(',', file);
	else
		fprintf(file, "%" PRId64 ",", time_ns - t0_ns);
}

static void write_request(FILE *file, const struct trial *trial, const struct request *request)
{
	fprintf(file, "%u,%u,%u,%u,%u,%" PRId64 ",%" PRId64 ",",
		trial->connections[request->connection].pair, request->batch, request->number,
		request->file_class, request->file, request->size_bytes, request->due_ns);
	write_time(file, request->sent_ns, trial->t0_ns);
	write_time(file, request->first_byte_ns, trial->t0_ns);
	write_time(file, request->last_byte_ns, trial->t0_ns);
	if (request->status)
		fprintf(file, "%d", request->status);
	fputc('\n', file);
}

void results_write(const struct trial *trial, const char *out_dir)
{
	char full[4096];
	FILE *file = create(out_dir, "flows.csv", full, sizeof(full));

	fputs("pair,received_bytes,scheduled_bytes,requests,sent,answered,header_bytes,part_bytes,"
	      "unread_bytes,retransmits,timeouts,cwnd_segments,ssthresh_segments,srtt_us,peer_window_bytes\n", file);
	for (uint32_t i = 0; i < trial->connection_count; i++)
		write_flow(file, &trial->connections[i]);
	finish(file, full);

	file = create(out_dir, "requests.csv", full, sizeof(full));
	fputs("pair,batch,request,class,file,size_bytes,due_ns,sent_ns,first_byte_ns,last_byte_ns,"
	      "status\n", file);
	for (uint32_t i = 0; i < trial->request_count; i++)
		write_request(file, trial, &trial->requests[i]);
	finish(file, full);
}

static void print_broken(const struct trial *trial)
{
	const char *comma = "";

	printf(", \"broken\": [");
	for (uint32_t i = 0; i < trial->connection_count; i++) {
		const struct connection *connection = &trial->connections[i];

		if (!connection->broken[0])
			continue;
		printf("%s\"pair %u: %s\"", comma, connection->pair, connection->broken);
		comma = ", ";
	}
	printf("]");
}

void results_print_summary(const struct trial *trial)
{
	uint64_t received = 0;
	int buffer = INT32_MAX, window = 0;

	for (uint32_t i = 0; i < trial->connection_count; i++) {
		int this_buffer, this_window;

		received += trial->connections[i].received_bytes;
		sockets_room(&trial->connections[i], &this_buffer, &this_window);
		buffer = this_buffer < buffer ? this_buffer : buffer;
		window = this_window > window ? this_window : window;
	}
	printf("{\"format\": \"cellbed-www/1\", \"pairs\": %u, \"t0_ns\": %" PRId64
	       ", \"duration_ns\": %" PRId64 ", \"requests\": %u, \"sent\": %u, \"answered\": %u"
	       ", \"outstanding\": %u, \"received_bytes\": %" PRIu64 ", \"max_late_ns\": %" PRId64
	       ", \"max_read_bytes\": %" PRId64 ", \"min_receive_buffer_bytes\": %d"
	       ", \"max_window_bytes\": %d",
	       trial->connection_count, trial->t0_ns, trial->duration_ns, trial->request_count,
	       trial->sent, trial->answered, trial->sent - trial->answered, received,
	       trial->max_late_ns, trial->max_read_bytes, buffer, window);
	print_broken(trial);
	printf("}\n");
}
