// SPDX-License-Identifier: GPL-2.0-only
/*
 * A moving path as a queueing discipline, "moving". It is either the server of a queue of packets,
 * with the queue as its one class, or the delay behind it (rule.h). The discipline reads the path's
 * table from a file once, when it is put on a device. The table has all changes of the path. So no
 * program has to wake up in time to make them.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include "rule.h"

#define TCA_MOVING_PARMS 1
#define MOVING_CLASS 1

struct moving_sched {
	struct moving_parms parms;
	struct path_head head;
	struct path_row *rows;
	struct moving_server server;
	struct moving_delay delay;
	struct Qdisc *child;		/* a server: the queue under test */
	struct sk_buff *sent;		/* a server: the packet in transmission */
	u64 sent_ns;			/* when this packet has left */
	struct sk_buff_head way;	/* a delay: packets on their way, by departure time */
	struct qdisc_watchdog watchdog;
};

/* Its parameters, and its state. */
struct moving_xstats {
	struct moving_parms parms;
	struct path_head head;
	struct moving_server server;
	struct moving_delay delay;
};

static u64 *due_of(struct sk_buff *skb)
{
	return (u64 *)qdisc_skb_cb(skb)->data;
}

static bool is_server(const struct moving_sched *q)
{
	return q->parms.flags & MOVING_SERVER;
}

static void let_go(struct Qdisc *sch, struct sk_buff *skb)
{
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
}

/* ---- the server ---- */

static int wait_in_queue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct moving_sched *q = qdisc_priv(sch);
	unsigned int bytes = qdisc_pkt_len(skb);
	int result;

	if (!q->child->q.qlen)
		q->server.since_ns = ktime_get_ns();
	result = qdisc_enqueue(skb, q->child, to_free);
	if (result != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(result))
			qdisc_qstats_drop(sch);
		return result;
	}
	sch->qstats.backlog += bytes;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *send_next(struct Qdisc *sch)
{
	struct moving_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = q->sent;

	if (!skb) {
		skb = q->child->dequeue(q->child);
		if (!skb)
			return NULL;
		q->sent = skb;
		q->sent_ns = moving_serve(&q->head, q->rows, &q->server,
					  moving_work(&q->parms, qdisc_pkt_len(skb)));
	}
	if (q->sent_ns > ktime_get_ns()) {
		qdisc_watchdog_schedule_ns(&q->watchdog, q->sent_ns);
		return NULL;
	}
	q->sent = NULL;
	let_go(sch, skb);
	return skb;
}

/* ---- the delay ---- */

static int begin_way(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct moving_sched *q = qdisc_priv(sch);
	struct sk_buff *before = skb_peek_tail(&q->way);
	u64 due_ns;

	if (sch->q.qlen >= q->parms.limit)
		return qdisc_drop(skb, sch, to_free);
	due_ns = moving_delay(&q->head, q->rows, &q->parms, &q->delay, ktime_get_ns());
	if (!due_ns) {
		qdisc_drop(skb, sch, to_free);
		return NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
	}
	*due_of(skb) = due_ns;
	while (before && *due_of(before) > due_ns)
		before = skb_queue_is_first(&q->way, before) ? NULL :
							       skb_queue_prev(&q->way, before);
	if (before)
		__skb_queue_after(&q->way, before, skb);
	else
		__skb_queue_head(&q->way, skb);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *end_way(struct Qdisc *sch)
{
	struct moving_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = skb_peek(&q->way);

	if (!skb)
		return NULL;
	if (*due_of(skb) > ktime_get_ns()) {
		qdisc_watchdog_schedule_ns(&q->watchdog, *due_of(skb));
		return NULL;
	}
	__skb_unlink(skb, &q->way);
	let_go(sch, skb);
	return skb;
}

/* ---- the discipline ---- */

static int moving_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return is_server(qdisc_priv(sch)) ? wait_in_queue(skb, sch, to_free) :
					    begin_way(skb, sch, to_free);
}

static struct sk_buff *moving_dequeue(struct Qdisc *sch)
{
	return is_server(qdisc_priv(sch)) ? send_next(sch) : end_way(sch);
}

