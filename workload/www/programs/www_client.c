// SPDX-License-Identifier: GPL-2.0-only
/*
 * www_client: the clients of a trial, all in one process.
 *
 * Each pair has one persistent HTTP/1.1 connection, opened in the client's own network namespace
 * before the trial begins. Each request leaves at t0 + due, even if earlier ones have no answer yet
 * (pipelining, 98-0876R1 section 5.1). Answers are checked and discarded. A server's mistake is a
 * result and no error of the program: an answer with a wrong status or length is counted. If the
 * program cannot follow a connection's stream any further, it abandons the connection, and the
 * others go on. So the trial's record tells how much was wrong. A mistake in the set-up ends the
 * program.
 *
 *	         +--------------- header complete, body to come ----------------+
 *	         v                                                              |
 *	   [ in body ] -- last byte, another request out --> [ awaits header ] --+
 *	         ^                                              |
 *	         +------ (an answer without body does not occur: sizes are >= 1 byte)
 *
 * The cost of this program is its wakeups. So SO_RCVLOWAT tells the kernel how many unread bytes
 * wake it. Before a header it is one byte, so that the first byte's time is exact. In a body it is
 * the rest, at most --low-water bytes, so that the last byte's time is exact. This does not affect
 * TCP if the receive buffer is far larger than the largest window plus the unread bytes; the
 * summary has the figures (min_receive_buffer_bytes, max_window_bytes, max_read_bytes). On a route
 * with `quickack 1`, acknowledgements do not wait for the reader.
 *
 * A call whose result nothing waits for is only noted. The program makes it in a list with the next
 * call (common/calls.h), in the same order and at the same time.
 *
 * The program reads the clock once per wakeup, because each reading moves virtual time a little.
 * All events of a wakeup have the same time. With the real clock, a group of sends then looks
 * simultaneous; max_late_ns, read after the group has left, gives the real delay.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "../../common/fail.h"
#include "../../common/number.h"
#include "http.h"
#include "results.h"
#include "server_side.h"
#include "sockets.h"
#include "spec.h"
#include "trial.h"

#define EVENTS_A_WAKEUP 128
#define TIMER UINT32_MAX
/* For a shorter body, changing the low-water mark costs more than it saves. */
#define SMALL_BODY_BYTES 2048
/* Room for a header and usually all of a small body, for one read. */
#define READ_BYTES 4096

struct options {
	const char *spec, *out_dir;
	int64_t t0_ns, lead_ns, duration_ns, connect_timeout_ns;
	int low_water_bytes;
};

static int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The time of this wakeup; the first call reads the clock. */
static int64_t wakeup_ns(struct trial *trial)
{
	if (trial->wakeup_ns == MISSING) {
		calls_run(&trial->calls);
		trial->wakeup_ns = clock_ns();
	}
	return trial->wakeup_ns;
}

/* Makes all noted calls; returns the result of the last of them, a negative error as in the kernel. */
static int64_t result(struct trial *trial, const struct call *last)
{
	calls_run(&trial->calls);
	return last->result;
}

/* The connection cannot be followed any further: nothing more is sent or read on it. */
static void break_off(struct trial *trial, struct connection *connection, const char *why,
		      const char *what)
{
	snprintf(connection->broken, sizeof(connection->broken), "%s%s", why, what);
	calls_run(&trial->calls);
	epoll_ctl(trial->epoll, EPOLL_CTL_DEL, connection->fd, NULL);
}

/* ---- sending ---- */

static void send_request(struct trial *trial, struct request *request)
{
	struct connection *connection = &trial->connections[request->connection];
	char text[1024];
	int64_t sent;

	if (connection->broken[0])
		return;
	if (http_write_get(text, (size_t)trial->request_bytes, request->path) != 0)
		fail("pair %u: %s does not fit into a request of %d bytes", connection->pair,
		     request->path, trial->request_bytes);
	sent = result(trial, CALL(&trial->calls, NULL, SYS_sendto, (uint64_t)connection->fd,
				  POINTER(text), (uint64_t)trial->request_bytes, MSG_NOSIGNAL));
	if (sent != trial->request_bytes) {
		break_off(trial, connection, "cannot send a request: ",
			  sent < 0 ? strerror((int)-sent) : "the send buffer is full");
		return;
	}
	request->sent_ns = wakeup_ns(trial);
	connection->sent++;
	trial->sent++;
}

