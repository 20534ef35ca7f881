// SPDX-License-Identifier: GPL-2.0-only
/*
 * delays.bpf.c - a round trip of its own for each TCP connection
 *
 * The program is at the egress of both devices of a box in the middle of the path, over fq. It
 * sets each packet's departure time to its arrival plus half of its connection's round trip. fq
 * keeps the packet until then. All packets of a connection and direction have the same delay, so
 * they stay in order. fq tells flows apart by the packets' hash, and a flow waits for its first
 * packet. So the program sets the hash to the connection's number in the table.
 */
#include "delays.h"

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* Its size is set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct delays_key);
	__type(value, struct delays_connection);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct delays_stats);
} stats SEC(".maps");

struct ends {
	__u32 source, destination;
	__u16 source_port, destination_port;
};

static __always_inline void count(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/* 0, or -1 where this is not TCP over IPv4. Fragments do not occur: the MTU is one on all links. */
static __always_inline int read_ends(struct __sk_buff *skb, struct ends *ends)
{
	struct iphdr ip;

	if (skb->protocol != bpf_htons(ETH_P_IP) ||
	    bpf_skb_load_bytes(skb, ETH_HLEN, &ip, sizeof(ip)) || ip.protocol != IPPROTO_TCP ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + ip.ihl * 4, &ends->source_port,
			       sizeof(ends->source_port) + sizeof(ends->destination_port)))
		return -1;
	ends->source = ip.saddr;
	ends->destination = ip.daddr;
	return 0;
}

static __always_inline int leave(struct __sk_buff *skb, struct delays_stats *st, __u64 *counter,
				 __u32 number, __u64 delay_ns)
{
	bpf_set_hash(skb, number);
	if (bpf_skb_set_tstamp(skb, bpf_ktime_get_ns() + delay_ns, BPF_SKB_TSTAMP_DELIVERY_MONO)) {
		count(&st->refused);
		return TC_ACT_SHOT;
	}
	count(counter);
	return TC_ACT_OK;
}

SEC("tcx/egress")
int delay(struct __sk_buff *skb)
{
	struct delays_stats *st;
	struct delays_key key;
	struct ends ends;
	struct delays_connection *found;
	__u32 zero = 0;

	st = bpf_map_lookup_elem(&stats, &zero);
	if (!st)
		return TC_ACT_SHOT;
	if (read_ends(skb, &ends)) {
		count(&st->not_tcp);
		return TC_ACT_OK;
	}
	key = (struct delays_key){ ends.source, ends.source_port, ends.destination_port };
	found = bpf_map_lookup_elem(&connections, &key);
	if (found)
		return leave(skb, st, &st->to_server, found->number, found->round_trip / 2);
	key = (struct delays_key){ ends.destination, ends.destination_port, ends.source_port };
	found = bpf_map_lookup_elem(&connections, &key);
	if (found)
		return leave(skb, st, &st->to_client, found->number,
			     found->round_trip - found->round_trip / 2);
	count(&st->unknown);
	return TC_ACT_SHOT;
}

char LICENSE[] SEC("license") = "GPL";
