// SPDX-License-Identifier: GPL-2.0-only
/*
 * cellq.bpf.c - the tc programs of a port's cell queue
 *
 * announce: clsact egress of every host's eth0, before the netem that is the
 *           access link. VC = ifindex - ifindex_base.
 * verdict:  clsact egress of the switch port, over fq. VC = packet mark.
 * far_end:  ingress of the device at the other end of the port's wire.
 *
 * The first two work on one struct under one lock. While it is held no helper may be
 * called, so the clock is read before and records are written after.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "core/hooks.h"
#include "wire.h"

#define AAL5_OVERHEAD	16	/* 8 LLC/SNAP + 8 trailer */
#define CELL_PAYLOAD	48

/* Filled in by the loader. */
const volatile struct cellq_params params;

#ifdef CQ_PATH
/* Filled in by the loader, too. */
struct path_table path_table;
#endif

/* Room for 87,000 frame records. Without records, the loader makes the buffer smaller. */
#define EVENTS_BYTES	(1 << 22)

/* The model. It is an array of one element and not a global: the program reaches
 * all fields by offsets from one register. For each global, the interpreter would
 * need an instruction to get its address. */
struct state_value {
	struct bpf_spin_lock lock;
	__u32 pad;
	struct cq_state state;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state_value);
} state SEC(".maps");

/* An array that user space maps, so that reading takes no lock. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cellq_stats);
} stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EVENTS_BYTES);
} events SEC(".maps");

/* The attachments of the loader. No program reads this map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CELLQ_MAX_ATTACHMENTS);
	__type(key, __u32);
	__type(value, struct cellq_attachment);
} attachments SEC(".maps");

/* The link as seen from outside, under a lock of its own. */
struct wire_value {
	struct bpf_spin_lock lock;
	__u32 waiting;
	__u8 rest[sizeof(struct cellq_wire) - 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_value);
} wire SEC(".maps");

struct port {
	struct state_value *value;
	struct cq_state *state;
	struct cellq_stats *stats;
};

static __always_inline int get_port(struct port *port)
{
	__u32 zero = 0;

	port->value = bpf_map_lookup_elem(&state, &zero);
	port->stats = bpf_map_lookup_elem(&stats, &zero);
	if (!port->value || !port->stats)
		return 0;
	port->state = &port->value->state;
	return 1;
}

static __always_inline void lock(struct port *port)
{
	bpf_spin_lock(&port->value->lock);
	port->stats->generation++;
}

static __always_inline void unlock(struct port *port)
{
	port->stats->generation++;
	bpf_spin_unlock(&port->value->lock);
}

/* A fault found without the lock. */
static __always_inline int refuse(struct port *port, enum cellq_fault fault)
{
	__sync_fetch_and_add(&port->stats->faults[fault], 1);
	return TC_ACT_SHOT;
}

/* Wake the reader only when half the ring is full. A wake-up for every record
 * would cost more than the queue, and it would move the virtual clock. */
static __always_inline void record(struct port *port, void *data, __u64 bytes)
{
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > EVENTS_BYTES / 2)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&events, data, bytes, flags))
		refuse(port, CELLQ_FAULT_record_lost);
	else
		__sync_fetch_and_add(&port->stats->records, 1);
}

/* Cells of a frame: IP packet + LLC/SNAP + AAL5 trailer, padded to cells. */
static __always_inline __u32 cells_of(const struct __sk_buff *skb)
{
	return (skb->len - ETH_HLEN + AAL5_OVERHEAD + CELL_PAYLOAD - 1) /
	       CELL_PAYLOAD;
}

/* Return the fault of a packet that is no valid frame, for both hooks; else -1. */
static __always_inline int fault_of(const struct __sk_buff *skb, __u32 vc)
{
	if (skb->protocol != bpf_htons(ETH_P_IP))
		return CELLQ_FAULT_not_ipv4;
	if (skb->gso_segs > 1)
		return CELLQ_FAULT_gso;
	if (cells_of(skb) > params.max_frame_cells)
		return CELLQ_FAULT_frame_too_long;
	if (vc - 1 >= params.vcs)
		return CELLQ_FAULT_vc_range;
	return -1;
}

