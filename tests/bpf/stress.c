// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress.c - two CPUs at one port at once, without a network
 *
 * usage: stress NAME THREADS BURSTS
 *
 * Each thread owns every THREADS-th of 100 VCs and plays access link: it
 * announces a burst of frames of a random VC by BPF_PROG_TEST_RUN, waits until
 * the last has crossed the modelled link, and asks for the verdicts. Interfaces
 * 1001..1100 must exist in this network namespace. What the port made of it is
 * in its frame records.
 */
#include <linux/bpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <bpf/bpf.h>

#define VCS 100
#define CELL_NS 2831
#define DELAY_NS 5000
#define BURST_MAX 12

static int announce_fd, verdict_fd, threads, bursts;

static void run(int fd, unsigned vc, unsigned cells)
{
	static __thread unsigned char packet[4096] = { [12] = 0x08 };
	struct __sk_buff skb = { .mark = vc };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
		    .data_size_in = 14 + cells * 48 - 16, .ctx_in = &skb,
		    .ctx_size_in = sizeof(skb), .repeat = 1);

	if (fd == announce_fd) {
		skb.ifindex = 1000 + vc;
		skb.mark = 0;
	}
	if (bpf_prog_test_run_opts(fd, &opts)) {
		perror("stress: BPF_PROG_TEST_RUN");
		exit(1);
	}
}

static void wait_ns(long ns)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += ns;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < end.tv_sec ||
	       (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void *play(void *number)
{
	unsigned me = (long)number, seed = me + 1, cells[BURST_MAX], n, i, vc;
	int burst;
	long total;

	for (burst = 0; burst < bursts; burst++) {
		vc = 1 + me + threads * (rand_r(&seed) % (VCS / threads));
		n = 1 + rand_r(&seed) % BURST_MAX;
		for (total = i = 0; i < n; i++) {
			cells[i] = 1 + rand_r(&seed) % 60;
			total += cells[i];
			run(announce_fd, vc, cells[i]);
		}
		wait_ns(DELAY_NS + total * CELL_NS);
		for (i = 0; i < n; i++)
			run(verdict_fd, vc, cells[i]);
	}
	return NULL;
}

static int pinned(const char *name, const char *what)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/fs/bpf/cellq/%s/%s", name, what);
	return bpf_obj_get(path);
}

int main(int argc, char **argv)
{
	pthread_t ids[VCS];
	long i;

	if (argc != 4 || (threads = atoi(argv[2])) < 1 || threads > VCS) {
		fputs("usage: stress NAME THREADS BURSTS\n", stderr);
		return 2;
	}
	bursts = atoi(argv[3]);
	announce_fd = pinned(argv[1], "announce");
	verdict_fd = pinned(argv[1], "verdict");
	if (announce_fd < 0 || verdict_fd < 0) {
		fprintf(stderr, "stress: %s: not loaded\n", argv[1]);
		return 1;
	}
	for (i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, play, (void *)i);
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
