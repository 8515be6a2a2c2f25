// SPDX-License-Identifier: GPL-2.0-only
/* What a history must be like as a whole: chain.c says what one slot must. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "tools/common/clock.h"

#define SHOWN		40			/* of what is wrong */
#define CRASH_NS	(5 * NS_IN_S)		/* until all nodes have heard of a blade's new life */
#define LATE_NS		(15 * NS_IN_S)		/* a node's programs may still meet what it lost */

void soak_say(struct soak_verdict *v, const char *fmt, ...)
{
	va_list list;

	if (v->wrong++ >= SHOWN || v->quiet)
		return;
	fputs("WRONG: ", stdout);
	va_start(list, fmt);
	vprintf(fmt, list);
	va_end(list);
	putchar('\n');
}

static const struct soak_death *cut_off(const struct soak_history *h, uint32_t node, uint64_t t0,
					uint64_t t1, uint64_t late)
{
	size_t i;

	for (i = 0; i < h->deaths.n; i++) {
		const struct soak_death *d = &h->deaths.at[i];

		if (d->node == node && t1 >= d->iso && t0 <= d->back + late)
			return d;
	}
	return NULL;
}

const struct soak_death *soak_zombie(const struct soak_history *h, const struct soak_op *op)
{
	return cut_off(h, op->node, op->t0, op->t1, 0);
}

/* --- Slots ----------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
	const struct soak_op *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->t0 < y->t0 ? -1 : x->t0 > y->t0;
}

/* What fsync() had made safe before @o began is there; nobody else writes to that slot. */
static void check_record(const struct soak_history *h, const struct soak_op *o,
			 struct soak_verdict *v)
{
	uint64_t safe = 0;
	size_t i;

	for (i = 0; i < h->acks.n; i++) {
		const struct soak_ack *a = &h->acks.at[i];

		if (a->slot == o->slot && a->t1 <= o->t0 && a->tag > safe &&
		    !cut_off(h, a->node, a->t0, a->t1, 0))
			safe = a->tag;
	}
	if (soak_zombie(h, o))
		return;
	if (o->seen < safe)
		soak_say(v, "%s %" PRIu32 ": node %" PRIu32 " at %" PRIu64 " has found %" PRIx64
			 ", and fsync() had made %" PRIx64 " safe", soak_about[SOAK_SYNC].name,
			 o->slot, o->node, o->t0, o->seen, safe);
	if (o->mixed && o->seen == safe && h->over && o->t0 > h->over)
		soak_say(v, "%s %" PRIu32 ": %" PRIx64 ", which was safe, is damaged",
			 soak_about[SOAK_SYNC].name, o->slot, o->seen);
}

static void check_slots(struct soak_history *h, struct soak_verdict *v)
{
	size_t i, n;

	qsort(h->ops.at, h->ops.n, sizeof(*h->ops.at), by_slot);
	for (i = 0; i < h->ops.n; i += n) {
		struct soak_op *o = &h->ops.at[i];

		for (n = 1; i + n < h->ops.n && o[n].kind == o->kind && o[n].slot == o->slot; n++)
			;
		v->done[o->kind] += n;
		if (o->kind == SOAK_SYNC) {
			size_t k;

			for (k = 0; k < n; k++)
				check_record(h, &o[k], v);
		} else {
			soak_chain(h, o, n, v);
		}
	}
	v->acks = h->acks.n;
}

/* --- Time ------------------------------------------------------------------------ */

/*
 * When a blade's machine has ended, fsync() fails once for each open file; who gets an error ends,
 * so it has no second one.  A file that was opened later has none.
 */
static bool is_crash(const struct soak_history *h, const struct soak_error *e)
{
	const struct soak_process *p = NULL;
	size_t i;

	if (e->kind != SOAK_SYNC || e->error != EIO || strcmp(e->where, "fsync"))
		return false;
	for (i = 0; i < h->processes.n; i++)
		if (h->processes.at[i].worker == e->worker && h->processes.at[i].node == e->node)
			p = &h->processes.at[i];
	for (i = 0; p && i < h->machines.n; i++)
		if (h->machines.at[i].t0 <= e->t1 && h->machines.at[i].t1 + CRASH_NS >= p->begun)
			return true;
	return false;
}

static void check_errors(const struct soak_history *h, struct soak_verdict *v)
{
	size_t i;

	for (i = 0; i < h->errors.n; i++) {
		const struct soak_error *e = &h->errors.at[i];

		if (!cut_off(h, e->node, e->t0, e->t1, LATE_NS) && !is_crash(h, e))
			soak_say(v, "%s %" PRIu32 ": node %" PRIu32 " process %" PRIu32
				 " has got error %d (%s) at %" PRIu64 " after %" PRIu64
				 " ms, and the node was a member",
				 soak_about[e->kind].name, e->slot, e->node, e->worker, e->error,
				 e->where, e->t1, (uint64_t)((e->t1 - e->t0) / NS_IN_MS));
	}
}

