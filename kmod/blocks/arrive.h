/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages for lines of kind page. */
#ifndef WEFT_ARRIVE_H
#define WEFT_ARRIVE_H

struct weft_cache;
struct weft_packet;
struct weft_posted;

/* For a block that this node has, or knows nothing of.  Softirq. */
void weft_block_recv(struct weft_cache *cache, const struct weft_packet *packet);

/* weft_receivers.closed(): nobody can write to a posted buffer any more.  As a message. */
void weft_block_closed(struct weft_cache *cache, struct weft_posted *posted);

#endif /* WEFT_ARRIVE_H */
