/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * advance.h - run the model until a given frame's last cell has arrived
 *
 * At equal times a departure goes before an arrival, and an arrival before a
 * sample.
 */
#ifndef CQ_ADVANCE_H
#define CQ_ADVANCE_H

#include "arrive.h"

enum cq_progress {
	CQ_REACHED,	/* the frame is done */
	CQ_SAMPLED,	/* a sample was taken: emit it and call again */
	CQ_EXHAUSTED,	/* loop budget used up; the next call goes on */
	CQ_STUCK,	/* no cell to come, yet the frame is not done */
};

/* X and N_a at the sample's tick; the buffer has let go what was due. While
 * the buffer is empty, one sample stands for all until the next arrival. */
CQ_INLINE void cq_sample(struct cq_state *s, cq_params *p, __u64 arrival_ps,
			 struct cellq_sample_record *out)
{
	__u64 grain_ps = p->sample_ns * 1000, steps = 1;
	__s64 ahead_ps = s->sample_next_ps - s->now_ns * 1000;

	out->type = CELLQ_RECORD_SAMPLE;
	out->pad0 = 0;
	out->active_vcs = s->active;
	out->occupancy_cells = s->x;
	if (ahead_ps < 0)	/* BPF has no signed division */
		out->time_ns = s->now_ns - (__u64)-ahead_ps / 1000;
	else
		out->time_ns = s->now_ns + (__u64)ahead_ps / 1000;
	if (!s->x)
		steps = (arrival_ps - s->sample_next_ps + grain_ps - 1) /
			grain_ps;
	s->sample_next_ps += steps * grain_ps;
}

/* 1 if a sample is due before a cell that arrives at t; else 0. */
CQ_INLINE __u64 cq_sample_due(struct cq_state *s, cq_params *p, __u64 t)
{
	__u64 due = (s->sample_next_ps - t) >> 63;

	if (!p->sample_ns)
		return 0;
	CQ_HIDE(due);
	return due;
}

/* What follows a train's cells: the train goes on, or its link's next frame
 * takes its place, or the link falls idle. */
CQ_INLINE void cq_requeue(struct cq_state *s, struct cellq_stats *st,
			  struct cq_frame *f, __u64 next_ps, __u64 word)
{
	__u32 follower;

	if (CQ_WORD_LEFT(word)) {
		cq_train_put(s, next_ps, word);
		return;
	}
	follower = f->next;
	cq_finish(s, st, f, CQ_WORD_FRAME(word));
	if (follower && cq_frame(s, follower)->chained)
		cq_train_put(s, next_ps, cq_word(s, follower));
}

CQ_INLINE enum cq_progress cq_advance(struct cq_state *s,
				      struct cellq_stats *st, cq_params *p,
				      __u32 target,
				      struct cellq_sample_record *sample)
{
	__u64 service_ps = p->service_ps, access_ps = p->access_ps;

	while (!cq_frame(s, target)->done) {
		struct cq_frame *f;
		struct cq_train tr;
		enum cq_front front;
		enum cq_phase phase;
		__u64 due, sampled;
		int watched;
		__u32 n;

		if (!cq_can_loop())
			return CQ_EXHAUSTED;
		front = cq_train_peek(s, &tr);
		if (front == CQ_FRONT_NONE)
			return CQ_STUCK;
		sampled = cq_sample_due(s, p, tr.t_ps);
		due = cq_work(s, cq_choose(sampled, s->sample_next_ps, tr.t_ps));
		if (sampled) {
			if (!cq_depart_until(s, due, service_ps))
				return CQ_EXHAUSTED;
			cq_sample(s, p, tr.t_ps, sample);
			return CQ_SAMPLED;
		}
		if (!cq_depart_until(s, due, service_ps))
			return CQ_EXHAUSTED;
		cq_train_pop(s, front);
		f = cq_frame(s, CQ_WORD_FRAME(tr.word));
		n = cq_arrive(s, p, &tr, f, due, &phase);
		tr.t_ps += n * access_ps;
		watched = cq_watch_peak(s, tr.t_ps - access_ps, service_ps);
		s->model_ps = tr.t_ps - access_ps;
		tr.word = (tr.word & ((1ULL << 56) - 1)) - n;
		tr.word |= (__u64)phase << 56;
		cq_requeue(s, st, f, tr.t_ps, tr.word);
		if (!watched)
			return CQ_EXHAUSTED;
	}
	return CQ_REACHED;
}

#endif /* CQ_ADVANCE_H */
