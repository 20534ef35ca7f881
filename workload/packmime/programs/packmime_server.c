// SPDX-License-Identifier: GPL-2.0-only
/*
 * packmime_server: one host's web servers, all in one process.
 *
 * A request gives the waiting time and the size of the answer (request.h). The server closes its
 * end of a connection first, with the last response, as in HTTP/1.0 and as the model's servers do.
 *
 *	[ reading ] --whole--> [ thinking ] --due--> [ sending ] --all written, last--> [ closing ]
 *	     ^                                            |                                  |
 *	     +----------------- all written, keep --------+          the client's end: [ done ]
 *
 * The server reads tcp_info when the client's end has closed (then all data is acknowledged), or at
 * the end. The kernel counts the bytes of first transmissions, and their number must match the
 * client's count. The kernel also gives, to a tick, the time from a request's arrival to its
 * answer, which must be the trace's wait. On SIGTERM, the server writes a row for each connection,
 * open or not.
 *
 * System calls are noted and made together, where no result is needed between them (loop.h).
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../common/tcp_state.h"
#include "../../common/fail.h"
#include "../../common/file.h"
#include "../../common/grown.h"
#include "loop.h"
#include "request.h"

/* Marks of events: connections have the lower numbers. */
#define FIRST_LISTENER 0xffffff00u
#define SIGNAL (TIMER - 1)
#define MAX_PORTS 128
#define BACKLOG 4096

enum state { READING, THINKING, SENDING, CLOSING, DONE, RESET, GARBLED };

static const char *const state_names[] = {
	"reading", "thinking", "sending", "closing", "done", "reset", "garbled",
};

struct connection {
	int fd;
	enum state state;
	int timer_noted;	/* a later event still has its number, so the number is not free */
	int polled_out;		/* woken when there is room to write */
	char head[REQUEST_MIN_BYTES];
	uint32_t head_len;
	struct request request;
	int64_t received, response_rest;
	uint32_t record;
};

struct record {
	struct in_addr client;
	uint16_t client_port, server_port;
	enum state state;
	uint32_t answered;
	int64_t sent_bytes;
	uint32_t retransmits, timeouts, marks, srtt_us;
	int64_t carried_bytes, resent_bytes;
	uint32_t peer_window_bytes;
	int64_t waited_ns;	/* all waits before its answers */
	int ecn;		/* both ends use ECN */
};

struct server {
	struct loop loop;
	struct connection *connections;
	struct record *records;
	uint32_t connection_count, connection_room, record_count, record_room;
	uint32_t *idle;		/* free numbers of connections */
	uint32_t idle_count, idle_room;
	uint32_t open, most_open;
	int listeners[MAX_PORTS];
	int ports, first_port;
};

static char zeros[1 << 16];

/* ---- what the kernel knows ---- */

/* The next loop_run() reads it. */
static void read_tcp_state(struct server *server, const struct connection *connection,
			   struct tcp_state *state)
{
	struct calls *calls = &server->loop.calls;
	socklen_t len = sizeof(*state);

	memset(state, 0, sizeof(*state));
	CALL(calls, "read TCP_INFO", SYS_getsockopt, (uint64_t)connection->fd, IPPROTO_TCP, TCP_INFO,
	     POINTER(state), calls_keep(calls, &len, sizeof(len)));
}

/* Wakes up when the next answer is due, if no other is due now. */
static void wait_ahead(struct server *server)
{
	if (!loop_is_due(&server->loop))
		loop_wait_ahead(&server->loop, loop_next(&server->loop));
}

/* ---- the end of a connection ---- */

static void take_tcp_state(const struct tcp_state *state, struct record *record)
{
	record->retransmits = state->total_retrans;
	record->timeouts = state->total_rto;
	record->marks = state->delivered_ce;
	record->ecn = !!(state->options & TCPI_OPT_ECN);
	record->srtt_us = state->rtt_us;
	record->resent_bytes = (int64_t)state->bytes_retrans;
	record->carried_bytes = (int64_t)(state->bytes_sent - state->bytes_retrans);
	record->peer_window_bytes = state->snd_wnd;
}

static void give_number_back(struct server *server, uint32_t number)
{
	server->idle = grown(server->idle, server->idle_count, &server->idle_room,
			     sizeof(*server->idle));
	server->idle[server->idle_count++] = number;
}

