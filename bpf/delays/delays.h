/* SPDX-License-Identifier: GPL-2.0-only */
/* delays.h - types shared by the BPF program and its loader */
#ifndef DELAYS_H
#define DELAYS_H

#include <linux/types.h>

/* The key of a TCP connection, different from all others: its client's address and both ports,
 * in network byte order. */
struct delays_key {
	__u32 client;
	__u16 client_port;
	__u16 server_port;
};

/* Its round trip [ns], and its number in the table, which is the packets' hash for fq. */
struct delays_connection {
	__u64 round_trip;
	__u32 number;
	__u32 padding;
};

/* The outcomes of packets; each packet counts once. The last two outcomes drop the packet, and one
 * such packet makes a trial invalid. */
struct delays_stats {
	__u64 to_server;	/* delayed */
	__u64 to_client;
	__u64 not_tcp;		/* forwarded at once */
	__u64 unknown;		/* TCP of a connection that is not in the table */
	__u64 refused;		/* the kernel accepted no departure time */
};

#endif /* DELAYS_H */
