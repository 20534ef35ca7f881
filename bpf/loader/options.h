/* SPDX-License-Identifier: GPL-2.0-only */
/* options.h - the user's options, checked */
#ifndef CELLQ_OPTIONS_H
#define CELLQ_OPTIONS_H

#include "../cellq.h"

struct load_options {
	const char *name;
	const char *object;		/* NULL: cellq.bpf.o beside cellq */
	const char *verdict_dev;
	const char *announce_list;
	__u32 far_pid;			/* the other end of the port's wire */
	char far_dev[16];		/* empty: not watched */
	const char *path;		/* table of a moving path; NULL: still */
	struct cellq_params params;	/* all derived values filled in */
};

/* The verbs that work on a loaded port. */
struct name_options {
	const char *name;
	const char *out;
	int json;
	int until_signal;
};

/* Both return STATUS_OK, or STATUS_USAGE after printing one line. */
int parse_load(int argc, char **argv, struct load_options *options);
int parse_name(int argc, char **argv, const char *allowed,
	       struct name_options *options);

const char *policy_name(__u32 policy);

#endif /* CELLQ_OPTIONS_H */
