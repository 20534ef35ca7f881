/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frames.h - the frame table and each VC's list of frames without a verdict
 *
 * One table for all VCs: a single VC may have thousands of frames on its
 * access link while a thousand others have none.
 */
#ifndef CQ_FRAMES_H
#define CQ_FRAMES_H

#include "state.h"

CQ_INLINE struct cq_frame *cq_frame(struct cq_state *s, __u32 index)
{
	return &s->frames[index & CQ_FRAME_MASK];
}

/* An unused record's index, or 0 when there is none. Record 0 stays unused. */
CQ_INLINE __u32 cq_frame_get(struct cq_state *s)
{
	__u32 index = s->free_list;

	if (index)
		s->free_list = cq_frame(s, index)->next;
	else if (s->used < CQ_FRAME_MASK)
		index = ++s->used;
	return index;
}

CQ_INLINE void cq_frame_release(struct cq_state *s, __u32 index)
{
	cq_frame(s, index)->next = s->free_list;
	s->free_list = index;
}

/* Append a frame to its VC. The tail record is alive, and so has to point to
 * it, while it waits for its verdict or for its last cell. */
CQ_INLINE void cq_vc_append(struct cq_state *s, struct cq_vc *v, __u32 index)
{
	if (v->pending || v->open)
		cq_frame(s, v->tail)->next = index;
	if (!v->pending)
		v->head = index;
	v->tail = index;
	v->pending++;
	v->open++;
}

/* Take the oldest frame without a verdict, or 0. */
CQ_INLINE __u32 cq_vc_take(struct cq_state *s, struct cq_vc *v)
{
	__u32 index = v->head;

	if (!v->pending)
		return 0;
	v->head = cq_frame(s, index)->next;
	v->pending--;
	return index;
}

#endif /* CQ_FRAMES_H */
