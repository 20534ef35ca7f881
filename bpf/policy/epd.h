/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * epd - early packet discard
 *
 * Rule:       refuse a frame whose first cell finds X > R.
 * Parameters: R (threshold_cells, cells), 0 <= R <= K.
 * Source:     Romanow & Floyd, IEEE JSAC 13(4), 1995; ATM Forum 98-0876R1,
 *             section 4.1 (R = 0.8 K); 96-0518R1 asks for R = K - n packets.
 *
 * "Partially received packets are accepted if possible": an accepted frame is
 * also served above R. It loses cells only at X == K. Then the queue discards
 * the rest of the frame, as ppd does.
 */
#ifndef CELLQ_POLICY_EPD_H
#define CELLQ_POLICY_EPD_H

#define CQ_POLICY_epd (CQ_DISCARDS_REST | CQ_NEEDS_R)

static inline enum cellq_cause cq_policy_epd(cq_params *p,
					     const struct cq_view *v)
{
	return v->x > p->threshold_cells ? CELLQ_REFUSED_THRESHOLD
					 : CELLQ_DELIVERED;
}

#endif /* CELLQ_POLICY_EPD_H */
