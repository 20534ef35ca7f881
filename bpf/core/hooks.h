/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hooks.h - the two calls that the kernel side makes, with the lock held
 *
 * cq_announce(): a frame starts on its way over its access link.
 * cq_verdict_*(): it has come out of that link at the port.
 *
 * Why two calls are exact. A frame announced at time `now` has its first cell
 * at now + propagation + c or later. So when a frame comes out of its access
 * link at `now`, every cell that arrives up to now + propagation has been
 * announced, and the model may be run to that frame's last cell. The link's
 * netem and the model need not agree to the nanosecond: coming out late does
 * no harm, and coming out early by less than the propagation delay neither.
 */
#ifndef CQ_HOOKS_H
#define CQ_HOOKS_H

#include "advance.h"

/* What the port does with a frame. */
struct cq_outcome {
	struct cellq_frame_record frame;
	struct cellq_drop_record drop;	/* written unless delivered */
};

/* Longer than any backlog lasts (10^6 cells at 1 Mbit/s: 424 s), and much
 * shorter than half the wrap of a tick. */
#define CQ_LONG_IDLE_NS (3600ULL * 1000000000)

/* Hooks on different CPUs read the clock before they take the lock, so it may
 * seem to step back by a little. */
CQ_INLINE __u64 cq_clock(struct cq_state *s, __u64 now_ns)
{
	if (cq_after(now_ns, s->now_ns) || !s->seq)
		s->now_ns = now_ns;
	return s->now_ns;
}

/* After a long silence the buffer is empty. Mark it empty before its old times
 * wrap and look like the future. */
CQ_INLINE void cq_forget_past(struct cq_state *s, cq_params *p, __u64 now_ns)
{
	if (!cq_after(now_ns, s->now_ns + CQ_LONG_IDLE_NS))
		return;
	cq_depart_until(s, s->tail_dep_ps, p->service_ps);
	s->sampling = 0;	/* the grid starts anew */
}

/* A tick near now, in ns of the same clock. */
CQ_INLINE __u64 cq_floor_ns(__u64 t_ps, __u64 now_ns)
{
	__s64 ahead = t_ps - now_ns * 1000;

	if (ahead >= 0)
		return now_ns + (__u64)ahead / 1000;
	return now_ns - ((__u64)-ahead + 999) / 1000;
}

CQ_INLINE __u64 cq_ceil_ns(__u64 t_ps, __u64 now_ns)
{
	return cq_floor_ns(t_ps + 999, now_ns);
}

/* Copy the counters of the state to the map that readers use. */
CQ_INLINE void cq_publish(struct cq_state *s, struct cellq_stats *st,
			  cq_params *p)
{
	__u64 until;

	cq_depart(s, s->model_ps, p->service_ps);
	until = s->x ? s->head_dep_ps - p->service_ps : s->tail_dep_ps;
	st->model_ps = s->model_ps;
	st->busy_ps = s->busy_ps + (until - s->busy_since_ps);
	st->cells_sent = s->accepted - s->x;
	st->occupancy_cells = s->x;
	st->active_vcs = s->active;
	st->peak_cells = s->peak;
}

CQ_INLINE void cq_fault(struct cellq_stats *st, enum cellq_fault fault)
{
	st->faults[fault]++;
}

/* The first sample is due at the grid point after the first announcement. */
CQ_INLINE void cq_start_sampling(struct cq_state *s, cq_params *p)
{
	__u64 grain = p->sample_ns;

	if (!grain || s->sampling)
		return;
	s->sampling = 1;
	s->sample_next_ps = (s->now_ns / grain + 1) * grain * 1000;
}

/* vc is 1-based. Returns 1, or 0 after a fault: drop the packet. */
CQ_INLINE int cq_announce(struct cq_state *s, struct cellq_stats *st,
			  cq_params *p, __u32 vc, __u32 cells, __u64 now_ns)
{
	__u32 index = cq_frame_get(s);
	struct cq_frame *f = cq_frame(s, index);
	struct cq_vc *v = &s->vc[(vc - 1) & CQ_VC_MASK];
	__u64 start;	/* of its crossing */

	if (!index) {
		cq_fault(st, CELLQ_FAULT_frame_table_full);
		return 0;
	}
	cq_forget_past(s, p, now_ns);
	now_ns = cq_clock(s, now_ns);
	cq_start_sampling(s, p);
	start = now_ns * 1000 + p->access_delay_ps;
	f->chained = v->open && cq_after(v->free_ps, start);
	if (f->chained)
		start = v->free_ps;
	f->announce_ns = now_ns;
	f->seq = s->seq++;
	f->first_ps = start + p->access_ps;
	f->end_ps = v->free_ps = start + cells * p->access_ps;
	f->vc = (vc - 1) & CQ_VC_MASK;
	f->cells = cells;
	f->next = f->fresh_next = 0;
	f->accepted = f->overflow = 0;
	f->cause = f->done = f->orphan = 0;
	if (!f->chained)
		cq_fresh_append(s, index);
	cq_vc_append(s, v, index);
	st->frames_announced++;
	return 1;
}

