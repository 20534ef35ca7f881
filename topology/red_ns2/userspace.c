// SPDX-License-Identifier: GPL-2.0-only
/* The rule as a library for the tests. */
#include "rule.h"

void red_ns2_begin(const struct red_ns2_parms *p, struct red_ns2_vars *v);
enum red_ns2_verdict red_ns2_judge(const struct red_ns2_parms *p, struct red_ns2_vars *v,
				   const struct red_ns2_arrival *a, __u32 (*random)(void));
bool red_ns2_may_mark(const struct red_ns2_parms *p, const struct red_ns2_vars *v);

bool red_ns2_may_mark(const struct red_ns2_parms *p, const struct red_ns2_vars *v)
{
	return red_ns2_marks(p, v);
}

void red_ns2_begin(const struct red_ns2_parms *p, struct red_ns2_vars *v)
{
	red_ns2_start(p, v);
}

enum red_ns2_verdict red_ns2_judge(const struct red_ns2_parms *p, struct red_ns2_vars *v,
				   const struct red_ns2_arrival *a, __u32 (*random)(void))
{
	return red_ns2_arrive(p, v, a, random);
}