static int read_rows(struct moving_sched *q, struct file *file)
{
	size_t bytes;
	loff_t at = 0;

	if (kernel_read(file, &q->head, sizeof(q->head), &at) != sizeof(q->head) ||
	    !q->head.rows || q->head.rows > PATH_MAX_ROWS)
		return -EINVAL;
	q->rows = kvcalloc(q->head.rows, sizeof(*q->rows), GFP_KERNEL);
	if (!q->rows)
		return -ENOMEM;
	bytes = q->head.rows * sizeof(*q->rows);
	return kernel_read(file, q->rows, bytes, &at) == bytes ? 0 : -EINVAL;
}

static int read_table(struct moving_sched *q)
{
	struct file *file = filp_open(q->parms.table, O_RDONLY, 0);
	int error;

	if (IS_ERR(file))
		return PTR_ERR(file);
	error = read_rows(q, file);
	filp_close(file, NULL);
	return error;
}

static int moving_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct moving_sched *q = qdisc_priv(sch);
	struct nlattr *given = opt ? nla_find_nested(opt, TCA_MOVING_PARMS) : NULL;

	q->child = &noop_qdisc;
	__skb_queue_head_init(&q->way);
	qdisc_watchdog_init(&q->watchdog, sch);
	if (!given || nla_len(given) != sizeof(q->parms))
		return -EINVAL;
	nla_memcpy(&q->parms, given, sizeof(q->parms));
	if (strnlen(q->parms.table, MOVING_FILE) == MOVING_FILE)
		return -EINVAL;
	return read_table(q);
}

static void moving_reset(struct Qdisc *sch)
{
	struct moving_sched *q = qdisc_priv(sch);

	qdisc_reset(q->child);
	rtnl_kfree_skbs(q->sent, q->sent);
	q->sent = NULL;
	__skb_queue_purge(&q->way);
	qdisc_watchdog_cancel(&q->watchdog);
}

static void moving_destroy(struct Qdisc *sch)
{
	struct moving_sched *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	qdisc_put(q->child);
	kvfree(q->rows);
}

static int moving_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct moving_sched *q = qdisc_priv(sch);
	struct moving_xstats stats = {
		.parms = q->parms,
		.head = q->head,
		.server = q->server,
		.delay = q->delay,
	};

	return gnet_stats_copy_app(d, &stats, sizeof(stats));
}

/* ---- its one class ---- */

static int moving_graft(struct Qdisc *sch, unsigned long class, struct Qdisc *new,
			struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct moving_sched *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *moving_leaf(struct Qdisc *sch, unsigned long class)
{
	return ((struct moving_sched *)qdisc_priv(sch))->child;
}

static unsigned long moving_find(struct Qdisc *sch, u32 classid)
{
	return MOVING_CLASS;
}

static void moving_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, MOVING_CLASS, walker);
}

static int moving_dump_class(struct Qdisc *sch, unsigned long class, struct sk_buff *skb,
			     struct tcmsg *tcm)
{
	struct moving_sched *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(MOVING_CLASS);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static const struct Qdisc_class_ops moving_class_ops = {
	.graft = moving_graft,
	.leaf = moving_leaf,
	.find = moving_find,
	.walk = moving_walk,
	.dump = moving_dump_class,
};

static struct Qdisc_ops moving_ops __read_mostly = {
	.id = "moving",
	.cl_ops = &moving_class_ops,
	.priv_size = sizeof(struct moving_sched),
	.enqueue = moving_enqueue,
	.dequeue = moving_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = moving_init,
	.reset = moving_reset,
	.destroy = moving_destroy,
	.dump_stats = moving_dump_stats,
	.owner = THIS_MODULE,
};

static int __init moving_module_init(void)
{
	return register_qdisc(&moving_ops);
}

static void __exit moving_module_exit(void)
{
	unregister_qdisc(&moving_ops);
}

module_init(moving_module_init);
module_exit(moving_module_exit);
MODULE_DESCRIPTION("A path that moves");
MODULE_LICENSE("GPL");
