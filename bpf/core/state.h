/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the whole memory of one port's model: one struct, no pointers
 *
 * All zero is the empty, valid state. Times are ticks of 1 ps, which wrap
 * after 213 days: they are compared by signed difference, and a time that may
 * be older than that is never looked at (a count beside it says whether it
 * means anything).
 *
 *   announce --> frames waiting on their idle access link   (fresh list)
 *                     | first cell arrives
 *                     v
 *                trains in progress, one a VC               (circ ring)
 *                     | each cell: policy, room
 *                     v
 *                the buffer, runs of cells of one VC        (cells ring)
 *                     | one cell every service_ps
 *                     v
 *                   link
 *
 * The server's times (head_dep_ps, tail_dep_ps, dep_due, busy_*) and service_ps
 * are of its own clock. On a still path this is the clock of the arrivals. With CQ_PATH it
 * is what the link can have done until then, in millionths of a bit (path.h):
 * cq_work() and cq_moment() lead from one clock to the other.
 */
#ifndef CQ_STATE_H
#define CQ_STATE_H

#include "../cellq.h"
#include "compat.h"
#ifdef CQ_PATH
#include "../path.h"
#endif

#define CQ_VC_MASK	(CELLQ_MAX_VCS - 1)
#define CQ_CELL_MASK	(CELLQ_MAX_BUFFER_CELLS - 1)
#define CQ_FRAME_MASK	(CELLQ_MAX_FRAMES - 1)

/* How far a frame has come. */
enum cq_phase {
	CQ_WHOLE,	/* no cell lost so far */
	CQ_NEW,		/* its first cell has not arrived */
	CQ_TORN,	/* lost a cell; later ones still accepted (plain) */
	CQ_SHUT,	/* the rest is not let in */
};

/* An announced frame. Index 0 of the table is "none". */
struct cq_frame {
	__u64 announce_ns;
	__u64 seq;
	__u64 first_ps;		/* first cell's arrival, if it waits in fresh */
	__u64 end_ps;		/* last cell's arrival */
	__u64 dep_due;		/* last cell's departure, of the server's clock */
	__u64 loss_ps;		/* when its fate was sealed, if not */
	__u32 next;		/* next frame of its VC; or next free record */
	__u32 fresh_next;
	__u32 loss_x, loss_x_vc, loss_active;	/* what that cell found */
	__u16 vc;		/* 0-based */
	__u16 cells;
	__u16 accepted;		/* once torn: cells let in */
	__u16 overflow;		/* cells that found the buffer full */
	__u8 cause;
	__u8 done;		/* last cell has arrived in the model */
	__u8 chained;		/* follows its predecessor without a gap */
	__u8 orphan;		/* verdict given before it was done */
};

struct cq_vc {
	__u64 free_ps;		/* access link busy until; valid if open > 0 */
	__u32 x;		/* X_i */
	__u32 head;		/* oldest frame without a verdict */
	__u32 tail;		/* frame announced last */
	__u32 pending;		/* frames without a verdict */
	__u32 open;		/* frames not done */
	__u32 pad;
};

/* A train: the frame whose cells are arriving on one access link. */
struct cq_train {
	__u64 t_ps;		/* arrival of its next cell */
	__u64 word;		/* see core/trains.h */
};

struct cq_state {
	__u32 lock;		/* BPF: struct bpf_spin_lock, 4 bytes */
	__u32 pad;

	/* the buffer and the server */
	__u64 head_dep_ps;	/* departure of the cell being sent; if x > 0 */
	__u64 tail_dep_ps;	/* departure of the last cell in the buffer */
	__u32 x;		/* X */
	__u32 active;		/* N_a */
	__u32 run_head;		/* free-running indices into cells[] */
	__u32 run_tail;
	__u32 peak;
	__u32 pad1;
	__u64 accepted;		/* cells ever let in */
	__u64 busy_ps;		/* length of the busy periods that ended */
	__u64 busy_since_ps;	/* start of the current or last one */

	/* trains */
	__u32 circ_head;	/* free-running */
	__u32 circ_count;
	__u32 fresh_head;	/* frames, by first_ps */
	__u32 fresh_tail;

	/* frame records */
	__u32 free_list;
	__u32 used;		/* records ever taken from the table */
	__u64 seq;

	__u64 now_ns;		/* latest clock reading of any hook */
	__u64 model_ps;		/* arrivals up to here are in */
	__u64 sample_next_ps;
	__u32 sampling;		/* sample_next_ps is set */
	__u32 pad2;

	struct cq_vc vc[CELLQ_MAX_VCS];
	struct cq_train circ[CELLQ_MAX_VCS];
	struct cq_frame frames[CELLQ_MAX_FRAMES];
	__u32 cells[CELLQ_MAX_BUFFER_CELLS];	/* runs: vc | count << 16 */
#if defined(CQ_PATH) && !defined(__bpf__)
	struct path_table path;
#endif
};

#ifdef CQ_PATH
#ifdef __bpf__
/* In a map of its own: the loader fills it before the kernel has it, and copies no state. */
extern struct path_table path_table;
#define CQ_TABLE(state)	((void)(state), &path_table)
#else
#define CQ_TABLE(state)	(&(state)->path)
#endif
#endif

CQ_INLINE int cq_after(__u64 a, __u64 b)
{
	return (__s64)(a - b) > 0;
}

#ifdef CQ_PATH
CQ_INLINE __u64 cq_work(struct cq_state *s, __u64 t_ps)
{
	const struct path_table *path = CQ_TABLE(s);

	return path_work(&path->head, path->rows, t_ps - path->head.epoch_ns * 1000);
}

CQ_INLINE __u64 cq_moment(struct cq_state *s, __u64 work)
{
	const struct path_table *path = CQ_TABLE(s);

	return path_moment(&path->head, path->rows, work) + path->head.epoch_ns * 1000;
}
#else
CQ_INLINE __u64 cq_work(struct cq_state *s, __u64 t_ps)
{
	(void)s;
	return t_ps;
}

CQ_INLINE __u64 cq_moment(struct cq_state *s, __u64 work)
{
	(void)s;
	return work;
}
#endif

/* Are cells served no faster than those of one train arrive? */
CQ_INLINE int cq_steady(struct cq_state *s, __u64 access_ps, __u64 service_ps)
{
#ifdef CQ_PATH
	(void)access_ps, (void)service_ps;
	return CQ_TABLE(s)->head.steady;
#else
	(void)s;
	return access_ps <= service_ps;
#endif
}

#endif /* CQ_STATE_H */
