// SPDX-License-Identifier: GPL-2.0-only
/*
 * packmime_client: one host's web clients, all in one process.
 *
 * Its part of a trace gives the start of each connection since t0. A start does not depend on
 * earlier connections (open loop). Each connection has its own pair of ports. The first response
 * time counts from before connect(), as in the model. The server closes after the last response.
 * The client closes when it has all bytes.
 *
 *	[ not begun ] --start--> [ connecting ] --> [ sending ] --> [ waiting ] --> [ receiving ]
 *	      ^                                                                           |
 *	      +-- after the next exchange's wait -- another exchange -- last byte --------+--> [ done ]
 *
 * A failed connection is a result and no error of the program. Its exchange ends as refused, reset,
 * timed out, unreachable or closed (before the last byte), and its later exchanges never begin. An
 * exchange under way at the end of the trial is written with its present state.
 *
 * The cost of this program is its wakeups. So it watches sockets edge-triggered. When a response
 * has begun, SO_RCVLOWAT tells the kernel how many unread bytes wake the program: the rest, at most
 * a quarter of the receive buffer. (A low-water mark is at most half of it, tcp_set_rcvlowat.)
 * System calls are noted and made together, where no result is needed between them (loop.h).
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../common/fail.h"
#include "../../common/number.h"
#include "loop.h"
#include "request.h"
#include "results.h"
#include "trace.h"

/* For a shorter rest, changing the low-water mark costs more than it saves. */
#define SMALL_REST_BYTES 2048
/* The default MSS (RFC 9293, 3.7.1): no connection has a smaller one. */
#define SMALL_REQUEST_BYTES 536
#define WATCHED (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

struct client {
	struct loop loop;
	struct trace trace;
	struct totals totals;
	struct in_addr address, server;
	uint32_t next;		/* connection */
	uint32_t over;		/* ended connections */
	int64_t second;		/* the next to be reported */
	int low_water_bytes;	/* the largest */
};

static struct exchange *current(struct client *client, const struct connection *connection)
{
	return &client->trace.exchanges[connection->first + connection->current];
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
	return b_ns != MISSING && b_ns < a_ns ? b_ns : a_ns;
}

static int64_t next_start_ns(const struct client *client)
{
	const struct trace *trace = &client->trace;

	if (client->next == trace->connection_count)
		return MISSING;
	return client->totals.t0_ns + trace->exchanges[trace->connections[client->next].first].wait_ns;
}

/* The earliest of: the next connection, the next exchange, the next second, the end. */
static int64_t next_alarm_ns(const struct client *client)
{
	int64_t t0_ns = client->totals.t0_ns, at_ns = t0_ns + client->totals.duration_ns;

	at_ns = earlier(at_ns, t0_ns + client->second * NS_PER_S);
	at_ns = earlier(at_ns, loop_next(&client->loop));
	return earlier(at_ns, next_start_ns(client));
}

/* ---- the end of a connection ---- */

static void close_socket(struct client *client, struct connection *connection)
{
	call_expect_any(CALL(&client->loop.calls, NULL, SYS_close, (uint64_t)connection->fd));
}

static void end_connection(struct client *client, struct connection *connection)
{
	if (connection->fd >= 0)
		close_socket(client, connection);
	connection->fd = -1;
	free(connection->request);
	connection->request = NULL;
	client->totals.open--;
	client->over++;
}

static void break_off(struct client *client, struct connection *connection, int error)
{
	enum state state = RESET;

	switch (error) {
	case 0: state = CLOSED; break;
	case ECONNREFUSED: state = REFUSED; break;
	case ETIMEDOUT: state = TIMED_OUT; break;
	case EHOSTUNREACH:
	case ENETUNREACH: state = UNREACHABLE; break;
	}
	current(client, connection)->state = state;
	end_connection(client, connection);
}

/* ---- sending ---- */

