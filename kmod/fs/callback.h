/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of memory blades to this node: a region became smaller; give all lines of a blade back, or
 * of a region; nodes have died (docs/protocol.md, "Nodes that die").
 */
#ifndef WEFT_CALLBACK_H
#define WEFT_CALLBACK_H

#include <linux/types.h>

#include "core/wire.h"

struct weft_rack;
struct weft_callback;

/* A CALL for us.  Softirq. */
void weft_callback_recv(struct weft_rack *rack, const struct weft_msg *msg);

/*
 * While a file system is mounted.  After weft_callback_stop() nobody holds an inode
 * for a call, and calls are answered without looking: the blocks go home anyway.
 */
void weft_callback_start(struct weft_rack *rack);

/*
 * Call this there where the blades' calls are carried out, if a file system is
 * mounted, and wait for it: who looks at all inodes must not do it while they go.  Returns what
 * it does; 0: none is mounted.
 */
int weft_callback_run(struct weft_rack *rack, int (*fn)(struct weft_rack *rack));
void weft_callback_stop(struct weft_rack *rack);

/*
 * A blade answers again what it was asked, or will soon: what is open is asked for again, if a
 * file system is mounted.  @region: of this one; 0: of all.  Any context.
 */
void weft_callback_again(struct weft_rack *rack, u32 region);

/* Does another RENEW or MOVE wait for the one that is being done?  Any context. */
bool weft_callback_renewal_waits(const struct weft_rack *rack);

/* Return: NULL: no memory. */
struct weft_callback *weft_callback_new(struct weft_rack *rack);
void weft_callback_free(struct weft_callback *recall);

#endif /* WEFT_CALLBACK_H */
