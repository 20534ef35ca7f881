// SPDX-License-Identifier: GPL-2.0-only
/* cellq.c - the loader of the cell queues: load, read, record, unload */
#include <stdarg.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "loader/cli.h"

static const char usage[] =
"usage: cellq load --name NAME --policy plain|ppd|epd|sd|fba\n"
"           --buffer-cells K\n"
"           [--threshold-ppm P | --threshold-minus-cells C] [--z-ppm Z]\n"
"           --rate-bit-per-s R --access-rate-bit-per-s A\n"
"           --access-delay-ns D --vcs N --ifindex-base I\n"
"           --verdict-dev DEV --announce-list FILE\n"
"           [--record-frames] [--record-drops] [--sample-ns G]\n"
"           [--max-frame-cells M] [--late-tolerance-ns T] [--object FILE]\n"
"           [--path FILE]\n"
"       cellq read --name NAME [--json]\n"
"       cellq record --name NAME --out FILE [--until-signal]\n"
"       cellq unload --name NAME\n";

/* The loader reports each error in one line of its own. libbpf's messages about
 * the same errors are only for debugging. */
static int print(enum libbpf_print_level level, const char *format,
		 va_list args)
{
	(void)level;
	return getenv("CELLQ_DEBUG") ? vfprintf(stderr, format, args) : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = {
		{ "load", verb_load },
		{ "read", verb_read },
		{ "record", verb_record },
		{ "unload", verb_unload },
	};
	size_t i;

	libbpf_set_print(print);
	for (i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "--help"))
		return fputs(usage, stdout) < 0;
	fputs(usage, stderr);
	return STATUS_USAGE;
}
