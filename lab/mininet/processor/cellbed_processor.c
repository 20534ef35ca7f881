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
 * Between two calls an interpreter computes more than other programs: starting Python 3.11 takes
 * 22 us of a real processor for each of its calls, an import 32, and a loop that only sends
 * datagrams 2. Its calls cost interpreted_ns. Without that a controller in Python answers a switch
 * before the hosts can answer each other, and two controllers that send each other news without a
 * pause hardly let the clock move.
 *
 * Since 6.12 Linux lets ordinary processes run before real-time threads where these seem to have
 * starved them: in each second for 50 ms of the processor's time (the fair server). Here computing
 * takes no time, so ordinary processes seem to starve always. What reads a script's output has a
 * real-time priority, so that the lines keep their order, and lost it each second. So the fair server
 * is ended: its budget is 0, as by debugfs, which this kernel has not for it.
 *
 * Timers that are due while a packet pays raise their soft interrupts, which wait until the packet's
 * own has ended, as on a real processor.
 */
#include <linux/array_size.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/fs.h>
#include <linux/if_arp.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/time-internal.h>
#include <linux/tracepoint.h>

#include "sched.h"

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

static unsigned int interpreted_ns = 5000;
module_param(interpreted_ns, uint, 0444);
MODULE_PARM_DESC(interpreted_ns, "What a system call of an interpreter costs [ns]");

static unsigned int exec_ns = 1000000;
module_param(exec_ns, uint, 0444);
MODULE_PARM_DESC(exec_ns, "What the start of a program costs [ns]");

/* What the lab tells of its traffic while a script says nothing (harness/scripts/lab.py). */
static unsigned long packets, broadcasts, repeats;
static char broadcast_device[IFNAMSIZ];
module_param(packets, ulong, 0444);
MODULE_PARM_DESC(packets, "Packets that devices have sent");
module_param(broadcasts, ulong, 0444);
MODULE_PARM_DESC(broadcasts, "Those of them that went to more than one address");
module_param(repeats, ulong, 0444);
MODULE_PARM_DESC(repeats, "Broadcasts that left the same device as shortly before: they go round");
module_param_string(broadcast_device, broadcast_device, sizeof(broadcast_device), 0444);
MODULE_PARM_DESC(broadcast_device, "The device that sent the last of these");

#define FRAMES 4096 /* a power of two */
#define REPEAT_NS (100 * NSEC_PER_MSEC) /* programs repeat their questions less often */
#define KNOWN_BYTES 128 /* of a frame */

/* By its hash: a frame at a device, and when it left it. A later frame takes the place. */
static struct {
	u32 key;
	u64 at;
} frames[FRAMES];

static void find_repeat(const struct sk_buff *skb, const struct net_device *dev)
{
	u32 key = jhash(skb->data, min_t(unsigned int, skb_headlen(skb), KNOWN_BYTES), dev->ifindex);
	u64 now = ktime_get_ns();
	typeof(*frames) *frame = &frames[key % FRAMES];

	if (frame->key == key && now - frame->at < REPEAT_NS)
		repeats++;
	frame->key = key;
	frame->at = now;
}

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
			find_repeat(skb, dev);
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

static const char *const interpreters[] = { "python", "pypy", "perl", "ruby" };

/* The program that runs keeps its file, and the lab has one processor: no lock is needed. */
static bool interpreted(const struct task_struct *task)
{
	const struct file *program = task->mm ? rcu_access_pointer(task->mm->exe_file) : NULL;
	int i;

	if (!program)
		return false;
	for (i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (str_has_prefix(program->f_path.dentry->d_name.name, interpreters[i]))
			return true;
	return false;
}

static void weigh(const struct task_struct *task)
{
	time_travel_call_ns = interpreted(task) ? interpreted_ns : call_ns;
}

static bool served = true;

/*
 * With the lock of the run queue, which a switch has. While the server is in the queue of deadlines it
 * is left for the next switch.
 */
static void end_fair_server(struct task_struct *task)
{
	struct sched_dl_entity *server;

	if (!task->se.cfs_rq)
		return;
	server = &task->se.cfs_rq->rq->fair_server;
	if (!RB_EMPTY_NODE(&server->rb_node))
		return;
	server->dl_runtime = 0;
	server->dl_server_active = 0;
	served = false;
}

static void on_switch(void *data, bool preempt, struct task_struct *previous,
		      struct task_struct *next, unsigned int state)
{
	weigh(next);
	if (served)
		end_fair_server(next);
}

static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	weigh(task);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *point;
} watched[] = { { "sched_switch", on_switch }, { "sched_process_exec", on_exec } };

static void find(struct tracepoint *point, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(watched); i++)
		if (!strcmp(point->name, watched[i].name))
			watched[i].point = point;
}

static void unwatch(int count)
{
	while (count-- > 0)
		tracepoint_probe_unregister(watched[count].point, watched[count].probe, NULL);
	tracepoint_synchronize_unregister();
}

/* The kernel does not export these two points: they are found by their names. */
static int __init watch(void)
{
	int i, error;

	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < ARRAY_SIZE(watched); i++) {
		error = -ENOENT;
		if (watched[i].point)
			error = tracepoint_probe_register(watched[i].point, watched[i].probe, NULL);
		if (error) {
			unwatch(i);
			return error;
		}
	}
	return 0;
}

static int __init processor_init(void)
{
	int error = watch();

	if (error)
		return error;
	dev_add_pack(&tap);
	time_travel_call_ns = call_ns;
	time_travel_exec_ns = exec_ns;
	return 0;
}

static void __exit processor_exit(void)
{
	unwatch(ARRAY_SIZE(watched));
	time_travel_call_ns = time_travel_exec_ns = 0;
	dev_remove_pack(&tap);
}

module_init(processor_init);
module_exit(processor_exit);
MODULE_DESCRIPTION("Packets, system calls and programs take time of the lab's processor");
MODULE_LICENSE("GPL");
