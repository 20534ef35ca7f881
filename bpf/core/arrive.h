/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arrive.h - a cell arrives: verdict on the first, room for every one
 *
 * Phase of a train, by cell:
 *
 *   NEW --policy refuses------------------------------> SHUT (rest not let in)
 *    |--let in, room--> WHOLE --X == K, discards rest-> SHUT
 *    '--X == K: as WHOLE   '----X == K, plain---------> TORN (rest if room)
 */
#ifndef CQ_ARRIVE_H
#define CQ_ARRIVE_H

#include "../policies.h"
#include "buffer.h"
#include "trains.h"

/* Note what the cell found that sealed its frame's fate. */
CQ_INLINE void cq_seal(struct cq_state *s, struct cq_frame *f, __u64 t)
{
	f->loss_ps = t;
	f->loss_x = s->x;
	f->loss_x_vc = s->vc[f->vc & CQ_VC_MASK].x;
	f->loss_active = s->active;
}

/* The policy's verdict on a first cell. */
CQ_INLINE enum cq_phase cq_admit(struct cq_state *s, cq_params *p,
				 struct cq_frame *f, __u64 t)
{
	struct cq_view view = {
		.x = s->x,
		.x_vc = s->vc[f->vc & CQ_VC_MASK].x,
		.active = s->active,
	};

	f->cause = cq_policy(p, &view);
	if (f->cause == CELLQ_DELIVERED)
		return CQ_WHOLE;
	cq_seal(s, f, t);
	return CQ_SHUT;
}

/* A cell finds the buffer full. */
CQ_INLINE enum cq_phase cq_overflow(struct cq_state *s, cq_params *p,
				    struct cq_frame *f, enum cq_phase phase,
				    __u32 left, __u64 t)
{
	f->overflow++;
	if (phase == CQ_TORN)
		return phase;
	f->accepted = f->cells - left;
	f->cause = f->accepted ? CELLQ_LOST_MID : CELLQ_LOST_FIRST;
	cq_seal(s, f, t);
	return cq_policy_discards_rest(p) ? CQ_SHUT : CQ_TORN;
}

/* The largest X is seen just after an arrival. A run is put in whole, so what
 * left meanwhile is taken off before looking. X never falls from one arrival
 * of a run to the next (the port is not faster), so the end is its peak. */
CQ_INLINE int cq_watch_peak(struct cq_state *s, __u64 t, __u64 service_ps)
{
	if (s->x <= s->peak)
		return 1;
	if (!cq_depart(s, t, service_ps))
		return 0;
	if (s->x > s->peak)
		s->peak = s->x;
	return 1;
}

/* A frame's last cell has arrived: count the frame by its fate. */
CQ_INLINE void cq_finish(struct cq_state *s, struct cellq_stats *st,
			 struct cq_frame *f, __u32 index)
{
	struct cellq_vc_stats *vs = &st->vc[f->vc & CQ_VC_MASK];
	__u32 cause = f->cause & 7;

	if (cause >= CELLQ_CAUSES)	/* never; the verifier cannot know */
		cause = CELLQ_DELIVERED;
	vs->frames[cause]++;
	vs->cells[cause] += f->cells;
	if (cause >= CELLQ_LOST_FIRST) {
		vs->cells_wasted += f->accepted;
		vs->cells_overflow += f->overflow;
		vs->cells_discarded += f->cells - f->accepted - f->overflow;
	}
	f->dep_due = s->tail_dep_ps;
	f->done = 1;
	s->vc[f->vc & CQ_VC_MASK].open--;
	if (f->orphan)
		cq_frame_release(s, index);
}

/*
 * Cells of the train arrive: one, or as many as come before anything else can
 * happen (same result, less work). Returns how many; the new phase goes to
 * *phase. All departures up to the first cell's arrival have been made.
 */
CQ_INLINE __u32 cq_arrive(struct cq_state *s, cq_params *p,
			  const struct cq_train *tr, struct cq_frame *f,
			  __u64 due, enum cq_phase *phase)
{
	__u64 t = tr->t_ps, access_ps = p->access_ps;
	__u64 service_ps = p->service_ps;
	__u32 left = CQ_WORD_LEFT(tr->word), room, n = 1;

	*phase = CQ_WORD_PHASE(tr->word);
	if (*phase == CQ_NEW)
		*phase = cq_admit(s, p, f, t);
	if (*phase == CQ_SHUT)
		return left > 1 ? cq_train_alone(s, tr, access_ps) : 1;

	room = p->buffer_cells - s->x;
	if (!room) {
		*phase = cq_overflow(s, p, f, *phase, left, t);
		return 1;
	}
	if (left > 1 && cq_steady(s, access_ps, service_ps)) {
		n = cq_train_alone(s, tr, access_ps);
		n = n < room ? n : room;
	}
	cq_put(s, CQ_WORD_VC(tr->word), n, due, service_ps);
	if (*phase == CQ_TORN)
		f->accepted += n;
	return n;
}

#endif /* CQ_ARRIVE_H */
