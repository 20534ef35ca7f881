// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drops chosen sendings of segments of one TCP connection, and marks other segments if they allow
 * ECN (CE; RFC 3168, 5). Records each segment and each ACK. The programs are at the router's two
 * ingress hooks: one sees the sender's segments, and the other sees the ACKs.
 */
#include "loss.h"

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define TCP_OPTION_SACK 5
#define TCP_MAX_OPTIONS 40
#define TCP_MAX_SACK_BLOCKS 4

struct packet {
	__u32 sport, dport;
	__u32 seq, ack;
	__u32 length;
	__u32 options;		/* where the TCP options begin, and their length */
	__u32 options_length;
	__u8 syn;
};

/* Both hooks load this object: pinned maps make them share one record. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct loss_state);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} loss_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LOSS_MAX_SEGMENTS);
	__type(key, __u32);
	__type(value, struct loss_segment);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} loss_segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LOSS_MAX_EVENTS);
	__type(key, __u32);
	__type(value, struct loss_event);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} loss_events SEC(".maps");

static __always_inline int parse(struct __sk_buff *skb, struct packet *p)
{
	struct iphdr ip;
	struct tcphdr tcp;

	if (bpf_skb_load_bytes(skb, ETH_HLEN, &ip, sizeof(ip)) ||
	    ip.protocol != IPPROTO_TCP || ip.ihl != 5)
		return -1;
	if (bpf_skb_load_bytes(skb, ETH_HLEN + sizeof(ip), &tcp, sizeof(tcp)))
		return -1;
	p->sport = bpf_ntohs(tcp.source);
	p->dport = bpf_ntohs(tcp.dest);
	p->seq = bpf_ntohl(tcp.seq);
	p->ack = bpf_ntohl(tcp.ack_seq);
	p->syn = tcp.syn;
	p->length = bpf_ntohs(ip.tot_len) - sizeof(ip) - 4 * tcp.doff;
	p->options = ETH_HLEN + sizeof(ip) + sizeof(tcp);
	p->options_length = 4 * tcp.doff - sizeof(tcp);
	return 0;
}

static __always_inline void record(struct loss_state *state,
				   const struct loss_event *event)
{
	__u32 index = state->events++;
	struct loss_event *slot = bpf_map_lookup_elem(&loss_events, &index);

	if (slot)
		*slot = *event;
}

/* Bytes in the SACK blocks of an ACK whose options are NOP, NOP, SACK. */
static __always_inline __u32 sacked_bytes(struct __sk_buff *skb,
					  const struct packet *p)
{
	__u8 head[4];
	__be32 block[2];
	__u32 bytes = 0;

	if (bpf_skb_load_bytes(skb, p->options, head, sizeof(head)) ||
	    head[2] != TCP_OPTION_SACK)
		return 0;
	for (int i = 0; i < TCP_MAX_SACK_BLOCKS; i++) {
		if (2 + 8 * (i + 1) > head[3] ||
		    bpf_skb_load_bytes(skb, p->options + 4 + 8 * i, block,
				       sizeof(block)))
			break;
		bytes += bpf_ntohl(block[1]) - bpf_ntohl(block[0]);
	}
	return bytes;
}

static __always_inline int data(struct __sk_buff *skb, struct loss_state *state,
				const struct packet *p)
{
	struct loss_event event = {
		.time_ns = bpf_ktime_get_ns(),
		.byte = p->seq - state->isn - 1,
		.length = p->length,
		.kind = LOSS_DATA,
	};
	__u32 index = state->payload ? event.byte / state->payload : 0;
	struct loss_segment *segment;

	segment = bpf_map_lookup_elem(&loss_segments, &index);
	if (segment) {
		event.sending = segment->seen++;
		event.dropped = segment->drop >> (event.sending & 31) & 1;
		if (segment->mark >> (event.sending & 31) & 1)
			bpf_skb_ecn_set_ce(skb);
	}
	record(state, &event);
	return event.dropped ? TC_ACT_SHOT : TC_ACT_OK;
}

static __always_inline void ack(struct __sk_buff *skb, struct loss_state *state,
				const struct packet *p)
{
	struct loss_event event = {
		.time_ns = bpf_ktime_get_ns(),
		.byte = p->ack - state->isn - 1,
		.kind = LOSS_ACK,
	};

	if (p->options_length >= 4)
		event.sacked = sacked_bytes(skb, p);
	record(state, &event);
}

SEC("tc")
int loss(struct __sk_buff *skb)
{
	struct packet p = {};
	struct loss_state *state;
	__u32 zero = 0;

	state = bpf_map_lookup_elem(&loss_state, &zero);
	if (!state || parse(skb, &p))
		return TC_ACT_OK;
	if (p.sport == state->port && p.syn)
		state->isn = p.seq;
	else if (p.sport == state->port && p.length)
		return data(skb, state, &p);
	else if (p.dport == state->port && !p.syn)
		ack(skb, state, &p);
	return TC_ACT_OK;
}

char _license[] SEC("license") = "GPL";
