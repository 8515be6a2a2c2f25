/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes that have died: see "Nodes that die" in docs/protocol.md.
 */
#ifndef WEFT_FENCE_H
#define WEFT_FENCE_H

#include <linux/types.h>

struct weft_rack;

/**
 * weft_fence() - nodes are dead, says the first blade
 * @dead: bits of them
 *
 * From now on nothing is taken from them, and nothing is left here of what they had lent.
 * Process context.
 *
 * Return: 0; -EAGAIN: not yet.
 */
int weft_fence(struct weft_rack *rack, u32 dead);

/*
 * What nobody has answered is asked for again: a few times, as it can be had from now on, or soon.
 * @region: of this one; 0: of all.  Any context, before weft_fence_stop().
 */
void weft_fence_again(struct weft_rack *rack, u32 region);

/* The rack is left: nothing is asked for again. */
void weft_fence_stop(struct weft_rack *rack);

void weft_fence_init(struct weft_rack *rack);

#endif /* WEFT_FENCE_H */
