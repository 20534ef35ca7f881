// SPDX-License-Identifier: GPL-2.0-only
#include "calls.h"

#include <string.h>
#include <unistd.h>

#include "fail.h"

/* Of the lab's kernel (patch 0025). */
#define LIST_OF_CALLS 0xce11bed

/* After a run, the next note begins a new list. */
static void begin(struct calls *calls)
{
	if (calls->done)
		calls->count = calls->done = 0;
	if (calls->count == CALLS_MAX)
		fail("more than %d system calls in a list", CALLS_MAX);
}

struct call *calls_note(struct calls *calls, const char *what, uint32_t number,
			const uint64_t *arguments)
{
	struct call *call;

	begin(calls);
	calls->what[calls->count] = what;
	call = &calls->list[calls->count++];
	*call = (struct call){ .number = number, .most = INT64_MAX };
	memcpy(call->arguments, arguments, sizeof(call->arguments));
	return call;
}

uint64_t calls_keep(struct calls *calls, const void *data, size_t bytes)
{
	begin(calls);
	if (bytes > sizeof(calls->data[0]))
		fail("%zu bytes for a system call in a list", bytes);
	memcpy(calls->data[calls->count], data, bytes);
	return POINTER(calls->data[calls->count]);
}

static int expected(const struct call *call)
{
	return call->least <= call->result && call->result <= call->most;
}

/* Makes the list's next call; returns 1 if its result is the expected. */
static int make_one(struct calls *calls)
{
	struct call *call = &calls->list[calls->done++];
	uint64_t *x = call->arguments;

	if (call->back)
		x[call->into] = (uint64_t)call[-(int)call->back].result;
	call->result = syscall(call->number, x[0], x[1], x[2], x[3], x[4], x[5]);
	if (call->result < 0)
		call->result = -errno;
	return expected(call);
}

/* Lets the kernel make the list; returns 0 if it cannot. */
static int make_list(struct calls *calls)
{
	static int missing;

	while (!missing && syscall(LIST_OF_CALLS, calls) != 0) {
		struct call *call = &calls->list[calls->done];

		if (errno == EINTR) {
			call->result = -EINTR;
			calls->done++;
			if (!expected(call) || calls->done == calls->count)
				return 1;
		} else if (errno == ENOSYS || errno == EPERM) {
			missing = 1;
		} else {
			fail("cannot make a list of system calls: %s", strerror(errno));
		}
	}
	return !missing;
}

void calls_run(struct calls *calls)
{
	const struct call *last;

	if (calls->done || !calls->count)
		return;
	if (!make_list(calls))
		while (calls->done < calls->count && make_one(calls))
			;
	last = &calls->list[calls->done - 1];
	if (!expected(last) && calls->what[calls->done - 1])
		fail("cannot %s: %s", calls->what[calls->done - 1], strerror((int)-last->result));
}
