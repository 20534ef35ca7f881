/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One client host's part of a trace (../packmime/trace.py has the format): the connections of one
 * direction with number % hosts == host, in the order of their starts.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdint.h>

/* A connection's ports, as ../packmime/ports.py has them. */
#define FIRST_CLIENT_PORT 10000
#define CLIENT_PORTS 50000
#define FIRST_SERVER_PORT 8000
#define SERVER_PORTS 16

enum state {
	NOT_BEGUN, CONNECTING, SENDING, WAITING, RECEIVING, DONE,
	REFUSED, RESET, TIMED_OUT, UNREACHABLE, CLOSED,
};

struct exchange {
	int64_t wait_ns;	/* of the first exchange: the connection's start since t0 */
	int64_t request_bytes, response_bytes, delay_ns;
	int64_t begun_ns, connected_ns, sent_ns, first_byte_ns, last_byte_ns;
	int64_t received_bytes;
	enum state state;
};

struct connection {
	uint32_t number;
	uint32_t first, count;	/* its exchanges */
	uint32_t current;	/* the exchange under way, counted from `first` */
	int fd;
	uint16_t client_port, server_port;
	int low_water_bytes;	/* as last set with SO_RCVLOWAT */
	char *request;		/* the unsent part of the request, from request_sent on */
	int64_t request_sent;
};

struct trace {
	struct connection *connections;
	struct exchange *exchanges;
	uint32_t connection_count, exchange_count;
};

/* Reads the whole file, or fails with one line: not a trace, cut short, damaged. */
void trace_read(struct trace *trace, const char *name, const char *direction, uint32_t hosts,
		uint32_t host);

#endif