static void send_due(struct trial *trial)
{
	int64_t first_due_ns = MISSING, late_ns;

	while (trial->next_due < trial->request_count &&
	       trial->t0_ns + trial->requests[trial->next_due].due_ns <= wakeup_ns(trial)) {
		struct request *request = &trial->requests[trial->next_due++];

		if (first_due_ns == MISSING)
			first_due_ns = trial->t0_ns + request->due_ns;
		send_request(trial, request);
	}
	if (first_due_ns == MISSING)
		return;
	late_ns = clock_ns() - first_due_ns;
	if (late_ns > trial->max_late_ns)
		trial->max_late_ns = late_ns;
}

/* ---- receiving ---- */

static void body_arrived(struct trial *trial, struct connection *connection, int64_t bytes)
{
	struct request *request = &trial->requests[connection->awaited];

	connection->body_rest_bytes -= bytes;
	connection->part_bytes += (uint64_t)bytes;
	if (connection->body_rest_bytes)
		return;
	connection->part_bytes = 0;
	request->last_byte_ns = wakeup_ns(trial);
	connection->awaited = request->next;
	connection->answered++;
	trial->answered++;
	connection->in_body = 0;
	connection->header_len = 0;
}

/* The header is complete: read the length of the body from it. */
static void read_header(struct trial *trial, struct connection *connection)
{
	struct request *request = &trial->requests[connection->awaited];
	const char *wrong;

	wrong = http_read_header(connection->header, connection->header_len, &request->status,
				 &connection->body_rest_bytes);
	if (wrong) {
		break_off(trial, connection, "the answer has ", wrong);
		return;
	}
	connection->in_body = 1;
	if (connection->body_rest_bytes == 0)
		body_arrived(trial, connection, 0);
}

/* Takes the bytes that belong to the header; returns their number. */
static size_t header_arrived(struct trial *trial, struct connection *connection, const char *bytes,
			     size_t len)
{
	struct request *request = &trial->requests[connection->awaited];
	size_t before = connection->header_len;
	size_t room = HEADER_MAX - before;
	size_t taken = len < room ? len : room, end;

	if (before == 0)
		request->first_byte_ns = wakeup_ns(trial);
	memcpy(connection->header + before, bytes, taken);
	connection->header_len += taken;
	end = http_header_end(connection->header, connection->header_len, before);
	connection->header_bytes += end ? end - before : taken;
	if (end == 0 && connection->header_len == HEADER_MAX)
		break_off(trial, connection, "the answer's header is too long", "");
	if (end == 0)
		return taken;
	connection->header_len = end;
	read_header(trial, connection);
	return end - before;
}

/* Handles bytes that were read into memory, in any mixture of headers and bodies. */
static void bytes_arrived(struct trial *trial, struct connection *connection, const char *bytes,
			  size_t len)
{
	while (len && !connection->broken[0]) {
		size_t taken;

		/* Requests are sent in list order: with all sent ones answered, none is awaited. */
		if (connection->answered == connection->sent) {
			break_off(trial, connection, "the server sends what nobody asked for", "");
			return;
		}
		if (connection->in_body) {
			taken = (int64_t)len < connection->body_rest_bytes ?
				len : (size_t)connection->body_rest_bytes;
			body_arrived(trial, connection, (int64_t)taken);
		} else {
			taken = header_arrived(trial, connection, bytes, len);
		}
		bytes += taken;
		len -= taken;
	}
}

/* One read; returns 0 once nothing is left unread. A long body is dropped inside the kernel. */
static int read_some(struct trial *trial, struct connection *connection, int64_t *total)
{
	char bytes[READ_BYTES];
	int drop = connection->in_body && connection->body_rest_bytes > READ_BYTES;
	size_t want = drop ? (size_t)connection->body_rest_bytes : sizeof(bytes);
	int64_t len = result(trial, CALL(&trial->calls, NULL, SYS_recvfrom, (uint64_t)connection->fd,
					 drop ? 0 : POINTER(bytes), want, drop ? MSG_TRUNC : 0));

	if (len == -EAGAIN || len == -EINTR)
		return 0;
	if (len <= 0) {
		break_off(trial, connection, "connection lost: ",
			  len ? strerror((int)-len) : "the server closed it");
		return 0;
	}
	*total += len;
	if (drop)
		body_arrived(trial, connection, len);
	else
		bytes_arrived(trial, connection, bytes, (size_t)len);
	return (size_t)len == want && !connection->broken[0];
}

