/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages for lines of kind lock. */
#ifndef WEFT_LOCKARRIVE_H
#define WEFT_LOCKARRIVE_H

struct weft_msg;
struct weft_locks;

/* For a lock that this node has, or knows nothing of.  Softirq. */
void weft_klock_recv(struct weft_locks *locks, const struct weft_msg *msg);

#endif /* WEFT_LOCKARRIVE_H */
