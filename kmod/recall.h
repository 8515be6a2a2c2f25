/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of the memory blade to this node: a region became smaller. */
#ifndef WEFT_RECALL_H
#define WEFT_RECALL_H

#include "wire.h"

/* A CALL for us.  Softirq. */
void weft_recall_recv(const struct weft_msg *msg);

/* Wait for what is under way; nothing comes in any more. */
void weft_recall_flush(void);

int weft_recall_init(void);
void weft_recall_exit(void);

#endif /* WEFT_RECALL_H */
