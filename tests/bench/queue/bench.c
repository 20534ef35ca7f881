// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench.c - nanoseconds a frame and a cell of a loaded port's two programs
 *
 * usage: queue-bench NAME VCS BURST CELLS ROUNDS
 *
 * Runs the pinned programs of port NAME with BPF_PROG_TEST_RUN. In a round,
 * each of VCS hosts announces BURST frames of CELLS cells at once; when the
 * last has crossed its access link, the verdicts are asked for. One VC has its
 * cells in runs; many VCs interleave every cell, the worst case. Interfaces
 * 1001..1000+VCS must exist in this network namespace. Real clock only.
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define CELL_NS 2831
#define PACKET_MAX (14 + 65535)

static unsigned char packet[PACKET_MAX] = { [12] = 0x08 };	/* IPv4 */

/* Run a program `repeat` times; nanoseconds for all of them. */
static unsigned long long run(int fd, struct __sk_buff *skb, unsigned length,
			      unsigned repeat)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
		    .data_size_in = length, .ctx_in = skb,
		    .ctx_size_in = sizeof(*skb), .repeat = repeat);

	if (bpf_prog_test_run_opts(fd, &opts)) {
		perror("queue-bench: BPF_PROG_TEST_RUN");
		exit(1);
	}
	return (unsigned long long)opts.duration * repeat;
}

static int pinned(const char *name, const char *what)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/sys/fs/bpf/cellq/%s/%s", name, what);
	fd = bpf_obj_get(path);
	if (fd < 0) {
		fprintf(stderr, "queue-bench: %s: not loaded\n", path);
		exit(1);
	}
	return fd;
}

int main(int argc, char **argv)
{
	unsigned long long announce_ns = 0, verdict_ns = 0, frames;
	unsigned vcs, burst, cells, rounds, length, i, round;
	int announce, verdict;

	if (argc != 6) {
		fputs("usage: queue-bench NAME VCS BURST CELLS ROUNDS\n", stderr);
		return 2;
	}
	vcs = atoi(argv[2]), burst = atoi(argv[3]);
	cells = atoi(argv[4]), rounds = atoi(argv[5]);
	length = 14 + cells * 48 - 16;
	announce = pinned(argv[1], "announce");
	verdict = pinned(argv[1], "verdict");
	for (round = 0; round < rounds; round++) {
		struct __sk_buff skb = {};

		for (i = 1; i <= vcs; i++) {
			skb.ifindex = 1000 + i;
			announce_ns += run(announce, &skb, length, burst);
		}
		usleep(100 + burst * cells * CELL_NS / 1000);
		for (i = 1; i <= vcs; i++) {
			skb.ifindex = 0;
			skb.mark = i;
			verdict_ns += run(verdict, &skb, length, burst);
		}
	}
	frames = (unsigned long long)rounds * vcs * burst;
	printf("%4u VCs x %4u frames of %3u cells: announce %5llu ns a frame, "
	       "verdict %6llu ns a frame, %5.1f ns a cell\n", vcs, burst, cells,
	       announce_ns / frames, verdict_ns / frames,
	       (double)(announce_ns + verdict_ns) / frames / cells);
	return 0;
}
