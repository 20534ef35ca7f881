// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - command lines of cellq
 *
 * Every number is a row of a table with its range; a value outside is refused
 * with the option's name and the range.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <string.h>

#include "cli.h"
#include "options.h"

#include "../path.h"
#include "../policies.h"

#define GIGA 1000000000ULL

struct number {
	const char *name;
	__u64 min, max;
	int required;
	int given;
	__u64 value;	/* the default until given */
};

enum {
	BUFFER_CELLS, THRESHOLD_PPM, THRESHOLD_MINUS_CELLS, Z_PPM, RATE,
	ACCESS_RATE, ACCESS_DELAY_NS, VCS, IFINDEX_BASE, SAMPLE_NS,
	MAX_FRAME_CELLS, LATE_TOLERANCE_NS, NUMBERS,
	NAME = NUMBERS, POLICY, VERDICT_DEV, ANNOUNCE_LIST, FAR_END, OBJECT,
	RECORD_FRAMES, RECORD_DROPS, PATH, OPTIONS,
};

static const struct number number_table[NUMBERS] = {
	[BUFFER_CELLS] = { "buffer-cells", 1, CELLQ_MAX_BUFFER_CELLS, 1, 0, 0 },
	[THRESHOLD_PPM] = { "threshold-ppm", 0, CELLQ_PPM, 0, 0, 0 },
	[THRESHOLD_MINUS_CELLS] = { "threshold-minus-cells", 0,
				    CELLQ_MAX_BUFFER_CELLS, 0, 0, 0 },
	[Z_PPM] = { "z-ppm", 1, GIGA, 0, 0, 0 },
	[RATE] = { "rate-bit-per-s", 1000000, 622080000, 1, 0, 0 },
	[ACCESS_RATE] = { "access-rate-bit-per-s", 1000000, GIGA, 1, 0, 0 },
	[ACCESS_DELAY_NS] = { "access-delay-ns", 0, GIGA, 1, 0, 0 },
	[VCS] = { "vcs", 1, CELLQ_MAX_VCS, 1, 0, 0 },
	[IFINDEX_BASE] = { "ifindex-base", 0, 0x7fffffff - CELLQ_MAX_VCS, 1,
			   0, 0 },
	[SAMPLE_NS] = { "sample-ns", 10000, 3600 * GIGA, 0, 0, 0 },
	[MAX_FRAME_CELLS] = { "max-frame-cells", 1, CELLQ_MAX_FRAME_CELLS, 0,
			      0, CELLQ_MAX_FRAME_CELLS },
	[LATE_TOLERANCE_NS] = { "late-tolerance-ns", 0, GIGA, 0, 0, 0 },
};

struct policy_row {
	const char *name;
	int needs_threshold, needs_z;
};

