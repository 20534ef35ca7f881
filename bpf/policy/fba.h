/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fba - fair buffer allocation
 *
 * Rule:       refuse a frame whose first cell finds X > R and
 *             X_i * N_a / X > Z * (1 + (K - X) / (X - R)).
 *             The allowed share shrinks from "any" at X = R to Z at X = K.
 * Parameters: R (threshold_cells, cells), 0 <= R <= K;
 *             Z (z_ppm, millionths), Z > 0.
 * Source:     Heinanen & Kilkki, "A fair buffer allocation scheme", Computer
 *             Communications 21(3), 1998; quoted in [GOYAL98].
 *
 * 1 + (K - X)/(X - R) is (K - R)/(X - R), so with
 *   a = X_i * N_a * (X - R)  (below 2^50)   b = (K - R) * X  (up to 2^40)
 * the test is a/b > Z. Multiplying out needs 70 bits; so the whole parts of
 * a/b and Z are compared first, and on a tie the remainder against Z's
 * fraction, both sides below 2^60. Exact. X > R makes b > 0 (X <= K).
 */
#ifndef CELLQ_POLICY_FBA_H
#define CELLQ_POLICY_FBA_H

#define CQ_POLICY_fba (CQ_DISCARDS_REST | CQ_NEEDS_R | CQ_NEEDS_Z)

static inline enum cellq_cause cq_policy_fba(cq_params *p,
					     const struct cq_view *v)
{
	__u32 r = p->threshold_cells, z = p->z_ppm;
	__u64 a, b, whole, rest;

	if (v->x <= r)
		return CELLQ_DELIVERED;
	a = (__u64)v->x_vc * v->active * (v->x - r);
	b = (__u64)(p->buffer_cells - r) * v->x;
	whole = a / b;
	rest = a % b;
	if (whole < z / CELLQ_PPM)
		return CELLQ_DELIVERED;
	if (whole == z / CELLQ_PPM && rest * CELLQ_PPM <= z % CELLQ_PPM * b)
		return CELLQ_DELIVERED;
	return CELLQ_REFUSED_FAIRNESS;
}

#endif /* CELLQ_POLICY_FBA_H */