static void send_rest(struct client *client, struct connection *connection)
{
	struct exchange *exchange = current(client, connection);
	int64_t now_ns = loop_now(&client->loop);

	while (connection->request_sent < exchange->request_bytes) {
		int64_t rest = exchange->request_bytes - connection->request_sent;
		struct call *send = CALL(&client->loop.calls, NULL, SYS_sendto,
					 (uint64_t)connection->fd,
					 POINTER(connection->request + connection->request_sent),
					 (uint64_t)rest, MSG_NOSIGNAL);

		call_expect(send, rest);
		loop_wait_ahead(&client->loop, next_alarm_ns(client));
		loop_run(&client->loop);
		if (send->result == -EAGAIN)
			return;
		if (send->result < 0) {
			break_off(client, connection, (int)-send->result);
			return;
		}
		connection->request_sent += send->result;
	}
	free(connection->request);
	connection->request = NULL;
	exchange->sent_ns = now_ns;
	exchange->state = WAITING;
}

static void begin_request(struct client *client, struct connection *connection)
{
	struct exchange *exchange = current(client, connection);
	struct request request = {
		.bytes = exchange->request_bytes,
		.response_bytes = exchange->response_bytes,
		.delay_ns = exchange->delay_ns,
		.keep = connection->current + 1 < connection->count,
	};

	connection->request = malloc((size_t)request.bytes);
	connection->request_sent = 0;
	if (!connection->request)
		fail("out of memory");
	if (request_write(connection->request, &request) != 0)
		fail("connection %s %u: a request of %" PRId64 " bytes is too small for its text",
		     client->totals.direction, connection->number, request.bytes);
	exchange->state = SENDING;
	send_rest(client, connection);
}

/* ---- connecting ---- */

/* Notes the calls that open a socket; the first returns its number. */
static struct call *open_socket(struct client *client, uint16_t port)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr = client->address,
				   .sin_port = htons(port) };
	struct calls *calls = &client->loop.calls;
	int on = 1;
	struct call *socket = CALL(calls, NULL, SYS_socket, AF_INET,
				   SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	/* The port may be in use by another pair of ports. */
	call_takes(CALL(calls, NULL, SYS_setsockopt, 0, SOL_SOCKET, SO_REUSEADDR,
			calls_keep(calls, &on, sizeof(on)), sizeof(on)), 0, socket);
	call_takes(CALL(calls, NULL, SYS_bind, 0, calls_keep(calls, &own, sizeof(own)),
			sizeof(own)), 0, socket);
	return socket;
}

/* The number of the socket, after the calls of open_socket(). */
static int opened(const struct client *client, const struct call *socket, uint16_t port)
{
	const struct calls *calls = &client->loop.calls;
	const struct call *bind = socket + 2;

	if (!call_made(calls, bind) || bind->result < 0)
		fail("cannot open a socket at port %u: %s", port,
		     strerror((int)-calls->list[calls->done - 1].result));
	return (int)socket->result;
}

/* With this option, the last segment of a long request does not wait for an ACK. A short request is
 * one segment, which never waits. So most connections save this system call. */
static void send_at_once(struct client *client, const struct call *socket, int64_t request_bytes)
{
	struct calls *calls = &client->loop.calls;
	int on = 1;

	if (request_bytes > SMALL_REQUEST_BYTES)
		call_takes(CALL(calls, "set TCP_NODELAY", SYS_setsockopt, 0, IPPROTO_TCP, TCP_NODELAY,
				calls_keep(calls, &on, sizeof(on)), sizeof(on)), 0, socket);
}

static void begin_connection(struct client *client, uint32_t index)
{
	struct connection *connection = &client->trace.connections[index];
	struct exchange *exchange = current(client, connection);
	struct sockaddr_in server = { .sin_family = AF_INET, .sin_addr = client->server,
				      .sin_port = htons(connection->server_port) };
	struct calls *calls = &client->loop.calls;
	struct call *socket, *connect;

	if (++client->totals.open > client->totals.most_open)
		client->totals.most_open = client->totals.open;
	exchange->begun_ns = loop_now(&client->loop);
	exchange->state = CONNECTING;
	socket = open_socket(client, connection->client_port);
	send_at_once(client, socket, exchange->request_bytes);
	connect = CALL(calls, NULL, SYS_connect, 0, calls_keep(calls, &server, sizeof(server)),
		       sizeof(server));
	call_takes(connect, 0, socket);
	call_expect(connect, -EINPROGRESS);
	call_takes(loop_watch(&client->loop, -1, WATCHED, index), 2, socket);
	loop_wait_ahead(&client->loop, next_alarm_ns(client));
	loop_run(&client->loop);
	connection->fd = opened(client, socket, connection->client_port);
	if (connect->result >= 0)
		loop_watch(&client->loop, connection->fd, WATCHED, index);
	else if (connect->result != -EINPROGRESS)
		break_off(client, connection, (int)-connect->result);
}

