// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameters. Each network namespace has its own values, so that trials of
 * different flavors share a kernel without affecting each other.
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

/* The defaults are RFC 5681 and RFC 6675 on the kernel's own retransmission timer. */
#define CELLBED_LEAST(param, least, initial, greatest, proc)	.param = least,
#define CELLBED_DEFAULT(param, least, initial, greatest, proc)	.param = initial,
#define CELLBED_GREATEST(param, least, initial, greatest, proc)	.param = greatest,

static struct cellbed_params cellbed_least = { CELLBED_PARAMS(CELLBED_LEAST) };
static struct cellbed_params cellbed_greatest = {
	CELLBED_PARAMS(CELLBED_GREATEST)
};
static const struct cellbed_params cellbed_defaults = {
	CELLBED_PARAMS(CELLBED_DEFAULT)
};

/* Refuse a time that the timer wheel cannot keep; never round it silently. */
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

#define CELLBED_ENTRY(param, least, initial, greatest, proc) {		\
	.procname = #param,						\
	.data = (void *)offsetof(struct cellbed_params, param),		\
	.maxlen = sizeof(int),						\
	.mode = 0644,							\
	.proc_handler = proc,						\
	.extra1 = &cellbed_least.param,					\
	.extra2 = &cellbed_greatest.param,				\
},

/* The data pointers are offsets; each namespace converts them to addresses. */
static const struct ctl_table cellbed_table[] = {
	CELLBED_PARAMS(CELLBED_ENTRY)
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
