// SPDX-License-Identifier: GPL-2.0-only
#include "spec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../../common/fail.h"
#include "../../common/file.h"
#include "../../common/grown.h"

struct reader {
	const char *name;
	unsigned line;
	uint32_t connection_room, request_room;
	struct trial *trial;
};

static uint32_t connection_of(const struct reader *reader, unsigned pair)
{
	const struct trial *trial = reader->trial;

	/* Pairs are usually numbered from 1 in order, so look there first. */
	if (pair >= 1 && pair <= trial->connection_count && trial->connections[pair - 1].pair == pair)
		return pair - 1;
	for (uint32_t i = 0; i < trial->connection_count; i++)
		if (trial->connections[i].pair == pair)
			return i;
	return NO_REQUEST;
}

static void read_pair(struct reader *reader, const char *line)
{
	struct trial *trial = reader->trial;
	struct connection *connection;
	char address[32], rest[2];
	unsigned pair, port;

	trial->connections = grown(trial->connections, trial->connection_count,
				   &reader->connection_room, sizeof(*trial->connections));
	connection = &trial->connections[trial->connection_count];
	memset(connection, 0, sizeof(*connection));
	if (sscanf(line, "pair %u %127s %31s %u %127s %1s", &pair, connection->client_netns, address,
		   &port, connection->server_netns, rest) != 5)
		fail("%s:%u: the line must be 'pair NUMBER NETNS ADDRESS PORT NETNS'", reader->name, reader->line);
	if (connection_of(reader, pair) != NO_REQUEST)
		fail("%s:%u: pair %u appears twice", reader->name, reader->line, pair);
	if (port < 1 || port > 65535 || inet_pton(AF_INET, address, &connection->server.sin_addr) != 1)
		fail("%s:%u: %s port %u is no IPv4 address and port", reader->name, reader->line,
		     address, port);
	connection->server.sin_family = AF_INET;
	connection->server.sin_port = htons((uint16_t)port);
	connection->pair = pair;
	connection->fd = -1;
	connection->first = connection->last = connection->awaited = NO_REQUEST;
	trial->connection_count++;
}

static void append(struct trial *trial, uint32_t index)
{
	struct request *request = &trial->requests[index];
	struct connection *connection = &trial->connections[request->connection];

	if (connection->first == NO_REQUEST)
		connection->first = connection->awaited = index;
	else
		trial->requests[connection->last].next = index;
	connection->last = index;
	connection->requests++;
	connection->scheduled_bytes += request->size_bytes;
}

static void read_request(struct reader *reader, const char *line)
{
	struct trial *trial = reader->trial;
	struct request *request;
	unsigned pair;
	char rest[2];

	trial->requests = grown(trial->requests, trial->request_count, &reader->request_room,
				sizeof(*trial->requests));
	request = &trial->requests[trial->request_count];
	memset(request, 0, sizeof(*request));
	if (sscanf(line, "request %u %u %u %u %u %" SCNd64 " %" SCNd64 " %63s %1s", &pair,
		   &request->batch, &request->number, &request->file_class, &request->file,
		   &request->size_bytes, &request->due_ns, request->path, rest) != 8)
		fail("%s:%u: the line must be 'request PAIR BATCH NUMBER CLASS FILE BYTES DUE_NS PATH'",
		     reader->name, reader->line);
	request->connection = connection_of(reader, pair);
	if (request->connection == NO_REQUEST)
		fail("%s:%u: no line before this request describes its pair %u", reader->name, reader->line, pair);
	if (request->size_bytes < 1 || request->due_ns < 0)
		fail("%s:%u: size and due time must not be negative", reader->name, reader->line);
	if (trial->request_count && request[-1].due_ns > request->due_ns)
		fail("%s:%u: requests are not in the order of their due times", reader->name,
		     reader->line);
	request->next = NO_REQUEST;
	request->sent_ns = request->first_byte_ns = request->last_byte_ns = MISSING;
	append(trial, trial->request_count++);
}

static void read_line(struct reader *reader, const char *line)
{
	char rest[2];

	if (reader->line == 1 && strcmp(line, "cellbed-www/1\n") != 0)
		fail("%s is no file of the format cellbed-www/1", reader->name);
	else if (reader->line == 1)
		return;
	else if (strncmp(line, "request ", 8) == 0)
		read_request(reader, line);
	else if (strncmp(line, "pair ", 5) == 0)
		read_pair(reader, line);
	else if (sscanf(line, "request_bytes %d %1s", &reader->trial->request_bytes, rest) != 1)
		fail("%s:%u: the line must begin with pair, request or request_bytes",
		     reader->name, reader->line);
}

void spec_read(const char *file_name, struct trial *trial)
{
	struct reader reader = { .name = file_name, .trial = trial };
	char line[512];
	FILE *file = file_open(file_name, "r");

	if (!file)
		fail("cannot read %s: %s", file_name, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		reader.line++;
		read_line(&reader, line);
	}
	if (ferror(file))
		fail("cannot read %s: %s", file_name, strerror(errno));
	fclose(file);
	if (!trial->connection_count)
		fail("%s has no pair", file_name);
	if (trial->request_bytes < 64 || trial->request_bytes > 1024)
		fail("%s: request_bytes must be 64 to 1024", file_name);
}
