// SPDX-License-Identifier: GPL-2.0-only
/* What happened to blocks and locks, see hot.h. */
#include "view/hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"

/* --- Looking -------------------------------------------------------------- */

static int add_line(void *row, void *arg)
{
	struct hot_lines *h = arg;
	struct line *list = array_more(h->list, h->len, sizeof(*list));

	if (!list)
		return -ENOMEM;
	h->list = list;
	list[h->len++] = *(const struct line *)row;
	return 0;
}

static int add_lock(void *row, void *arg)
{
	struct hot_locks *h = arg;
	struct lock_info *list = array_more(h->list, h->len, sizeof(*list));

	if (!list)
		return -ENOMEM;
	h->list = list;
	list[h->len++] = *(const struct lock_info *)row;
	return 0;
}

static int order(uint32_t region_a, uint64_t a, uint32_t region_b, uint64_t b)
{
	if (region_a != region_b)
		return region_a < region_b ? -1 : 1;
	return a == b ? 0 : a < b ? -1 : 1;
}

static int by_name(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return order(x->region, x->index, y->region, y->index);
}

static int lock_by_name(const void *a, const void *b)
{
	const struct lock_info *x = a, *y = b;

	return order(x->region, x->offset, y->region, y->offset);
}

int hot_read(struct hot *h)
{
	int rc;

	*h = (struct hot){ 0 };
	rc = kernel_lines(0, add_line, &h->lines);
	if (!rc)
		rc = kernel_locks(0, add_lock, &h->locks);
	if (rc) {
		hot_free(h);
		return rc;
	}
	if (h->lines.len)
		qsort(h->lines.list, h->lines.len, sizeof(*h->lines.list), by_name);
	if (h->locks.len)
		qsort(h->locks.list, h->locks.len, sizeof(*h->locks.list), lock_by_name);
	return 0;
}

int hot_copy(struct hot *to, const struct hot *from)
{
	*to = (struct hot){ 0 };
	to->lines.list = calloc(from->lines.len + 1, sizeof(*to->lines.list));
	to->locks.list = calloc(from->locks.len + 1, sizeof(*to->locks.list));
	if (!to->lines.list || !to->locks.list) {
		hot_free(to);
		return fail("no memory");
	}
	to->lines.len = from->lines.len;
	to->locks.len = from->locks.len;
	if (from->lines.len)
		memcpy(to->lines.list, from->lines.list,
		       from->lines.len * sizeof(*to->lines.list));
	if (from->locks.len)
		memcpy(to->locks.list, from->locks.list,
		       from->locks.len * sizeof(*to->locks.list));
	return 0;
}

void hot_free(struct hot *h)
{
	free(h->lines.list);
	free(h->locks.list);
	*h = (struct hot){ 0 };
}

/* --- Differences ---------------------------------------------------------- */

/* Counts are of one stay here: one that is less than before is of another stay. */
static uint32_t since(uint32_t now, uint32_t before)
{
	return now >= before ? now - before : now;
}

static void lines_since(struct hot_lines *now, const struct hot_lines *before)
{
	size_t i, len = 0;

	for (i = 0; i < now->len; i++) {
		struct line l = now->list[i];
		const struct line *b = before->len ?
			bsearch(&l, before->list, before->len, sizeof(l), by_name) : NULL;

		/* A new stay begins with a miss, so that both counts tell. */
		if (b && l.misses >= b->misses && l.revocations >= b->revocations) {
			l.misses -= b->misses;
			l.revocations -= b->revocations;
		}
		if (l.misses || l.revocations)
			now->list[len++] = l;
	}
	now->len = len;
}

static void locks_since(struct hot_locks *now, const struct hot_locks *before)
{
	size_t i, len = 0;

	for (i = 0; i < now->len; i++) {
		struct lock_info l = now->list[i];
		const struct lock_info *b = before->len ?
			bsearch(&l, before->list, before->len, sizeof(l), lock_by_name) : NULL;

		if (b) {
			l.grants = since(l.grants, b->grants);
			l.hand_overs = since(l.hand_overs, b->hand_overs);
		}
		if (l.grants || l.hand_overs || l.waiters || l.queue)
			now->list[len++] = l;
	}
	now->len = len;
}

/* What is compared is more first; equals by their names. */
static int more(uint64_t a, uint64_t b, int else_by)
{
	return a == b ? else_by : a > b ? -1 : 1;
}

static int by_both(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return more((uint64_t)x->misses + x->revocations,
		    (uint64_t)y->misses + y->revocations, by_name(a, b));
}

static int by_misses(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return more(x->misses, y->misses, by_both(a, b));
}

static int by_revocations(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return more(x->revocations, y->revocations, by_both(a, b));
}

static int by_hand_overs(const void *a, const void *b)
{
	const struct lock_info *x = a, *y = b;

	return more((uint64_t)x->grants + x->hand_overs, (uint64_t)y->grants + y->hand_overs,
		    more((uint64_t)x->waiters + x->queue, (uint64_t)y->waiters + y->queue,
			 lock_by_name(a, b)));
}

void hot_since(struct hot *h, const struct hot *before, enum hot_by by)
{
	static int (* const orders[])(const void *a, const void *b) = {
		[HOT_BY_BOTH] = by_both,
		[HOT_BY_MISSES] = by_misses,
		[HOT_BY_REVOCATIONS] = by_revocations,
	};

	lines_since(&h->lines, &before->lines);
	locks_since(&h->locks, &before->locks);
	if (h->lines.len)
		qsort(h->lines.list, h->lines.len, sizeof(*h->lines.list), orders[by]);
	if (h->locks.len)
		qsort(h->locks.list, h->locks.len, sizeof(*h->locks.list), by_hand_overs);
}
