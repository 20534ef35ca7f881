// SPDX-License-Identifier: GPL-2.0-only
#include "server_side.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "../../common/fail.h"
#include "sockets.h"

int *server_side_open(const struct trial *trial)
{
	int *netlinks = calloc(trial->connection_count, sizeof(*netlinks));

	if (!netlinks)
		fail("out of memory");
	for (uint32_t i = 0; i < trial->connection_count; i++) {
		const struct connection *connection = &trial->connections[i];

		netlinks[i] = -1;
		if (strcmp(connection->server_netns, "-") == 0)
			continue;
		sockets_enter(connection->server_netns, connection->pair);
		netlinks[i] = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
		if (netlinks[i] < 0)
			fail("pair %u: cannot open sock_diag in %s: %s", connection->pair,
			     connection->server_netns, strerror(errno));
	}
	return netlinks;
}

static void ask(const struct connection *connection, int netlink)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 body;
	} request = {
		.header = { .nlmsg_len = sizeof(request), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP,
			  .idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) |
				       1 << (INET_DIAG_VEGASINFO - 1),
			  .idiag_states = ~0U },
	};
	struct sockaddr_in client;
	socklen_t len = sizeof(client);

	if (getsockname(connection->fd, (struct sockaddr *)&client, &len) != 0)
		fail("pair %u: cannot read its address: %s", connection->pair, strerror(errno));
	/* From the server's point of view: its own address is the source. */
	request.body.id.idiag_sport = connection->server.sin_port;
	request.body.id.idiag_src[0] = connection->server.sin_addr.s_addr;
	request.body.id.idiag_dport = client.sin_port;
	request.body.id.idiag_dst[0] = client.sin_addr.s_addr;
	request.body.id.idiag_cookie[0] = request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	if (send(netlink, &request, sizeof(request), 0) != sizeof(request))
		fail("pair %u: cannot ask sock_diag: %s", connection->pair, strerror(errno));
}

static void take(struct server_state *server, const struct rtattr *info)
{
	struct tcp_state state = { 0 };
	size_t len = RTA_PAYLOAD(info);

	memcpy(&state, RTA_DATA(info), len < sizeof(state) ? len : sizeof(state));
	server->known = 1;
	server->retransmits = state.total_retrans;
	server->timeouts = state.total_rto;
	server->cwnd_segments = state.snd_cwnd;
	server->ssthresh_segments = state.snd_ssthresh;
	server->srtt_us = state.rtt_us;
	server->peer_window_bytes = state.snd_wnd;
}

/* For a connection of our own module, tcp_info has a quota. The congestion window and the MSS, both
 * in bytes, are in the attribute that Vegas uses (tcp-configs/module/cellbed.h). */
static void take_module(struct server_state *server, const struct rtattr *name,
			const struct rtattr *info)
{
	struct tcpvegas_info own;

	if (!name || strncmp(RTA_DATA(name), "cellbed_", 8) != 0)
		return;
	server->cwnd_segments = MISSING;
	if (!info || RTA_PAYLOAD(info) < sizeof(own))
		return;
	memcpy(&own, RTA_DATA(info), sizeof(own));
	server->cwnd_segments = own.tcpv_rttcnt / own.tcpv_minrtt;
}

static void hear(struct connection *connection, int netlink)
{
	const struct rtattr *found[INET_DIAG_MAX + 1] = { NULL };
	char reply[4096] __attribute__((aligned(8)));
	struct nlmsghdr *header = (struct nlmsghdr *)reply;
	ssize_t len = recv(netlink, reply, sizeof(reply), 0);
	struct rtattr *attribute;
	unsigned rest;

	if (len < 0 || !NLMSG_OK(header, (unsigned)len))
		fail("pair %u: sock_diag did not answer: %s", connection->pair, strerror(errno));
	if (header->nlmsg_type == NLMSG_ERROR) {
		if (!connection->broken[0])
			snprintf(connection->broken, sizeof(connection->broken),
				 "its server's end is gone");
		return;
	}
	attribute = (struct rtattr *)((char *)NLMSG_DATA(header) + sizeof(struct inet_diag_msg));
	rest = (unsigned)(header->nlmsg_len - NLMSG_LENGTH(sizeof(struct inet_diag_msg)));
	for (; RTA_OK(attribute, rest); attribute = RTA_NEXT(attribute, rest))
		if (attribute->rta_type <= INET_DIAG_MAX)
			found[attribute->rta_type] = attribute;
	if (!found[INET_DIAG_INFO])
		return;
	take(&connection->at_server, found[INET_DIAG_INFO]);
	take_module(&connection->at_server, found[INET_DIAG_CONG], found[INET_DIAG_VEGASINFO]);
}

void server_side_read(struct trial *trial, const int *netlinks)
{
	for (uint32_t i = 0; i < trial->connection_count; i++) {
		if (netlinks[i] < 0)
			continue;
		ask(&trial->connections[i], netlinks[i]);
		hear(&trial->connections[i], netlinks[i]);
	}
}
