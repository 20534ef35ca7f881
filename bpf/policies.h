/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policies.h - the discard policies, one file each in policy/
 *
 * To add a policy, write policy/NAME.h. The Makefile lists the folder in
 * policy_list.h. So the loader knows the policy, and so does the harness when
 * it checks experiments.
 *
 * A policy is a pure function cq_policy_NAME of the parameters and of the state
 * that the first cell of a frame finds: X cells in the buffer, X_i of its own VC,
 * N_a active VCs. It returns CELLQ_DELIVERED (accept the frame),
 * CELLQ_REFUSED_THRESHOLD or CELLQ_REFUSED_FAIRNESS. It does not check for room:
 * under every policy, a cell that finds X == K is lost.
 *
 * The file also has the line #define CQ_POLICY_NAME with 0 or some of the words
 * below. Put several words in brackets:
 */
#ifndef CELLQ_POLICIES_H
#define CELLQ_POLICIES_H

#include "cellq.h"

#define CQ_DISCARDS_REST 1	/* discards the rest of a frame that lost a cell */
#define CQ_NEEDS_R 2
#define CQ_NEEDS_Z 4

/* The state that a first cell finds. */
struct cq_view {
	__u32 x;	/* X, cells in the buffer, the one being sent included */
	__u32 x_vc;	/* X_i */
	__u32 active;	/* N_a, VCs with at least one cell in the buffer */
};

/* The parameters are volatile because in BPF they are rodata that the loader
 * fills in after compilation. */
typedef const volatile struct cellq_params cq_params;

/* Includes each policy, and defines CELLQ_POLICIES(X): X(NAME) for each. */
#include "policy_list.h"

enum cellq_policy {
#define CQ_ENUM(name) CELLQ_POLICY_##name,
	CELLQ_POLICIES(CQ_ENUM)
#undef CQ_ENUM
	CELLQ_POLICY_COUNT,
};

static inline enum cellq_cause cq_policy(cq_params *p, const struct cq_view *v)
{
	switch (p->policy) {
#define CQ_CASE(name) \
	case CELLQ_POLICY_##name: return cq_policy_##name(p, v);
	CELLQ_POLICIES(CQ_CASE)
#undef CQ_CASE
	}
	return CELLQ_DELIVERED;
}

static inline int cq_policy_discards_rest(cq_params *p)
{
	switch (p->policy) {
#define CQ_CASE(name) \
	case CELLQ_POLICY_##name: return (CQ_POLICY_##name) & CQ_DISCARDS_REST;
	CELLQ_POLICIES(CQ_CASE)
#undef CQ_CASE
	}
	return 0;
}

#endif /* CELLQ_POLICIES_H */
