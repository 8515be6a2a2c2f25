/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the cache within the size that was mounted with: eviction in the background, by threads
 * that need room, and under memory pressure.  access.c reserves room, fs/ starts, resizes and
 * stops.  It chooses blocks; step.c gives them up.
 */
#ifndef WEFT_EVICT_H
#define WEFT_EVICT_H

#include <linux/types.h>

struct weft_cache;
struct weft_node;

/**
 * weft_cache_reserve() - room for the pages of a new block
 * @may_wait: evict and wait if there is none
 * @end: when to give up, jiffies
 *
 * Process context.  Return: 0; -EAGAIN without @may_wait; -ENOBUFS: all of the cache is in use or
 * locked in memory; -ETIMEDOUT; -EINTR.
 */
int weft_cache_reserve(struct weft_cache *cache, unsigned long pages, bool may_wait,
		       unsigned long end);

/* At the first mount, which sets the size; at the last unmount, when all blocks are gone. */
int weft_cache_start(struct weft_cache *cache, unsigned long max_pages);
void weft_cache_stop(struct weft_cache *cache);
void weft_cache_resize(struct weft_cache *cache, unsigned long max_pages);

/* An empty cache of @node.  Return: 0 or -ENOMEM. */
int weft_cache_init(struct weft_cache *cache, struct weft_node *node);
void weft_cache_exit(struct weft_cache *cache);

#endif /* WEFT_EVICT_H */
