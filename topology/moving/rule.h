/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rule.h - how the queueing discipline "moving" treats a packet, without any call of the kernel
 *
 * As a server, it holds the packet in transmission until the path has done the packet's work. Then
 * it takes the next packet, so all others wait in the queue under test. As a delay, it keeps each
 * packet for the path's delay at the packet's arrival, and it drops the packets that the path
 * loses. Without MOVING_REORDER, no packet leaves before its predecessor: after a jump down, later
 * packets leave together with the last packet that had the longer delay.
 */
#ifndef MOVING_RULE_H
#define MOVING_RULE_H

#include "path.h"

#define MOVING_SERVER	1	/* else a delay */
#define MOVING_REORDER	2	/* a delay: a packet may overtake its predecessor */
#define MOVING_BYTES	4	/* a server: a link of bytes; else of cells, 53 bytes each */

#define MOVING_ETHERNET	14
#define MOVING_AAL5	16
#define MOVING_PAYLOAD	48
#define MOVING_CELL_BITS 424
#define MOVING_FILE	96	/* room for a name */

/* The parameters of the discipline. */
struct moving_parms {
	__u64 seed;		/* seed of the losses */
	__u32 flags;
	__u32 overhead;		/* MOVING_BYTES: bytes that the link adds to an IP packet */
	__u32 limit;		/* a delay: largest number of packets */
	__u32 unused;
	char table[MOVING_FILE];	/* file of a path_head and its rows */
};

/* The state of a server. */
struct moving_server {
	__u64 work;		/* W at the end of the last packet */
	__u64 since_ns;		/* when the queue last became non-empty */
};

/* The state of a delay. */
struct moving_delay {
	__u64 packets;		/* packets that arrived */
	__u64 due_ns;		/* departure of the packet that leaves last */
	__u64 lost;
};

static inline __u64 moving_tick(const struct path_head *h, __u64 now_ns)
{
	return (now_ns - h->epoch_ns) * 1000;
}

/* The work of a packet with an Ethernet header. */
static inline __u64 moving_work(const struct moving_parms *p, __u32 bytes)
{
	__u32 cells = (bytes - MOVING_ETHERNET + MOVING_AAL5 + MOVING_PAYLOAD - 1) / MOVING_PAYLOAD;

	if (p->flags & MOVING_BYTES)
		return (bytes - MOVING_ETHERNET + p->overhead) * 8 * PATH_UBIT;
	return cells * MOVING_CELL_BITS * PATH_UBIT;
}

/* Begin the packet that the queue gave; return the time at which it has left [ns]. It begins when
 * its predecessor has left, or when the queue later became non-empty. */
static inline __u64 moving_serve(const struct path_head *h, const struct path_row *rows,
				 struct moving_server *s, __u64 work)
{
	__u64 from = path_work(h, rows, moving_tick(h, s->since_ns));

	if ((__s64)(s->work - from) < 0)
		s->work = from;
	s->work += work;
	return h->epoch_ns + (path_moment(h, rows, s->work) + 999) / 1000;
}

/* A packet arrives; return its departure time [ns], or 0 if the path loses it. */
static inline __u64 moving_delay(const struct path_head *h, const struct path_row *rows,
				 const struct moving_parms *p, struct moving_delay *d, __u64 now_ns)
{
	const struct path_row *row = path_now(h, rows, moving_tick(h, now_ns));
	__u64 due_ns = now_ns + row->delay_ns;

	if (path_draw(p->seed, d->packets++) < row->loss) {
		d->lost++;
		return 0;
	}
	if (p->flags & MOVING_REORDER)
		return due_ns;
	if ((__s64)(d->due_ns - due_ns) < 0)
		d->due_ns = due_ns;
	return d->due_ns;
}

#endif /* MOVING_RULE_H */