static void end_connection(struct server *server, uint32_t number, enum state state)
{
	struct connection *connection = &server->connections[number];
	struct record *record = &server->records[connection->record];
	struct tcp_state tcp_state;

	connection->state = state;
	read_tcp_state(server, connection, &tcp_state);
	call_expect_any(CALL(&server->loop.calls, NULL, SYS_close, (uint64_t)connection->fd));
	wait_ahead(server);
	loop_run(&server->loop);
	take_tcp_state(&tcp_state, record);
	record->state = state;
	connection->fd = -1;
	server->open--;
	if (!connection->timer_noted)
		give_number_back(server, number);
}

/* ---- requests and responses ---- */

static void poll_out(struct server *server, uint32_t number, int wanted)
{
	const struct connection *connection = &server->connections[number];
	struct epoll_event event = { .events = EPOLLIN | (wanted ? EPOLLOUT : 0),
				     .data.u32 = number };
	struct calls *calls = &server->loop.calls;

	if (connection->polled_out == wanted)
		return;
	CALL(calls, "watch a socket", SYS_epoll_ctl, (uint64_t)server->loop.epoll, EPOLL_CTL_MOD,
	     (uint64_t)connection->fd, calls_keep(calls, &event, sizeof(event)));
}

/* The calls behind the last bytes of a response. */
static void end_response(struct server *server, uint32_t number)
{
	const struct connection *connection = &server->connections[number];

	poll_out(server, number, 0);
	if (!connection->request.keep)	/* fails where a reset has come: seen later */
		call_expect_any(CALL(&server->loop.calls, NULL, SYS_shutdown,
				     (uint64_t)connection->fd, SHUT_WR));
}

static void response_written(struct server *server, uint32_t number)
{
	struct connection *connection = &server->connections[number];

	connection->polled_out = 0;
	server->records[connection->record].answered++;
	connection->request.bytes = connection->received = connection->head_len = 0;
	connection->state = connection->request.keep ? READING : CLOSING;
}

static void write_response(struct server *server, uint32_t number)
{
	struct connection *connection = &server->connections[number];

	while (connection->response_rest) {
		size_t want = connection->response_rest < (int64_t)sizeof(zeros) ?
			(size_t)connection->response_rest : sizeof(zeros);
		struct call *send = CALL(&server->loop.calls, NULL, SYS_sendto,
					 (uint64_t)connection->fd, POINTER(zeros), want, MSG_NOSIGNAL);
		int64_t sent;

		call_expect(send, (int64_t)want);
		if (connection->response_rest == (int64_t)want) {
			end_response(server, number);
			wait_ahead(server);
		}
		loop_run(&server->loop);
		sent = send->result;
		if (sent == -EAGAIN) {
			poll_out(server, number, 1);
			connection->polled_out = 1;
			return;
		}
		if (sent < 0) {
			end_connection(server, number, RESET);
			return;
		}
		connection->response_rest -= sent;
		server->records[connection->record].sent_bytes += sent;
	}
	response_written(server, number);
}

static void request_whole(struct server *server, uint32_t number)
{
	struct connection *connection = &server->connections[number];

	connection->state = THINKING;
	connection->response_rest = connection->request.response_bytes;
	connection->timer_noted = 1;
	loop_note(&server->loop, loop_now(&server->loop) + connection->request.delay_ns, number);
}

/* Keeps the beginning of a request, which contains its words, and counts its bytes. Returns 1 for a
 * complete request, 0 for an incomplete one, -1 if this is no request. */
static int take_bytes(struct connection *connection, const char *bytes, size_t len)
{
	size_t room = sizeof(connection->head) - connection->head_len;
	size_t kept = len < room ? len : room;
	int known = 1;

	memcpy(connection->head + connection->head_len, bytes, kept);
	connection->head_len += (uint32_t)kept;
	connection->received += (int64_t)len;
	if (!connection->request.bytes)
		known = request_read(connection->head, connection->head_len, &connection->request);
	if (known < 1)
		return known;
	if (connection->received > connection->request.bytes)
		return -1;
	return connection->received == connection->request.bytes;
}

