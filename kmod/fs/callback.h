/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Callbacks: calls of memory blades to this node (RENEW, MOVE, FENCE, CHANGED, a truncated region;
 * docs/protocol.md).  net/recv hands them over by control/main, fs/super starts and stops them.
 * Softirq only queues them; one work queue carries them out, in their order.
 */
#ifndef WEFT_CALLBACK_H
#define WEFT_CALLBACK_H

#include <linux/types.h>

#include "core/wire.h"

struct weft_rack;
struct weft_callback;

/* A CALL has arrived.  Softirq. */
void weft_callback_recv(struct weft_rack *rack, const struct weft_msg *msg);

/*
 * Mount and unmount.  After weft_callback_stop() no callback holds an inode.  Callbacks that
 * arrive then are answered without doing anything, as the unmount gives all blocks back; RENEW
 * and MOVE wait for that.
 */
void weft_callback_start(struct weft_rack *rack);
void weft_callback_stop(struct weft_rack *rack);

/*
 * Run @fn on the work queue of the callbacks, and wait for it: so it does not walk through the
 * inodes while an unmount frees them.  Return: what @fn returns; 0: no file system is mounted.
 */
int weft_callback_run(struct weft_rack *rack, int (*fn)(struct weft_rack *rack));

/*
 * Repeat all requests for lines of @region (0: all) that have no answer, as a blade answers again.
 * Does nothing if no file system is mounted.  Any context.
 */
void weft_callback_again(struct weft_rack *rack, u32 region);

/* Is another RENEW or MOVE queued behind the one that is being carried out?  Any context. */
bool weft_callback_renewal_waits(const struct weft_rack *rack);

/* Return: NULL: no memory. */
struct weft_callback *weft_callback_new(struct weft_rack *rack);
void weft_callback_free(struct weft_callback *recall);

#endif /* WEFT_CALLBACK_H */
