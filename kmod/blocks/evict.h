/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeping the cache within the size that was mounted with. */
#ifndef WEFT_EVICT_H
#define WEFT_EVICT_H

#include <linux/types.h>

struct weft_cache;
struct weft_node;

/**
 * weft_cache_reserve() - room for the pages of a new block
 * @may_wait: evict and wait if there is none
 * @end: until when, jiffies
 *
 * Process context.  Return: 0; -EAGAIN, -ENOBUFS, -ETIMEDOUT, -EINTR.
 */
int weft_cache_reserve(struct weft_cache *cache, unsigned long pages, bool may_wait,
		       unsigned long end);

/* The first mount sets the size, the last unmount comes when all blocks are gone. */
int weft_cache_start(struct weft_cache *cache, unsigned long max_pages);
void weft_cache_stop(struct weft_cache *cache);
void weft_cache_resize(struct weft_cache *cache, unsigned long max_pages);

/* An empty cache of @node.  Return: 0 or -ENOMEM. */
int weft_cache_init(struct weft_cache *cache, struct weft_node *node);
void weft_cache_exit(struct weft_cache *cache);

#endif /* WEFT_EVICT_H */
