/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wire.h - the rate of the port's link as seen from outside
 *
 * This check of the model and of fq uses only two clock readings per frame: its
 * arrival at the port, and its arrival at the far end of the wire. It does not use
 * the rate of the port, its cell time and the departures of the model. The server
 * of a work-conserving port never rests from the arrival of a frame's first cell
 * until its last cell has come out, if cells arrive at least as fast as they leave.
 * So the union of these intervals is the time in which the link was busy:
 *
 *    A  in ########----------- out          stretch: from A's first cell
 *    B         in ########-------------- out         to B's last
 *
 * Cells of a torn frame (a frame that lost other cells) leave unseen. They leave
 * before any later whole frame. Until one arrives, their stretch is uncertain. A
 * stretch in which more than a 4096th of the cells is uncertain is left out.
 */
#ifndef CQ_WIRE_H
#define CQ_WIRE_H

#include "cellq.h"

#define WIRE_SURE	4096

static __always_inline __u64 wire_later(__u64 a_ns, __u64 b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* A whole frame has come to the port; its cells came every access_ns. */
static __always_inline void wire_in(struct cellq_wire *w, __u64 now_ns,
				    __u32 cells, __u64 access_ns)
{
	__u64 first_ns = now_ns - (cells - 1) * access_ns;

	if (!w->waiting) {
		w->since_ns = wire_later(first_ns, w->until_ns);
		w->stretch_cells = 0;
		w->unsure_cells = w->torn_cells;
	} else {
		if (first_ns < w->since_ns)
			w->since_ns = wire_later(first_ns, w->until_ns);
		w->stretch_cells += w->torn_cells;
	}
	w->torn_cells = 0;
	w->stretch_cells += cells;
	w->waiting++;
}

/* A frame that lost cells has come to the port; `cells` of it will be sent. */
static __always_inline void wire_torn(struct cellq_wire *w, __u32 cells)
{
	w->torn_cells += cells;
}

/* A frame has come out at the far end. */
static __always_inline void wire_out(struct cellq_wire *w, __u64 now_ns)
{
	w->frames++;
	if (!w->waiting || --w->waiting)
		return;
	w->until_ns = now_ns;
	if ((w->unsure_cells + w->torn_cells) * WIRE_SURE > w->stretch_cells) {
		w->stretches_unsure++;
		return;
	}
	w->stretches++;
	w->busy_ns += now_ns - w->since_ns;
	w->cells += w->stretch_cells;
}

#endif /* CQ_WIRE_H */
