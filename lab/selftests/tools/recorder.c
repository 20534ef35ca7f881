// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is packetdrill in a lab's PATH: runs the real program, and writes the packets of its network namespace
 * into a file. The packets wait in a socket until packetdrill has ended, so that nothing else runs
 * beside it.
 *
 * Before a script, packetdrill calls times(2) until ten ticks of 10 ms have passed, and before each event
 * gettimeofday(2) until its moment has come. In virtual time such a call takes a microsecond or nothing,
 * so there are more than 100,000 of them: much of what a script computes. So with CELLBED_LOOPS=wait, the
 * first call waits for the next tick, and the second for 10 us if ten calls before it came in such a step.
 * Then they go on as ever.
 *
 * CELLBED_PACKETDRILL is the program, CELLBED_RECORDS the folder of the files 1.pcap, 2.pcap...
 * Link type: Linux cooked, version 2 (https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL2.html).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/seccomp.h>
#include <net/ethernet.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAGIC_NS 0xa1b23c4d
#define LINK_TYPE 276
#define LONGEST 262144
#define WAITING_BYTES (256 << 20)
#define NS_PER_S 1000000000LL
#define TICK_NS (NS_PER_S / 100) /* of times(2): 100 ticks a second */
#define TICK_NAP_NS 50000
#define READING_NAP_NS 10000
#define FREE_READINGS 10
#define LAST_NAP 1000 /* a clock of ticks that stands still must not hold packetdrill for ever */

struct file_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, figures, longest, link_type;
};

struct packet_head {
	uint32_t s, ns, kept, length;
};

struct cooked {
	uint16_t protocol, reserved;
	uint32_t interface;
	uint16_t device;
	uint8_t kind, address_length, address[8];
};

static void refuse(const char *what)
{
	fprintf(stderr, "cellbed: the packets cannot be recorded: %s: %s\n", what, strerror(errno));
	exit(125);
}

static int listening(void)
{
	int bytes = WAITING_BYTES, on = 1;
	int from = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));

	if (from < 0 || setsockopt(from, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(from, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		refuse("socket");
	return from;
}

static FILE *next_file(void)
{
	const char *folder = getenv("CELLBED_RECORDS");
	char name[4096];
	int file = -1;

	for (int i = 1; file < 0; i++) {
		snprintf(name, sizeof(name), "%s/%d.pcap", folder ? folder : ".", i);
		file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (file < 0 && errno != EEXIST)
			refuse(name);
	}
	return fdopen(file, "w");
}

static int kept(int from, FILE *to)
{
	static char data[LONGEST], control[256];
	struct sockaddr_ll device;
	struct iovec part = { data, sizeof(data) };
	struct msghdr message = { &device, sizeof(device), &part, 1, control, sizeof(control), 0 };
	ssize_t length = recvmsg(from, &message, MSG_DONTWAIT | MSG_TRUNC);
	struct timespec at = { 0 };
	struct cmsghdr *told;

	if (length < 0)
		return 0;
	for (told = CMSG_FIRSTHDR(&message); told; told = CMSG_NXTHDR(&message, told))
		if (told->cmsg_level == SOL_SOCKET && told->cmsg_type == SCM_TIMESTAMPNS)
			memcpy(&at, CMSG_DATA(told), sizeof(at));

	uint32_t size = length < LONGEST ? length : LONGEST;
	struct cooked cooked = { .protocol = device.sll_protocol,
				 .interface = htonl(device.sll_ifindex),
				 .device = htons(device.sll_hatype),
				 .kind = device.sll_pkttype,
				 .address_length = device.sll_halen };
	struct packet_head head = { at.tv_sec, at.tv_nsec, sizeof(cooked) + size,
				    sizeof(cooked) + length };

	memcpy(cooked.address, device.sll_addr, sizeof(cooked.address));
	fwrite(&head, sizeof(head), 1, to);
	fwrite(&cooked, sizeof(cooked), 1, to);
	fwrite(data, size, 1, to);
	return 1;
}

/* From now on, both calls of this thread and of those that it starts wait for an answer. */
static int held_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_times, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettimeofday, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		       &filter);
}

