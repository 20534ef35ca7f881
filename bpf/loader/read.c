// SPDX-License-Identifier: GPL-2.0-only
/*
 * read.c - cellq read: all counters of a port
 *
 * The counters are mapped memory: reading them runs no program and takes no
 * lock. If a hook wrote during the copy, the copy is repeated.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "cli.h"
#include "options.h"
#include "pins.h"

#define COPY_TRIES 1000

typedef unsigned long long ull;

/* Sums over VCs, or one VC, under the names that are printed. */
struct counts {
	ull frames_in, frames_accepted, frames[CELLQ_CAUSES];
	ull cells_in, cells_accepted, cells[CELLQ_CAUSES];
	ull wasted, overflow, discarded;
};

static void add(struct counts *c, const struct cellq_vc_stats *v)
{
	int i;

	for (i = 0; i < CELLQ_CAUSES; i++) {
		c->frames[i] += v->frames[i];
		c->frames_in += v->frames[i];
		c->cells[i] += v->cells[i];
		c->cells_in += v->cells[i];
	}
	c->frames_accepted += v->frames[CELLQ_DELIVERED] +
			      v->frames[CELLQ_LOST_MID];
	c->cells_accepted += v->cells[CELLQ_DELIVERED] + v->cells_wasted;
	c->wasted += v->cells_wasted;
	c->overflow += v->cells_overflow;
	c->discarded += v->cells_discarded;
}

static void print_counts(const struct counts *c)
{
	printf("\"frames\": {\"in\": %llu, \"accepted\": %llu, "
	       "\"refused_threshold\": %llu, \"refused_fairness\": %llu, "
	       "\"lost_first\": %llu, \"lost_mid\": %llu, "
	       "\"delivered\": %llu}, ",
	       c->frames_in, c->frames_accepted,
	       c->frames[CELLQ_REFUSED_THRESHOLD],
	       c->frames[CELLQ_REFUSED_FAIRNESS], c->frames[CELLQ_LOST_FIRST],
	       c->frames[CELLQ_LOST_MID], c->frames[CELLQ_DELIVERED]);
	printf("\"cells\": {\"in\": %llu, \"accepted\": %llu, "
	       "\"refused_threshold\": %llu, \"refused_fairness\": %llu, "
	       "\"overflow\": %llu, \"discarded\": %llu, \"delivered\": %llu, "
	       "\"wasted\": %llu}",
	       c->cells_in, c->cells_accepted,
	       c->cells[CELLQ_REFUSED_THRESHOLD],
	       c->cells[CELLQ_REFUSED_FAIRNESS], c->overflow, c->discarded,
	       c->cells[CELLQ_DELIVERED], c->wasted);
}

static void print_params(const struct cellq_params *p)
{
	printf("\"params\": {\"policy\": \"%s\", \"buffer_cells\": %u, "
	       "\"threshold_cells\": %u, \"z_ppm\": %u, \"vcs\": %u, "
	       "\"max_frame_cells\": %u, \"service_ps\": %llu, "
	       "\"access_ps\": %llu, \"access_delay_ps\": %llu, "
	       "\"sample_ns\": %llu, \"late_tolerance_ns\": %llu, "
	       "\"ifindex_base\": %u, \"record_frames\": %u, "
	       "\"record_drops\": %u}, ",
	       policy_name(p->policy), p->buffer_cells, p->threshold_cells,
	       p->z_ppm, p->vcs, p->max_frame_cells, (ull)p->service_ps,
	       (ull)p->access_ps, (ull)p->access_delay_ps, (ull)p->sample_ns,
	       (ull)p->late_tolerance_ns, p->ifindex_base, p->record_frames,
	       p->record_drops);
}

static const char *const fault_names[] = {
#define NAME(name, meaning) #name,
	CELLQ_FAULTS(NAME)
#undef NAME
};

static ull print_faults(const struct cellq_stats *st)
{
	ull total = 0;
	int i;

	printf("\"faults\": {");
	for (i = 0; i < CELLQ_FAULT_COUNT; i++) {
		total += st->faults[i];
		printf("%s\"%s\": %llu", i ? ", " : "", fault_names[i],
		       (ull)st->faults[i]);
	}
	printf("}, \"faults_total\": %llu, ", total);
	return total;
}

static void print_port(const struct cellq_stats *st)
{
	printf("\"frames_announced\": %llu, \"frames_resolved\": %llu, "
	       "\"frames_late\": %llu, \"late_max_ns\": %llu, "
	       "\"records\": %llu, ",
	       (ull)st->frames_announced, (ull)st->frames_resolved,
	       (ull)st->frames_late, (ull)st->late_max_ns, (ull)st->records);
	printf("\"occupancy_cells\": %u, \"active_vcs\": %u, "
	       "\"peak_cells\": %u, \"busy_ns\": %llu, \"cells_sent\": %llu, ",
	       st->occupancy_cells, st->active_vcs, st->peak_cells,
	       (ull)st->busy_ps / 1000, (ull)st->cells_sent);
	printf("\"first_departure_ns\": %llu, \"last_departure_ns\": %llu, ",
	       (ull)st->first_departure_ns, (ull)st->last_departure_ns);
}

