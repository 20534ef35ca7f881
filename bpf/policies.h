/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policies.h - the one table of discard policies
 *
 * To add a policy: write policy/NAME.h, include it here, add its row.
 *
 * A policy is a pure function of the parameters and of what the first cell of
 * a frame finds: X cells in the buffer, X_i of its own VC, N_a active VCs.
 * It says CELLQ_DELIVERED (let it in), CELLQ_REFUSED_THRESHOLD or
 * CELLQ_REFUSED_FAIRNESS. Whether there is room is not its business: a cell
 * that finds X == K is lost under every policy.
 *
 * Columns: name; discards the rest of a frame that lost a cell; needs R;
 * needs Z.
 */
#ifndef CELLQ_POLICIES_H
#define CELLQ_POLICIES_H

#include "cellq.h"

/* What a first cell finds. */
struct cq_view {
	__u32 x;	/* X, cells in the buffer, the one being sent included */
	__u32 x_vc;	/* X_i */
	__u32 active;	/* N_a, VCs with at least one cell in the buffer */
};

/* The parameters are volatile because in BPF they are rodata that the loader
 * fills in after compilation. */
typedef const volatile struct cellq_params cq_params;

#include "policy/plain.h"
#include "policy/ppd.h"
#include "policy/epd.h"
#include "policy/sd.h"
#include "policy/fba.h"

#define CELLQ_POLICIES(X)	\
	X(plain, 0, 0, 0)	\
	X(ppd, 1, 0, 0)		\
	X(epd, 1, 1, 0)		\
	X(sd, 1, 1, 1)		\
	X(fba, 1, 1, 1)

enum cellq_policy {
#define CQ_ENUM(name, rest, r, z) CELLQ_POLICY_##name,
	CELLQ_POLICIES(CQ_ENUM)
#undef CQ_ENUM
	CELLQ_POLICY_COUNT,
};

static inline enum cellq_cause cq_policy(cq_params *p, const struct cq_view *v)
{
	switch (p->policy) {
#define CQ_CASE(name, rest, r, z) \
	case CELLQ_POLICY_##name: return cq_policy_##name(p, v);
	CELLQ_POLICIES(CQ_CASE)
#undef CQ_CASE
	}
	return CELLQ_DELIVERED;
}

static inline int cq_policy_discards_rest(cq_params *p)
{
	switch (p->policy) {
#define CQ_CASE(name, rest, r, z) case CELLQ_POLICY_##name: return rest;
	CELLQ_POLICIES(CQ_CASE)
#undef CQ_CASE
	}
	return 0;
}

#endif /* CELLQ_POLICIES_H */
