// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints what a test could leave to the next although each has namespaces of its own: settings that are
 * of no namespace, parameters of modules, loaded modules, files of the system, and the clock. Two equal
 * outputs mean that a test has left no trace. Counters are no traces.
 *
 * A lab stops a process at each system call. sysctl(8), grep and find made 50,000 stops for this, so this
 * program opens each file below its folder, reads it once, and closes it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536 /* bytes: the longest setting has fewer */

static const char *const counters[] = {
	"/proc/sys/fs/aio-nr",
	"/proc/sys/fs/dentry-state",
	"/proc/sys/fs/file-nr",
	"/proc/sys/fs/inode-nr",
	"/proc/sys/fs/inode-state",
	"/proc/sys/kernel/random/*",
	"/proc/sys/kernel/ns_last_pid",
	"/proc/sys/kernel/pty/nr",
};

static const char *const places[] = { "/mnt/mnt/upper", "/run", "/dev", "/sys/fs/bpf" };

static int counts(const char *path)
{
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		if (!fnmatch(counters[i], path, 0))
			return 1;
	return 0;
}

/* The first piece of a file, as a text. The kernel gives a setting as a whole, other files in pieces. */
static const char *content(int folder, const char *name)
{
	static char text[PIECE];
	int file = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t length = file < 0 ? -1 : read(file, text, sizeof(text) - 1);

	if (file >= 0)
		close(file);
	if (length < 0)
		return NULL; /* some can only be written */
	text[length] = 0;
	return text;
}

static void print_content(int folder, const char *name, const char *path)
{
	const char *text = counts(path) ? NULL : content(folder, name);

	if (text)
		printf("%s = %s\n", path, text);
}

/* The lines of a file that begin with a word. */
static void lines(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	char line[PIECE];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, word, strlen(word)))
			fputs(line, stdout);
	if (file)
		fclose(file);
}

/* The contents of the files in a folder that is open, and in its folders if `deep`. */
static void contents(int number, const char *path, int deep)
{
	DIR *folder = number < 0 ? NULL : fdopendir(number);
	struct dirent *one;
	char below[PATH_MAX];

	while (folder && (one = readdir(folder))) {
		if (!strcmp(one->d_name, ".") || !strcmp(one->d_name, ".."))
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, one->d_name);
		if (one->d_type != DT_DIR)
			print_content(dirfd(folder), one->d_name, below);
		else if (deep)
			contents(openat(dirfd(folder), one->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				 below, deep);
	}
	if (folder)
		closedir(folder);
}

static void settings(const char *path)
{
	contents(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, 1);
}

static void parameters(const char *modules)
{
	DIR *folder = opendir(modules);
	struct dirent *one;
	char below[PATH_MAX];

	while (folder && (one = readdir(folder))) {
		snprintf(below, sizeof(below), "%s/%s/parameters", modules, one->d_name);
		if (one->d_name[0] != '.')
			contents(open(below, O_RDONLY | O_DIRECTORY | O_CLOEXEC), below, 0);
	}
	if (folder)
		closedir(folder);
}

/* Files as they are, without their contents; not those of other file systems. */
static void files(int parent, const char *name, const char *path, const struct stat *above)
{
	struct stat found;
	struct dirent *one;
	DIR *folder;
	int number;
	char below[PATH_MAX];

	if (fstatat(parent, name, &found, AT_SYMLINK_NOFOLLOW))
		return;
	printf("%s %o", path, found.st_mode);
	if (S_ISREG(found.st_mode))
		printf(" %lld %lld.%09ld", (long long)found.st_size, (long long)found.st_mtim.tv_sec,
		       found.st_mtim.tv_nsec);
	putchar('\n');
	if (!S_ISDIR(found.st_mode) || (above && above->st_dev != found.st_dev))
		return;
	number = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = number < 0 ? NULL : fdopendir(number);
	while (folder && (one = readdir(folder))) {
		if (!strcmp(one->d_name, ".") || !strcmp(one->d_name, ".."))
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, one->d_name);
		files(dirfd(folder), one->d_name, below, &found);
	}
	if (folder)
		closedir(folder);
}

int main(void)
{
	settings("/proc/sys");
	parameters("/sys/module");
	lines("/proc/modules", "");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		files(AT_FDCWD, places[i], places[i], NULL);
	lines("/proc/stat", "btime");
	return fflush(stdout) ? 1 : 0;
}
