// SPDX-License-Identifier: GPL-2.0-only
// The image's ovs-ofctl and ovs-vsctl. A command that changes a switch is the business of a script
// for the shell, lab/mininet/ovs-command. Any other is Open vSwitch's program at once: Mininet asks
// each switch again and again whether it is connected, and a shell would cost as much as the answer.
// Linked statically, so its own start costs little.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PLACE "/usr/lib/cellbed/"
#define LIGHT PLACE "light"

// Words, or the beginnings of words, of the commands that change a switch.
static const char *const words[] = { "create", "destroy", "emer-reset" };
static const char *const beginnings[] = {
	"add", "clear", "del", "insert", "mod", "remove", "replace", "set",
};

#define COUNT(of) (sizeof(of) / sizeof(*(of)))

static int changes(const char *word)
{
	for (size_t i = 0; i < COUNT(words); i++)
		if (!strcmp(word, words[i]))
			return 1;
	for (size_t i = 0; i < COUNT(beginnings); i++)
		if (!strncmp(word, beginnings[i], strlen(beginnings[i])))
			return 1;
	return 0;
}

int main(int count, char **of_command)
{
	// The file that was started, as a shell would know it: of_command[0] may be any word.
	const char *path = (const char *)getauxval(AT_EXECFN);
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *folder = PLACE;
	char program[256];

	for (int i = 1; i < count; i++)
		if (changes(of_command[i]))
			folder = PLACE "changes/";
	// ovs-ofctl may read its standard input before it calls a library. It then cannot start again.
	if (!strcmp(folder, PLACE) && !strcmp(name, "ovs-vsctl"))
		setenv("LD_LIBRARY_PATH", LIGHT, 0);
	snprintf(program, sizeof(program), "%s%s", folder, name);
	of_command[0] = program;
	execv(program, of_command);
	perror(program);
	return 127;
}
