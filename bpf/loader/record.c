// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - cellq record: the ring buffer to a file
 *
 * Format: struct cellq_file_header, then records back to back, each told by
 * its first byte (enum cellq_record_type) and as long as its struct.
 *
 * The program wakes the reader only when half of the ring is full. With
 * --until-signal, others may read the file meanwhile: it has all records older
 * than LOOK_MS. After the signal, cellq writes the rest.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "cli.h"
#include "options.h"
#include "pins.h"

#define LOOK_MS 1000
#define BUFFER_BYTES (1 << 16)

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static int keep(void *file, void *data, size_t size)
{
	return fwrite(data, size, 1, file) == 1 ? 0 : -EIO;
}

static int write_header(FILE *file, const struct cellq_params *params)
{
	struct cellq_file_header head = {
		.magic = CELLQ_FILE_MAGIC_BYTES,
		.version = CELLQ_FILE_VERSION,
		.header_bytes = sizeof(head),
		.params = *params,
	};

	return fwrite(&head, sizeof(head), 1, file) == 1 ? 0 : -EIO;
}

/* Signals are unblocked only during the wait. So none is missed between the
 * test of `stopped` and the wait. */
static int drain(struct ring_buffer *ring, FILE *file, int until_signal)
{
	struct sigaction action = { .sa_handler = stop };
	struct epoll_event event;
	sigset_t blocked, normal;
	int error = 0;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	sigprocmask(SIG_BLOCK, &blocked, &normal);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	while (until_signal && !stopped && error >= 0) {
		epoll_pwait(ring_buffer__epoll_fd(ring), &event, 1, LOOK_MS,
			    &normal);
		error = ring_buffer__consume(ring);
		if (error >= 0 && fflush(file))
			error = -errno;
	}
	if (error >= 0)
		error = ring_buffer__consume(ring);
	return error < 0 ? error : 0;
}

static int record_to(FILE *file, const struct name_options *o)
{
	struct cellq_params params;
	struct ring_buffer *ring;
	int fd, error;

	if (read_params(o->name, &params))
		return STATUS_FAILED;
	fd = pins_open(o->name, PIN_EVENTS);
	if (fd < 0)
		return STATUS_FAILED;
	ring = ring_buffer__new(fd, keep, file, NULL);
	error = ring ? write_header(file, &params) : -errno;
	if (!error)
		error = fflush(file) ? -errno : 0;
	if (!error)
		error = drain(ring, file, o->until_signal);
	ring_buffer__free(ring);
	close(fd);
	return error ? fail(STATUS_FAILED, "cannot write --out %s: %s", o->out,
			    strerror(-error)) : STATUS_OK;
}

int verb_record(int argc, char **argv)
{
	static char buffer[BUFFER_BYTES];
	struct name_options o;
	int status = parse_name(argc, argv, "nou", &o);
	FILE *file;

	if (status)
		return status;
	file = fopen(o.out, "wbe");
	if (!file)
		return fail(STATUS_FAILED, "cannot write --out %s: %s", o.out,
			    strerror(errno));
	/* stdio takes its own buffer from the file system's block, which may be small. */
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	status = record_to(file, &o);
	if (fclose(file) && !status)
		status = fail(STATUS_FAILED, "cannot write --out %s: %s", o.out,
			      strerror(errno));
	return status;
}
