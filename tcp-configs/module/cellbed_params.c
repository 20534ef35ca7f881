// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameters: one set a network namespace, so that trials of different
 * flavors share a kernel and do not touch each other.
 */
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/netns/generic.h>

#include "cellbed.h"

struct cellbed_net {
	struct cellbed_params params;
	struct ctl_table_header *header;
	struct ctl_table *table;
};

static unsigned int cellbed_net_id;

/*
 * What a namespace begins with: RFC 5681 and RFC 6675 on the kernel's own
 * retransmission timer. The flavor files set every one of them.
 */
static const struct cellbed_params cellbed_defaults = {
	.grow_app_limited = 1,
	.rto_min_ticks = 2,
};

#define CELLBED_MAX_TICK_MS 1000
#define CELLBED_MAX_FIRST_MS 60000

static int cellbed_max_tick = CELLBED_MAX_TICK_MS;
static int cellbed_max_min_ticks = 100;
static int cellbed_max_first = CELLBED_MAX_FIRST_MS;
static int cellbed_two = 2;

/* A time the timer wheel cannot keep is refused, never rounded in silence. */
static int cellbed_ms(const struct ctl_table *table, int write, void *buffer,
		      size_t *lenp, loff_t *ppos)
{
	struct ctl_table copy = *table;
	int value = *(int *)table->data;
	int ret;

	copy.data = &value;
	ret = proc_dointvec_minmax(&copy, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;
	if (jiffies_to_msecs(msecs_to_jiffies(value)) != value)
		return -EINVAL;
	WRITE_ONCE(*(int *)table->data, value);
	return 0;
}

#define CELLBED_ENTRY(param, max, proc) {				\
	.procname = #param,						\
	.data = (void *)offsetof(struct cellbed_params, param),	\
	.maxlen = sizeof(int),						\
	.mode = 0644,							\
	.proc_handler = proc,						\
	.extra1 = SYSCTL_ZERO,						\
	.extra2 = max,							\
}

/* The data pointers are offsets, made addresses for each namespace. */
static const struct ctl_table cellbed_table[] = {
	CELLBED_ENTRY(byte_window, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(ssthresh_from_route, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(ssthresh_rule, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(idle_restart, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(grow_app_limited, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(rto_tick_ms, &cellbed_max_tick, cellbed_ms),
	CELLBED_ENTRY(rto_min_ticks, &cellbed_max_min_ticks,
		      proc_dointvec_minmax),
	CELLBED_ENTRY(rto_first_ms, &cellbed_max_first, cellbed_ms),
	CELLBED_ENTRY(rto_first_sample, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(backoff_clear, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(after_timeout, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(sack_retransmit, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(sack_resend_on_partial, &cellbed_two,
		      proc_dointvec_minmax),
	CELLBED_ENTRY(sack_pipe, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(multiple_fast_retransmits, SYSCTL_ONE,
		      proc_dointvec_minmax),
	CELLBED_ENTRY(resend_boundaries, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(newreno_partial, SYSCTL_ONE, proc_dointvec_minmax),
	CELLBED_ENTRY(newreno_flywheel, SYSCTL_ONE, proc_dointvec_minmax),
};

const struct cellbed_params *cellbed_params(const struct net *net)
{
	struct cellbed_net *cn = net_generic(net, cellbed_net_id);

	return &cn->params;
}

static int __net_init cellbed_net_init(struct net *net)
{
	struct cellbed_net *cn = net_generic(net, cellbed_net_id);
	size_t i;

	cn->params = cellbed_defaults;
	cn->table = kmemdup(cellbed_table, sizeof(cellbed_table), GFP_KERNEL);
	if (!cn->table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(cellbed_table); i++)
		cn->table[i].data = (char *)&cn->params +
				    (unsigned long)cellbed_table[i].data;
	cn->header = register_net_sysctl_sz(net, "net/ipv4/cellbed", cn->table,
					    ARRAY_SIZE(cellbed_table));
	if (!cn->header) {
		kfree(cn->table);
		return -ENOMEM;
	}
	return 0;
}

static void __net_exit cellbed_net_exit(struct net *net)
{
	struct cellbed_net *cn = net_generic(net, cellbed_net_id);

	unregister_net_sysctl_table(cn->header);
	kfree(cn->table);
}

static struct pernet_operations cellbed_net_ops = {
	.init = cellbed_net_init,
	.exit = cellbed_net_exit,
	.id = &cellbed_net_id,
	.size = sizeof(struct cellbed_net),
};

int cellbed_params_register(void)
{
	return register_pernet_subsys(&cellbed_net_ops);
}

void cellbed_params_unregister(void)
{
	unregister_pernet_subsys(&cellbed_net_ops);
}
