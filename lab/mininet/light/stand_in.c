// SPDX-License-Identifier: GPL-2.0-only
// Stands in for the libraries of Open vSwitch's commands that only a connection by TLS, a packet
// device in user space or a name server needs (lab/mininet/light/build). Linking the real ones
// costs hundreds of page faults at each start. A command that calls one starts again with them.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **words;

// Open vSwitch calls this at each start to have a library at hand that only a crash needs.
int backtrace(void **of, int size)
{
	(void)of;
	(void)size;
	return 0;
}

// Kept, because getopt moves the words of the command.
__attribute__((constructor)) static void keep(int count, char **of_command)
{
	size_t bytes = (count + 1) * sizeof(*words);

	words = malloc(bytes);
	if (words)
		memcpy(words, of_command, bytes);
}

void cellbed_again(void)
{
	unsetenv("LD_LIBRARY_PATH");
	if (words)
		execv("/proc/self/exe", words);
	perror("cellbed: the command could not start again with its libraries");
	_exit(127);
}
