// SPDX-License-Identifier: GPL-2.0-only
#include "http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

size_t http_header_end(const char *text, size_t len, size_t seen)
{
	static const char empty_line[4] = "\r\n\r\n";
	/* The mark itself may have been cut by a segment boundary. */
	size_t from = seen < 3 ? 0 : seen - 3;
	const char *mark;

	if (len < sizeof(empty_line))
		return 0;
	mark = memmem(text + from, len - from, empty_line, sizeof(empty_line));
	return mark ? (size_t)(mark - text) + sizeof(empty_line) : 0;
}

/* Decimal digits and nothing else; -1 otherwise. */
static int64_t whole_number(const char *text, size_t len)
{
	int64_t value = 0;

	if (len == 0 || len > 15)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + (text[i] - '0');
	}
	return value;
}

static int named(const char *line, size_t len, const char *name)
{
	size_t n = strlen(name);

	return len > n && line[n] == ':' && strncasecmp(line, name, n) == 0;
}

static int read_status(const char *line, size_t len)
{
	static const char version[] = "HTTP/1.1 ";
	size_t n = sizeof(version) - 1;

	if (len < n + 3 || memcmp(line, version, n) != 0 || (len > n + 3 && line[n + 3] != ' '))
		return -1;
	return (int)whole_number(line + n, 3);
}

/* Reads one field line; returns NULL or the error. */
static const char *read_field(const char *line, size_t len, int64_t *content_length)
{
	const char *value = memchr(line, ':', len);

	if (!value)
		return "a header line without a colon";
	for (value++; value < line + len && (*value == ' ' || *value == '\t'); value++)
		;
	if (named(line, len, "Transfer-Encoding"))
		return "a Transfer-Encoding, where a length was expected";
	if (named(line, len, "Connection") && strncasecmp(value, "close", 5) == 0)
		return "Connection: close, where it must stay open";
	if (!named(line, len, "Content-Length"))
		return NULL;
	if (*content_length >= 0)
		return "two Content-Length fields";
	*content_length = whole_number(value, (size_t)(line + len - value));
	return *content_length < 0 ? "a Content-Length that is no number" : NULL;
}

const char *http_read_header(const char *text, size_t len, int *status, int64_t *content_length)
{
	const char *line = text, *end = text + len - 2;	/* before the empty line */

	*content_length = -1;
	*status = -1;
	while (line < end) {
		size_t n = (size_t)((const char *)memmem(line, (size_t)(text + len - line), "\r\n", 2) -
				    line);
		const char *wrong = NULL;

		if (line == text)
			*status = read_status(line, n);
		else
			wrong = read_field(line, n, content_length);
		if (*status < 0)
			return "a status line that is not HTTP/1.1";
		if (wrong)
			return wrong;
		line += n + 2;
	}
	return *content_length < 0 ? "no Content-Length" : NULL;
}

int http_write_get(char *out, size_t bytes, const char *path)
{
	char head[256];
	int n = snprintf(head, sizeof(head), "GET %s HTTP/1.1\r\nHost: cellbed\r\nX-Fill: ", path);

	if (n < 0 || (size_t)n >= sizeof(head) || (size_t)n + 4 > bytes)
		return -1;
	memcpy(out, head, (size_t)n);
	memset(out + n, 'x', bytes - (size_t)n - 4);
	memcpy(out + bytes - 4, "\r\n\r\n", 4);
	return 0;
}
