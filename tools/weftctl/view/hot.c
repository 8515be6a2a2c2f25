// SPDX-License-Identifier: GPL-2.0-only
/* What happened to blocks and locks, see hot.h. */
#include "view/hot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/fail.h"

static int add(struct hot_list *h, const struct hot_row *row)
{
	struct hot_row *list = array_more(h->list, h->len, sizeof(*list));

	if (!list)
		return -ENOMEM;
	h->list = list;
	list[h->len++] = *row;
	return 0;
}

static int add_block(void *row, void *arg)
{
	const struct line *l = row;

	return add(arg, &(struct hot_row){ l->region, l->index, false, l->state, l->waiters, 0,
					   l->misses, l->revocations });
}

static int add_lock(void *row, void *arg)
{
	const struct lock_info *l = row;

	return add(arg, &(struct hot_row){ l->region, l->offset, true, l->state, l->waiters,
					   l->queue, l->grants, l->hand_overs });
}

static int by_place(const void *a, const void *b)
{
	const struct hot_row *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	return x->index == y->index ? 0 : x->index < y->index ? -1 : 1;
}

static void sort(struct hot_list *h, int (*order)(const void *a, const void *b))
{
	if (h->len)
		qsort(h->list, h->len, sizeof(*h->list), order);
}

int hot_read(struct hot *h)
{
	int rc;

	*h = (struct hot){ 0 };
	rc = kernel_lines(0, add_block, &h->blocks);
	if (!rc)
		rc = kernel_locks(0, add_lock, &h->locks);
	sort(&h->blocks, by_place);
	sort(&h->locks, by_place);
	if (rc)
		hot_free(h);
	return rc;
}

void hot_free(struct hot *h)
{
	free(h->blocks.list);
	free(h->locks.list);
	*h = (struct hot){ 0 };
}

/* --- Differences ---------------------------------------------------------- */

/*
 * Counts are of one stay here: one that is less than before is of another stay.  That of a block
 * begins with a miss, so that both counts tell.
 */
static void subtract(struct hot_row *now, const struct hot_row *before)
{
	const bool came = now->came >= before->came, went = now->went >= before->went;

	if (came && (went || now->lock))
		now->came -= before->came;
	if (went && (came || now->lock))
		now->went -= before->went;
}

static int list_since(struct hot_list *since, const struct hot_list *now,
		      const struct hot_list *before)
{
	const struct hot_row *b;
	struct hot_row row;
	size_t i;

	for (i = 0; i < now->len; i++) {
		row = now->list[i];
		b = before->len ? bsearch(&row, before->list, before->len, sizeof(row), by_place) :
				  NULL;
		if (b)
			subtract(&row, b);
		if ((row.came || row.went || (row.lock && (row.waiters || row.queue))) &&
		    add(since, &row))
			return fail("no memory");
	}
	return 0;
}

/* Larger values first; then locks with more waiters; then by place. */
static int more(uint64_t a, uint64_t b, int else_by)
{
	return a == b ? else_by : a > b ? -1 : 1;
}

static uint64_t waiting(const struct hot_row *r)
{
	return r->lock ? (uint64_t)r->waiters + r->queue : 0;
}

static int by_both(const void *a, const void *b)
{
	const struct hot_row *x = a, *y = b;

	return more((uint64_t)x->came + x->went, (uint64_t)y->came + y->went,
		    more(waiting(x), waiting(y), by_place(a, b)));
}

static int by_misses(const void *a, const void *b)
{
	return more(((const struct hot_row *)a)->came, ((const struct hot_row *)b)->came,
		    by_both(a, b));
}

static int by_revocations(const void *a, const void *b)
{
	return more(((const struct hot_row *)a)->went, ((const struct hot_row *)b)->went,
		    by_both(a, b));
}

int hot_since(struct hot *since, const struct hot *now, const struct hot *before, enum hot_by by)
{
	static int (* const orders[])(const void *a, const void *b) = {
		[HOT_BY_BOTH] = by_both,
		[HOT_BY_MISSES] = by_misses,
		[HOT_BY_REVOCATIONS] = by_revocations,
	};
	int rc = list_since(&since->blocks, &now->blocks, &before->blocks);

	if (!rc)
		rc = list_since(&since->locks, &now->locks, &before->locks);
	sort(&since->blocks, orders[by]);
	sort(&since->locks, by_both);
	return rc;
}
