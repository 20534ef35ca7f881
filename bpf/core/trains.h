/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trains.h - which cell arrives next, in constant time and without a heap
 *
 * Every access link has the same cell time c. So all trains in progress come
 * round in a fixed order: the ring `circ` is sorted by construction when the
 * train at its front gives a cell at t and goes to the back with t + c. Frames
 * whose link was idle start at announce time + propagation, so they are sorted
 * by construction in the list `fresh`. The next cell is at one of two fronts.
 *
 * A frame announced while its link is busy starts exactly when that ends: it
 * takes over its predecessor's place in the ring ("chained").
 *
 * Ties. Cells that arrive at the same tick arrive in the order of the
 * announcements that began their links' current busy periods. That is what
 * "circ before fresh, each first in first out" gives: in the ring, trains of
 * one phase keep the order in which they entered it.
 *
 * A train's word: bits 0-15 cells to come, 16-31 VC (0-based), 32-55 frame
 * index, 56-63 phase.
 */
#ifndef CQ_TRAINS_H
#define CQ_TRAINS_H

#include "frames.h"

#define CQ_WORD_LEFT(w)		((__u32)((w) & 0xffff))
#define CQ_WORD_VC(w)		((__u32)((w) >> 16) & CQ_VC_MASK)
#define CQ_WORD_FRAME(w)	((__u32)((w) >> 32) & CQ_FRAME_MASK)
#define CQ_WORD_PHASE(w)	((__u32)((w) >> 56))

CQ_INLINE __u64 cq_word(struct cq_state *s, __u32 index)
{
	struct cq_frame *f = cq_frame(s, index);

	return f->cells | (__u64)f->vc << 16 | (__u64)index << 32 |
	       (__u64)CQ_NEW << 56;
}

CQ_INLINE void cq_fresh_append(struct cq_state *s, __u32 index)
{
	if (s->fresh_head)
		cq_frame(s, s->fresh_tail)->fresh_next = index;
	else
		s->fresh_head = index;
	s->fresh_tail = index;
}

/* Where the next cell comes from. */
enum cq_front { CQ_FRONT_NONE, CQ_FRONT_CIRC, CQ_FRONT_FRESH };

/* Look at the train whose cell arrives next. */
CQ_INLINE enum cq_front cq_train_peek(struct cq_state *s, struct cq_train *next)
{
	struct cq_train *c = &s->circ[s->circ_head & CQ_VC_MASK];
	__u32 fresh = s->fresh_head;
	struct cq_frame *f = cq_frame(s, fresh);

	if (s->circ_count && !(fresh && cq_after(c->t_ps, f->first_ps))) {
		*next = *c;
		return CQ_FRONT_CIRC;
	}
	if (!fresh)
		return CQ_FRONT_NONE;
	next->t_ps = f->first_ps;
	next->word = cq_word(s, fresh);
	return CQ_FRONT_FRESH;
}

CQ_INLINE void cq_train_pop(struct cq_state *s, enum cq_front front)
{
	if (front == CQ_FRONT_CIRC) {
		s->circ_head++;
		s->circ_count--;
	} else {
		s->fresh_head = cq_frame(s, s->fresh_head)->fresh_next;
	}
}

/* Put a train back with the arrival of its next cell. */
CQ_INLINE void cq_train_put(struct cq_state *s, __u64 t, __u64 word)
{
	struct cq_train *c;

	c = &s->circ[(s->circ_head + s->circ_count) & CQ_VC_MASK];
	c->t_ps = t;
	c->word = word;
	s->circ_count++;
}

/* How many of this train's cells arrive before anything else does: more than
 * one only when no other train is in progress, and none begins, and no sample
 * is due, before the last of them (at the same time, by the tie rules, the
 * train in progress goes first). */
CQ_INLINE __u32 cq_train_alone(struct cq_state *s, const struct cq_train *tr,
			       __u64 access_ps)
{
	__u32 left = CQ_WORD_LEFT(tr->word);
	__u64 span = (left - 1) * access_ps, gap;

	if (s->circ_count)
		return 1;
	if (s->fresh_head) {
		gap = cq_frame(s, s->fresh_head)->first_ps - tr->t_ps;
		if (gap < span)
			span = gap;
	}
	if (s->sampling) {
		gap = s->sample_next_ps - tr->t_ps;
		if (gap < span)
			span = gap;
	}
	if (span >= (left - 1) * access_ps)
		return left;
	return span / access_ps + 1;
}

#endif /* CQ_TRAINS_H */