/* A process ends, or it, or its node, was killed. */
static void check_ends(const struct soak_history *h, struct soak_verdict *v)
{
	size_t i;

	for (i = 0; i < h->processes.n; i++) {
		const struct soak_process *p = &h->processes.at[i];

		if (!p->well && !p->killed && !cut_off(h, p->node, p->last, UINT64_MAX, 0))
			soak_say(v, "node %" PRIu32 " process %" PRIu32 " does not end after %"
				 PRIu64, p->node, p->worker, p->last);
	}
}

/* Is an operation of that time under way with a death that begins, and is not over? */
static bool with_death(const struct soak_history *h, uint64_t t0, uint64_t t1)
{
	size_t i;

	for (i = 0; i < h->deaths.n; i++)
		if (t0 < h->deaths.at[i].back && t1 > h->deaths.at[i].iso)
			return true;
	return false;
}

/* What it may take longer because the machine stood still. */
static uint64_t stood_still(const struct soak_history *h, uint64_t t0, uint64_t t1)
{
	uint64_t more = 0;
	size_t i;

	for (i = 0; i < h->still.n; i++) {
		const struct soak_still *s = &h->still.at[i];
		uint64_t from = s->t0 > t0 ? s->t0 : t0, to = s->t1 < t1 ? s->t1 : t1;

		if (from < to)
			more += to - from + (with_death(h, t0, t1) ? s->more : 0);
	}
	return more;
}

/* What of faults is under way with an operation allows it more. */
static bool is_late(const struct soak_history *h, uint64_t t0, uint64_t t1, uint64_t bound)
{
	size_t i;

	if (t1 - t0 <= bound)
		return false;
	for (i = 0; i < h->faults.n; i++) {
		const struct soak_fault *f = &h->faults.at[i];

		if (t0 < f->t1 && t1 > f->t0 && f->bound > bound)
			bound = f->bound;
	}
	return t1 - t0 > bound + stood_still(h, t0, t1);
}

static void check_bound(const struct soak_history *h, uint64_t bound, struct soak_verdict *v)
{
	size_t i;

	for (i = 0; i < h->acks.n; i++) {
		const struct soak_ack *a = &h->acks.at[i];

		if (is_late(h, a->t0, a->t1, bound) && !cut_off(h, a->node, a->t0, a->t1, 0))
			soak_say(v, "%s %" PRIu32 ": fsync() of node %" PRIu32 " took from %" PRIu64
				 " to %" PRIu64, soak_about[SOAK_SYNC].name, a->slot, a->node,
				 a->t0, a->t1);
	}
	for (i = 0; i < h->ops.n; i++) {
		const struct soak_op *o = &h->ops.at[i];

		if (is_late(h, o->t0, o->t1, bound) && !soak_zombie(h, o))
			soak_say(v, "%s %" PRIu32 ": node %" PRIu32 " process %" PRIu32
				 " took from %" PRIu64 " to %" PRIu64 ", %" PRIu64 " ms",
				 soak_about[o->kind].name, o->slot, o->node, o->worker, o->t0,
				 o->t1, (uint64_t)((o->t1 - o->t0) / NS_IN_MS));
	}
}

/* Of each fault, how long an operation of another node took that was under way during it. */
static void measure(struct soak_history *h)
{
	size_t i, k;

	for (i = 0; i < h->faults.n; i++) {
		struct soak_fault *f = &h->faults.at[i];

		for (k = 0; k < h->ops.n; k++) {
			const struct soak_op *o = &h->ops.at[k];

			if (o->node != f->node && o->t0 < f->t1 && o->t1 > f->t0 &&
			    o->t1 - o->t0 > f->longest && !soak_zombie(h, o))
				f->longest = o->t1 - o->t0;
		}
		for (k = 0; k < h->acks.n; k++) {
			const struct soak_ack *a = &h->acks.at[k];

			if (a->node != f->node && a->t0 < f->t1 && a->t1 > f->t0 &&
			    a->t1 - a->t0 > f->longest &&
			    !cut_off(h, a->node, a->t0, a->t1, 0))
				f->longest = a->t1 - a->t0;
		}
	}
}

void soak_judge(struct soak_history *h, uint64_t bound, struct soak_verdict *v)
{
	check_slots(h, v);
	check_errors(h, v);
	check_ends(h, v);
	check_bound(h, bound, v);
	measure(h);
}
