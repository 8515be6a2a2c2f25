// SPDX-License-Identifier: GPL-2.0-only
/*
 * What locks guard: the lists of ranges, and which lock a block belongs to.  The
 * kernel is told, which gets the blocks together with the lock; an older one, or
 * one that has too many of them, leaves it to page faults.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock.h"
#include "internal.h"

/*
 * Trees of our own: the C library's tsearch() calls malloc(), and whoever has the table of
 * mappings locked must not, as the program's malloc() may map something, or wait for a thread
 * that does.  Each node has a higher @rank than those below it: ranks are random, so the tree
 * is about as high as a balanced one.
 */
struct node {
	struct node *left;
	struct node *right;
	uint32_t rank;
};

typedef int compare(const struct node *a, const struct node *b);

/**
 * struct extent - blocks of a region that belong to one lock
 * @node:	in the tree
 * @file:	the region
 * @first:	block
 * @last:	block
 * @lock:	offset of the lock
 *
 * In a tree in which extents that meet count as equal.
 */
struct extent {
	struct node node;
	const struct weft_file *file;
	uint64_t first;
	uint64_t last;
	uint64_t lock;
};

/**
 * struct bound - a lock that has a list
 * @node:	in the tree
 * @file:	the region
 * @lock:	offset of the lock in it
 * @link:	with those of all regions, or with those that are to be freed
 * @n:		ranges
 * @extents:	of them, each in the tree, unless it lies within an earlier one
 */
struct bound {
	struct node node;
	const struct weft_file *file;
	uint64_t lock;
	LIST_ENTRY(bound) link;
	size_t n;
	struct extent extents[];
};

/*
 * Under weft_lock_table(): two trees, a list for weft_ranges_forget(), and what is to be freed
 * when that is left, as free() may unmap something.
 */
static struct node *extents, *bounds;
static LIST_HEAD(bound_list, bound) all_bounds, gone;

static int by_block(const struct node *left, const struct node *right)
{
	const struct extent *a = (const struct extent *)left, *b = (const struct extent *)right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->last < b->first)
		return -1;
	return a->first > b->last;
}

static int by_lock(const struct node *left, const struct node *right)
{
	const struct bound *a = (const struct bound *)left, *b = (const struct bound *)right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->lock < b->lock ? -1 : a->lock > b->lock;
}

/* Where the one that is equal to @like hangs, or would hang. */
static struct node **find(struct node **link, const struct node *like, compare *compare)
{
	int order;

	while (*link) {
		order = compare(like, *link);
		if (!order)
			break;
		link = order < 0 ? &(*link)->left : &(*link)->right;
	}
	return link;
}

/* None that is equal to @n may be there. */
static void insert(struct node **link, struct node *n, compare *compare)
{
	struct node *rest, **less = &n->left, **more = &n->right;
	static uint32_t rank;

	/* Numbers that have nothing to do with what is inserted, none twice. */
	rank = rank * 1664525 + 1013904223;
	n->rank = rank;
	while (*link && (*link)->rank > n->rank)
		link = compare(n, *link) < 0 ? &(*link)->left : &(*link)->right;
	rest = *link;
	*link = n;
	/* What was there is parted: what is less, and what is more. */
	while (rest) {
		if (compare(n, rest) < 0) {
			*more = rest;
			more = &rest->left;
			rest = *more;
		} else {
			*less = rest;
			less = &rest->right;
			rest = *less;
		}
	}
	*less = NULL;
	*more = NULL;
}

/* @link is where it hangs. */
static void take_out(struct node **link)
{
	struct node *less = (*link)->left, *more = (*link)->right;

	while (less && more) {
		struct node **higher = less->rank > more->rank ? &less : &more;

		*link = *higher;
		link = higher == &less ? &less->right : &more->left;
		*higher = *link;
	}
	*link = less ? less : more;
}

