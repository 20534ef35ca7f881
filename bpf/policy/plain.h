/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plain - UBR without any discard policy (cell tail drop)
 *
 * Rule:       a cell that finds X == K is lost; no other cell is ever lost.
 * Parameters: K (buffer_cells, cells).
 * Source:     ATM Forum 96-0518R1, "UBR".
 *
 * If a frame has lost a cell, the queue still accepts its later cells when there
 * is room. They use the link although the receiver discards the frame. The
 * other policies in this folder reduce this waste.
 */
#ifndef CELLQ_POLICY_PLAIN_H
#define CELLQ_POLICY_PLAIN_H

#define CQ_POLICY_plain 0

static inline enum cellq_cause cq_policy_plain(cq_params *p,
					       const struct cq_view *v)
{
	(void)p, (void)v;
	return CELLQ_DELIVERED;
}

#endif /* CELLQ_POLICY_PLAIN_H */