static void connected(struct client *client, struct connection *connection)
{
	current(client, connection)->connected_ns = loop_now(&client->loop);
	begin_request(client, connection);
}

/* ---- receiving ---- */

static void set_low_water(struct client *client, struct connection *connection, int bytes)
{
	struct calls *calls = &client->loop.calls;

	if (connection->low_water_bytes == bytes)
		return;
	CALL(calls, "set SO_RCVLOWAT", SYS_setsockopt, (uint64_t)connection->fd, SOL_SOCKET,
	     SO_RCVLOWAT, calls_keep(calls, &bytes, sizeof(bytes)), sizeof(bytes));
	connection->low_water_bytes = bytes;
}

static void choose_low_water(struct client *client, struct connection *connection, int64_t rest)
{
	if (rest <= SMALL_REST_BYTES && connection->low_water_bytes <= rest)
		return;		/* woken a little more often: cheaper than changing it */
	if (rest > client->low_water_bytes)
		rest = client->low_water_bytes;
	set_low_water(client, connection, rest <= SMALL_REST_BYTES ? 1 : (int)rest);
}

static int is_last(const struct connection *connection)
{
	return connection->current + 1 == connection->count;
}

static void whole_response(struct client *client, struct connection *connection)
{
	struct exchange *exchange = current(client, connection);
	uint32_t index = (uint32_t)(connection - client->trace.connections);

	exchange->last_byte_ns = loop_now(&client->loop);
	exchange->state = DONE;
	client->totals.done++;
	if (is_last(connection)) {
		connection->fd = -1;	/* closed with the last read */
		end_connection(client, connection);
		return;
	}
	set_low_water(client, connection, 1);
	connection->current++;
	loop_note(&client->loop, exchange->last_byte_ns + exchange[1].wait_ns, index);
}

/* Reads the available bytes, at most the response's rest. Later bytes cause another wakeup. */
static void read_response(struct client *client, struct connection *connection)
{
	struct exchange *exchange = current(client, connection);
	int64_t rest = exchange->response_bytes - exchange->received_bytes;
	struct call *receive = CALL(&client->loop.calls, NULL, SYS_recvfrom,
				    (uint64_t)connection->fd, 0, (uint64_t)rest, MSG_TRUNC);
	int64_t now_ns = loop_now(&client->loop), len;

	call_expect(receive, rest);
	if (is_last(connection)) {
		close_socket(client, connection);
		/* With the end of the last connection, the trial ends. */
		if (client->over + 1 < client->trace.connection_count)
			loop_wait_ahead(&client->loop, next_alarm_ns(client));
	}
	loop_run(&client->loop);
	len = receive->result;
	if (len == -EAGAIN || len == -EINTR)
		return;
	if (len <= 0) {
		break_off(client, connection, (int)-len);
		return;
	}
	if (!exchange->received_bytes)
		exchange->first_byte_ns = now_ns;
	exchange->state = RECEIVING;
	exchange->received_bytes += len;
	client->totals.received_bytes += len;
	if (len < rest)
		choose_low_water(client, connection, rest - len);
	else
		whole_response(client, connection);
}

static void on_error(struct client *client, struct connection *connection)
{
	int error = 0;
	socklen_t len = sizeof(error);

	loop_run(&client->loop);
	getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	break_off(client, connection, error);
}

static int receives(struct client *client, const struct connection *connection)
{
	enum state state = current(client, connection)->state;

	return connection->fd >= 0 && (state == WAITING || state == RECEIVING);
}

