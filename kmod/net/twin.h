/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What comes from the address of a blade's twin, which stands by as far as this node knows.  It
 * has taken over if it says so by TWIN, or by its answer to what it was asked as the blade was
 * silent.  Nothing else of it is believed: it may as well be the blade of before, which has not
 * heard that its twin serves.
 */
#ifndef WEFT_TWIN_H
#define WEFT_TWIN_H

#include <linux/types.h>

struct weft_msg;
struct weft_node;

/* Does this message of a twin count?  Softirq. */
bool weft_twin_counts(struct weft_node *node, const struct weft_msg *msg);

#endif /* WEFT_TWIN_H */