static void nap(int64_t ns)
{
	struct timespec length = { ns / NS_PER_S, ns % NS_PER_S };

	nanosleep(&length, NULL);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The shortest time between two ticks: each begins with one of the kernel's own, of 1 to 10 ms. */
static int64_t shortest_tick_ns(void)
{
	struct timespec own;

	clock_getres(CLOCK_MONOTONIC_COARSE, &own);
	return TICK_NS / own.tv_nsec * own.tv_nsec;
}

/* After a tick, one nap lasts nearly until the next. */
static void await_tick(void)
{
	static int64_t last;
	clock_t before = times(NULL);
	int64_t rest = last + shortest_tick_ns() - 2 * TICK_NAP_NS - now_ns();

	if (rest > 0)
		nap(rest);
	for (int i = 0; i < LAST_NAP && times(NULL) == before; i++)
		nap(TICK_NAP_NS);
	last = now_ns();
}

static void await_end_of_loop(void)
{
	static int64_t last;
	static int count;
	int64_t now = now_ns();

	count = now - last > 2 * READING_NAP_NS ? 0 : count + 1;
	last = now;
	if (count >= FREE_READINGS)
		nap(READING_NAP_NS);
}

static pid_t child;
static int calls = -1;

/* Answers the calls, until the child has ended. */
static void answer(void)
{
	int ended = syscall(SYS_pidfd_open, child, 0);
	struct pollfd look[] = { { calls, POLLIN, 0 }, { ended, POLLIN, 0 } };

	if (ended < 0)
		refuse("pidfd_open");
	prctl(PR_SET_TIMERSLACK, 1);
	while (poll(look, 2, -1) > 0 && !look[1].revents) {
		struct seccomp_notif asked = { 0 };
		struct seccomp_notif_resp told = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

		if (ioctl(calls, SECCOMP_IOCTL_NOTIF_RECV, &asked))
			continue; /* the caller has gone meanwhile */
		if (asked.data.nr == SYS_times)
			await_tick();
		else
			await_end_of_loop();
		told.id = asked.id;
		ioctl(calls, SECCOMP_IOCTL_NOTIF_SEND, &told);
	}
	close(calls);
}

/* A thread of its own, because the filter holds all calls of the thread that sets it. */
static void *begin(void *argv)
{
	const char *program = getenv("CELLBED_PACKETDRILL"), *loops = getenv("CELLBED_LOOPS");

	if (loops && !strcmp(loops, "wait"))
		calls = held_calls(); /* a kernel without such filters: the loops compute */
	child = fork();
	if (!child) {
		execv(program, argv);
		fprintf(stderr, "cellbed: %s cannot be run: %s\n", program, strerror(errno));
		_exit(126);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct file_head head = { MAGIC_NS, 2, 4, 0, 0, LONGEST, LINK_TYPE };
	int from = listening(), status;
	FILE *to = next_file();
	struct tpacket_stats stats;
	socklen_t size = sizeof(stats);
	pthread_t thread;

	(void)argc;
	if (!getenv("CELLBED_PACKETDRILL"))
		refuse("CELLBED_PACKETDRILL");
	if (pthread_create(&thread, NULL, begin, argv) || pthread_join(thread, NULL) || child < 0)
		refuse("packetdrill");
	if (calls >= 0)
		answer();
	waitpid(child, &status, 0);
	fwrite(&head, sizeof(head), 1, to);
	while (kept(from, to))
		;
	if (getsockopt(from, SOL_PACKET, PACKET_STATISTICS, &stats, &size) || stats.tp_drops)
		refuse("some were lost");
	if (fclose(to))
		refuse("file");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
