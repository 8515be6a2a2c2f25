/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of the rack's members, and the routes to them. */
#ifndef WEFT_PEER_H
#define WEFT_PEER_H

#include <linux/types.h>

#include "core/wire.h"
#include "net/config.h"

struct rtable;
struct sock;

/* Member 0 stands for the group: the switch. */
#define WEFT_PEER_GROUP		0

#define WEFT_PEERS_MAX		(WEFT_BLADE_MAX + 1)

/**
 * weft_peer_init() - once, when the module is loaded
 * @refresh: asks the first blade for the members, not too often.  Any context
 */
int weft_peer_init(void (*refresh)(void));
void weft_peer_exit(void);

/* The members that the configuration names; all others are forgotten. */
void weft_peer_configure(const struct weft_config *cfg);

/**
 * weft_peer_learn() - take over the list of a JOIN or PEERS reply
 * @list: as described at struct weft_call
 * @len: its length in bytes
 *
 * Process context.  Entries that make no sense are passed over; nodes that are not in it
 * are forgotten.
 */
void weft_peer_learn(const u8 *list, u32 len);

/*
 * A member whose address is not known sends or is to get an answer, or a member's clock is
 * not ours: the first blade is asked for both.  Any context.
 */
void weft_peer_refresh(void);

/* Address of a member, 0 if it is not known. */
__be32 weft_peer_addr(u32 id);

/* What the address says that a message came from. */
enum weft_peer_sender {
	WEFT_SENDER_FITS,
	WEFT_SENDER_STRANGER,	/* no member has it that we know */
	WEFT_SENDER_FORGED,	/* another member's than the message says */
};

/**
 * weft_peer_sender() - does it come from somebody who sends such messages?
 * @msg: its header
 * @from: source address
 *
 * What members send each other, and requests, come from the member that they name.  What a
 * directory makes may come from any member: a switch passes the request on, or answers in
 * the name of the home; only what was sent to the group it answers from an address that
 * it makes up.
 *
 * Any context.
 */
enum weft_peer_sender weft_peer_sender(const struct weft_msg *msg, __be32 from);

/**
 * weft_peer_route() - route to a member
 * @id: member, or WEFT_PEER_GROUP
 * @sk: our socket
 * @saddr: receives the source address
 * @daddr: receives the member's address
 *
 * Bottom halves are off.
 *
 * Return: a reference to the route; -ENXIO for an unknown member; what the
 * routing says.
 */
struct rtable *weft_peer_route(u32 id, struct sock *sk, __be32 *saddr,
			       __be32 *daddr);

#endif /* WEFT_PEER_H */