static void choose_low_water(struct trial *trial, struct connection *connection)
{
	int64_t rest = connection->in_body ? connection->body_rest_bytes : 0;

	if (rest <= SMALL_BODY_BYTES && connection->low_water_bytes <= rest)
		return;		/* woken a little more often: cheaper than changing it */
	if (rest > trial->low_water_bytes)
		rest = trial->low_water_bytes;
	sockets_note_low_water(&trial->calls, connection, rest <= SMALL_BODY_BYTES ? 1 : (int)rest);
}

static void on_readable(struct trial *trial, struct connection *connection)
{
	int64_t total = 0;

	while (read_some(trial, connection, &total))
		;
	trial->read_bytes += (uint64_t)total;
	if (total > trial->max_read_bytes)
		trial->max_read_bytes = total;
	choose_low_water(trial, connection);
}

/* ---- the trial ---- */

static void print_progress(const struct trial *trial, int64_t second)
{
	printf("progress %" PRId64 " %u %u %" PRIu64 "\n", second, trial->answered,
	       trial->sent - trial->answered, trial->read_bytes);
	fflush(stdout);
}

static void note_alarm(struct trial *trial, int timer, int64_t at_ns)
{
	struct itimerspec when = {
		.it_value = { .tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S },
	};

	CALL(&trial->calls, "set a timer", SYS_timerfd_settime, (uint64_t)timer, TFD_TIMER_ABSTIME,
	     calls_keep(&trial->calls, &when, sizeof(when)));
}

static void watch(int epoll, int fd, uint32_t mark)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = mark };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		fail("cannot watch a socket: %s", strerror(errno));
}

/* The earliest of: the next request, the next second, the end. */
static int64_t next_alarm_ns(const struct trial *trial, int64_t second)
{
	int64_t at_ns = second * NS_PER_S;

	if (trial->next_due < trial->request_count &&
	    trial->requests[trial->next_due].due_ns < at_ns)
		at_ns = trial->requests[trial->next_due].due_ns;
	return trial->t0_ns + (at_ns < trial->duration_ns ? at_ns : trial->duration_ns);
}

/* Sends, reports, and sets the next alarm; returns 1 at the end of the trial. */
static int on_alarm(struct trial *trial, int timer, int64_t *second)
{
	int64_t since_t0_ns = wakeup_ns(trial) - trial->t0_ns;

	send_due(trial);
	calls_run(&trial->calls);
	while (*second * NS_PER_S <= since_t0_ns)
		print_progress(trial, (*second)++);
	if (since_t0_ns >= trial->duration_ns)
		return 1;
	note_alarm(trial, timer, next_alarm_ns(trial, *second));
	return 0;
}

static void run(struct trial *trial, int epoll, int timer)
{
	struct epoll_event events[EVENTS_A_WAKEUP];
	int64_t second = 1;
	int ended = 0;

	note_alarm(trial, timer, next_alarm_ns(trial, second));
	while (!ended) {
		int64_t count = result(trial, CALL(&trial->calls, NULL, SYS_epoll_pwait, (uint64_t)epoll,
						   POINTER(events), EVENTS_A_WAKEUP, (uint64_t)-1));
		int alarm = 0;

		if (count < 0 && count != -EINTR)
			fail("cannot wait: %s", strerror((int)-count));
		trial->wakeup_ns = MISSING;
		for (int64_t i = 0; i < count; i++) {
			if (events[i].data.u32 == TIMER)
				alarm = 1;
			else
				on_readable(trial, &trial->connections[events[i].data.u32]);
		}
		if (alarm)
			ended = on_alarm(trial, timer, &second);
	}
}

static void take_counters(struct trial *trial, int at_start)
{
	for (uint32_t i = 0; i < trial->connection_count; i++) {
		struct connection *connection = &trial->connections[i];
		struct tcp_state state;

		connection->unread_bytes = sockets_unread(connection, &state);
		if (at_start)
			connection->received_at_t0_bytes = state.bytes_received;
		else
			connection->received_bytes =
				state.bytes_received - connection->received_at_t0_bytes;
	}
}

/* If the buffer cannot hold a low-water mark twice, the kernel lowers the mark, or it enlarges the
 * buffer and with it the window (tcp_set_rcvlowat). */
static void check_room(const struct trial *trial)
{
	for (uint32_t i = 0; i < trial->connection_count; i++) {
		int buffer, window;

		sockets_room(&trial->connections[i], &buffer, &window);
		if (buffer < 4 * trial->low_water_bytes)
			fail("pair %u: the receive buffer of %d bytes is less than 4 x --low-water %d: "
			     "raise the middle value of tcp_rmem", trial->connections[i].pair, buffer,
			     trial->low_water_bytes);
	}
}

