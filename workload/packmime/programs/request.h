/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a connection. A request has exactly the drawn size. It contains everything that the
 * server must know, so the server needs no trace:
 *
 *	GET /REQUEST_BYTES/RESPONSE_BYTES/DELAY_NS/c?xxx… HTTP/1.1 CR LF CR LF
 *
 * If the connection stays open, the c is a k. The response is RESPONSE_BYTES meaningless bytes: the
 * model's sizes include the headers, and many sizes are too small for a header.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stddef.h>
#include <stdint.h>

#define REQUEST_MIN_BYTES 48	/* room for the words of any request */
#define REQUEST_MAX_BYTES (1 << 30)
#define RESPONSE_MAX_BYTES (1LL << 40)
#define DELAY_MAX_NS 100000000000LL

struct request {
	int64_t bytes, response_bytes, delay_ns;
	int keep;		/* the connection stays open */
};

/* Writes a request of request->bytes bytes. Returns 0, or -1 if this size is too small. */
int request_write(char *out, const struct request *request);

/* Reads a request's words from its beginning. Returns 1, 0 while they are incomplete, or -1 if this
 * is no request. */
int request_read(const char *text, size_t len, struct request *request);

#endif
