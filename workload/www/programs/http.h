/* SPDX-License-Identifier: GPL-2.0-only */
/* HTTP/1.1 as far as this client needs it (RFC 9112): make a GET, read a response header. */
#ifndef HTTP_H
#define HTTP_H

#include <stddef.h>
#include <stdint.h>

/* Offset just behind the header's empty line, or 0 while it is not complete. Only text that an
 * earlier call with `seen` bytes has not looked at is searched. */
size_t http_header_end(const char *text, size_t len, size_t seen);

/* Reads one complete header of `len` bytes (empty line included). Returns NULL and fills in status
 * and length, or a static text that says what is wrong with it. */
const char *http_read_header(const char *text, size_t len, int *status, int64_t *content_length);

/* Writes a GET of exactly `bytes` bytes, filled up by a header field of no meaning. Returns 0, or -1
 * where `bytes` is too small for the path. Not terminated. */
int http_write_get(char *out, size_t bytes, const char *path);

#endif