static const struct policy_row policies[] = {
#define ROW(name) { #name, (CQ_POLICY_##name) & CQ_NEEDS_R, \
		    (CQ_POLICY_##name) & CQ_NEEDS_Z },
	CELLQ_POLICIES(ROW)
#undef ROW
};

const char *policy_name(__u32 policy)
{
	return policy < CELLQ_POLICY_COUNT ? policies[policy].name : "?";
}

static int parse_number(struct number *n, const char *text)
{
	char *end;
	int bad = !isdigit((unsigned char)text[0]);

	errno = 0;
	n->value = strtoull(text, &end, 10);
	if (bad || errno || *end || n->value < n->min || n->value > n->max)
		return fail(STATUS_USAGE,
			    "--%s %s: must be a whole number, %llu to %llu",
			    n->name, text, (unsigned long long)n->min,
			    (unsigned long long)n->max);
	n->given = 1;
	return STATUS_OK;
}

static int parse_far_end(const char *text, struct load_options *o)
{
	char rest;

	if (sscanf(text, "%u:%15s%c", &o->far_pid, o->far_dev, &rest) != 2 ||
	    !o->far_pid)
		return fail(STATUS_USAGE, "--far-end %s: must be PID:DEV",
			    text);
	return STATUS_OK;
}

static int parse_policy(const char *text, __u32 *policy)
{
	for (*policy = 0; *policy < CELLQ_POLICY_COUNT; ++*policy)
		if (!strcmp(policies[*policy].name, text))
			return STATUS_OK;
	return fail(STATUS_USAGE, "--policy %s: must be one of"
#define WORD(name) " " #name
		    CELLQ_POLICIES(WORD), text);
#undef WORD
}

/* A name becomes a folder of the BPF file system, where dots are forbidden. */
static int check_name(const char *name)
{
	size_t length = name ? strlen(name) : 0, i;

	if (!name)
		return fail(STATUS_USAGE, "--name is missing");
	for (i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-", name[i]))
			length = 0;
	if (length < 1 || length > 64)
		return fail(STATUS_USAGE, "--name %s: must be 1 to 64 letters,"
			    " digits, '-' or '_'", name);
	return STATUS_OK;
}

/* R in whole cells, rounded down: X > R is the same for R and its floor. */
static int derive_threshold(const struct number *n, struct cellq_params *p)
{
	const struct number *ppm = &n[THRESHOLD_PPM];
	const struct number *minus = &n[THRESHOLD_MINUS_CELLS];

	if (ppm->given && minus->given)
		return fail(STATUS_USAGE, "--threshold-minus-cells cannot be"
			    " used with --threshold-ppm");
	if (!ppm->given && !minus->given &&
	    policies[p->policy].needs_threshold)
		return fail(STATUS_USAGE, "--threshold-ppm or"
			    " --threshold-minus-cells is missing; --policy %s"
			    " needs one of them",
			    policies[p->policy].name);
	if (minus->value > p->buffer_cells)
		return fail(STATUS_USAGE, "--threshold-minus-cells %llu: must"
			    " be 0 to %u (--buffer-cells)",
			    (unsigned long long)minus->value, p->buffer_cells);
	if (ppm->given)
		p->threshold_cells = p->buffer_cells * ppm->value / CELLQ_PPM;
	else
		p->threshold_cells = p->buffer_cells - minus->value;
	return STATUS_OK;
}

/* The access cell time is whole ns: the netem that is the real access link
 * counts in ns, and must not drift from the model. See README.md. */
static int derive(const struct number *n, struct cellq_params *p)
{
	__u64 rate = n[RATE].value, access = n[ACCESS_RATE].value;

	p->buffer_cells = n[BUFFER_CELLS].value;
	p->z_ppm = n[Z_PPM].value;
	p->vcs = n[VCS].value;
	p->ifindex_base = n[IFINDEX_BASE].value;
	p->sample_ns = n[SAMPLE_NS].value;
	p->max_frame_cells = n[MAX_FRAME_CELLS].value;
	p->late_tolerance_ns = n[LATE_TOLERANCE_NS].value;
	p->access_delay_ps = n[ACCESS_DELAY_NS].value * 1000;
	p->service_ps = (CELLQ_CELL_BITS * 1000 * GIGA + rate / 2) / rate;
	p->access_ps = (CELLQ_CELL_BITS * GIGA + access / 2) / access * 1000;
	if (policies[p->policy].needs_z && !n[Z_PPM].given)
		return fail(STATUS_USAGE, "--z-ppm is missing; --policy %s needs"
			    " it", policies[p->policy].name);
	return derive_threshold(n, p);
}

static int check_required(const struct number *n, const struct load_options *o,
			  int policy_given)
{
	int i;

	for (i = 0; i < NUMBERS; i++)
		if (n[i].required && !n[i].given)
			return fail(STATUS_USAGE, "--%s is missing",
				    n[i].name);
	if (!policy_given)
		return fail(STATUS_USAGE, "--policy is missing");
	if (!o->announce_list)
		return fail(STATUS_USAGE, "--announce-list is missing");
	if (!o->verdict_dev)
		return fail(STATUS_USAGE, "--verdict-dev is missing");
	if (strlen(o->verdict_dev) >= IF_NAMESIZE)
		return fail(STATUS_USAGE, "--verdict-dev %s: must be 1 to %d"
			    " characters", o->verdict_dev, IF_NAMESIZE - 1);
	return check_name(o->name);
}

static void list_options(const struct number *n, struct option *longs)
{
	static const struct option words[] = {
		{ "name", required_argument, NULL, NAME },
		{ "policy", required_argument, NULL, POLICY },
		{ "verdict-dev", required_argument, NULL, VERDICT_DEV },
		{ "announce-list", required_argument, NULL, ANNOUNCE_LIST },
		{ "far-end", required_argument, NULL, FAR_END },
		{ "object", required_argument, NULL, OBJECT },
		{ "path", required_argument, NULL, PATH },
		{ "record-frames", no_argument, NULL, RECORD_FRAMES },
		{ "record-drops", no_argument, NULL, RECORD_DROPS },
		{ NULL, 0, NULL, 0 },
	};
	int i;

	for (i = 0; i < NUMBERS; i++)
		longs[i] = (struct option){ n[i].name, required_argument, NULL,
					    i };
	memcpy(&longs[NUMBERS], words, sizeof(words));
}

/* Report an option that getopt refused, in one line of our own. */
static int refuse_option(int code, char **argv)
{
	const char *word = argv[optind - 1];

	if (code == ':')
		return fail(STATUS_USAGE, "%s needs a value", word);
	return fail(STATUS_USAGE, "this command has no option %s", word);
}

int parse_load(int argc, char **argv, struct load_options *o)
{
	struct option longs[OPTIONS + 1];
	struct number n[NUMBERS];
	int code, policy_given = 0, status = STATUS_OK;

	memcpy(n, number_table, sizeof(n));
	memset(o, 0, sizeof(*o));
	list_options(n, longs);
	opterr = 0;
	while ((code = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		switch (code) {
		case NAME: o->name = optarg; break;
		case VERDICT_DEV: o->verdict_dev = optarg; break;
		case ANNOUNCE_LIST: o->announce_list = optarg; break;
		case FAR_END: status = parse_far_end(optarg, o); break;
		case OBJECT: o->object = optarg; break;
		case PATH: o->path = optarg; break;
		case RECORD_FRAMES: o->params.record_frames = 1; break;
		case RECORD_DROPS: o->params.record_drops = 1; break;
		case POLICY:
			policy_given = 1;
			status = parse_policy(optarg, &o->params.policy);
			break;
		case '?':
		case ':': return refuse_option(code, argv);
		default: status = parse_number(&n[code], optarg);
		}
		if (status)
			return status;
	}
	if (optind < argc)
		return fail(STATUS_USAGE, "%s: not an option", argv[optind]);
	status = check_required(n, o, policy_given);
	if (!status && o->path && o->object)
		status = fail(STATUS_USAGE, "--object cannot be used with"
			      " --path");
	if (!status)
		status = derive(n, &o->params);
	/* A moving path's server counts work, not time. */
	if (o->path)
		o->params.service_ps = CELLQ_CELL_BITS * PATH_UBIT;
	return status;
}

int parse_name(int argc, char **argv, const char *allowed,
	       struct name_options *o)
{
	static const struct option longs[] = {
		{ "name", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ "out", required_argument, NULL, 'o' },
		{ "until-signal", no_argument, NULL, 'u' },
		{ NULL, 0, NULL, 0 },
	};
	int code;

	memset(o, 0, sizeof(*o));
	opterr = 0;
	while ((code = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		if (code == '?' || code == ':' || !strchr(allowed, code))
			return refuse_option(code, argv);
		switch (code) {
		case 'n': o->name = optarg; break;
		case 'o': o->out = optarg; break;
		case 'j': o->json = 1; break;
		case 'u': o->until_signal = 1; break;
		}
	}
	if (optind < argc)
		return fail(STATUS_USAGE, "%s: not an option", argv[optind]);
	if (strchr(allowed, 'o') && !o->out)
		return fail(STATUS_USAGE, "--out is missing");
	return check_name(o->name);
}
