/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of the rack's members, and the routes to them. */
#ifndef WEFT_PEER_H
#define WEFT_PEER_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <net/dst_cache.h>

#include "core/wire.h"
#include "net/config.h"

struct rtable;
struct sock;
struct weft_places;

/* Member 0 stands for the group: the switch. */
#define WEFT_PEER_GROUP		0

#define WEFT_PEERS_MAX		(WEFT_BLADE_MAX + 1)

/* Where a message goes that is for the twin of a blade, which stands by. */
#define WEFT_PEER_STANDBY(blade)	((blade) + WEFT_BLADES)

/**
 * struct weft_way - an address, and how to get there
 * @addr: 0: not known.  Written under weft_peers.lock, read by anyone
 * @cache: route, of each processor
 */
struct weft_way {
	__be32 addr;
	struct dst_cache cache;
};

/**
 * struct weft_peer - one member
 * @at: where it is
 * @twin: of a blade: where it goes on if its machine dies.  Not known: nowhere
 * @view: of a blade with a twin: raised each time that it goes on there; 0: not heard of.
 *	Written under weft_peers.lock, read by anyone
 */
struct weft_peer {
	struct weft_way at;
	struct weft_way twin;
	u32 view;
};

/**
 * struct weft_peers - the members of a rack
 * @lock: written under it, with bottom halves off
 * @peer: them, by their ids
 * @oif: interface that leads to them; constant while the socket is open, as all below
 * @addr: own address
 * @self: own id
 * @homes: number of memory blades that the configuration names
 * @places: where regions are at home
 */
struct weft_peers {
	spinlock_t lock;
	struct weft_peer peer[WEFT_PEERS_MAX];
	int oif;
	__be32 addr;
	u32 self;
	u32 homes;
	const struct weft_places *places;
};

/* @places: of the same node.  Return: 0 or -ENOMEM. */
int weft_peer_init(struct weft_peers *peers, const struct weft_places *places);
void weft_peer_exit(struct weft_peers *peers);

/* The members that the configuration names; all others are forgotten. */
void weft_peer_configure(struct weft_peers *peers, const struct weft_config *cfg);

/**
 * weft_peer_learn() - take over the list of a JOIN or PEERS reply
 * @list: as described at struct weft_call
 * @len: its length in bytes
 *
 * Entries that make no sense are passed over; nodes that are not in it are forgotten.  Blades
 * that the configuration names are where that says, or their twins; others are where the list
 * says, and stay known.  Process context.
 *
 * Return: the blades that have moved, bit 0 for the first one.
 */
u32 weft_peer_learn(struct weft_peers *peers, const u8 *list, u32 len);

/**
 * weft_peer_moves() - does a list say that a blade is where its twin was?
 *
 * By a view that this node has not heard of.  Any context.
 */
bool weft_peer_moves(const struct weft_peers *peers, u32 blade, const u8 *list, u32 len);

/**
 * weft_peer_move() - a blade says where it is
 * @addr: there
 * @view: its view
 *
 * If its twin is there, and the view is newer than all that this node has heard of, the two
 * addresses change places.  Any context but hard interrupts.
 *
 * Return: 1: they have; 0: it is there as far as this node knows; -ESTALE: it is not.
 */
int weft_peer_move(struct weft_peers *peers, u32 blade, __be32 addr, u32 view);

/* Address of a member, 0 if it is not known. */
__be32 weft_peer_addr(const struct weft_peers *peers, u32 id);

/* Where the twin of a blade stands by; 0: it has none, or it is no blade. */
__be32 weft_peer_twin(const struct weft_peers *peers, u32 id);

/* View of a blade, 0 if none was heard of. */
u32 weft_peer_view(const struct weft_peers *peers, u32 id);

/* What the address says that a message came from. */
enum weft_peer_sender {
	WEFT_SENDER_FITS,
	WEFT_SENDER_STRANGER,	/* no member has it that we know */
	WEFT_SENDER_FORGED,	/* another member's than the message says */
	WEFT_SENDER_TWIN,	/* the twin of a blade, which stands by as far as we know */
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
enum weft_peer_sender weft_peer_sender(const struct weft_peers *peers,
				       const struct weft_msg *msg, __be32 from);

/**
 * weft_peer_route() - route to a member
 * @id: member, WEFT_PEER_STANDBY(), or WEFT_PEER_GROUP
 * @sk: our socket
 * @saddr: receives the source address
 * @daddr: receives the member's address
 *
 * Bottom halves are off.
 *
 * Return: a reference to the route; -ENXIO for an unknown member; what the
 * routing says.
 */
struct rtable *weft_peer_route(struct weft_peers *peers, u32 id, struct sock *sk,
			       __be32 *saddr, __be32 *daddr);

#endif /* WEFT_PEER_H */
