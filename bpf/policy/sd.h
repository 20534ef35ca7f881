/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sd - selective drop
 *
 * Rule:       refuse a frame whose first cell finds X > R and
 *             X_i > Z * X / N_a: its VC holds more than its scaled fair share.
 * Parameters: R (threshold_cells, cells), 0 <= R <= K;
 *             Z (z_ppm, millionths), Z > 0; the paper has 0.8.
 * Source:     ATM Forum 98-0876R1, section 4.2 [GOYAL98].
 *
 * In integers, without dividing: X_i * N_a * 10^6 > z_ppm * X. Left side
 * below 2^50 (X_i * N_a <= 2^30), right side below 2^50 (z_ppm < 2^30).
 * A VC without a cell in the buffer is never refused. Z -> 0 refuses every
 * active VC (which is EPD when there is one VC); a large Z refuses none
 * (which is PPD).
 */
#ifndef CELLQ_POLICY_SD_H
#define CELLQ_POLICY_SD_H

#define CQ_POLICY_sd (CQ_DISCARDS_REST | CQ_NEEDS_R | CQ_NEEDS_Z)

static inline enum cellq_cause cq_policy_sd(cq_params *p,
					    const struct cq_view *v)
{
	if (v->x <= p->threshold_cells)
		return CELLQ_DELIVERED;
	if ((__u64)v->x_vc * v->active * CELLQ_PPM <= (__u64)p->z_ppm * v->x)
		return CELLQ_DELIVERED;
	return CELLQ_REFUSED_FAIRNESS;
}

#endif /* CELLQ_POLICY_SD_H */
