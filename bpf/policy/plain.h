/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plain - UBR without any discard policy (cell tail drop)
 *
 * Rule:       a cell that finds X == K is lost; nothing else ever is.
 * Parameters: K (buffer_cells, cells).
 * Source:     ATM Forum 96-0518R1, "UBR".
 *
 * The later cells of a frame that has lost one are still let in when there is
 * room, and still use the link although the receiver throws the frame away:
 * that waste is what the policies in this folder are about.
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
