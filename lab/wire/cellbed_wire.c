// SPDX-License-Identifier: GPL-2.0-only
/*
 * A wire between two labs: an Ethernet device whose frames reach the other lab's device exactly
 * one delay after they were sent, by the virtual clocks of both labs.
 *
 * The two kernels are processes of one machine. Their clocks keep together by conservative
 * windows. A window is a little shorter than the delay, so a frame of one window arrives in the
 * next one at the earliest. At the end of each window, each kernel writes the frames of the window
 * into a FIFO of the host, and then reads those of the other kernel. The read blocks the whole
 * kernel process until the other kernel has come as far. So no clock moves meanwhile, and neither
 * kernel can meet a frame too late. Between two ends, both kernels compute at the same time.
 *
 * Parameters in /sys/module/cellbed_wire/parameters:
 *   delay_ns   the delay; set it before `begin` (EBUSY after it)
 *   first      whether this lab writes first at the end of a window (the other then reads first)
 *   into, from names of the FIFOs, from the folder in which the kernel's process works
 *   begin      write the earliest moment [ns] at which the windows may begin. The later of both
 *              labs' moments is taken; read it back. While it waits, the lab's clock stands.
 *   meet       write anything: returns in both labs at the end of the first window in which both
 *              labs have written. Reads as this end [ns], the same in both labs; a clock may be a
 *              nanosecond later there (EARLY_NS)
 *   end        write anything, in both labs at the same moment: the windows end
 */
#include <linux/completion.h>
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <os.h>

/*
 * A timer of User-Mode Linux ends the kernel's sleep a nanosecond after its time
 * (itimer_next_event()), unless the kernel is awake at its time for another reason.
 */
#define EARLY_NS 1
#define SHORTER_NS 4
#define BUFFER_BYTES 65536
#define LONGEST_FRAME 65535

/* Begins a window's message, and a frame in it. */
struct window_head {
	u64 end_ns, delay_ns;
	u32 frames, meetings;
};

/*
 * truesize: the memory that the packet took at its sender. A receiver's TCP opens its window by it,
 * and acknowledges each segment meanwhile (tcp_grow_window()). One lab hands over the packet itself.
 */
struct frame_head {
	u64 sent_ns;
	u32 bytes, truesize;
};

/* What a frame carries in its cb until it is told, or until it arrives. */
struct frame_note {
	u64 time_ns;
	u32 truesize;
};

static u64 delay_ns;
static bool first;
module_param(first, bool, 0444);
static char *into = "wire-into";
module_param(into, charp, 0444);
static char *from = "wire-from";
module_param(from, charp, 0444);

static struct net_device *device;
static int write_fd = -1, read_fd = -1;
static struct sk_buff_head sent, coming;	/* by the time in their cb */
static struct hrtimer window_timer, arrival_timer;
static u64 end_ns, begin_ns, met_ns;
static bool running, waits;
static u32 my_meetings, its_meetings;
static DECLARE_COMPLETION(met);

static struct {
	u32 used, at;
	char bytes[BUFFER_BYTES];
} out, in;

static struct frame_note *note_of(struct sk_buff *skb)
{
	return (struct frame_note *)skb->cb;
}

static u64 *time_of(struct sk_buff *skb)
{
	return &note_of(skb)->time_ns;
}

/* ---- the host's FIFOs ---- */

/* A lab that cannot keep its clock with the other's has nothing more to say. */
#define must(condition, ...) do { if (!(condition)) panic("cellbed_wire: " __VA_ARGS__); } while (0)

static void flush(void)
{
	u32 done = 0;

	while (done < out.used) {
		int count = os_write_file(write_fd, out.bytes + done, out.used - done);

		if (count == -EINTR || count == -EAGAIN)
			continue;
		must(count > 0, "the FIFO to the other lab cannot be written: %d\n", count);
		done += count;
	}
	out.used = 0;
}

static void put(const void *data, u32 bytes)
{
	while (bytes) {
		u32 part = min_t(u32, bytes, BUFFER_BYTES - out.used);

		memcpy(out.bytes + out.used, data, part);
		out.used += part;
		data += part;
		bytes -= part;
		if (out.used == BUFFER_BYTES)
			flush();
	}
}

