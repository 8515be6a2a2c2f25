/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages for lines of kind lock. */
#ifndef WEFT_LOCKARRIVE_H
#define WEFT_LOCKARRIVE_H

struct weft_msg;

/* For a lock that this node has, or knows nothing of.  Softirq. */
void weft_klock_recv(const struct weft_msg *msg);

#endif /* WEFT_LOCKARRIVE_H */
