// SPDX-License-Identifier: GPL-2.0-only
/*
 * For /etc/ld.so.preload: user namespaces as AppArmor of Ubuntu 24.04 has them
 * (kernel.apparmor_restrict_unprivileged_userns = 1). A program can make one,
 * and has no rights in it: nobody can be mapped into it. The kernel then
 * refuses to open `setgroups`, and to write `uid_map` and `gid_map`; this
 * refuses to open all three, but where the environment has MAPS.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int refused(const char *path, int flags)
{
	const char *name = strrchr(path, '/');

	if (!name || getenv("MAPS") || strncmp(path, "/proc/", 6) || (flags & O_ACCMODE) == O_RDONLY)
		return 0;
	return !strcmp(name, "/setgroups") || !strcmp(name, "/uid_map") || !strcmp(name, "/gid_map");
}

#define OPENS(function)								\
int function(const char *path, int flags, ...)					\
{										\
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #function);	\
	va_list rest;								\
	mode_t mode;								\
										\
	va_start(rest, flags);							\
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;	\
	va_end(rest);								\
	if (refused(path, flags)) {						\
		errno = EACCES;							\
		return -1;							\
	}									\
	return next(path, flags, mode);						\
}

OPENS(open)
OPENS(open64)
