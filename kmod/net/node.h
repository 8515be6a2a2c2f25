/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This node as all layers see it: number, key, clock, members, counters.  rack/member.c writes
 * it; a field is constant while @up unless its description says otherwise.
 */
#ifndef WEFT_NODE_H
#define WEFT_NODE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/in.h>
/* before percpu.h, as in base/stats.h */
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
 * The rack's clock as this node knows it.
 *
 * It tells old messages from new ones in a rack with a key, and is not the time of day.  The
 * first memory blade keeps it; its answers set this copy.
 */
struct weft_clock {
	/*
	 * epoch in the upper half, in the lower one how many ticks the clock is ahead of this
	 * machine's: one word, so a thread sees both or neither of a change
	 */
	atomic64_t at;
};

/* Read the clock.  Any context. */
struct weft_stamp weft_clock_read(const struct weft_clock *clock);

/* Set the clock to @stamp.  Any context. */
void weft_clock_set(struct weft_clock *clock, struct weft_stamp stamp);

/* The first blade has not said the time yet. */
void weft_clock_forget(struct weft_clock *clock);

/* A message without the rack's key, or not from the member that it names. */
struct weft_refused {
	unsigned int stat;	/* the counter that counts it; WEFT_STAT_COUNT: there was none */
	__be32 from;		/* its source address */
	u64 msecs;		/* how long ago */
};

/* The last such message, for people that look for its sender. */
struct weft_last_refused {
	spinlock_t lock;	/* guards all of it.  Taken with bottom halves off */
	unsigned int stat;
	__be32 from;
	ktime_t when;		/* when it came */
};

/*
 * Note a message that is refused.  @stat: the counter that it was counted under.  @from: its
 * source address.  Any context but interrupts.
 */
void weft_refused_note(struct weft_last_refused *last, unsigned int stat, __be32 from);

/* Read the last one since weft_refused_forget(). */
void weft_refused_last(struct weft_last_refused *last, struct weft_refused *r);

void weft_refused_forget(struct weft_last_refused *last);

/*
 * Numbers of this node's transactions and calls, each used once.
 *
 * A miss takes several.  Processors take ranges of 64 (core/seq.h), so that misses do not share
 * a cache line.  Calls take single numbers: blades expect those of a member roughly in order.
 */
struct weft_seqs {
	atomic64_t given;			/* how many were given to processors and calls */
	struct weft_seq_range __percpu *ranges;	/* what is left of each processor's range */
} ____cacheline_aligned_in_smp;

/*
 * This node.
 *
 * All but those that say READ_ONCE, @seqs, @members_asked and what has a lock of its own are
 * constant while @up.
 */
struct weft_node {
	bool up;		/* the node is configured, and its transports are open */
	u8 id;			/* WEFT_NODE_MIN..WEFT_NODE_MAX */
	int ifindex;		/* interface that leads to the rack */
	u32 rack;		/* number of the rack */
	u32 fragment;		/* bytes of payload in a full fragment */
	bool gathers;		/* the interface sends datagrams that lie in several pieces */
	u32 timeout_ms;		/* how long a program waits for the network.  READ_ONCE */
	u32 hold_us;		/* minimum stay of a block after a program got it.  READ_ONCE */
	struct weft_key key;	/* of the rack; not set: it has none */
	struct weft_seqs seqs;	/* numbers of transactions and calls */
	u32 members;		/* bits of the nodes in the rack.  READ_ONCE */
	u32 dead;		/* bits of dead nodes, from which nothing is taken.  READ_ONCE */
	u64 members_asked;	/* ns, a moment before the first blade was asked for @members */
	/* heartbeats in a row that the first blade did not answer.  READ_ONCE */
	unsigned int failures;
	unsigned long answered;	/* when the first blade last answered, jiffies.  READ_ONCE */
	struct weft_counters counters; /* counters and histograms */
	struct weft_peers peers; /* addresses of the members */
	struct weft_places places; /* home blades of regions */
	struct weft_clock clock; /* of a rack with a key */
	struct weft_last_refused refused; /* the last refused message */
	struct weft_rtts rtts;	/* how long answers take */
	struct list_head calls;	/* calls that wait for their answers, see rpc.c */
	spinlock_t calls_lock;	/* guards @calls, the answers in its entries, and @hurried */
	unsigned long hurried;	/* when calls were last repeated out of turn, jiffies */
	/* asks the first blade for members and time, at a limited rate.  Any context */
	void (*refresh)(struct weft_node *node);
	const struct weft_receivers *above; /* the layers that messages are for */
	struct socket __rcu *socket; /* see datagram.c */
	struct ip_mreqn group;	/* multicast group of the switch, as it was joined */
	/* the node in the transport of another module (transport.h) */
	struct weft_card __rcu *card;
	/* ways to the other members, NULL behind the last; constant */
	const struct weft_transport *const *transports;
};

/*
 * Initialise a node that is not configured.  @receivers: the layers that messages are for.
 * @refresh: see struct weft_node.  Return: 0 or -ENOMEM.
 */
int weft_node_init(struct weft_node *node, const struct weft_receivers *receivers,
		   void (*refresh)(struct weft_node *node));
void weft_node_exit(struct weft_node *node);

#define WEFT_HEARTBEAT_FAILURES	3	/* so many in a row: the first blade is lost */

/*
 * A new number for a transaction.  Bottom halves are off, as softirqs take from the same range.
 */
u32 weft_node_seq(struct weft_node *node);

/* A new number for a call, after all numbers of calls before.  Any context. */
u32 weft_node_call_seq(struct weft_node *node);

/*
 * Is a member dead, as the first blade has said?  Nothing is taken from it then.  Any context.
 */
static inline bool weft_node_is_dead(const struct weft_node *node, u32 member)
{
	return READ_ONCE(node->dead) & weft_node_bit(member);
}

/* The member that is the home of a line. */
static inline u8 weft_node_home(const struct weft_node *node, u64 key)
{
	return (u8)weft_place_home(&node->places, key);
}

/*
 * Bits of nodes that may have been members at @since (ns) and still are: all, if the first blade
 * has not answered a later question.  Any context.
 */
u32 weft_node_members(const struct weft_node *node, u64 since);

/*
 * Is this node cut off?  The first blade has not answered heartbeats for @timeout_ms.  Any
 * context.
 */
bool weft_node_cut_off(const struct weft_node *node);

#endif /* WEFT_NODE_H */
