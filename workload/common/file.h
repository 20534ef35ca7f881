/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of the host, which a lab reads and writes with few system calls: each is dear there. */
#ifndef COMMON_FILE_H
#define COMMON_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* The host's file system names blocks of 1 KiB, and stdio takes its buffer from that. */
#define FILE_BUFFER_BYTES (1 << 16)

/* As fopen(), with a larger buffer, which stays until the program ends. The C library ignores the size
 * of a buffer that it shall allocate itself. */
static inline FILE *file_open(const char *name, const char *mode)
{
	FILE *file = fopen(name, mode);
	char *buffer = file ? malloc(FILE_BUFFER_BYTES) : NULL;

	if (buffer)
		setvbuf(file, buffer, _IOFBF, FILE_BUFFER_BYTES);
	return file;
}

#endif /* COMMON_FILE_H */
