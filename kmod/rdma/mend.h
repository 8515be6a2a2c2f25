/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mender: a work item of each card, which makes and destroys all that sleeps: it looks for
 * a device, gives it up when it goes, and has the files below mend what is theirs.
 */
#ifndef WEFT_RDMA_MEND_H
#define WEFT_RDMA_MEND_H

#include "rdma/card.h"

/* A card, without a device yet.  NULL: there is no memory. */
struct weft_card *weft_mend_begin(struct weft_node *node, struct net *net);

/*
 * It ends: all pads are closed, nothing is under way.  Nobody finds it any more, but who has a
 * reference to a pad, for which this waits.
 */
void weft_mend_end(struct weft_card *card);

#endif /* WEFT_RDMA_MEND_H */