/* The server has closed: reads the rest. Bytes that are then missing will never arrive. */
static void on_closed(struct client *client, struct connection *connection)
{
	while (receives(client, connection))
		read_response(client, connection);
	if (connection->fd >= 0)
		break_off(client, connection, 0);
}

static void on_event(struct client *client, uint32_t index, uint32_t events)
{
	struct connection *connection = &client->trace.connections[index];
	enum state state = current(client, connection)->state;
	int last = client->loop.last;

	if (connection->fd < 0)
		return;		/* it ended earlier in this wakeup */
	if (events & (EPOLLERR | EPOLLHUP)) {
		on_error(client, connection);
		return;
	}
	client->loop.last = last && !(events & (EPOLLIN | EPOLLRDHUP));
	if (state == CONNECTING && events & EPOLLOUT)
		connected(client, connection);
	else if (state == SENDING && events & EPOLLOUT)
		send_rest(client, connection);
	client->loop.last = last;
	if (events & EPOLLRDHUP && connection->fd >= 0)
		on_closed(client, connection);
	else if (events & EPOLLIN && receives(client, connection))
		read_response(client, connection);
}

/* ---- the trial ---- */

static int start_is_due(struct client *client)
{
	return client->next < client->trace.connection_count &&
	       next_start_ns(client) <= loop_now(&client->loop);
}

static int progress_is_due(struct client *client)
{
	return loop_now(&client->loop) - client->totals.t0_ns >= client->second * NS_PER_S;
}

static void begin_due_connections(struct client *client)
{
	while (start_is_due(client)) {
		int64_t late_ns = loop_now(&client->loop) - next_start_ns(client);
		uint32_t index = client->next++;

		if (late_ns > client->totals.max_late_ns)
			client->totals.max_late_ns = late_ns;
		client->loop.last = !start_is_due(client) && !progress_is_due(client);
		begin_connection(client, index);
	}
}

static void begin_due_exchanges(struct client *client)
{
	uint32_t index;

	while (loop_take(&client->loop, &index)) {
		struct connection *connection = &client->trace.connections[index];

		if (connection->fd < 0)
			continue;
		current(client, connection)->begun_ns = loop_now(&client->loop);
		begin_request(client, connection);
	}
}

static void print_progress(struct client *client)
{
	int64_t since_t0_ns = loop_now(&client->loop) - client->totals.t0_ns;

	if (!progress_is_due(client))
		return;
	loop_run(&client->loop);
	while (client->second * NS_PER_S <= since_t0_ns)
		printf("progress %" PRId64 " %u %u %" PRId64 "\n", client->second++,
		       client->totals.done, client->totals.open, client->totals.received_bytes);
	fflush(stdout);
}

static void run(struct client *client)
{
	const struct epoll_event *events = client->loop.events;
	int64_t end_ns = client->totals.t0_ns + client->totals.duration_ns;

	while (client->over < client->trace.connection_count) {
		int count, alarm = 0;

		if (!client->loop.woken)
			loop_arm(&client->loop, next_alarm_ns(client));
		count = loop_wait(&client->loop);
		for (int i = 0; i < count; i++) {
			alarm |= events[i].data.u32 == TIMER;
			client->loop.last = i + 1 == count && !alarm;
			if (events[i].data.u32 != TIMER)
				on_event(client, events[i].data.u32, events[i].events);
		}
		client->loop.last = 0;
		if (!alarm)
			continue;
		if (loop_now(&client->loop) >= end_ns)
			return;
		begin_due_exchanges(client);
		begin_due_connections(client);
		print_progress(client);
	}
}

static void end_all(struct client *client)
{
	/* End with a reset, so that nothing of this trial remains in the next trial. */
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };

	loop_run(&client->loop);
	for (uint32_t i = 0; i < client->next; i++) {
		struct connection *connection = &client->trace.connections[i];

		if (connection->fd < 0)
			continue;
		setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		end_connection(client, connection);
		loop_run(&client->loop);
	}
}

static int quarter_of_receive_buffer(struct client *client)
{
	struct call *socket = open_socket(client, 0);
	int fd, bytes = 0;
	socklen_t len = sizeof(bytes);

	loop_run(&client->loop);
	fd = opened(client, socket, 0);
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len) != 0)
		fail("cannot read SO_RCVBUF: %s", strerror(errno));
	close(fd);
	return bytes / 4;
}

