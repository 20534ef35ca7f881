// SPDX-License-Identifier: GPL-2.0-only
/*
 * userspace.c - the same core as a shared library, for tests and benchmarks
 *
 * A trace is an array of operations in the order of their clock readings, as
 * the two hooks would see them; every operation gets one result.
 */
#include <stdlib.h>
#include <string.h>

#include "core/hooks.h"

enum { OP_ANNOUNCE, OP_VERDICT };

struct libcellq_op {
	__u32 kind;
	__u32 vc;
	__u32 cells;
	__u32 pad;
	__u64 now_ns;
};

struct libcellq_result {
	__u32 ok;
	__u32 pad;
	struct cq_outcome out;	/* only of a verdict without a fault */
};

struct libcellq {
	struct cq_state state;
	struct cellq_stats stats;
	struct cellq_params params;
	struct cellq_sample_record *samples;
	__u64 samples_room, samples_count;
};

struct libcellq *libcellq_new(const struct cellq_params *params,
			      __u64 samples_room)
{
	struct libcellq *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->params = *params;
	q->samples = calloc(samples_room + 1, sizeof(*q->samples));
	q->samples_room = samples_room;
	if (!q->samples) {
		free(q);
		return NULL;
	}
	return q;
}

void libcellq_free(struct libcellq *q)
{
	if (!q)
		return;
	free(q->samples);
	free(q);
}

#ifdef CQ_PATH
void libcellq_set_path(struct libcellq *q, const struct path_head *head,
		       const struct path_row *rows);

/* Sets the table of a path. Call this before the first operation. */
void libcellq_set_path(struct libcellq *q, const struct path_head *head,
		       const struct path_row *rows)
{
	q->state.path.head = *head;
	memcpy(q->state.path.rows, rows, head->rows * sizeof(*rows));
}
#endif

static void keep_sample(struct libcellq *q,
			const struct cellq_sample_record *sample)
{
	if (q->samples_count < q->samples_room)
		q->samples[q->samples_count] = *sample;
	q->samples_count++;
}

static int verdict(struct libcellq *q, const struct libcellq_op *op,
		   struct cq_outcome *out)
{
	struct cq_state *s = &q->state;
	struct cellq_sample_record sample;
	enum cq_progress progress;
	__u32 index;

	index = cq_verdict_begin(s, &q->stats, op->vc, op->now_ns);
	if (!index)
		return 0;
	while ((progress = cq_advance(s, &q->stats, &q->params, index,
				      &sample)) == CQ_SAMPLED)
		keep_sample(q, &sample);
	return cq_verdict_end(s, &q->stats, &q->params, index, op->cells,
			      progress, out);
}

static int one(struct libcellq *q, const struct libcellq_op *op,
	       struct libcellq_result *result)
{
	cq_budget_reset();
	if (op->kind == OP_ANNOUNCE)
		return cq_announce(&q->state, &q->stats, &q->params, op->vc,
				   op->cells, op->now_ns);
	return verdict(q, op, &result->out);
}

void libcellq_run(struct libcellq *q, const struct libcellq_op *ops,
		  struct libcellq_result *results, __u64 count)
{
	for (__u64 i = 0; i < count; i++) {
		memset(&results[i], 0, sizeof(results[i]));
		results[i].ok = one(q, &ops[i], &results[i]);
	}
}

const struct cellq_stats *libcellq_stats(struct libcellq *q)
{
	return &q->stats;
}

const struct cellq_sample_record *libcellq_samples(struct libcellq *q,
						   __u64 *count)
{
	*count = q->samples_count;
	return q->samples;
}

/* A policy by itself, for tests of its arithmetic at every size. */
int libcellq_policy(const struct cellq_params *params, __u32 x, __u32 x_vc,
		    __u32 active)
{
	struct cq_view view = { .x = x, .x_vc = x_vc, .active = active };

	return cq_policy(params, &view);
}

/* Tests of the fault "loop_budget" lower this. */
void libcellq_set_budget(unsigned long loops)
{
	cq_budget_limit = loops;
}

/* Sizes that a caller written in another language can check itself against. */
__u64 libcellq_sizeof(const char *what)
{
	if (!strcmp(what, "params"))
		return sizeof(struct cellq_params);
	if (!strcmp(what, "stats"))
		return sizeof(struct cellq_stats);
	if (!strcmp(what, "op"))
		return sizeof(struct libcellq_op);
	if (!strcmp(what, "result"))
		return sizeof(struct libcellq_result);
	return 0;
}