static void read_request(struct server *server, uint32_t number)
{
	struct connection *connection = &server->connections[number];
	static char bytes[1 << 14];
	const struct call *receive = CALL(&server->loop.calls, NULL, SYS_recvfrom,
					  (uint64_t)connection->fd, POINTER(bytes), sizeof(bytes));
	int64_t len;
	int whole;

	loop_run(&server->loop);
	len = receive->result;
	if (len == -EAGAIN || len == -EINTR)
		return;
	if (len <= 0) {
		/* Between two requests a client may end the connection. */
		end_connection(server, number, len < 0 || connection->received ? RESET : DONE);
		return;
	}
	whole = take_bytes(connection, bytes, (size_t)len);
	if (whole < 0)
		end_connection(server, number, GARBLED);
	else if (whole)
		request_whole(server, number);
}

/* The client must not send anything now. */
static void read_end(struct server *server, uint32_t number)
{
	struct connection *connection = &server->connections[number];
	char byte;
	ssize_t len;

	loop_run(&server->loop);
	len = recv(connection->fd, &byte, 1, 0);
	if (len < 0 && errno == EAGAIN)
		return;
	if (len > 0)
		end_connection(server, number, GARBLED);
	else
		end_connection(server, number, RESET);
}

static void on_event(struct server *server, uint32_t number, uint32_t events)
{
	struct connection *connection = &server->connections[number];

	if (connection->fd < 0)
		return;		/* it ended earlier in this wakeup */
	if (connection->state == CLOSING && events & EPOLLHUP)
		end_connection(server, number, events & EPOLLERR ? RESET : DONE);
	else if (connection->state == READING)
		read_request(server, number);
	else if (connection->state == SENDING && !(events & (EPOLLERR | EPOLLHUP | EPOLLIN)))
		write_response(server, number);
	else
		read_end(server, number);
}

static void answer_due(struct server *server)
{
	struct tcp_state at_answer;
	uint32_t number;

	while (loop_take(&server->loop, &number)) {
		struct connection *connection = &server->connections[number];

		connection->timer_noted = 0;
		if (connection->fd < 0) {
			give_number_back(server, number);
			continue;
		}
		connection->state = SENDING;
		read_tcp_state(server, connection, &at_answer);
		write_response(server, number);
		/* Use the kernel's time of the arrival, not the timer that caused this wakeup. */
		server->records[connection->record].waited_ns += at_answer.last_data_recv * 1000000LL;
	}
}

/* ---- new connections ---- */

static uint32_t new_number(struct server *server)
{
	if (server->idle_count)
		return server->idle[--server->idle_count];
	server->connections = grown(server->connections, server->connection_count,
				    &server->connection_room, sizeof(*server->connections));
	return server->connection_count++;
}

static void accept_one(struct server *server, int listener)
{
	struct sockaddr_in client;
	struct calls *calls = &server->loop.calls;
	socklen_t len = sizeof(client);
	uint32_t number = new_number(server);
	const struct call *accept = CALL(calls, NULL, SYS_accept4,
					 (uint64_t)server->listeners[listener], POINTER(&client),
					 calls_keep(calls, &len, sizeof(len)),
					 SOCK_NONBLOCK | SOCK_CLOEXEC);

	call_takes(loop_watch(&server->loop, -1, EPOLLIN, number), 2, accept);
	wait_ahead(server);
	loop_run(&server->loop);
	if (accept->result < 0) {
		int error = (int)-accept->result;

		if (error != EAGAIN && error != ECONNABORTED && error != EINTR)
			fail("cannot accept connection %u: %s", server->record_count, strerror(error));
		server->connections[number].fd = -1;
		give_number_back(server, number);
		return;
	}
	server->records = grown(server->records, server->record_count, &server->record_room,
				sizeof(*server->records));
	server->records[server->record_count] = (struct record){
		.client = client.sin_addr,
		.client_port = ntohs(client.sin_port),
		.server_port = (uint16_t)(server->first_port + listener),
	};
	server->connections[number] = (struct connection){ .fd = (int)accept->result,
							   .record = server->record_count++ };
	if (++server->open > server->most_open)
		server->most_open = server->open;
}

static int listener(struct server *server, struct in_addr address, int port)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr = address,
				   .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	/* Accepted sockets inherit the option: the last segment of a response does not wait for an ACK. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 ||
	    bind(fd, (struct sockaddr *)&own, sizeof(own)) != 0 || listen(fd, BACKLOG) != 0)
		fail("cannot listen at port %d: %s", port, strerror(errno));
	loop_watch(&server->loop, fd, EPOLLIN, FIRST_LISTENER + (uint32_t)(port - server->first_port));
	loop_run(&server->loop);
	return fd;
}

/* ---- the table ---- */

