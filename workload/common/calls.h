/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls that a program notes, and then makes in their order. The lab's kernel makes them in
 * one stop of the program (patch 0025). Any other kernel makes them one by one: the same calls.
 *
 * Each call expects a result. After another result, the calls behind it are not made.
 */
#ifndef COMMON_CALLS_H
#define COMMON_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define CALLS_MAX 64

/* As in the kernel's patch. */
struct call {
	uint32_t number;
	uint16_t back, into;	/* the result of the call `back` before is argument `into`; 0: none */
	uint64_t arguments[6];
	int64_t least, most;	/* the expected result; when noted: no error */
	int64_t result;		/* a negative error, as in the kernel */
};

struct calls {
	uint32_t count, done;
	struct call list[CALLS_MAX];
	/* From here on unknown to the kernel. */
	const char *what[CALLS_MAX];
	char data[CALLS_MAX][32];
};

/* The six arguments of a call may be numbers and pointers. */
#define CALL(calls, what, number, ...) \
	calls_note(calls, what, number, (const uint64_t[6]){ __VA_ARGS__ })
#define POINTER(pointer) ((uint64_t)(uintptr_t)(pointer))

/* Notes a call. With `what`, another result than the expected ends the program: "cannot WHAT". */
struct call *calls_note(struct calls *calls, const char *what, uint32_t number,
			const uint64_t *arguments);

/* Keeps a copy of small data for the call that is noted next, at most 32 bytes; returns it. */
uint64_t calls_keep(struct calls *calls, const void *data, size_t bytes);

static inline void call_expect(struct call *call, int64_t result)
{
	call->least = call->most = result;
}

static inline void call_expect_any(struct call *call)
{
	call->least = INT64_MIN;
}

/* The result of an earlier call in the list is argument `into`, from 0. */
static inline void call_takes(struct call *call, uint16_t into, const struct call *from)
{
	call->back = (uint16_t)(call - from);
	call->into = into;
}

/* Makes all noted calls, up to an unexpected result. */
void calls_run(struct calls *calls);

/* Was a call made in the last run? */
static inline int call_made(const struct calls *calls, const struct call *call)
{
	return call < calls->list + calls->done;
}

#endif
