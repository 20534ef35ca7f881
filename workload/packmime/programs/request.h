/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What goes over a connection. A request is of exactly the drawn size and tells the server all that
 * it needs to know, so that the server needs no trace:
 *
 *	GET /REQUEST_BYTES/RESPONSE_BYTES/DELAY_NS/c?xxx… HTTP/1.1 CR LF CR LF
 *
 * with a k for the c where the connection stays open. The response is RESPONSE_BYTES bytes of no
 * meaning: the model's sizes contain the headers, and many are too small for one.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stddef.h>
#include <stdint.h>

#define REQUEST_MIN_BYTES 48	/* holds any request's words */
#define REQUEST_MAX_BYTES (1 << 30)
#define RESPONSE_MAX_BYTES (1LL << 40)
#define DELAY_MAX_NS 100000000000LL

struct request {
	int64_t bytes, response_bytes, delay_ns;
	int keep;		/* the connection stays open */
};

/* Writes a request of request->bytes bytes. Returns 0, or -1 where that is too small. */
int request_write(char *out, const struct request *request);

/* Reads a request's words from its beginning: returns 1, 0 while they are not whole, -1 where this
 * is no request. */
int request_read(const char *text, size_t len, struct request *request);

#endif