static void get(void *data, u32 bytes)
{
	while (bytes) {
		u32 part = min(bytes, in.used - in.at);

		if (!part) {
			int count = os_read_file(read_fd, in.bytes, BUFFER_BYTES);

			if (count == -EINTR || count == -EAGAIN)
				continue;
			must(count > 0, "the FIFO from the other lab cannot be read: %d\n", count);
			in.used = count;
			in.at = 0;
			continue;
		}
		memcpy(data, in.bytes + in.at, part);
		in.at += part;
		data += part;
		bytes -= part;
	}
}

/* ---- a window's end ---- */

static void tell(void)
{
	struct window_head head = {
		.end_ns = end_ns, .delay_ns = delay_ns,
		.frames = skb_queue_len(&sent), .meetings = my_meetings,
	};
	struct sk_buff *skb;

	put(&head, sizeof(head));
	while ((skb = __skb_dequeue(&sent))) {
		struct frame_head frame = {
			.sent_ns = *time_of(skb), .bytes = skb->len,
			.truesize = note_of(skb)->truesize,
		};

		put(&frame, sizeof(frame));
		put(skb->data, skb->len);
		dev_kfree_skb_any(skb);
	}
	flush();
}

static void hear(void)
{
	struct window_head head;
	struct frame_head frame;
	bool idle = skb_queue_empty(&coming);
	u64 now = ktime_get_ns();
	u32 i;

	get(&head, sizeof(head));
	must(head.end_ns == end_ns && head.delay_ns == delay_ns,
	     "a window ends at %llu ns after a delay of %llu ns here, at %llu ns after %llu ns there\n",
	     end_ns, delay_ns, head.end_ns, head.delay_ns);
	its_meetings = head.meetings;
	for (i = 0; i < head.frames; i++) {
		struct sk_buff *skb;

		get(&frame, sizeof(frame));
		must(frame.bytes >= ETH_HLEN && frame.bytes <= LONGEST_FRAME,
		     "a frame of %u bytes\n", frame.bytes);
		must(frame.sent_ns + delay_ns >= now,
		     "a frame is due at %llu ns, but this lab's clock is at %llu ns\n",
		     frame.sent_ns + delay_ns, now);
		skb = netdev_alloc_skb_ip_align(device, frame.bytes);
		must(skb, "no memory for a frame of %u bytes\n", frame.bytes);
		get(skb_put(skb, frame.bytes), frame.bytes);
		skb->truesize = frame.truesize;
		*time_of(skb) = frame.sent_ns + delay_ns;
		__skb_queue_tail(&coming, skb);
	}
	if (idle && head.frames)
		hrtimer_start(&arrival_timer,
			      ns_to_ktime(*time_of(skb_peek(&coming)) - EARLY_NS),
			      HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart window_ends(struct hrtimer *timer)
{
	u64 now = ktime_get_ns();

	must(now <= end_ns + EARLY_NS, "the window's end at %llu ns comes at %llu ns\n", end_ns, now);
	if (first)
		tell();
	hear();
	if (!first)
		tell();
	if (waits && my_meetings == its_meetings) {
		waits = false;
		met_ns = end_ns;
		complete(&met);
	}
	end_ns += delay_ns - SHORTER_NS;
	hrtimer_set_expires(timer, ns_to_ktime(end_ns));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart arrives(struct hrtimer *timer)
{
	struct sk_buff *skb;
	u64 now = ktime_get_ns();
	u32 bytes;

	while ((skb = skb_peek(&coming)) && *time_of(skb) <= now) {
		__skb_unlink(skb, &coming);
		memset(skb->cb, 0, sizeof(struct frame_note));
		bytes = skb->len;
		skb->protocol = eth_type_trans(skb, device);
		if (netif_rx(skb) == NET_RX_DROP)
			continue;	/* the kernel counts it among the device's rx_dropped */
		device->stats.rx_packets++;
		device->stats.rx_bytes += bytes;
	}
	if (!skb)
		return HRTIMER_NORESTART;
	/* Awake for another reason, EARLY_NS before this frame: it comes a nanosecond late. */
	if (*time_of(skb) - EARLY_NS <= now)
		hrtimer_set_expires(timer, ns_to_ktime(now + 1));
	else
		hrtimer_set_expires(timer, ns_to_ktime(*time_of(skb) - EARLY_NS));
	return HRTIMER_RESTART;
}

/* ---- the parameters that do something ---- */

static int set_delay(const char *text, const struct kernel_param *parameter)
{
	return running ? -EBUSY : param_set_ullong(text, parameter);
}

static int open_fifos(void)
{
	/* For reading and writing: so neither lab waits for the other, and no end is ever closed. */
	if (write_fd < 0)
		write_fd = os_open_file(into, of_cloexec(of_rdwr(OPENFLAGS())), 0);
	if (read_fd < 0)
		read_fd = os_open_file(from, of_cloexec(of_rdwr(OPENFLAGS())), 0);
	return min(write_fd, read_fd);
}

static int begin(const char *text, const struct kernel_param *parameter)
{
	u64 mine, its;
	int err = kstrtou64(text, 0, &mine);

	if (err || running)
		return err ? err : -EBUSY;
	if (delay_ns <= SHORTER_NS)
		return -ERANGE;
	err = open_fifos();
	if (err < 0)
		return err;
	if (first) {
		put(&mine, sizeof(mine));
		flush();
	}
	get(&its, sizeof(its));
	if (!first) {
		put(&mine, sizeof(mine));
		flush();
	}
	begin_ns = max(mine, its);
	if (begin_ns < ktime_get_ns())
		return -ETIME;
	my_meetings = its_meetings = 0;
	end_ns = begin_ns + delay_ns - SHORTER_NS;
	running = true;
	hrtimer_start(&window_timer, ns_to_ktime(end_ns), HRTIMER_MODE_ABS_HARD);
	return 0;
}

static int began(char *text, const struct kernel_param *parameter)
{
	return sprintf(text, "%llu\n", begin_ns);
}

static int meet(const char *text, const struct kernel_param *parameter)
{
	unsigned long flags;

	if (!running)
		return -ENOTCONN;
	local_irq_save(flags);
	reinit_completion(&met);
	my_meetings++;
	waits = true;
	local_irq_restore(flags);
	/* No signal ends it but one that ends the program: a second call would count twice. */
	return wait_for_completion_killable(&met);
}

static int met_at(char *text, const struct kernel_param *parameter)
{
	return sprintf(text, "%llu\n", met_ns);
}

static void drop_all(void)
{
	running = waits = false;
	hrtimer_cancel(&window_timer);
	hrtimer_cancel(&arrival_timer);
	skb_queue_purge(&sent);
	skb_queue_purge(&coming);
}

static int end(const char *text, const struct kernel_param *parameter)
{
	drop_all();
	return 0;
}

static const struct kernel_param_ops delay_ops = { .set = set_delay, .get = param_get_ullong };
static const struct kernel_param_ops begin_ops = { .set = begin, .get = began };
static const struct kernel_param_ops meet_ops = { .set = meet, .get = met_at };
static const struct kernel_param_ops end_ops = { .set = end };
module_param_cb(delay_ns, &delay_ops, &delay_ns, 0644);
module_param_cb(begin, &begin_ops, NULL, 0644);
module_param_cb(meet, &meet_ops, NULL, 0644);
module_param_cb(end, &end_ops, NULL, 0200);

/* ---- the device ---- */

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *dev)
{
	u32 truesize = skb->truesize;

	if (!running || skb_linearize(skb)) {
		dev->stats.tx_dropped++;
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	skb_orphan(skb);	/* it has left its host */
	*time_of(skb) = ktime_get_ns();
	note_of(skb)->truesize = truesize;
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += skb->len;
	skb_queue_tail(&sent, skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops wire_ops = {
	.ndo_start_xmit = transmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void prepare(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	timer->function = function;
#endif
}

static int __init wire_init(void)
{
	static const u8 address[ETH_ALEN] = { 0x02, 0, 0, 0, 0xcb, 0x01 };
	int err;

	device = alloc_netdev(0, "wire%d", NET_NAME_ENUM, ether_setup);
	if (!device)
		return -ENOMEM;
	device->netdev_ops = &wire_ops;
	device->max_mtu = LONGEST_FRAME - ETH_HLEN;
	device->priv_flags |= IFF_NO_QUEUE;
	device->priv_flags &= ~IFF_TX_SKB_SHARING;
	eth_hw_addr_set(device, address);
	skb_queue_head_init(&sent);
	skb_queue_head_init(&coming);
	prepare(&window_timer, window_ends);
	prepare(&arrival_timer, arrives);
	err = register_netdev(device);
	if (err)
		free_netdev(device);
	return err;
}

static void __exit wire_exit(void)
{
	drop_all();
	unregister_netdev(device);
	free_netdev(device);
	if (write_fd >= 0)
		os_close_file(write_fd);
	if (read_fd >= 0)
		os_close_file(read_fd);
}

module_init(wire_init);
module_exit(wire_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A wire between two labs on one virtual clock");
