// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets take time of the lab's processor.
 *
 * In virtual time computing takes none, so a link without a rate is infinitely fast: a TCP that
 * sends for ten seconds over one never gets to the second of them. Mininet's links have no rate
 * unless they are given one. Here each packet that a device sends costs the processor time, by
 * its length, as on a real one:
 *
 *     packet sent --> owed += packet_ns + length * kib_ns / 1024 --> a thread is woken
 *     thread      --> the clock moves on by what is owed
 *
 * A thread pays, not the sender: the clock may be moved in process context only, since timers
 * that are due on the way run then and may send packets, too. It has a real-time priority, so
 * that no process runs before it has paid.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/skbuff.h>

static unsigned int packet_ns = 1000;
module_param(packet_ns, uint, 0444);
MODULE_PARM_DESC(packet_ns, "What a packet costs at each device that sends it [ns]");

static unsigned int kib_ns = 300;
module_param(kib_ns, uint, 0444);
MODULE_PARM_DESC(kib_ns, "What each KiB of it costs beside [ns]");

/* What the lab tells of its traffic while a script says nothing (harness/scripts/lab.py). */
static unsigned long packets, broadcasts;
static char broadcast_device[IFNAMSIZ];
module_param(packets, ulong, 0444);
MODULE_PARM_DESC(packets, "Packets that devices have sent");
module_param(broadcasts, ulong, 0444);
MODULE_PARM_DESC(broadcasts, "Those of them that went to more than one address");
module_param_string(broadcast_device, broadcast_device, sizeof(broadcast_device), 0444);
MODULE_PARM_DESC(broadcast_device, "The device that sent the last of these");

static struct task_struct *payer;
static unsigned long owed_ns; /* one processor, and written with softirqs off */

static int count(struct sk_buff *skb, struct net_device *dev, struct packet_type *tap,
		 struct net_device *original)
{
	if (skb->pkt_type == PACKET_OUTGOING) {
		owed_ns += packet_ns + (u64)skb->len * kib_ns / 1024;
		packets++;
		if (dev->type == ARPHRD_ETHER && is_multicast_ether_addr(skb_mac_header(skb))) {
			broadcasts++;
			strscpy(broadcast_device, dev->name, sizeof(broadcast_device));
		}
		wake_up_process(payer);
	}
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

static unsigned long take_owed(void)
{
	unsigned long ns;

	local_bh_disable();
	ns = owed_ns;
	owed_ns = 0;
	local_bh_enable();
	return ns;
}

static int pay(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned long ns;

		set_current_state(TASK_INTERRUPTIBLE);
		if (!READ_ONCE(owed_ns))
			schedule();
		__set_current_state(TASK_RUNNING);
		ns = take_owed();
		if (ns)
			ndelay(ns);
		cond_resched(); /* in a storm there is always more to pay, and somebody tells of it */
	}
	return 0;
}

static struct packet_type tap __read_mostly = {
	.type = cpu_to_be16(ETH_P_ALL),
	.func = count,
};

static int __init processor_init(void)
{
	payer = kthread_run(pay, NULL, "cellbed_processor");
	if (IS_ERR(payer))
		return PTR_ERR(payer);
	sched_set_fifo(payer);
	dev_add_pack(&tap);
	return 0;
}

static void __exit processor_exit(void)
{
	dev_remove_pack(&tap);
	kthread_stop(payer);
}

module_init(processor_init);
module_exit(processor_exit);
MODULE_DESCRIPTION("Packets take time of the lab's processor");
MODULE_LICENSE("GPL");
