// SPDX-License-Identifier: GPL-2.0-only
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../common/fail.h"

void sockets_enter(const char *netns, uint32_t pair)
{
	int fd = open(netns, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
		fail("pair %u: cannot enter network namespace %s: %s", pair, netns, strerror(errno));
	close(fd);
}

static void set_option(const struct connection *connection, int level, int name, const void *value,
		       socklen_t len, const char *what)
{
	if (setsockopt(connection->fd, level, name, value, len) != 0)
		fail("pair %u: cannot set %s: %s", connection->pair, what, strerror(errno));
}

static void start_connect(struct connection *connection)
{
	/* Ends at once with a reset, so that nothing of this trial remains in the next trial. */
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	int on = 1;

	sockets_enter(connection->client_netns, connection->pair);
	connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		fail("pair %u: cannot open a socket: %s", connection->pair, strerror(errno));
	set_option(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on), "TCP_NODELAY");
	set_option(connection, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset), "SO_LINGER");
	if (connect(connection->fd, (struct sockaddr *)&connection->server,
		    sizeof(connection->server)) != 0 && errno != EINPROGRESS)
		fail("pair %u: cannot connect: %s", connection->pair, strerror(errno));
	connection->low_water_bytes = 1;	/* the kernel's default */
}

static void finish_connect(struct connection *connection, int64_t timeout_ns)
{
	struct pollfd wait = { .fd = connection->fd, .events = POLLOUT };
	int error = 0;
	socklen_t len = sizeof(error);

	if (poll(&wait, 1, (int)(timeout_ns / 1000000)) != 1)
		fail("pair %u: the connection was not there within %lld ms", connection->pair,
		     (long long)(timeout_ns / 1000000));
	if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error == ETIMEDOUT)
		fail("pair %u: cannot connect: %s; if the delay is minutes, set"
		     " tcp.sysctl.tcp_syn_retries = 20", connection->pair, strerror(error));
	if (error)
		fail("pair %u: cannot connect: %s", connection->pair, strerror(error));
}

void sockets_connect_all(struct trial *trial, int64_t timeout_ns)
{
	for (uint32_t i = 0; i < trial->connection_count; i++)
		start_connect(&trial->connections[i]);
	for (uint32_t i = 0; i < trial->connection_count; i++)
		finish_connect(&trial->connections[i], timeout_ns);
}

void sockets_note_low_water(struct calls *calls, struct connection *connection, int bytes)
{
	if (connection->low_water_bytes == bytes)
		return;
	CALL(calls, "set SO_RCVLOWAT", SYS_setsockopt, (uint64_t)connection->fd, SOL_SOCKET,
	     SO_RCVLOWAT, calls_keep(calls, &bytes, sizeof(bytes)), sizeof(bytes));
	connection->low_water_bytes = bytes;
}

void sockets_state(const struct connection *connection, struct tcp_state *state)
{
	socklen_t len = sizeof(*state);

	memset(state, 0, sizeof(*state));
	if (getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, state, &len) != 0)
		fail("pair %u: cannot read TCP_INFO: %s", connection->pair, strerror(errno));
}

uint64_t sockets_unread(const struct connection *connection, struct tcp_state *state)
{
	uint64_t received;
	int unread;

	do {	/* a segment may arrive between both calls */
		sockets_state(connection, state);
		received = state->bytes_received;
		if (ioctl(connection->fd, FIONREAD, &unread) != 0)
			fail("pair %u: cannot read the number of unread bytes: %s", connection->pair,
			     strerror(errno));
		sockets_state(connection, state);
	} while (state->bytes_received != received);
	return (uint64_t)unread;
}

void sockets_room(const struct connection *connection, int *buffer_bytes, int *window_bytes)
{
	socklen_t len = sizeof(int);
	struct tcp_state state;

	if (getsockopt(connection->fd, SOL_SOCKET, SO_RCVBUF, buffer_bytes, &len) != 0 ||
	    getsockopt(connection->fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, window_bytes, &len) != 0)
		fail("pair %u: cannot read its receive buffer: %s", connection->pair,
		     strerror(errno));
	sockets_state(connection, &state);
	if (*window_bytes > 65535 << state.rcv_wscale)
		*window_bytes = 65535 << state.rcv_wscale;
}
