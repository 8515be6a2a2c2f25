/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of the rack's members, and the routes to them.  For net/, rack/member.c and rdma/conn.c. */
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

/* As a member, 0 stands for the switch's multicast group. */
#define WEFT_PEER_GROUP		0

#define WEFT_PEERS_MAX		(WEFT_BLADE_MAX + 1)

/* The twin of a blade, which stands by, as the member that a message is for. */
#define WEFT_PEER_STANDBY(blade)	((blade) + WEFT_BLADES)

/* An address and the route to it. */
struct weft_way {
	__be32 addr;		/* 0: not known.  Written under weft_peers.lock, read by anyone */
	struct dst_cache cache;	/* the route, for each processor */
};

/* One member. */
struct weft_peer {
	struct weft_way at;	/* where it is */
	/* of a blade: where it goes on if its machine dies; address 0: nowhere */
	struct weft_way twin;
	/*
	 * of a blade with a twin: raised whenever it changes machines; 0: not known.  Written
	 * under weft_peers.lock, read by anyone
	 */
	u32 view;
};

/* The members of a rack. */
struct weft_peers {
	spinlock_t lock;			/* for writers; taken with bottom halves off */
	struct weft_peer peer[WEFT_PEERS_MAX];	/* by id */
	/* interface that leads to them; constant while the socket is open, as all below */
	int oif;
	__be32 addr;				/* own address */
	u32 self;				/* own id */
	u32 homes; /* number of blades that the configuration names */
	const struct weft_places *places;	/* home blades of regions */
};

/* @places: of the same node.  Return: 0 or -ENOMEM. */
int weft_peer_init(struct weft_peers *peers, const struct weft_places *places);
void weft_peer_exit(struct weft_peers *peers);

/* Know the members that the configuration names, and no others. */
void weft_peer_configure(struct weft_peers *peers, const struct weft_config *cfg);

/**
 * weft_peer_learn() - take over the list of a JOIN or PEERS reply
 * @list: see struct weft_call
 * @len: bytes
 *
 * Passes over entries that make no sense, and forgets nodes that the list does not name.  Blades
 * that the configuration names stay where that says, or are where their twins were; other blades
 * are where the list says, and stay known.  Process context.
 *
 * Return: bits of blades that have moved, bit 0 for the first one.
 */
u32 weft_peer_learn(struct weft_peers *peers, const u8 *list, u32 len);

/* Does a list say, by a new view, that a blade is where its twin was?  Any context. */
bool weft_peer_moves(const struct weft_peers *peers, u32 blade, const u8 *list, u32 len);

/**
 * weft_peer_move() - a blade says where it is
 * @addr: its address
 * @view: its view
 *
 * If that is its twin's address, and the view is newer than any known, the two change places.
 * Any context but hard interrupts.
 *
 * Return: 1: they have; 0: it is where this node knows it; -ESTALE: it is not.
 */
int weft_peer_move(struct weft_peers *peers, u32 blade, __be32 addr, u32 view);

/* Address of a member, 0 if it is not known. */
__be32 weft_peer_addr(const struct weft_peers *peers, u32 id);

/* Address of a blade's twin; 0: it has none, or @id is no blade. */
__be32 weft_peer_twin(const struct weft_peers *peers, u32 id);

/* View of a blade; 0: not known. */
u32 weft_peer_view(const struct weft_peers *peers, u32 id);

/* What the source address says of a message. */
enum weft_peer_sender {
	WEFT_SENDER_FITS,
	WEFT_SENDER_STRANGER,	/* no known member has it */
	WEFT_SENDER_FORGED,	/* a member has it, but not the one that the message names */
	WEFT_SENDER_TWIN,	/* the twin of a blade, which stands by as far as is known */
};

/**
 * weft_peer_sender() - does a message come from the member that sends such messages?
 * @msg: its header
 * @from: source address
 *
 * What members send each other, and requests, come from the member that they name.  What a
 * directory makes may come from any member: a switch passes the request on or answers in the
 * name of the home.  A COUNT_ACK comes from the switch's made-up address.
 *
 * Any context.
 */
enum weft_peer_sender weft_peer_sender(const struct weft_peers *peers,
				       const struct weft_msg *msg, __be32 from);

/**
 * weft_peer_route() - route to a member
 * @id: a member, WEFT_PEER_STANDBY(), or WEFT_PEER_GROUP
 * @sk: the socket that sends
 * @saddr: out: source address
 * @daddr: out: the member's address
 *
 * Bottom halves are off.
 *
 * Return: a reference to the route; -ENXIO for an unknown member; what the
 * routing says.
 */
struct rtable *weft_peer_route(struct weft_peers *peers, u32 id, struct sock *sk,
			       __be32 *saddr, __be32 *daddr);

#endif /* WEFT_PEER_H */
