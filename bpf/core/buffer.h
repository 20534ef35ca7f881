/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * buffer.h - the cell buffer and its server: first in, first out, work
 * conserving, one cell every service_ps
 *
 * X counts the cell being sent; it leaves when its last bit has left. The
 * buffer holds runs (VC, count) instead of cells: a frame that arrives without
 * another between its cells is one entry. Departures are lazy: cq_depart()
 * makes all that are due at t, and every reader of X calls it first.
 */
#ifndef CQ_BUFFER_H
#define CQ_BUFFER_H

#include "state.h"

/* Take n cells, all of the run at the head, out of the buffer. */
CQ_INLINE void cq_take(struct cq_state *s, __u32 *run, __u32 n)
{
	struct cq_vc *v = &s->vc[*run & CQ_VC_MASK];

	if (n == *run >> 16)
		s->run_head++;
	else
		*run -= n << 16;
	v->x -= n;
	if (!v->x)
		s->active--;
	s->x -= n;
}

/* Let every cell leave whose departure is at or before t of the server's clock.
 * Returns 0 when the loop budget is used up. */
CQ_INLINE int cq_depart_until(struct cq_state *s, __u64 t, __u64 service_ps)
{
	while (s->x && !cq_after(s->head_dep_ps, t)) {
		__u32 *run = &s->cells[s->run_head & CQ_CELL_MASK];
		__u64 gap = t - s->head_dep_ps;
		__u32 count = *run >> 16, n = 1;

		if (!cq_can_loop())
			return 0;
		if (count > 1 && gap >= service_ps) {
			gap = gap / service_ps + 1;
			n = gap < count ? gap : count;
		}
		cq_take(s, run, n);
		s->head_dep_ps += n * service_ps;
	}
	return 1;
}

/* The same at t of the arrivals' clock. */
CQ_INLINE int cq_depart(struct cq_state *s, __u64 t, __u64 service_ps)
{
	return !s->x || cq_depart_until(s, cq_work(s, t), service_ps);
}

/* Put a run of n cells of one VC in; the first arrives at t of the server's
 * clock, the others in time to leave no gap in service. The caller has made
 * sure of the room. */
CQ_INLINE void cq_put(struct cq_state *s, __u32 vc, __u32 n, __u64 t,
		      __u64 service_ps)
{
	struct cq_vc *v = &s->vc[vc & CQ_VC_MASK];
	/* Else the verifier follows the ring that begins anew apart from all others. */
	volatile __u32 *tail = &s->run_tail;

	if (!s->x) {
		s->busy_ps += s->tail_dep_ps - s->busy_since_ps;
		s->busy_since_ps = t;
		s->tail_dep_ps = t;
		s->head_dep_ps = t + service_ps;
		/* No run is left: begin the ring anew, so that few of its pages are used. */
		s->run_head = 0;
		*tail = 0;
	}
	s->tail_dep_ps += n * service_ps;
	s->cells[(*tail)++ & CQ_CELL_MASK] = vc | n << 16;
	if (!v->x)
		s->active++;
	v->x += n;
	s->x += n;
	s->accepted += n;
}

#endif /* CQ_BUFFER_H */
