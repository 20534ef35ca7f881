/* SPDX-License-Identifier: GPL-2.0-only */
/* The structs that the BPF program and harness/exact_loss/maps.py share; maps.py repeats them. */
#ifndef LOSS_H
#define LOSS_H

#include <linux/types.h>

#define LOSS_MAX_SEGMENTS 16384
#define LOSS_MAX_EVENTS 65536

struct loss_state {
	__u32 payload;		/* bytes of a full segment; set by the user */
	__u32 port;		/* the sender's port, host order; set by the user */
	__u32 isn;		/* the sender's initial sequence number, from its SYN */
	__u32 events;		/* number of events; the first LOSS_MAX_EVENTS are kept */
};

struct loss_segment {
	__u32 drop;		/* bit n: drop its n-th sending (n from 0) */
	__u32 seen;		/* sendings so far */
	__u32 mark;		/* bit n: mark its n-th sending, if it allows ECN */
	__u32 unused;
};

enum loss_kind {
	LOSS_ACK,
	LOSS_DATA,
};

struct loss_event {
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u32 byte;		/* data: offset of its first byte; ACK: bytes acknowledged */
	__u16 length;		/* of the data */
	__u8 kind;
	__u8 dropped;
	__u32 sending;		/* data: which sending of this segment, from 0 */
	__u32 sacked;		/* ACK: bytes of its SACK blocks */
};

#endif
