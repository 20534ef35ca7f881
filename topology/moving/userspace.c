// SPDX-License-Identifier: GPL-2.0-only
/* The rule as a library for the tests. */
#include "rule.h"

__u64 moving_rule_work(const struct path_head *h, const struct path_row *rows, __u64 t_ps);
__u64 moving_rule_moment(const struct path_head *h, const struct path_row *rows, __u64 work);
__u64 moving_rule_serve(const struct path_head *h, const struct path_row *rows,
			struct moving_server *s, const struct moving_parms *p, __u32 bytes);
__u64 moving_rule_delay(const struct path_head *h, const struct path_row *rows,
			const struct moving_parms *p, struct moving_delay *d, __u64 now_ns);

__u64 moving_rule_work(const struct path_head *h, const struct path_row *rows, __u64 t_ps)
{
	return path_work(h, rows, t_ps);
}

__u64 moving_rule_moment(const struct path_head *h, const struct path_row *rows, __u64 work)
{
	return path_moment(h, rows, work);
}

__u64 moving_rule_serve(const struct path_head *h, const struct path_row *rows,
			struct moving_server *s, const struct moving_parms *p, __u32 bytes)
{
	return moving_serve(h, rows, s, moving_work(p, bytes));
}

__u64 moving_rule_delay(const struct path_head *h, const struct path_row *rows,
			const struct moving_parms *p, struct moving_delay *d, __u64 now_ns)
{
	return moving_delay(h, rows, p, d, now_ns);
}
