/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nsfarm COUNT: make COUNT network namespaces, each held by a process that sleeps.
 *
 * Prints one process id per line, then an empty line, then sleeps. The holders die with
 * it. Mininet holds each namespace by an interactive shell, which costs 65 ms under
 * User-Mode Linux; a bare process costs 1 ms. All holders share one memory, because
 * User-Mode Linux needs a process of the host for each memory.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { STACK_BYTES = 1 << 14 };

/* The code of a holder; its argument is the pipe of add(). */
static int hold(void *pipe_of_add)
{
	int ready = ((int *)pipe_of_add)[1];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNET | CLONE_NEWNS)) {
		perror("nsfarm: unshare");
		_exit(1);
	}
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Start one more holder and wait for its namespace; return its process id, or -1. */
static pid_t add(void)
{
	char *stack = malloc(STACK_BYTES);
	int ready[2];
	char byte;
	pid_t pid;
	ssize_t got;

	if (!stack || pipe(ready)) {
		perror("nsfarm: pipe");
		return -1;
	}
	pid = clone(hold, stack + STACK_BYTES, CLONE_VM | SIGCHLD, ready);
	if (pid < 0)
		perror("nsfarm: clone");
	/* If the holder fails, read() then finds the end of the pipe. */
	close(ready[1]);
	got = read(ready[0], &byte, 1);
	close(ready[0]);
	return got == 1 ? pid : -1;
}

int main(int argc, char **argv)
{
	long count = argc == 2 ? atol(argv[1]) : 0;

	if (count < 1 || count > 4096) {
		fprintf(stderr, "usage: nsfarm COUNT, a number from 1 to 4096\n");
		return 2;
	}
	for (long i = 0; i < count; i++) {
		pid_t pid = add();

		if (pid < 0)
			return 1;
		printf("%d\n", pid);
	}
	printf("\n");
	fflush(stdout);
	for (;;)
		pause();
}
