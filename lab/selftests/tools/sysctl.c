// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is sysctl in a lab's PATH, beside the real one: most scripts of packetdrill start it more than 40
 * times, to set a value each time. The start of a program with four libraries stops the lab 350 times, and
 * the start of this program 100 times. It knows only `sysctl -q NAME=VALUE...` with a dotted NAME, and writes the
 * value as the real one does. For all else, and for each error, it becomes the real one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REAL "/usr/sbin/sysctl"
#define LONGEST 4096

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_."

/* NAME=VALUE, with a NAME of which this program is sure. */
static int known(const char *word)
{
	size_t name = strspn(word, LETTERS);

	return word[name] == '=' && name && name < 200 && word[0] != '.' && word[name - 1] != '.' &&
	       !memmem(word, name, "..", 2) && strlen(word) < LONGEST - 1;
}

static int set(const char *word)
{
	char path[LONGEST] = "/proc/sys/", value[LONGEST];
	char *to = path + strlen(path);
	int file, length;
	ssize_t written;

	for (; *word != '='; word++)
		*to++ = *word == '.' ? '/' : *word;
	length = snprintf(value, sizeof(value), "%s\n", word + 1);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	written = write(file, value, length);
	close(file);
	return written == length;
}

int main(int argc, char **argv)
{
	int done = argc > 2 && !strcmp(argv[1], "-q");

	for (int i = 2; done && i < argc; i++)
		done = known(argv[i]);
	for (int i = 2; done && i < argc; i++)
		done = set(argv[i]);
	if (done)
		return 0;
	execv(REAL, argv);
	perror("cellbed: " REAL);
	return 127;
}
