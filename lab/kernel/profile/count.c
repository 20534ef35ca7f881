/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the counters of a lab kernel that counts its branches into the file "profile" of the
 * folder where it works, when it ends. lab/kernel/cc links it into such a kernel.
 */
#include <fcntl.h>
#include <gcov.h>
#include <stdlib.h>
#include <unistd.h>

extern const struct gcov_info *const __start_cellbed_counters[], *const __stop_cellbed_counters[];

static char buffer[1 << 16];
static unsigned int filled;
static int profile;
static pid_t kernel;

/* The counters point to it, and nothing here calls it. libgcov's brings in more than can be linked. */
void __gcov_merge_add(long long *counters, unsigned int number)
{
}

static void flush(void)
{
	if (write(profile, buffer, filled) != filled)
		_exit(1);
	filled = 0;
}

static void put(const void *data, unsigned int length, void *unused)
{
	const char *bytes = data;

	for (; length; length--) {
		if (filled == sizeof(buffer))
			flush();
		buffer[filled++] = *bytes++;
	}
}

static void put_name(const char *name, void *unused)
{
	__gcov_filename_to_gcfn(name, put, NULL);
}

static void write_profile(void)
{
	const struct gcov_info *const *info;

	if (getpid() != kernel) /* its children end, too */
		return;
	profile = open("profile", O_WRONLY | O_TRUNC);
	for (info = __start_cellbed_counters; info < __stop_cellbed_counters; info++)
		__gcov_info_to_gcda(*info, put_name, put, NULL, NULL);
	flush();
}

/* The file is there from the start, so that record can keep it before the folder is removed. */
static void __attribute__((constructor)) begin(void)
{
	kernel = getpid();
	close(open("profile", O_WRONLY | O_CREAT, 0600));
	atexit(write_profile);
}
