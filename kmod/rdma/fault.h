/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults for tests, of the kind that no network and no device in software has by itself: a queue
 * pair fails, a key that others are about to use counts no more.  Root asks for one with a new
 * value of a module parameter (fail_queues, fail_keys); the mender makes it within a second,
 * behind the back of all others, who have to find out.  A line in the log says how many were hit.
 * Two others hold as long as they are set: no landing can be opened (fail_opens), and keys of
 * landings do not end (hold_keys), for what others do meanwhile.
 */
#ifndef WEFT_RDMA_FAULT_H
#define WEFT_RDMA_FAULT_H

#include "rdma/card.h"

/* What was asked for before is not for this card. */
void weft_fault_init(struct weft_card *card);

/* The mender.  There is a device. */
void weft_fault_mend(struct weft_card *card);

/* Is no landing to be opened?  Any context. */
bool weft_fault_open(void);

/* Before the key of a landing ends with its registration.  May sleep. */
void weft_fault_hold(void);

#endif /* WEFT_RDMA_FAULT_H */
