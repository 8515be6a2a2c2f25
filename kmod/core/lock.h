/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node's side of a lock line: how nodes get the lock from each other (Soul 3.1, 4.2).  Hosts
 * call it one event at a time for a lock, in any context.  How the programs of a node share the
 * permission among themselves is the host's.
 */
#ifndef WEFT_CORE_LOCK_H
#define WEFT_CORE_LOCK_H

#include "line.h"

/*
 * The node caches permission S or M as for a page.  A writer that has the lock, or is next to have
 * it, is the holder of the queue: the directory sends it all other requests, and it decides who
 * follows.  The entry's epoch numbers its term.  The holder hands the lock over in one message
 * (HAND, through the directory, which compares the epoch before it changes the entry): to the next
 * writer, to the readers before that writer, or, without a writer, to all readers, which ends the
 * queue.
 *
 * WEFT_DO_WAKE: waiting programs that the permission suffices for have the lock now, before
 * anything else happens.  WEFT_DO_REVOKE: keep new programs out; when the last one has let go call
 * weft_lock_revoked(), or weft_lock_share() when all that hold the lock read.
 */

#define WEFT_QUEUE_MAX	WEFT_NODE_MAX	/* a node waits once at most */

/**
 * struct weft_queue - nodes that wait for a lock, first come first
 * @n: number of nodes
 * @writers: bits of those that want to write
 * @txn: their transactions, which name the nodes
 */
struct weft_queue {
	u32 n;
	u32 writers;
	u32 txn[WEFT_QUEUE_MAX];
};

/* Number of readers before the first writer. */
u32 weft_queue_readers(const struct weft_queue *q);

/* The queue in a HAND or HANDED; nonsense in it names nobody. */
void weft_queue_unpack(struct weft_queue *q, const struct weft_msg *msg);

/**
 * struct weft_lock - one lock at one node
 * @key: name of the line
 * @self: id of this node
 * @state: permission of this node: WEFT_I, WEFT_S or WEFT_M
 * @want: permission asked for, WEFT_I for none
 * @revoking: the host is taking the lock away from programs
 * @tenured: this node holds the queue
 * @ended: @last is valid
 * @floored: @floor is valid
 * @floor_died: this node told the holder in term @floor that a writer before it died
 * @handing: a hand-over is under way that has not been confirmed
 * @died: the writer before this node died with the lock, see struct weft_home_line; belongs to the
 *	permission that this node has, or waits for readers to have
 * @unmended: nobody has mended what a dead writer left, and the next to have the lock hears of it;
 *	set by the host before weft_lock_revoked() or weft_lock_share()
 * @handed_unmended: HAND: @unmended, as it was
 * @yielding: S: another node waits for this one to give the lock up
 * @yield_died: and hears from this node that the writer before it died with the lock
 * @tries: time-outs in a row
 * @nacks: refusals in a row
 * @txn: transaction of @want, or of the last ACQUIRE
 * @epoch: of our term as holder of the queue; S: the permission is older than any later term
 * @last: newest term of ours that is over
 * @floor: permission to read from before this term is void
 * @waiting_on: tenured: readers that have not given the lock up
 * @yield: @yielding: the term of the node that waits
 * @yield_txn: @yielding: the transaction to answer with
 * @yield_copyset: @yielding: the readers that it waits for
 * @successor: @yielding: transaction of the next writer, 0 if not known
 * @query: number of the QUERY for the holder of the queue, 0 for none
 * @handed_epoch: HAND: the term that it ends
 * @handed_to: HAND: bit of the next holder, 0 for none
 * @handed_readers: HAND: nodes that read meanwhile
 * @queue: nodes that wait; if not tenured, those that will if this node turns out to be the holder
 * @handed: HAND: the queue as it was
 */
