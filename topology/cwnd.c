/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cwnd FILE PERIOD_NS PAIR:PID...: sample congestion windows until SIGTERM.
 *
 * PID is a process in the network namespace of the pair's sender. The namespace of a host has all
 * its connections; the flow is the one with the most acknowledged bytes. FILE gets a row per sample
 * and pair: the moment (CLOCK_MONOTONIC, a multiple of the period) [ns], pair, cwnd, ssthresh
 * [segments]. cwnd is that of tcp_info. For our module's connections, it is the module's own window
 * in whole segments (tcp-configs/module/cellbed.h), or empty if the module does not tell it.
 *
 * This is a process and not a thread of the agent: a sample takes two system calls per pair and no
 * Python. Python took a sixth of the time of a trial with few segments.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ESTABLISHED 1	/* include/net/tcp_states.h */
#define NS_PER_S 1000000000
#define ANSWERS 2	/* per read: the connections (usually one), and the end of the dump */
#define ANSWER_BYTES 8192
#define WANTED (1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_VEGASINFO - 1))

struct sender {
	int pair, diag;
};

/* The flow of a namespace, as far as it has been read. */
struct flow {
	int found;
	uint64_t acked_bytes;
	int64_t cwnd;	/* -1: not told */
	uint32_t ssthresh;
};

/* The report of our module; only the bytes of its MSS and of its window are used. */
struct module_state {
	uint32_t first, cwnd_bytes, second, mss_bytes;
};

static const struct {
	struct nlmsghdr header;
	struct inet_diag_req_v2 body;
} request = {
	.header = {
		.nlmsg_len = sizeof(request),
		.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	},
	.body = {
		.sdiag_family = AF_INET,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = WANTED,
		.idiag_states = 1 << ESTABLISHED,
	},
};

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

/* Opens a socket in the network namespace of a process. The calling process enters it, too. */
static int open_in(int pid)
{
	char path[64];
	int there, diag;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (there < 0 || setns(there, CLONE_NEWNET))
		err(1, "%s", path);
	close(there);
	diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (diag < 0)
		err(1, "sock_diag");
	return diag;
}

/* The congestion window [segments], from the attributes of a connection. */
static int64_t window(struct rtattr *const told[], const struct tcp_info *info)
{
	const struct rtattr *name = told[INET_DIAG_CONG], *module = told[INET_DIAG_VEGASINFO];
	struct module_state state;

	if (!name || RTA_PAYLOAD(name) < 8 || memcmp(RTA_DATA(name), "cellbed_", 8))
		return info->tcpi_snd_cwnd;
	if (!module || RTA_PAYLOAD(module) < sizeof(state))
		return -1;
	memcpy(&state, RTA_DATA(module), sizeof(state));
	return state.cwnd_bytes / state.mss_bytes;
}

/* Reads a connection's message; keeps the connection if it has more acknowledged bytes. */
static void connection(struct nlmsghdr *message, struct flow *flow)
{
	struct inet_diag_msg *body = NLMSG_DATA(message);
	int rest = (int)NLMSG_PAYLOAD(message, sizeof(*body));
	struct rtattr *told[INET_DIAG_CONG + 1] = { 0 };
	struct tcp_info info = { 0 };
	size_t size;

	for (struct rtattr *one = (struct rtattr *)(body + 1); RTA_OK(one, rest); one = RTA_NEXT(one, rest))
		if (one->rta_type <= INET_DIAG_CONG)
			told[one->rta_type] = one;
	if (!told[INET_DIAG_INFO])	/* the socket is about to close */
		return;
	size = RTA_PAYLOAD(told[INET_DIAG_INFO]);
	memcpy(&info, RTA_DATA(told[INET_DIAG_INFO]), size < sizeof(info) ? size : sizeof(info));
	if (flow->found && info.tcpi_bytes_acked <= flow->acked_bytes)
		return;
	*flow = (struct flow){ 1, info.tcpi_bytes_acked, window(told, &info), info.tcpi_snd_ssthresh };
}

/* Reads the messages of an answer; returns 0 after the last message. */
static int take(void *answer, unsigned int size, struct flow *flow)
{
	for (struct nlmsghdr *one = answer; NLMSG_OK(one, size); one = NLMSG_NEXT(one, size)) {
		if (one->nlmsg_type == NLMSG_DONE)
			return 0;
		if (one->nlmsg_type == NLMSG_ERROR)
			errx(1, "sock_diag refused: %s", strerror(-((struct nlmsgerr *)NLMSG_DATA(one))->error));
		connection(one, flow);
	}
	return 1;
}

/* Asks for a namespace's connections. */
static struct flow ask(int diag)
{
	static char answers[ANSWERS][ANSWER_BYTES] __attribute__((aligned(8)));
	struct mmsghdr got[ANSWERS] = { 0 };
	struct iovec rooms[ANSWERS];
	struct flow flow = { 0 };
	int more = 1, count;

	for (int i = 0; i < ANSWERS; i++) {
		rooms[i] = (struct iovec){ answers[i], ANSWER_BYTES };
		got[i].msg_hdr.msg_iov = &rooms[i];
		got[i].msg_hdr.msg_iovlen = 1;
	}
	if (send(diag, &request, sizeof(request), 0) != sizeof(request))
		err(1, "sock_diag");
	while (more) {
		count = recvmmsg(diag, got, ANSWERS, MSG_WAITFORONE, NULL);
		if (count < 0 && errno != EINTR)
			err(1, "sock_diag");
		for (int i = 0; more && i < count; i++)
			more = take(answers[i], got[i].msg_len, &flow);
	}
	return flow;
}

static void sample(FILE *file, int64_t at_ns, const struct sender *sender)
{
	struct flow flow = ask(sender->diag);

	if (!flow.found)
		return;
	fprintf(file, "%" PRId64 ",%d,", at_ns, sender->pair);
	if (flow.cwnd >= 0)
		fprintf(file, "%" PRId64, flow.cwnd);
	fprintf(file, ",%" PRIu32 "\n", flow.ssthresh);
}

/* Waits for a moment of the monotonic clock; returns 0 when told to end. */
static int wait_until(int64_t at_ns)
{
	struct timespec at = { .tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S };

	while (!ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
	return !ended;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int main(int argc, char **argv)
{
	int64_t period_ns = argc > 3 ? atoll(argv[2]) : 0;
	struct sender senders[argc];
	int count = 0, pid;
	FILE *file;

	if (period_ns < 1)
		errx(2, "usage: cwnd FILE PERIOD_NS PAIR:PID...");
	file = fopen(argv[1], "w");
	if (!file)
		err(1, "%s", argv[1]);
	for (; count < argc - 3; count++) {
		if (sscanf(argv[3 + count], "%d:%d", &senders[count].pair, &pid) != 2)
			errx(2, "%s: must be PAIR:PID", argv[3 + count]);
		senders[count].diag = open_in(pid);
	}
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = end }, NULL);
	fprintf(file, "time_ns,pair,cwnd_segments,ssthresh_segments\n");
	for (int64_t at_ns = now_ns() / period_ns * period_ns; wait_until(at_ns); at_ns += period_ns) {
		for (int i = 0; i < count; i++)
			sample(file, at_ns, &senders[i]);
		if (at_ns % NS_PER_S < period_ns)
			fflush(file);	/* a user may read the file during the trial */
	}
	if (ferror(file) || fclose(file))
		err(1, "%s", argv[1]);
	return 0;
}