/* Which region that is; one we have not been told of is looked for. */
static struct weft_file *region(const void *address, uint64_t *offset)
{
	struct weft_file *f = weft_mapped((uintptr_t)address, offset);

	if (!f && !weft_map_scan((uintptr_t)address))
		f = weft_mapped((uintptr_t)address, offset);
	return f;
}

static struct bound *find_bound(const struct weft_file *f, uint64_t lock)
{
	struct bound want = { .file = f, .lock = lock };

	return (struct bound *)*find(&bounds, &want.node, by_lock);
}

/* Takes the blocks of the first @n extents out of the tree. */
static void give_up(struct bound *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct node **found = find(&extents, &b->extents[i].node, by_block);

		/* What lay within an earlier one is not in the tree itself. */
		if (*found == &b->extents[i].node)
			take_out(found);
	}
}

static int cover(struct extent *e)
{
	for (;;) {
		struct node **found = find(&extents, &e->node, by_block);
		struct extent *other = (struct extent *)*found;

		if (!other) {
			insert(&extents, &e->node, by_block);
			return 0;
		}
		if (other->lock != e->lock)
			return EEXIST;
		/* Of the same lock: what the two have in common is there already. */
		if (other->first <= e->first && other->last >= e->last)
			return 0;
		if (other->first <= e->first) {
			e->first = other->last + 1;
			continue;
		}
		if (other->last >= e->last) {
			e->last = other->first - 1;
			continue;
		}
		/* It lies within the new one, which takes its place. */
		take_out(found);
	}
}

/* The blocks of a range; the whole of it must be mapped, and of the lock's region. */
static int make_extent(struct weft_file *f, uint64_t lock, const struct weft_range *range,
		       struct extent *e)
{
	uint64_t first, last;
	struct weft_file *a, *b;

	if (!range->size || (uintptr_t)range->address + range->size - 1 <
			    (uintptr_t)range->address)
		return EINVAL;
	a = region(range->address, &first);
	b = region((char *)range->address + range->size - 1, &last);
	if (!a || !b || (a == b && last != first + range->size - 1))
		return EINVAL;
	if (a != f || b != f)
		return EXDEV;
	e->file = f;
	e->lock = lock;
	e->first = first / f->block;
	e->last = last / f->block;
	return 0;
}

static void enter(struct bound *b)
{
	insert(&bounds, &b->node, by_lock);
	LIST_INSERT_HEAD(&all_bounds, b, link);
}

/* Its blocks have been given up. */
static void leave(struct bound *b)
{
	take_out(find(&bounds, &b->node, by_lock));
	LIST_REMOVE(b, link);
	LIST_INSERT_HEAD(&gone, b, link);
}

static void unlock_and_free(void)
{
	struct bound *b = LIST_FIRST(&gone), *next;

	LIST_INIT(&gone);
	weft_unlock_table();
	for (; b; b = next) {
		next = LIST_NEXT(b, link);
		free(b);
	}
}

/* The region is mapped no more.  Under weft_lock_table(). */
void weft_ranges_forget(const struct weft_file *f)
{
	struct bound *b, *next;

	for (b = LIST_FIRST(&all_bounds); b; b = next) {
		next = LIST_NEXT(b, link);
		if (b->file == f) {
			give_up(b, b->n);
			leave(b);
		}
	}
}

/* A list for the kernel; at most as much as it takes. */
static void fill(struct weft_lock_range *list, const struct bound *b)
{
	uint64_t block = b->file->block;
	size_t i;

	for (i = 0; i < b->n && i < WEFT_BIND_MAX; i++) {
		list[i].offset = b->extents[i].first * block;
		list[i].length = (b->extents[i].last - b->extents[i].first + 1) * block;
	}
}

/*
 * Tells the kernel what the lock guards, or with @n 0 that it guards nothing.
 * @list has been filled by fill().
 */
