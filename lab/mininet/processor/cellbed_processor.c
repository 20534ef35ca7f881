// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets, system calls and the start of programs take time of the lab's processor.
 *
 * In virtual time computing takes none, so a link without a rate is infinitely fast: a TCP that
 * sends for ten seconds over one never gets to the second of them. Mininet's links have no rate
 * unless they are given one. Here each packet that a device sends costs the processor time, by
 * its length, as on a real one: packet_ns + length * kib_ns / 1024.
 *
 * An idle processor has to wake for a packet: the first packet after quiet_ns without packets costs
 * wake_ns more. So a ping between two hosts takes about 0.05 ms, as on a real machine, and a busy
 * link does not pay.
 *
 * A program that sends, polls or asks for something without ever waiting would do so for ever at one
 * moment. So each system call costs call_ns and each start of a program exec_ns: patch 0019 of
 * the lab's kernel lets the process itself pay.
 *
 * Timers that are due while a packet pays raise their soft interrupts, which wait until the packet's
 * own has ended, as on a real processor.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/time-internal.h>

static unsigned int packet_ns = 1000;
module_param(packet_ns, uint, 0444);
MODULE_PARM_DESC(packet_ns, "What a packet costs at each device that sends it [ns]");

static unsigned int kib_ns = 300;
module_param(kib_ns, uint, 0444);
MODULE_PARM_DESC(kib_ns, "What each KiB of it costs beside [ns]");

static unsigned int wake_ns = 45000;
module_param(wake_ns, uint, 0444);
MODULE_PARM_DESC(wake_ns, "What a packet costs beside that finds the processor idle [ns]");

static unsigned int quiet_ns = 50000;
module_param(quiet_ns, uint, 0444);
MODULE_PARM_DESC(quiet_ns, "The processor is idle after as long without packets [ns]");

static unsigned int call_ns = 500;
module_param(call_ns, uint, 0444);
MODULE_PARM_DESC(call_ns, "What a system call costs [ns]");

static unsigned int exec_ns = 1000000;
module_param(exec_ns, uint, 0444);
MODULE_PARM_DESC(exec_ns, "What the start of a program costs [ns]");

/* What the lab tells of its traffic while a script says nothing (harness/scripts/lab.py). */
static unsigned long packets, broadcasts;
static char broadcast_device[IFNAMSIZ];
module_param(packets, ulong, 0444);
MODULE_PARM_DESC(packets, "Packets that devices have sent");
module_param(broadcasts, ulong, 0444);
MODULE_PARM_DESC(broadcasts, "Those of them that went to more than one address");
module_param_string(broadcast_device, broadcast_device, sizeof(broadcast_device), 0444);
MODULE_PARM_DESC(broadcast_device, "The device that sent the last of these");

static u64 last_packet; /* [ns]; one processor, and written with softirqs off */

static void pay(const struct sk_buff *skb)
{
	u64 now = ktime_get_ns();
	unsigned long ns = packet_ns + (u64)skb->len * kib_ns / 1024;

	if (now - last_packet > quiet_ns)
		ns += wake_ns;
	ndelay(ns);
	last_packet = now + ns;
}

static int count(struct sk_buff *skb, struct net_device *dev, struct packet_type *tap,
		 struct net_device *original)
{
	if (skb->pkt_type == PACKET_OUTGOING) {
		packets++;
		if (dev->type == ARPHRD_ETHER && is_multicast_ether_addr(skb_mac_header(skb))) {
			broadcasts++;
			strscpy(broadcast_device, dev->name, sizeof(broadcast_device));
		}
		if (!irqs_disabled())
			pay(skb);
	}
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

static struct packet_type tap __read_mostly = {
	.type = cpu_to_be16(ETH_P_ALL),
	.func = count,
};

static int __init processor_init(void)
{
	dev_add_pack(&tap);
	time_travel_call_ns = call_ns;
	time_travel_exec_ns = exec_ns;
	return 0;
}

static void __exit processor_exit(void)
{
	time_travel_call_ns = time_travel_exec_ns = 0;
	dev_remove_pack(&tap);
}

module_init(processor_init);
module_exit(processor_exit);
MODULE_DESCRIPTION("Packets, system calls and programs take time of the lab's processor");
MODULE_LICENSE("GPL");
