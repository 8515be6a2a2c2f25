/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages for lines of kind lock, for struct weft_receivers (control/main.c). */
#ifndef WEFT_LOCKARRIVE_H
#define WEFT_LOCKARRIVE_H

struct weft_msg;
struct weft_locks;

/* Take in a message for any lock of this node, known or not.  Softirq. */
void weft_lockres_recv(struct weft_locks *locks, const struct weft_msg *msg);

#endif /* WEFT_LOCKARRIVE_H */
