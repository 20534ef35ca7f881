/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ppd - partial packet discard
 *
 * Rule:       once a cell of a frame is lost (X == K), the frame's remaining
 *             cells are discarded, even if there is room.
 * Parameters: K (buffer_cells, cells).
 * Source:     Romanow & Floyd, "Dynamics of TCP Traffic over ATM Networks",
 *             IEEE JSAC 13(4), 1995.
 *
 * No frame is refused at its first cell. CQ_DISCARDS_REST (policies.h) makes the
 * queue discard the rest. It also discards the last cell: the queue knows frames
 * by their announcement, and so it does not need the end-of-frame mark of
 * AAL5.
 */
#ifndef CELLQ_POLICY_PPD_H
#define CELLQ_POLICY_PPD_H

#define CQ_POLICY_ppd CQ_DISCARDS_REST

static inline enum cellq_cause cq_policy_ppd(cq_params *p,
					     const struct cq_view *v)
{
	(void)p, (void)v;
	return CELLQ_DELIVERED;
}

#endif /* CELLQ_POLICY_PPD_H */
