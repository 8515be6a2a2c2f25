/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeping the cache within the size that was mounted with. */
#ifndef WEFT_EVICT_H
#define WEFT_EVICT_H

#include <linux/types.h>

/**
 * weft_cache_reserve() - room for the pages of a new block
 * @may_wait: evict and wait if there is none
 * @end: until when, jiffies
 *
 * Process context.  Return: 0; -EAGAIN, -ENOBUFS, -ETIMEDOUT, -EINTR.
 */
int weft_cache_reserve(unsigned long pages, bool may_wait, unsigned long end);

/* The first mount sets the size, the last unmount comes when all blocks are gone. */
int weft_cache_start(unsigned long max_pages);
void weft_cache_stop(void);
void weft_cache_resize(unsigned long max_pages);

/* When the module is loaded: 0 or -ENOMEM; and when it goes. */
int weft_cache_init(void);
void weft_cache_exit(void);

#endif /* WEFT_EVICT_H */
