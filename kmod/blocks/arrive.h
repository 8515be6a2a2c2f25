/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages for lines of kind page. */
#ifndef WEFT_ARRIVE_H
#define WEFT_ARRIVE_H

struct weft_cache;
struct weft_packet;

/* For a block that this node has, or knows nothing of.  Softirq. */
void weft_block_recv(struct weft_cache *cache, const struct weft_packet *packet);

#endif /* WEFT_ARRIVE_H */
