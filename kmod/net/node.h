/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This node as the lower layers see it: its number, its home blades, its key, and the
 * nodes that are in the rack with it.  rack/member.c writes all of it.
 */
#ifndef WEFT_NODE_H
#define WEFT_NODE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/in.h>
/* Before percpu.h, as in base/stats.h. */
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "base/stats.h"
#include "core/line.h"
#include "core/seq.h"
#include "core/tag.h"
#include "net/peer.h"
#include "net/place.h"
#include "net/rtt.h"

struct socket;
struct weft_card;
struct weft_receivers;
struct weft_transport;

/*
 * The rack's clock as this node knows it, which tells old messages from new ones in a rack
 * that has a key.  The first memory blade keeps it; its answers set ours.  It has nothing to
 * do with the time of day.
 */

/**
 * struct weft_clock - a rack's clock
 * @at: epoch above, and below it how many ticks the clock is ahead of this machine's: in one
 *	word, so that no thread sees half of a change
 */
struct weft_clock {
	atomic64_t at;
};

/* What it says.  Any context. */
struct weft_stamp weft_clock_read(const struct weft_clock *clock);

/* It is @stamp now.  Any context. */
void weft_clock_set(struct weft_clock *clock, struct weft_stamp stamp);

/* The first blade has not been heard yet. */
void weft_clock_forget(struct weft_clock *clock);

/*
 * The last message that somebody sent who has not the rack's key, or not the address of
 * the member that it names: for people who look for that machine.
 */

/**
 * struct weft_refused - one such message
 * @stat: the counter that it was counted under; WEFT_STAT_COUNT: there was none
 * @from: the address that it came from
 * @msecs: how long ago
 */
struct weft_refused {
	unsigned int stat;
	__be32 from;
	u64 msecs;
};

/**
 * struct weft_last_refused - the last one
 * @lock: all of it.  Taken with bottom halves off
 * @stat: as above
 * @from: as above
 * @when: when it came
 */
struct weft_last_refused {
	spinlock_t lock;
	unsigned int stat;
	__be32 from;
	ktime_t when;
};

/**
 * weft_refused_note() - a message is refused
 * @stat: the counter that it was counted under
 * @from: the address that it came from
 *
 * Any context but interrupts.
 */
void weft_refused_note(struct weft_last_refused *last, unsigned int stat, __be32 from);

/* The last one since weft_refused_forget(). */
void weft_refused_last(struct weft_last_refused *last, struct weft_refused *r);

void weft_refused_forget(struct weft_last_refused *last);

/*
 * The numbers of this node's transactions and calls, which no two have in common.
 *
 * A miss takes several.  So that processors do not wait for each other's cache line, each has
 * a range of its own (core/seq.h), and @given is written by one in 64.  Calls are numbered by
 * @given itself: blades expect those of a member roughly in order.
 */

/**
 * struct weft_seqs - sequence numbers
 * @given: how many were given to processors, or to calls
 * @ranges: what processors have left of those
 *
 * In a cache line of its own.
 */
struct weft_seqs {
	atomic64_t given;
	struct weft_seq_range __percpu *ranges;
} ____cacheline_aligned_in_smp;

/**
 * struct weft_node - this node
 * @up: it is configured, and its socket is open
 * @id: WEFT_NODE_MIN..WEFT_NODE_MAX
 * @ifindex: interface that leads to the rack
 * @rack: number of the rack
 * @fragment: bytes of payload in a full fragment
 * @gathers: its interface sends datagrams that are in several pieces
 * @timeout_ms: how long a program waits for the network.  READ_ONCE
 * @hold_us: how long a block stays after a program got it.  READ_ONCE
 * @key: of the rack; not set: it has none
 * @seqs: of its transactions and calls
 * @members: bits of the nodes in the rack.  READ_ONCE
 * @dead: nodes that are members, and that nothing is taken from, as they are dead.  READ_ONCE
 * @members_asked: ns, no later than when the first blade was asked for them
 * @failures: heartbeats in a row that the first blade did not answer.  READ_ONCE
 * @answered: when it last answered, jiffies.  READ_ONCE
 * @counters: what it counts
 * @peers: who else is in the rack
 * @places: which of its blades are the homes of a region
 * @clock: of a rack with a key
 * @refused: the last message that was
 * @rtts: how long answers take
 * @calls: questions that wait for their answers, see rpc.c
 * @calls_lock: @calls; the answer in its entries; @hurried
 * @hurried: when they were last sent again out of turn, jiffies
 * @refresh: asks the first blade for the members and the time, not too often.  Any context
 * @above: the layers above, which messages are for
 * @socket: see datagram.c
 * @group: the switch's, as it was joined
 * @card: of the transport that another module brings (transport.h)
 * @transports: the ways to the others, NULL behind the last; of who makes the node, for good
 *
 * All but those that say READ_ONCE, @seqs, @members_asked and what has locks of its own are
 * constant while @up.
 */
struct weft_node {
	bool up;
	u8 id;
	int ifindex;
	u32 rack;
	u32 fragment;
	bool gathers;
	u32 timeout_ms;
	u32 hold_us;
	struct weft_key key;
	struct weft_seqs seqs;
	u32 members;
	u32 dead;
	u64 members_asked;
	unsigned int failures;
	unsigned long answered;
	struct weft_counters counters;
	struct weft_peers peers;
	struct weft_places places;
	struct weft_clock clock;
	struct weft_last_refused refused;
	struct weft_rtts rtts;
	struct list_head calls;
	spinlock_t calls_lock;
	unsigned long hurried;
	void (*refresh)(struct weft_node *node);
	const struct weft_receivers *above;
	struct socket __rcu *socket;
	struct ip_mreqn group;
	struct weft_card __rcu *card;
	const struct weft_transport *const *transports;
};

/**
 * weft_node_init() - not configured yet
 * @receivers: the layers above
 * @refresh: see above
 *
 * Return: 0 or -ENOMEM.
 */
int weft_node_init(struct weft_node *node, const struct weft_receivers *receivers,
		   void (*refresh)(struct weft_node *node));
void weft_node_exit(struct weft_node *node);

#define WEFT_HEARTBEAT_FAILURES	3	/* in a row: the first blade is lost */

/*
 * A sequence number for a transaction, which no other one has.  Bottom halves are off: ranges are
 * taken from in softirq, too.
 */
u32 weft_node_seq(struct weft_node *node);

/* ... for a call: after all that were given to calls before.  Any context. */
u32 weft_node_call_seq(struct weft_node *node);

/* Is it dead, says the first blade?  Then nothing is taken from it.  Any context. */
static inline bool weft_node_is_dead(const struct weft_node *node, u32 member)
{
	return READ_ONCE(node->dead) & weft_node_bit(member);
}

/* Member that is the home of a line. */
static inline u8 weft_node_home(const struct weft_node *node, u64 key)
{
	return (u8)weft_place_home(&node->places, key);
}

/*
 * Bits of nodes that may have been in the rack at @since (ns) and still are: all, if
 * no answer of the first blade has said so since.  Any context.
 */
u32 weft_node_members(const struct weft_node *node, u64 since);

/*
 * Is this node cut off from its rack?  The first memory blade has missed heartbeats for
 * the time that programs are to wait.  Any context.
 */
bool weft_node_cut_off(const struct weft_node *node);

#endif /* WEFT_NODE_H */