static int64_t next_second_ns(int64_t at_ns)
{
	return (at_ns + NS_PER_S - 1) / NS_PER_S * NS_PER_S;
}

/* The kernel rounds times to microseconds and ticks. So connections and the trial always begin on a
 * whole second. Then the kernel rounds the times of the same trial alike. */
static void wait_for_whole_second(void)
{
	int64_t at_ns = next_second_ns(clock_ns());
	struct timespec at = { .tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void choose_t0(struct trial *trial, const struct options *options, int64_t start_ns)
{
	int64_t now_ns = clock_ns();

	trial->t0_ns = options->t0_ns > 0 ? start_ns + options->t0_ns
					  : next_second_ns(now_ns + options->lead_ns);
	if (trial->t0_ns <= now_ns)
		fail("the connections took %" PRId64 " ns, which is longer than --t0-in-ns %" PRId64,
		     now_ns - start_ns, options->t0_ns);
	printf("t0 %" PRId64 "\n", trial->t0_ns);
	fflush(stdout);
}

/* ---- command line ---- */

static const char usage[] =
	"usage: www_client --spec FILE --out DIR --duration-ns N\n"
	"  --t0-in-ns N            the trial begins N ns after the start of this program, or\n"
	"  --lead-ns N             on the first whole second N ns or more after all\n"
	"                        connections stand (default 1000000000)\n"
	"  --low-water N           wake up for at most N unread bytes of a body (default 32768)\n"
	"  --connect-timeout-ns N  (default 30000000000)\n";

static struct options read_options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "spec", required_argument, NULL, 's' },
		{ "out", required_argument, NULL, 'o' },
		{ "duration-ns", required_argument, NULL, 'd' },
		{ "t0-in-ns", required_argument, NULL, 't' },
		{ "lead-ns", required_argument, NULL, 'l' },
		{ "low-water", required_argument, NULL, 'w' },
		{ "connect-timeout-ns", required_argument, NULL, 'c' },
		{ 0 },
	};
	struct options options = { .lead_ns = NS_PER_S, .connect_timeout_ns = 30 * NS_PER_S,
				   .low_water_bytes = 32768 };
	int key, index = 0;

	while ((key = getopt_long(argc, argv, "", names, &index)) != -1) {
		int64_t value = strchr("dtlwc", key) ? number(names[index].name, optarg, 1) : 0;

		switch (key) {
		case 's': options.spec = optarg; break;
		case 'o': options.out_dir = optarg; break;
		case 'd': options.duration_ns = value; break;
		case 't': options.t0_ns = value; break;
		case 'l': options.lead_ns = value; break;
		case 'w': options.low_water_bytes = value < INT_MAX / 4 ? (int)value : INT_MAX / 4; break;
		case 'c': options.connect_timeout_ns = value; break;
		default: fputs(usage, stderr); exit(2);
		}
	}
	if (optind != argc || !options.spec || !options.out_dir || !options.duration_ns) {
		fputs(usage, stderr);
		exit(2);
	}
	return options;
}

int main(int argc, char **argv)
{
	int64_t start_ns = clock_ns();
	struct options options = read_options(argc, argv);
	struct trial trial = { .duration_ns = options.duration_ns,
			       .low_water_bytes = options.low_water_bytes };
	int epoll = trial.epoll = epoll_create1(EPOLL_CLOEXEC);
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	int *netlinks;

	if (epoll < 0 || timer < 0)
		fail("cannot make epoll and timer: %s", strerror(errno));
	spec_read(options.spec, &trial);
	netlinks = server_side_open(&trial);
	wait_for_whole_second();
	sockets_connect_all(&trial, options.connect_timeout_ns);
	check_room(&trial);
	watch(epoll, timer, TIMER);
	for (uint32_t i = 0; i < trial.connection_count; i++)
		watch(epoll, trial.connections[i].fd, i);
	/* At the first use of a page, the kernel may read it from a disk, and in virtual time the
	 * clock jumps during this wait. Locking prevents this, unless the user lacks the right. In a
	 * `uml` lab, topology/room may take pages of the image away later; to read them again takes no
	 * virtual time there. */
	(void)mlockall(MCL_CURRENT);
	choose_t0(&trial, &options, start_ns);
	take_counters(&trial, 1);

	run(&trial, epoll, timer);

	take_counters(&trial, 0);
	server_side_read(&trial, netlinks);
	results_write(&trial, options.out_dir);
	results_print_summary(&trial);
	return 0;
}