static void write_table(const struct server *server, const char *name)
{
	FILE *file = file_open(name, "w");
	int broken;

	if (!file)
		fail("cannot write %s: %s", name, strerror(errno));
	fputs("client_address,client_port,server_port,state,answered,sent_bytes,retransmits,timeouts,"
	      "marks,srtt_us,carried_bytes,resent_bytes,peer_window_bytes,waited_ns,ecn\n", file);
	for (uint32_t i = 0; i < server->record_count; i++) {
		const struct record *record = &server->records[i];
		char address[INET_ADDRSTRLEN];

		inet_ntop(AF_INET, &record->client, address, sizeof(address));
		fprintf(file, "%s,%u,%u,%s,%u,%" PRId64 ",%u,%u,%u,%u,%" PRId64 ",%" PRId64 ",%u,%" PRId64
			",%d\n",
			address, record->client_port, record->server_port,
			state_names[record->state], record->answered, record->sent_bytes,
			record->retransmits, record->timeouts, record->marks, record->srtt_us,
			record->carried_bytes, record->resent_bytes, record->peer_window_bytes,
			record->waited_ns, record->ecn);
	}
	broken = ferror(file);
	if (fclose(file) != 0 || broken)
		fail("cannot write %s: %s", name, strerror(errno));
}

static void end_all(struct server *server)
{
	/* End with a reset, so that nothing of this trial remains in the next trial. */
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };

	server->loop.last = 0;
	loop_run(&server->loop);
	for (int i = 0; i < server->ports; i++)
		close(server->listeners[i]);
	for (uint32_t i = 0; i < server->connection_count; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->fd < 0)
			continue;
		setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		end_connection(server, i, connection->state);
	}
}

static void run(struct server *server)
{
	const struct epoll_event *events = server->loop.events;

	for (;;) {
		int count = loop_wait(&server->loop);

		for (int i = 0; i < count; i++) {
			uint32_t mark = events[i].data.u32;

			server->loop.last = i + 1 == count;
			if (mark == SIGNAL)
				return;
			if (mark == TIMER)
				answer_due(server);
			else if (mark >= FIRST_LISTENER)
				accept_one(server, (int)(mark - FIRST_LISTENER));
			else
				on_event(server, mark, events[i].events);
		}
		if (!server->loop.woken && loop_next(&server->loop) != MISSING)
			loop_arm(&server->loop, loop_next(&server->loop));
	}
}

static void watch_signals(struct loop *loop)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	loop_watch(loop, signalfd(-1, &ends, SFD_CLOEXEC), EPOLLIN, SIGNAL);
	loop_run(loop);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{ "address", required_argument, NULL, 'a' },
		{ "first-port", required_argument, NULL, 'f' },
		{ "ports", required_argument, NULL, 'p' },
		{ "out", required_argument, NULL, 'o' },
		{ 0 },
	};
	struct server server = { .first_port = 8000, .ports = 16 };
	struct in_addr address = { 0 };
	const char *out = NULL;
	int key, bad = 0;

	while ((key = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (key) {
		case 'a': bad |= inet_pton(AF_INET, optarg, &address) != 1; break;
		case 'f': server.first_port = atoi(optarg); break;
		case 'p': server.ports = atoi(optarg); break;
		case 'o': out = optarg; break;
		default: bad = 1;
		}
	}
	if (bad || optind != argc || !out || server.first_port < 1 || server.ports < 1 ||
	    server.ports > MAX_PORTS || server.first_port + server.ports > 65536) {
		fputs("usage: packmime_server [--address IPV4] [--first-port 8000] [--ports 16 (at most 128)]"
		      " --out FILE\n", stderr);
		return 2;
	}
	raise_file_limit();
	loop_open(&server.loop);
	watch_signals(&server.loop);
	for (int i = 0; i < server.ports; i++)
		server.listeners[i] = listener(&server, address, server.first_port + i);
	(void)mlockall(MCL_CURRENT);	/* see packmime_client.c */
	puts("ready");
	fflush(stdout);

	run(&server);

	end_all(&server);
	write_table(&server, out);
	printf("{\"format\": \"cellbed-packmime-server/1\", \"connections\": %u, \"most_open\": %u}\n",
	       server.record_count, server.most_open);
	return 0;
}
