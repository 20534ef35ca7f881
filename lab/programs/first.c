// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process within a lab's boundary, when the lab's kernel runs: it waits until this kernel
 * has ended, and ends as it did. harness/supervisor/boundary.py becomes this program, because
 * Python would need 4 MiB to wait.
 *
 * Usage: first PID
 */
#include <stdlib.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
	int status;
	pid_t kernel, ended;

	if (argc != 2)
		return 1;
	kernel = atoi(argv[1]);
	do
		ended = wait(&status);
	while (ended != kernel && ended != -1);
	if (ended == -1)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
