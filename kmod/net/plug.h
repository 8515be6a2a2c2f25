/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place in a node's list of transports for one that another module brings, so that this
 * module needs nothing of what that one needs: weft_rdma.ko, which needs ib_core.  It may come
 * and go while nodes are up.
 */
#ifndef WEFT_PLUG_H
#define WEFT_PLUG_H

#include "net/transport.h"

/* Asks the transport that was brought, if there is one. */
extern const struct weft_transport weft_plug;

/**
 * weft_plug_why() - why data goes another way to a member than by what was brought
 * @why: receives it, a sentence, if there is something: it is copied
 * @size: bytes of @why; it is "" if data goes by it
 *
 * Process context.  Return: false: nothing was brought.
 */
bool weft_plug_why(struct weft_node *node, u32 to, char *why, size_t size);

/* A member has another address: what leads to the one before comes to an end.  Any context. */
void weft_plug_moved(struct weft_node *node, u32 member);

/**
 * weft_plug_register() - here is one
 * @transport: it is opened for the nodes that are up, and for each that comes up.  Whether it
 *	can be is its own business: a node comes up without it, too
 *
 * Process context.  Return: 0; -EBUSY if there is one already.
 */
int weft_plug_register(const struct weft_transport *transport);

/*
 * It is closed for all nodes, and not called any more; but the pads that it has made are, by
 * those who have references to them.  Process context, sleeps.
 */
void weft_plug_unregister(const struct weft_transport *transport);

#endif /* WEFT_PLUG_H */
