// SPDX-License-Identifier: GPL-2.0-only
#include "request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int request_write(char *out, const struct request *request)
{
	static const char end[] = " HTTP/1.1\r\n\r\n";
	size_t end_len = sizeof(end) - 1, room = (size_t)request->bytes;
	char words[64];
	size_t len = (size_t)snprintf(words, sizeof(words), "GET /%" PRId64 "/%" PRId64 "/%" PRId64 "/%c?",
				      request->bytes, request->response_bytes, request->delay_ns,
				      request->keep ? 'k' : 'c');

	if (len + end_len > room)
		return -1;
	memcpy(out, words, len);
	memset(out + len, 'x', room - len - end_len);
	memcpy(out + room - end_len, end, end_len);
	return 0;
}

int request_read(const char *text, size_t len, struct request *request)
{
	const char *mark = memchr(text, '?', len);
	char words[REQUEST_MIN_BYTES + 1] = "", close;

	if (!mark)
		return len < REQUEST_MIN_BYTES ? 0 : -1;
	memcpy(words, text, (size_t)(mark - text));
	if (sscanf(words, "GET /%" SCNd64 "/%" SCNd64 "/%" SCNd64 "/%c", &request->bytes,
		   &request->response_bytes, &request->delay_ns, &close) != 4)
		return -1;
	if (request->bytes < (int64_t)len || request->bytes > REQUEST_MAX_BYTES ||
	    request->response_bytes < 1 || request->response_bytes > RESPONSE_MAX_BYTES ||
	    request->delay_ns < 0 || request->delay_ns > DELAY_MAX_NS)
		return -1;
	request->keep = close == 'k';
	return 1;
}
