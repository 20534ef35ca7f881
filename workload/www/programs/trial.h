/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The types that the parts of the client share: the requests of a trial and their connections. All
 * times are nanoseconds of CLOCK_MONOTONIC; MISSING: the event has not happened.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/calls.h"

#define MISSING (-1)
#define NO_REQUEST UINT32_MAX
#define NS_PER_S 1000000000LL
/* nginx's header has about 120 bytes here; a header above this limit is not from our server. */
#define HEADER_MAX 1024
#define NETNS_MAX 128
#define PATH_MAX_BYTES 64

struct request {
	uint32_t connection;	/* index into trial.connections */
	uint32_t next;		/* the same connection's next request, or NO_REQUEST */
	uint32_t batch, number, file_class, file;
	int status;		/* 0 until the header has arrived */
	int64_t size_bytes;
	int64_t due_ns;		/* since t0 */
	int64_t sent_ns, first_byte_ns, last_byte_ns;
	char path[PATH_MAX_BYTES];
};

/* The server's end of a connection, read once at the end of the trial. */
struct server_state {
	int known;
	uint32_t retransmits, timeouts;
	int64_t cwnd_segments;		/* MISSING: our module did not tell */
	uint32_t ssthresh_segments, srtt_us;
	uint32_t peer_window_bytes;	/* the client's window as the server last heard it */
};

struct connection {
	int fd;
	uint32_t pair;
	char client_netns[NETNS_MAX];
	char server_netns[NETNS_MAX];	/* "-": the server's end is not read */
	struct sockaddr_in server;

	uint32_t first, last;		/* its requests in due order: list head and tail */
	uint32_t awaited;		/* the oldest request without a full answer */
	uint32_t requests, sent, answered;
	int64_t scheduled_bytes;

	int in_body;			/* else it waits for a header */
	int64_t body_rest_bytes;
	size_t header_len;
	char header[HEADER_MAX];
	int low_water_bytes;		/* as last set with SO_RCVLOWAT */
	char broken[160];		/* the cause for which nothing more is sent or read; empty: none */

	uint64_t received_at_t0_bytes, received_bytes;
	uint64_t header_bytes;		/* read so far, with a header that has only begun */
	uint64_t part_bytes;		/* read bytes of an incomplete body */
	uint64_t unread_bytes;		/* unread bytes in the kernel at the end */
	struct server_state at_server;
};

struct trial {
	struct connection *connections;
	uint32_t connection_count;
	struct request *requests;	/* by due time */
	uint32_t request_count;
	int request_bytes;
	int epoll;
	struct calls calls;		/* noted, to be made with the next call whose result counts */

	int64_t t0_ns, duration_ns;
	int low_water_bytes;		/* bound for every connection */

	int64_t wakeup_ns;		/* the time of this wakeup, MISSING until it is read */
	uint32_t next_due;		/* index of the first request not yet due */
	uint32_t sent, answered;
	uint64_t read_bytes;
	int64_t max_late_ns;
	int64_t max_read_bytes;		/* largest amount found unread at one wakeup */
};

#endif
