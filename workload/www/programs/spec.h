/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trial's specification, a text file:
 *
 *	cellbed-www/1
 *	request_bytes 128
 *	pair <number> <client netns file> <server IPv4> <port> <server netns file, or ->
 *	request <pair> <batch> <number> <class> <file> <size_bytes> <due_ns> <path>
 *
 * A pair must be before its requests. Requests are in the order of due times. All else is an error.
 */
#ifndef SPEC_H
#define SPEC_H

#include "trial.h"

void spec_read(const char *file_name, struct trial *trial);

#endif
