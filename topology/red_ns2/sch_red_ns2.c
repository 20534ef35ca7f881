// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adaptive RED as in ns-2, as a queueing discipline without classes, "red_ns2": a first-in,
 * first-out queue with rule.h at its tail. It uses the same random numbers as the kernel's own
 * queues; they restart with each trial.
 *
 * The discipline above it keeps the link's rate: it takes a packet when the link can begin to send
 * it. The link is idle when the transmission times of all taken packets are over.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include <net/trial_random.h>
#include "rule.h"

#define TCA_RED_NS2_PARMS 1

struct red_ns2_sched {
	struct red_ns2_parms parms;
	struct red_ns2_vars vars;
	u64 sent_ps; /* when the link will have sent all taken packets */
	u32 early;   /* drawn and dropped */
	u32 full;
	u32 marked;
};

/* The first fields of struct tc_red_xstats; then the parameters, and the state. */
struct red_ns2_xstats {
	__u32 early;
	__u32 pdrop;
	__u32 other;
	__u32 marked;
	struct red_ns2_parms parms;
	struct red_ns2_vars vars;
};

static u32 waiting(const struct Qdisc *sch, const struct red_ns2_sched *q)
{
	return q->parms.flags & RED_NS2_BYTES ? sch->qstats.backlog : sch->q.qlen;
}

static struct red_ns2_arrival arrival(const struct Qdisc *sch, const struct red_ns2_sched *q,
				      const struct sk_buff *skb)
{
	u64 now_ns = ktime_get_ns(), idle_since_ns = q->sent_ps / 1000;
	bool idle = !sch->q.qlen && now_ns > idle_since_ns;

	return (struct red_ns2_arrival){
		.now_ns = now_ns,
		.idle_ns = idle ? now_ns - idle_since_ns : 0,
		.waiting = waiting(sch, q),
		.bytes = qdisc_pkt_len(skb),
	};
}

static int red_ns2_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct red_ns2_sched *q = qdisc_priv(sch);
	struct red_ns2_arrival a = arrival(sch, q, skb);

	switch (red_ns2_arrive(&q->parms, &q->vars, &a, trial_random_u32)) {
	case RED_NS2_PASS:
		return qdisc_enqueue_tail(skb, sch);
	case RED_NS2_FULL:
		q->full++;
		return qdisc_drop(skb, sch, to_free);
	case RED_NS2_DRAWN:
		break;
	}
	if (red_ns2_marks(&q->parms, &q->vars) && INET_ECN_set_ce(skb)) {
		q->marked++;
		return qdisc_enqueue_tail(skb, sch);
	}
	q->early++;
	qdisc_drop(skb, sch, to_free);
	return NET_XMIT_CN;
}

static struct sk_buff *red_ns2_dequeue(struct Qdisc *sch)
{
	struct red_ns2_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = qdisc_dequeue_head(sch);
	u32 cells;

	if (skb) {
		cells = DIV_ROUND_UP(qdisc_pkt_len(skb) + q->parms.cell_overhead,
				     q->parms.cell_payload);
		q->sent_ps = max(q->sent_ps, ktime_get_ns() * 1000) + cells * q->parms.cell_ps;
	}
	return skb;
}

static int red_ns2_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct red_ns2_sched *q = qdisc_priv(sch);
	struct nlattr *given = opt ? nla_find_nested(opt, TCA_RED_NS2_PARMS) : NULL;
	struct red_ns2_parms parms;

	if (!given || nla_len(given) != sizeof(parms))
		return -EINVAL;
	nla_memcpy(&parms, given, sizeof(parms));
	if (!red_ns2_valid(&parms))
		return -EINVAL;
	sch_tree_lock(sch);
	q->parms = parms;
	red_ns2_start(&q->parms, &q->vars);
	sch_tree_unlock(sch);
	return 0;
}

static int red_ns2_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	return red_ns2_change(sch, opt, extack);
}

static void red_ns2_reset(struct Qdisc *sch)
{
	struct red_ns2_sched *q = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	red_ns2_start(&q->parms, &q->vars);
}

static int red_ns2_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct red_ns2_sched *q = qdisc_priv(sch);
	struct red_ns2_xstats stats = {
		.early = q->early,
		.pdrop = q->full,
		.marked = q->marked,
		.parms = q->parms,
		.vars = q->vars,
	};

	return gnet_stats_copy_app(d, &stats, sizeof(stats));
}

static struct Qdisc_ops red_ns2_ops __read_mostly = {
	.id = "red_ns2",
	.priv_size = sizeof(struct red_ns2_sched),
	.enqueue = red_ns2_enqueue,
	.dequeue = red_ns2_dequeue,
	.peek = qdisc_peek_head,
	.init = red_ns2_init,
	.reset = red_ns2_reset,
	.change = red_ns2_change,
	.dump_stats = red_ns2_dump_stats,
	.owner = THIS_MODULE,
};

static int __init red_ns2_module_init(void)
{
	return register_qdisc(&red_ns2_ops);
}

static void __exit red_ns2_module_exit(void)
{
	unregister_qdisc(&red_ns2_ops);
}

module_init(red_ns2_module_init);
module_exit(red_ns2_module_exit);
MODULE_DESCRIPTION("Adaptive RED as in ns-2");
MODULE_LICENSE("GPL");
