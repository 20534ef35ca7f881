// SPDX-License-Identifier: GPL-2.0-only
/* XDP: drops each IPv4 packet of ICMP that comes through a device, and passes the others. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define PROTOCOL 23 /* of a frame of Ethernet, where IPv4's header has its protocol */
#define ICMP 1

SEC("xdp")
int drops_ping(struct xdp_md *context)
{
	unsigned char *frame = (void *)(long)context->data;
	unsigned char *end = (void *)(long)context->data_end;

	if (frame + PROTOCOL + 1 > end)
		return XDP_PASS;
	return frame[PROTOCOL] == ICMP ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
