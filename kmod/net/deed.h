/* SPDX-License-Identifier: GPL-2.0-only */
/* What messages say of landings and deeds (core/landing.h), for transports that use them. */
#ifndef WEFT_NET_DEED_H
#define WEFT_NET_DEED_H

#include "core/landing.h"

struct sk_buff;
struct weft_node;
struct weft_outgoing;

/* The landing that a request offers.  Any context.  Return: false: none. */
bool weft_landing_of(const struct weft_outgoing *request, struct weft_landing *landing);

/**
 * weft_deed_of() - the deed that LANDED from a blade brings
 * @skb: LANDED, in one piece; not trusted
 * @landed: receives it
 *
 * Any context.  Return: false: it brings none, or is not LANDED from a blade, or damaged, or not
 * of somebody with the rack's key.
 */
bool weft_deed_of(const struct weft_node *node, const struct sk_buff *skb,
		  struct weft_msg *landed, struct weft_deed *deed);

#endif /* WEFT_NET_DEED_H */