/* Take the frame that belongs to this packet; 0 after a fault. */
CQ_INLINE __u32 cq_verdict_begin(struct cq_state *s, struct cellq_stats *st,
				 __u32 vc, __u64 now_ns)
{
	__u32 index = cq_vc_take(s, &s->vc[(vc - 1) & CQ_VC_MASK]);

	cq_clock(s, now_ns);
	if (!index)
		cq_fault(st, CELLQ_FAULT_no_announce);
	return index;
}

/* The frame's departure in ns of the clock; 0 after a fault. One already past,
 * within the tolerance, is returned as it is: fq then sends at once. */
CQ_INLINE __u64 cq_departure_ns(struct cq_state *s, struct cellq_stats *st,
				cq_params *p, const struct cq_frame *f)
{
	__u64 now_ns = s->now_ns, late_ns;
	__u64 dep_ns = cq_ceil_ns(cq_moment(s, f->dep_due), now_ns);

	if (cq_after(now_ns, dep_ns)) {
		late_ns = now_ns - dep_ns;
		if (late_ns > st->late_max_ns)
			st->late_max_ns = late_ns;
		if (late_ns > p->late_tolerance_ns) {
			cq_fault(st, CELLQ_FAULT_late);
			return 0;
		}
		st->frames_late++;
	}
	if (!st->first_departure_ns)
		st->first_departure_ns = dep_ns;
	st->last_departure_ns = dep_ns;
	return dep_ns;
}

CQ_INLINE void cq_describe_frame(struct cq_state *s, const struct cq_frame *f,
				 struct cellq_frame_record *r)
{
	r->type = CELLQ_RECORD_FRAME;
	r->cause = f->cause;
	r->vc = f->vc + 1;
	r->cells = f->cells;
	r->seq = f->seq;
	r->announce_ns = f->announce_ns;
	r->departure_ns = 0;
	r->verdict_ns = s->now_ns;
}

CQ_INLINE void cq_describe_drop(struct cq_state *s, const struct cq_frame *f,
				struct cellq_drop_record *r)
{
	r->type = CELLQ_RECORD_DROP;
	r->cause = f->cause;
	r->vc = f->vc + 1;
	r->cells = f->cells;
	r->time_ns = cq_floor_ns(f->loss_ps, s->now_ns);
	r->occupancy_cells = f->loss_x;
	r->vc_cells = f->loss_x_vc;
	r->active_vcs = f->loss_active;
	r->accepted_cells = f->accepted;
	r->seq = f->seq;
}

/* After cq_advance() ended with `progress`. Returns 1 when *out holds, 0 after
 * a fault: drop the packet. */
CQ_INLINE int cq_verdict_end(struct cq_state *s, struct cellq_stats *st,
			     cq_params *p, __u32 index, __u32 cells,
			     enum cq_progress progress, struct cq_outcome *out)
{
	struct cq_frame *f = cq_frame(s, index);
	__u64 early_ps = f->end_ps - s->now_ns * 1000;
	int ok = 1;

	st->frames_resolved++;
	if (progress != CQ_REACHED) {
		cq_fault(st, progress == CQ_STUCK ? CELLQ_FAULT_model_stuck :
						    CELLQ_FAULT_loop_budget);
		if (f->done)
			cq_frame_release(s, index);
		else
			f->orphan = 1;
		return 0;
	}
	cq_publish(s, st, p);
	cq_describe_frame(s, f, &out->frame);
	if (f->cells != cells) {
		cq_fault(st, CELLQ_FAULT_length_mismatch);
		ok = 0;
	} else if (cq_after(early_ps, p->access_delay_ps)) {
		cq_fault(st, CELLQ_FAULT_early);
		ok = 0;
	} else if (f->cause == CELLQ_DELIVERED) {
		out->frame.departure_ns = cq_departure_ns(s, st, p, f);
		ok = !!out->frame.departure_ns;
	} else {
		cq_describe_drop(s, f, &out->drop);
	}
	cq_frame_release(s, index);
	return ok;
}

#endif /* CQ_HOOKS_H */