SEC("tc")
int announce(struct __sk_buff *skb)
{
	__u32 vc = skb->ifindex - params.ifindex_base;
	int fault = fault_of(skb, vc), ok;
	__u64 now_ns;
	struct port port;

	if (!get_port(&port))
		return TC_ACT_SHOT;
	if (fault >= 0)
		return refuse(&port, fault);
	now_ns = bpf_ktime_get_ns();
	lock(&port);
	ok = cq_announce(port.state, port.stats, &params, vc, cells_of(skb),
			 now_ns);
	unlock(&port);
	return ok ? TC_ACT_OK : TC_ACT_SHOT;
}

/* Advance to the frame. To write a sample, release the lock. */
static __always_inline enum cq_progress advance(struct port *port, __u32 index)
{
	struct cellq_sample_record sample = {};
	enum cq_progress progress;

	for (;;) {
		progress = cq_advance(port->state, port->stats, &params, index,
				      &sample);
		if (progress != CQ_SAMPLED)
			return progress;
		unlock(port);
		record(port, &sample, sizeof(sample));
		lock(port);
		if (!cq_can_loop())
			return CQ_EXHAUSTED;
	}
}

static __always_inline int deliver(struct __sk_buff *skb, struct port *port,
				   __u64 departure_ns)
{
	if (bpf_skb_set_tstamp(skb, departure_ns, BPF_SKB_TSTAMP_DELIVERY_MONO))
		return refuse(port, CELLQ_FAULT_tstamp);
	return TC_ACT_OK;
}

/* Tell wire.h which frame came to the port. */
static __always_inline void watch(const struct cq_outcome *out, __u64 now_ns)
{
	struct wire_value *value;
	struct cellq_wire *w;
	__u32 zero = 0;

	value = bpf_map_lookup_elem(&wire, &zero);
	if (!value)
		return;
	w = (struct cellq_wire *)value;
	bpf_spin_lock(&value->lock);
	if (out->frame.cause == CELLQ_DELIVERED)
		wire_in(w, now_ns, out->frame.cells, params.access_ps / 1000);
	else
		wire_torn(w, out->drop.accepted_cells);
	bpf_spin_unlock(&value->lock);
}

SEC("tc")
int far_end(struct __sk_buff *skb __attribute__((unused)))
{
	struct wire_value *value;
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 zero = 0;

	value = bpf_map_lookup_elem(&wire, &zero);
	if (value) {
		bpf_spin_lock(&value->lock);
		wire_out((struct cellq_wire *)value, now_ns);
		bpf_spin_unlock(&value->lock);
	}
	return TC_ACT_UNSPEC;	/* whatever else is attached goes on with it */
}

SEC("tc")
int verdict(struct __sk_buff *skb)
{
	enum cq_progress progress;
	struct cq_outcome out = {};
	__u32 vc = skb->mark, index;
	int fault = fault_of(skb, vc), ok = 0;
	__u64 now_ns;
	struct port port;

	if (!get_port(&port))
		return TC_ACT_SHOT;
	if (!vc)
		return refuse(&port, CELLQ_FAULT_no_vc);
	if (fault >= 0)
		return refuse(&port, fault);

	now_ns = bpf_ktime_get_ns();
	lock(&port);
	index = cq_verdict_begin(port.state, port.stats, vc, now_ns);
	if (index) {
		progress = advance(&port, index);
		ok = cq_verdict_end(port.state, port.stats, &params, index,
				    cells_of(skb), progress, &out);
	}
	unlock(&port);

	if (!ok)
		return TC_ACT_SHOT;
	watch(&out, now_ns);
	if (params.record_frames)
		record(&port, &out.frame, sizeof(out.frame));
	if (out.frame.cause == CELLQ_DELIVERED)
		return deliver(skb, &port, out.frame.departure_ns);
	if (params.record_drops)
		record(&port, &out.drop, sizeof(out.drop));
	return TC_ACT_SHOT;
}

char LICENSE[] SEC("license") = "GPL";