/* ---- command line ---- */

static const char usage[] =
	"usage: packmime_client --trace FILE --direction down|up --hosts N --host I --server IPV4\n"
	"                  --t0-ns N --duration-ns N --out FILE [--address IPV4]\n"
	"  --hosts, --host   of N hosts this one, from 0: its connections are those with number % N = I\n"
	"  --t0-ns           when the trace begins, CLOCK_MONOTONIC\n"
	"  --duration-ns     until when what is under way may still end, from t0\n";

struct options {
	const char *trace, *direction, *out;
	struct in_addr address, server;
	int64_t hosts, host, t0_ns, duration_ns;
};

static void address(const char *option, const char *text, struct in_addr *value)
{
	if (inet_pton(AF_INET, text, value) != 1)
		fail("--%s %s: must be an IPv4 address", option, text);
}

static struct options read_options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "trace", required_argument, NULL, 't' },
		{ "direction", required_argument, NULL, 'd' },
		{ "hosts", required_argument, NULL, 'n' },
		{ "host", required_argument, NULL, 'i' },
		{ "server", required_argument, NULL, 's' },
		{ "address", required_argument, NULL, 'a' },
		{ "t0-ns", required_argument, NULL, '0' },
		{ "duration-ns", required_argument, NULL, 'l' },
		{ "out", required_argument, NULL, 'o' },
		{ 0 },
	};
	struct options options = { .server.s_addr = INADDR_NONE };
	int key, index = 0;

	while ((key = getopt_long(argc, argv, "", names, &index)) != -1) {
		int64_t value = strchr("ni0l", key) ? number(names[index].name, optarg, 0) : 0;

		switch (key) {
		case 't': options.trace = optarg; break;
		case 'd': options.direction = optarg; break;
		case 'n': options.hosts = value; break;
		case 'i': options.host = value; break;
		case 's': address("server", optarg, &options.server); break;
		case 'a': address("address", optarg, &options.address); break;
		case '0': options.t0_ns = value; break;
		case 'l': options.duration_ns = value; break;
		case 'o': options.out = optarg; break;
		default: fputs(usage, stderr); exit(2);
		}
	}
	if (optind != argc || !options.trace || !options.direction || !options.out ||
	    options.server.s_addr == INADDR_NONE || !options.t0_ns || !options.duration_ns) {
		fputs(usage, stderr);
		exit(2);
	}
	if (strcmp(options.direction, "down") != 0 && strcmp(options.direction, "up") != 0)
		fail("--direction %s: must be down or up", options.direction);
	if (options.hosts < 1 || options.hosts > 65536 || options.host >= options.hosts)
		fail("--host %" PRId64 " of --hosts %" PRId64 ": must be less than --hosts, which must be at least 1",
		     options.host, options.hosts);
	return options;
}

int main(int argc, char **argv)
{
	struct options options = read_options(argc, argv);
	struct client client = {
		.address = options.address,
		.server = options.server,
		.second = 1,
		.totals = { .direction = options.direction, .host = (uint32_t)options.host,
			    .t0_ns = options.t0_ns, .duration_ns = options.duration_ns },
	};

	raise_file_limit();
	loop_open(&client.loop);
	trace_read(&client.trace, options.trace, options.direction, (uint32_t)options.hosts,
		   (uint32_t)options.host);
	client.low_water_bytes = quarter_of_receive_buffer(&client);
	/* At the first use of a page, the kernel may read it from a disk, and in virtual time the
	 * clock jumps during this wait. Locking prevents this, unless the user lacks the right. */
	(void)mlockall(MCL_CURRENT);
	if (loop_now(&client.loop) >= options.t0_ns)
		fail("--t0-ns %" PRId64 ": this moment was %" PRId64 " ns ago when the trace was read",
		     options.t0_ns, loop_now(&client.loop) - options.t0_ns);

	run(&client);

	end_all(&client);
	results_write(&client.trace, &client.totals, options.out);
	results_print_summary(&client.trace, &client.totals);
	return 0;
}
