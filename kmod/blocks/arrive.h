/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages for blocks.  net/ calls it in softirq, as control/main.c has registered; it may not
 * sleep.  It counts what a miss turned out to be; the core decides, effects.h carries out.
 */
#ifndef WEFT_ARRIVE_H
#define WEFT_ARRIVE_H

struct weft_cache;
struct weft_packet;
struct weft_posted;

/* A message for a block of this node, or for a block that it does not have.  Softirq. */
void weft_block_recv(struct weft_cache *cache, const struct weft_packet *packet);

/* weft_receivers.closed(): the posted buffer is closed.  Softirq or process context. */
void weft_block_closed(struct weft_cache *cache, struct weft_posted *posted);

#endif /* WEFT_ARRIVE_H */
