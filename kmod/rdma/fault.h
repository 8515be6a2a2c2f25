/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults for tests that no network and no software device has by itself.  With a new value of
 * fail_queues or fail_keys the mender fails all queue pairs, or invalidates the keys of all open
 * landings, within a second, and logs how many.  fail_opens (no landing opens) and hold_keys
 * (keys do not end) last as long as they are set.
 */
#ifndef WEFT_RDMA_FAULT_H
#define WEFT_RDMA_FAULT_H

#include "rdma/card.h"

/* Values that were set before are not for this card. */
void weft_fault_init(struct weft_card *card);

/* Inject what was asked for.  The mender; there is a device. */
void weft_fault_mend(struct weft_card *card);

/* Must no landing be opened?  Any context. */
bool weft_fault_open(void);

/* Called before a landing's key ends with its MR.  May sleep. */
void weft_fault_hold(void);

#endif /* WEFT_RDMA_FAULT_H */
