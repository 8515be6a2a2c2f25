/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node's side of a lock line: a line that can be held (Soul 3.1, 4.2).  The
 * node caches permission S or M as for a page; programs of the node share the
 * permission out among themselves without this code.  What is here is how nodes
 * get it from each other.
 *
 * A writer that has the lock, or is next to have it, is the holder of the
 * queue: the directory sends it whoever else asks, and it decides who follows.
 * Its term is numbered by the entry's epoch.  It passes the lock on in one
 * message (HAND, through the directory, which changes its mind by comparing the
 * epoch) to the next writer, to the readers before that writer, or, if there is
 * no writer, to all readers, which ends the queue.
 *
 * The host calls in as for struct weft_line.  WEFT_DO_WAKE: waiting programs
 * that the permission suffices for have the lock now, before anything else
 * happens; WEFT_DO_REVOKE: keep new ones out, and when the last one has let go
 * call weft_lock_revoked(), or weft_lock_share() when those that are left read.
 */
#ifndef WEFT_CORE_LOCK_H
#define WEFT_CORE_LOCK_H

#include "line.h"

/*
 * Nodes that wait for a lock, first come first (Soul, section 4.2: the queue is at
 * its holder).  A node is in it once at most.  No locks: it is part of a lock.
 */

#define WEFT_QUEUE_MAX	WEFT_NODE_MAX	/* a node waits once at most */

/**
 * struct weft_queue - nodes that wait, first come first
 * @n: how many
 * @writers: bits of those that want to write
 * @txn: their transactions, which name the nodes
 */
struct weft_queue {
	u32 n;
	u32 writers;
	u32 txn[WEFT_QUEUE_MAX];
};

/* How many readers are at the head, before the first writer. */
u32 weft_queue_readers(const struct weft_queue *q);

/* The list in a message (HAND, HANDED); nonsense in it becomes nobody. */
void weft_queue_unpack(struct weft_queue *q, const struct weft_msg *msg);

/**
 * struct weft_lock - one lock at one node
 * @key: name of the line
 * @self: id of this node
 * @state: WEFT_I, WEFT_S or WEFT_M: the permission that this node has
 * @want: permission asked for, WEFT_I for none
 * @revoking: the host is taking the lock away from programs
 * @tenured: this node holds the queue
 * @ended: @last is valid
 * @floored: @floor is valid
 * @floor_died: who has that term was told by us that a writer before it died
 * @handing: a hand-over is under way that nobody has confirmed
 * @tries: time-outs in a row
 * @nacks: refusals in a row
 * @txn: of @want; or of the last ACQUIRE
 * @epoch: of our term as holder of the queue; S: the permission is older than
 *	any term with a greater number
 * @last: newest term of ours that is over
 * @floor: permission to read from before this term is void
 * @waiting_on: tenured: readers that have not given up the lock
 * @died: the writer before us died with the lock, see struct weft_home_line; of the
 *	permission that this node has, or waits for readers to have
 * @unmended: that a writer died with the lock nobody has mended yet: who has it next is to
 *	hear so.  Set by the host before it calls weft_lock_revoked() or weft_lock_share()
 * @yielding: S: somebody waits for us to give it up
 * @yield_died: ... and is to hear that the writer before it died with the lock
 * @yield: ... in this term
 * @yield_txn: ... with this transaction
 * @yield_copyset: ... for these readers
 * @successor: ... its transaction, 0 if we have not heard of it
 * @query: number of the question who holds the queue, 0 for none
 * @queue: who waits; if not tenured, who will if we turn out to be the holder
 * @handed: HAND: the queue as it was
 * @handed_epoch: HAND: the term that it ends
 * @handed_to: HAND: bit of the next holder, 0 for none
 * @handed_readers: HAND: who reads meanwhile
 * @handed_unmended: HAND: @unmended, as it was
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
 * @n: messages
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
 * All functions below: @out is overwritten; @fresh is a transaction sequence
 * number never used before by this node in this life, used up whether needed or
 * not.  Any context; the host serializes calls for one lock.
 */

void weft_lock_init(struct weft_lock *l, u64 key, u8 self);

/* Permission that programs may take now: WEFT_I, WEFT_S or WEFT_M. */
u8 weft_lock_perm(const struct weft_lock *l);

/* True if nothing is outstanding; in state I the host may forget the lock. */
bool weft_lock_idle(const struct weft_lock *l);

/**
 * weft_lock_want() - a program waits for permission
 * @perm: WEFT_S or WEFT_M
 *
 * Asks if that is needed and not done yet; the caller looks again at
 * WEFT_DO_WAKE.  Nothing needs to be said when the program gives up: what comes
 * and is not wanted is passed on.
 */
void weft_lock_want(struct weft_lock *l, u8 perm, u32 fresh,
		    struct weft_lock_out *out);

/**
 * weft_lock_evict() - the host gives the lock back though nobody wants it
 *
 * Return: false if the lock is busy, or not cached.
 */
bool weft_lock_evict(struct weft_lock *l, struct weft_lock_out *out);

/* A message for this lock, checked by weft_wire_unpack(). */
void weft_lock_recv(struct weft_lock *l, const struct weft_msg *msg, u32 fresh,
		    struct weft_lock_out *out);

/**
 * weft_lock_gone() - nodes have died
 * @dead: bits of them; no message of theirs is handed in any more
 *
 * Nobody waits for them, and they wait for nothing.  What they held as holders of the
 * queue their homes see to (weft_home_gone()).
 */
void weft_lock_gone(struct weft_lock *l, u32 dead, struct weft_lock_out *out);

/* No program holds the lock any more, and none gets in without asking. */
void weft_lock_revoked(struct weft_lock *l, struct weft_lock_out *out);

/**
 * weft_lock_successors() - who has the lock next, of a hand-over that has just begun
 * @writer: transaction of the writer that has it after the readers, 0: there is none
 *
 * For a host that passes on with the lock what the lock guards.  Valid after the
 * call that set @handing.
 *
 * Return: how many of the first of @handed.txn are those of readers; one of them, or
 * the writer, may be this node.
 */
u32 weft_lock_successors(const struct weft_lock *l, u32 *writer);

/**
 * weft_lock_next_writer() - the writer that a node gives up permission to read for
 *
 * For a host that gives up with the lock what the lock guards.  Valid before
 * weft_lock_revoked().
 *
 * Return: its transaction; 0: it is not known, or nobody waits for that.
 */
static inline u32 weft_lock_next_writer(const struct weft_lock *l)
{
	return l->state == WEFT_S && l->yielding ? l->successor : 0;
}

/**
 * weft_lock_share() - programs that hold the lock only read, no writer gets in
 *
 * While the lock is being revoked.  If nobody waits to write, all that wait get it
 * to read, and this node keeps it to read: readers do not wait for each other.
 *
 * Return: false if that cannot be; they have to let go first.
 */
bool weft_lock_share(struct weft_lock *l, struct weft_lock_out *out);

/* The timer that WEFT_DO_TIMER asked for.  Spurious calls are harmless. */
void weft_lock_timeout(struct weft_lock *l, struct weft_lock_out *out);

#endif /* WEFT_CORE_LOCK_H */