static void print_wire(const struct cellq_wire *w)
{
	printf("\"wire\": {\"frames\": %llu, \"waiting\": %u, "
	       "\"cells\": %llu, \"busy_ns\": %llu, \"stretches\": %llu, "
	       "\"stretches_unsure\": %llu}, ",
	       (ull)w->frames, w->waiting, (ull)w->cells, (ull)w->busy_ns,
	       (ull)w->stretches, (ull)w->stretches_unsure);
}

static void print_json(const char *name, const struct cellq_params *p,
		       const struct cellq_stats *st,
		       const struct cellq_wire *w)
{
	struct counts total = {};
	__u32 i;

	for (i = 0; i < p->vcs; i++)
		add(&total, &st->vc[i]);
	printf("{\"format\": \"cellq-read/1\", \"name\": \"%s\", ", name);
	print_params(p);
	print_counts(&total);
	printf(", ");
	print_port(st);
	print_faults(st);
	print_wire(w);
	printf("\"per_vc\": [");
	for (i = 0; i < p->vcs; i++) {
		struct counts one = {};

		add(&one, &st->vc[i]);
		printf("%s{\"vc\": %u, ", i ? ", " : "", i + 1);
		print_counts(&one);
		printf("}");
	}
	printf("]}\n");
}

static void print_text(const char *name, const struct cellq_params *p,
		       const struct cellq_stats *st,
		       const struct cellq_wire *w)
{
	struct counts c = {};
	__u32 i;

	for (i = 0; i < p->vcs; i++)
		add(&c, &st->vc[i]);
	printf("%s: %s, K %u cells, R %u cells, %u VCs\n", name,
	       policy_name(p->policy), p->buffer_cells, p->threshold_cells,
	       p->vcs);
	printf("frames  in %llu, delivered %llu, refused %llu (threshold) +"
	       " %llu (fairness),\n        lost %llu (first cell) + %llu"
	       " (later)\n",
	       c.frames_in, c.frames[CELLQ_DELIVERED],
	       c.frames[CELLQ_REFUSED_THRESHOLD],
	       c.frames[CELLQ_REFUSED_FAIRNESS], c.frames[CELLQ_LOST_FIRST],
	       c.frames[CELLQ_LOST_MID]);
	printf("cells   in %llu, delivered %llu, wasted %llu, overflow %llu,"
	       " discarded %llu\n",
	       c.cells_in, c.cells[CELLQ_DELIVERED], c.wasted, c.overflow,
	       c.discarded);
	printf("buffer  X %u, active VCs %u, peak %u\n", st->occupancy_cells,
	       st->active_vcs, st->peak_cells);
	printf("wire    %llu frames came out, %llu cells in %llu ns\n",
	       (ull)w->frames, (ull)w->cells, (ull)w->busy_ns);
	for (i = 0; i < CELLQ_FAULT_COUNT; i++)
		if (st->faults[i])
			printf("FAULT   %s: %llu\n", fault_names[i],
			       (ull)st->faults[i]);
}

/* Copy the counters without a hook's write during the copy. */
static int snapshot(const volatile struct cellq_stats *live,
		    struct cellq_stats *copy)
{
	__u64 before;
	int i;

	for (i = 0; i < COPY_TRIES; i++) {
		before = __atomic_load_n(&live->generation, __ATOMIC_ACQUIRE);
		memcpy(copy, (const void *)live, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (before % 2 == 0 && before == live->generation)
			return STATUS_OK;
	}
	return fail(STATUS_FAILED, "the counters change too fast to be read");
}

int read_params(const char *name, struct cellq_params *params)
{
	int fd = pins_open(name, PIN_PARAMS), error;
	__u32 zero = 0;

	if (fd < 0)
		return STATUS_FAILED;
	error = bpf_map_lookup_elem(fd, &zero, params);
	close(fd);
	return error ? fail(STATUS_FAILED, "cannot read the parameters: %s",
			    strerror(errno)) : STATUS_OK;
}

static int read_stats(const char *name, struct cellq_stats *stats)
{
	int fd = pins_open(name, PIN_STATS), status;
	void *live;

	if (fd < 0)
		return STATUS_FAILED;
	live = mmap(NULL, sizeof(*stats), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (live == MAP_FAILED)
		return fail(STATUS_FAILED, "cannot map the counters: %s",
			    strerror(errno));
	status = snapshot(live, stats);
	munmap(live, sizeof(*stats));
	return status;
}

static int read_wire(const char *name, struct cellq_wire *wire)
{
	int fd = pins_open(name, PIN_WIRE), error;
	__u32 zero = 0;

	if (fd < 0)
		return STATUS_FAILED;
	error = bpf_map_lookup_elem_flags(fd, &zero, wire, BPF_F_LOCK);
	close(fd);
	return error ? fail(STATUS_FAILED, "cannot read the counters of the wire: %s",
			    strerror(errno)) : STATUS_OK;
}

int verb_read(int argc, char **argv)
{
	static struct cellq_stats stats;
	struct cellq_wire wire;
	struct cellq_params params;
	struct name_options o;
	int status = parse_name(argc, argv, "nj", &o);

	if (!status)
		status = read_params(o.name, &params);
	if (!status)
		status = read_stats(o.name, &stats);
	if (!status)
		status = read_wire(o.name, &wire);
	if (!status)
		(o.json ? print_json : print_text)(o.name, &params, &stats,
						   &wire);
	return status;
}
