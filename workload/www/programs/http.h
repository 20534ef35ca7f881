/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of HTTP/1.1 (RFC 9112) that this client needs: make a GET, read a response header. */
#ifndef HTTP_H
#define HTTP_H

#include <stddef.h>
#include <stdint.h>

/* Returns the offset behind the header's empty line, or 0 while the header is incomplete. Searches
 * only text that is new since an earlier call with `seen` bytes. */
size_t http_header_end(const char *text, size_t len, size_t seen);

/* Reads one complete header of `len` bytes (empty line included). Returns NULL and fills in status
 * and length, or returns a static text with the error. */
const char *http_read_header(const char *text, size_t len, int *status, int64_t *content_length);

/* Writes a GET of exactly `bytes` bytes; a meaningless header field fills it up. Returns 0, or -1
 * if `bytes` is too small for the path. Writes no zero byte at the end. */
int http_write_get(char *out, size_t bytes, const char *path);

#endif