static int tell(struct weft_file *f, uint32_t slot, const struct weft_lock_range *list,
		size_t n)
{
	struct weft_lock_bind bind = {
		.slot = slot, .n = (uint32_t)n, .ranges = (uintptr_t)list,
	};
	int error = n > WEFT_BIND_MAX ? E2BIG :
		    weft_ioctl(f, WEFT_IOC_LOCK_BIND, &bind);

	switch (error) {
	case EEXIST:
	case EINVAL:
	case ENOMEM:
		return error;
	case E2BIG:
		/* What it was told before is true no more. */
		bind.n = 0;
		weft_ioctl(f, WEFT_IOC_LOCK_BIND, &bind);
		return 0;
	default:
		return 0; /* an older kernel, or the rack is away: it is only a hint */
	}
}

/*
 * The slot to tell the kernel of.  Without one there is nothing to tell; why, is
 * said by whoever takes the lock.
 */
static bool slot_of(struct weft_file *f, uint64_t lock, size_t n, uint32_t *slot)
{
	return n ? !weft_slot(f, lock, slot) : weft_slot_known(f, lock, slot);
}

int weft_rwlock_init(weft_rwlock_t *lock, const struct weft_range *ranges, size_t n)
{
	struct weft_lock_range list[WEFT_BIND_MAX];
	struct bound *b, *old;
	struct weft_thread *t;
	struct weft_file *f;
	uint64_t offset;
	bool has_slot;
	uint32_t slot;
	int error = 0;
	size_t i;

	/* Now, as the program's malloc() may use locks of ours while we have ours. */
	error = weft_thread_get(&t);
	if (error)
		return error;
	f = region(lock, &offset);
	if (!f || (n && !ranges))
		return EINVAL;
	if (n > SIZE_MAX / 2 / sizeof(b->extents[0]))
		return ENOMEM;
	b = malloc(sizeof(*b) + n * sizeof(b->extents[0]));
	if (!b)
		return ENOMEM;
	b->file = f;
	b->lock = offset;
	b->n = n;
	for (i = 0; i < n && !error; i++)
		error = make_extent(f, offset, &ranges[i], &b->extents[i]);
	if (error) {
		free(b);
		return error;
	}
	fill(list, b);
	has_slot = slot_of(f, offset, n, &slot);
	weft_lock_table();
	old = find_bound(f, offset);
	if (old)
		give_up(old, old->n);
	for (i = 0; i < n && !error; i++)
		error = cover(&b->extents[i]);
	if (!error && has_slot)
		error = tell(f, slot, list, n);
	if (error) {
		give_up(b, i);
		for (i = 0; old && i < old->n; i++)
			cover(&old->extents[i]);
	} else {
		if (old)
			leave(old);
		if (n)
			enter(b);
	}
	unlock_and_free();
	if (error || !n)
		free(b);
	return error;
}

int weft_rwlock_destroy(weft_rwlock_t *lock)
{
	struct weft_file *f;
	uint64_t offset;
	struct bound *b;
	uint32_t slot;

	f = region(lock, &offset);
	if (!f)
		return EINVAL;
	if (weft_held_here(lock))
		return EBUSY;
	weft_lock_table();
	if (weft_slot_known(f, offset, &slot))
		tell(f, slot, NULL, 0);
	b = find_bound(f, offset);
	if (b) {
		give_up(b, b->n);
		leave(b);
	}
	unlock_and_free();
	return 0;
}

int weft_attach(void *address, size_t length, int fd, off_t offset)
{
	int error;

	if (fd < 0) {
		error = weft_map_scan((uintptr_t)address);
		return error == ENOENT ? EINVAL : error;
	}
	if (!weft_is_region(fd) || offset < 0 || !length ||
	    (uintptr_t)address & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1))
		return EINVAL;
	return weft_map_add(fd, (uintptr_t)address, length, (uint64_t)offset);
}

int weft_detach(void *address, size_t length)
{
	return length ? weft_map_remove((uintptr_t)address, length) : 0;
}
