/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of memory blades to this node: a region became smaller; give all lines back.
 */
#ifndef WEFT_RECALL_H
#define WEFT_RECALL_H

#include "core/wire.h"

/* A CALL for us.  Softirq. */
struct weft_node;

void weft_recall_recv(struct weft_node *node, const struct weft_msg *msg);

/*
 * While a file system is mounted.  After weft_recall_stop() nobody holds an inode
 * for a call, and calls are answered without looking: the blocks go home anyway.
 */
void weft_recall_start(void);

/*
 * Call this there where the blades' calls are carried out, if a file system is
 * mounted, and wait for it: who looks at all inodes must not do it while they go.
 */
void weft_recall_run(void (*fn)(void));
void weft_recall_stop(void);

/* Does another RENEW wait for the one that is being done?  Any context. */
bool weft_recall_renewal_waits(void);

int weft_recall_init(void);
void weft_recall_exit(void);

#endif /* WEFT_RECALL_H */