struct weft_lock {
	u64 key;
	u8 self;
	u8 state;
	u8 want;
	bool revoking;
	bool tenured;
	bool ended;
	bool floored;
	bool floor_died;
	bool handing;
	bool died;
	bool unmended;
	bool handed_unmended;
	bool yielding;
	bool yield_died;
	u8 tries;
	u8 nacks;
	u32 txn;
	u32 epoch;
	u32 last;
	u32 floor;
	u32 waiting_on;
	u32 yield;
	u32 yield_txn;
	u32 yield_copyset;
	u32 successor;
	u32 query;
	u32 handed_epoch;
	u32 handed_to;
	u32 handed_readers;
	struct weft_queue queue;
	struct weft_queue handed;
};

#define WEFT_LOCK_OUT_MAX	4

/**
 * struct weft_lock_out - what follows from one event
 * @effects: WEFT_DO_*
 * @n: number of messages
 * @send: the messages; the payload of a HAND is in @list
 * @list: transactions, big-endian
 */
struct weft_lock_out {
	u32 effects;
	u32 n;
	struct weft_send send[WEFT_LOCK_OUT_MAX];
	u8 list[WEFT_QUEUE_MAX * 4];
};

/*
 * All functions below overwrite @out.  @fresh is a transaction sequence number that this node has
 * never used in this life; it is used up in any case.
 */

void weft_lock_init(struct weft_lock *l, u64 key, u8 self);

/* Permission that programs may take now. */
u8 weft_lock_perm(const struct weft_lock *l);

/* Is nothing outstanding?  In state I the host may forget the lock then. */
bool weft_lock_idle(const struct weft_lock *l);

/**
 * weft_lock_want() - a program waits for permission
 * @perm: WEFT_S or WEFT_M
 *
 * Asks for it once; the caller looks again at WEFT_DO_WAKE.  A program that gives up says nothing:
 * a lock that nobody wants any more is handed over when it comes.
 */
void weft_lock_want(struct weft_lock *l, u8 perm, u32 fresh, struct weft_lock_out *out);

/* Give the lock back though nobody wants it.  Return: false if it is busy, or not cached. */
bool weft_lock_evict(struct weft_lock *l, struct weft_lock_out *out);

/* A message for this lock, checked by weft_wire_unpack(). */
void weft_lock_recv(struct weft_lock *l, const struct weft_msg *msg, u32 fresh,
		    struct weft_lock_out *out);

/**
 * weft_lock_gone() - nodes have died
 * @dead: bits of the nodes; no message of theirs is handed in any more
 *
 * Nobody waits for them, and they wait for nothing.  Homes see to the locks that they held
 * (weft_home_gone()).
 */
void weft_lock_gone(struct weft_lock *l, u32 dead, struct weft_lock_out *out);

/* No program holds the lock any more, and none gets in without asking. */
void weft_lock_revoked(struct weft_lock *l, struct weft_lock_out *out);

/**
 * weft_lock_successors() - the next to have the lock, in a hand-over that has just begun
 * @writer: receives the transaction of the writer after the readers, 0 for none
 *
 * For a host that passes on what the lock guards.  Valid after the call that set @handing.
 *
 * Return: number of readers at the head of @handed.txn.  One of them, or the writer, may be this
 * node.
 */
u32 weft_lock_successors(const struct weft_lock *l, u32 *writer);

/*
 * Transaction of the writer that this node gives up permission to read for; 0: not known, or none.
 * For a host that gives up what the lock guards; valid before weft_lock_revoked().
 */
static inline u32 weft_lock_next_writer(const struct weft_lock *l)
{
	return l->state == WEFT_S && l->yielding ? l->successor : 0;
}

/**
 * weft_lock_share() - the programs that hold the lock only read, and no writer gets in
 *
 * While the lock is being revoked.  If no node waits to write, all that wait get the lock to read,
 * and this node keeps it to read: readers do not wait for each other.
 *
 * Return: false if a node waits to write: the programs have to let go first.
 */
bool weft_lock_share(struct weft_lock *l, struct weft_lock_out *out);

/* The timer that WEFT_DO_TIMER asked for.  Spurious calls are harmless. */
void weft_lock_timeout(struct weft_lock *l, struct weft_lock_out *out);

#endif /* WEFT_CORE_LOCK_H */
