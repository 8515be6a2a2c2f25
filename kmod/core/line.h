/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache controller's state machine for one line at a compute node: MSI,
 * one outstanding transaction, collecting of answers, retention of data that
 * was given away until its receiver has it, retransmission.
 *
 * The host (kernel module, explorer, tests) calls in with events, one at a time
 * for a line (in the kernel: under the line's spinlock), and carries out what
 * comes back in struct weft_out: messages to send and effects on the data.  No
 * call sleeps; taking a copy away from the programs, which can, is split in two:
 * the effect WEFT_DO_REVOKE or WEFT_DO_PROTECT asks for it, weft_line_revoked()
 * says that it is done.
 *
 * States, transitions and invariants: docs/protocol.md.
 */
#ifndef WEFT_CORE_LINE_H
#define WEFT_CORE_LINE_H

#include "wire.h"

/* The outstanding transaction of a line. */
enum weft_op {
	WEFT_OP_NONE,
	WEFT_OP_GETS,		/* wants a read-only copy */
	WEFT_OP_GETM,		/* wants to own the line */
	WEFT_OP_PUT,		/* leaves the copyset, after writing back */
	WEFT_OP_CLEAN,		/* writes back and stays owner */
	WEFT_OP_COMMIT,		/* has its permission, tells the directory */
	WEFT_OP_TAKE,		/* takes back what it gave and nobody took */
};

/* Data kept for somebody else, until DONE or the directory says it may go. */
enum weft_held {
	WEFT_HELD_NONE,
	WEFT_HELD_GIVEN,	/* was the owner, gave the line away */
	WEFT_HELD_PINNED,	/* was the owner, has a read-only copy now */
};

#define WEFT_FRAGS_MAX	64	/* fragments of a block, one bit each */

/**
 * struct weft_line - one line at one node
 * @key: name of the line
 * @self: id of this node
 * @state: WEFT_I, WEFT_S or WEFT_M: the permission that this node has
 * @op: the outstanding transaction
 * @held: data retained for another node
 * @revoking: host is taking the copy away (2) or its write permission (1)
 * @granted: PUT: the directory let us go
 * @quiesced: PUT: nobody here uses the copy any more
 * @quiet: an unmodified copy is dropped without a message
 * @busy: GETS, GETM: an answer said that we hold the entry's lock
 * @refused: since the last request; it is repeated without a time-out's doubts
 * @no_data: GETM: nobody who was asked has data to send
 * @poisoned: GETS: an invalidation overtook the answer; unless the answer holds
 *	the entry's lock its data may be old
 * @expecting: GETS, GETM: not asked for yet, the owner is to pass it on
 * @overdue: it was expected, and is asked for now
 * @written: PUT: the write-back is at home
 * @wb_wanted: GETS: an owner writes back before we may commit
 * @downgraded: GETS: an answer said that it comes with the lock, and is not lent
 * @loaned: S: the owner lent it to us, the directory does not know of it
 * @chase_home: the next CHASE is for the home, see weft_requester_chase()
 * @dunned: GETM, TAKE: those to whom the line was lent were told to give it up
 * @need_known: the lock is ours; @status, @copyset and @grant are valid
 * @fetching: all acknowledged, data asked from home
 * @in_whole: all fragments of the data coming in came
 * @nacks: refusals in a row, for back-off
 * @tries: time-outs in a row, for back-off
 * @status: of the entry, as the answers say
 * @copyset: of the entry, as the answers say
 * @grant: of the entry: which taking of its lock is ours
 * @owned: of the entry: M or @held: its grant when we last knew to be the owner
 * @lent: M or @held: nodes that were lent the line, to read, of which the directory
 *	does not know; until all have given it back nobody may write, we neither
 * @back: those of @lent that have
 * @version: version of the data in the block (state not I, or @held)
 * @txn: of @op
 * @acked: nodes that did
 * @loans: GETS, GETM: nodes that the owner has lent the line to, as its answer says
 * @returned: GETM: nodes that have given back, unasked, what they were lent ...
 * @returned_version: ... in this version
 * @new_status: COMMIT: what the entry becomes
 * @new_copyset: COMMIT: what the entry becomes
 * @provider_nonce: retention to end at the provider, 0 for none
 * @provider_id: who retains
 * @in_version: version of the data coming in
 * @in_frags: fragments that came
 * @wb_version: GETS: newest version that the home is known to have
 * @in_size: bytes of a full fragment of the data coming in
 * @nonce: number of our retention, or of the query that asks for it
 * @held_txn: the transaction that the data was given to
 * @held_grant: of the entry, as the order to give it said; or @owned if there was
 *	none: what the directory said before that is out of date
 * @lending: the transaction that it will be lent for, unasked, when the host has
 *	revoked (@revoking); 0: none
 * @rq: the invalidation, forward, pass or return of what was lent (INV_ACK) that
 *	waits for the host (@revoking)
 * @rq.type: 0 for none
 */
struct weft_line {
	u64 key;
	u8 self;
	u8 state;
	u8 op;
	u8 held;
	u8 revoking;
	bool granted;
	bool quiet;
	bool quiesced;
	bool busy;
	bool no_data;
	bool refused;
	bool poisoned;
	bool expecting;
	bool overdue;
	bool written;
	bool wb_wanted;
	bool downgraded;
	bool loaned;
	bool chase_home;
	bool dunned;
	bool need_known;
	bool fetching;
	bool in_whole;
	u8 nacks;
	u8 tries;
	u8 status;
	u64 version;
	u32 txn;
	u32 grant;
	u32 owned;
	u32 lent;
	u32 back;
	u32 copyset;
	u32 acked;
	u32 loans;
	u32 returned;
	u32 new_status;
	u32 new_copyset;
	u32 provider_nonce;
	u32 provider_id;
	u64 in_version;
	u64 in_frags;
	u64 wb_version;
	u64 returned_version;
	u32 in_size;
	u32 nonce;
	u32 held_txn;
	u32 held_grant;
	u32 lending;
	struct {
		u8 type;
		u8 flags;
		u8 status;
		u32 txn;
		u32 grant;
		u32 copyset;
		u32 provider;
	} rq;
};

/* What the host has to do, in this order. */
#define WEFT_DO_INSTALL		0x01	/* copy the message's payload into the block */
#define WEFT_DO_PROTECT		0x02	/* take write permission away, then weft_line_revoked() */
#define WEFT_DO_REVOKE		0x04	/* take all access away, then weft_line_revoked() */
					/* ... send the messages ... */
#define WEFT_DO_WAKE		0x08	/* waiters look again */
#define WEFT_DO_FREE		0x10	/* nobody needs the block's data any more */
#define WEFT_DO_TIMER		0x20	/* (re)start the timer, see weft_line_timeout() */
#define WEFT_DO_BACKOFF		0x40	/* with TIMER: refused, ask again soon */
#define WEFT_DO_FAIL		0x80	/* the home has no such line: waiters get an error */

/**
 * struct weft_send - a message to send
 * @to: member id, or 0: to the line's home (the switch serves it on the way)
 * @with_data: DATA, WB, PASS: the host sends the whole block in fragments and
 *	fills in info, offset, size, len and payload
 * @msg: the rest
 */
struct weft_send {
	u8 to;
	bool with_data;
	struct weft_msg msg;
};

#define WEFT_OUT_MAX	4

/**
 * struct weft_out - what follows from one event
 * @effects: WEFT_DO_*
 * @n: messages
 * @send: the messages, in any order, after INSTALL and before FREE
 */
struct weft_out {
	u32 effects;
	u32 n;
	struct weft_send send[WEFT_OUT_MAX];
};

/*
 * All functions below: @out is overwritten; @fresh is a transaction sequence
 * number never used before by this node in this life (only its low bits count),
 * used up whether needed or not.  Any context; the host serializes calls for
 * one line.
 */

/* A line that this node knows nothing of: state I. */
void weft_line_init(struct weft_line *l, u64 key, u8 self);

/* Permission that programs may use now: WEFT_I, WEFT_S or WEFT_M. */
u8 weft_line_perm(const struct weft_line *l);

/* True if nothing is outstanding: in state I the host may forget the line. */
bool weft_line_idle(const struct weft_line *l);

/**
 * weft_line_want() - a program needs permission
 * @perm: WEFT_S or WEFT_M
 *
 * Starts a transaction if one is needed and none is under way; otherwise the
 * caller waits for WEFT_DO_WAKE and calls again.  The host provides the block's
 * memory before.
 */
void weft_line_want(struct weft_line *l, u8 perm, u32 fresh,
		    struct weft_out *out);

/**
 * weft_line_evict() - the host wants the block's memory back
 * @quiet: drop an unmodified copy without telling the directory
 *
 * Return: false if the line is busy (try another one).
 */
bool weft_line_evict(struct weft_line *l, bool quiet, u32 fresh,
		     struct weft_out *out);

/**
 * weft_line_clean() - write a modified block home and keep it
 *
 * Return: false if there is nothing to write (not the owner) or the line is
 * busy; WEFT_DO_WAKE follows when a write-back that was started is over.
 */
bool weft_line_clean(struct weft_line *l, u32 fresh, struct weft_out *out);

/**
 * weft_line_expect() - the owner is to pass the line on, nobody need ask for it
 * @perm: WEFT_S or WEFT_M
 * @txn: transaction of this node that the owner will name
 *
 * Nothing is sent.  If a transaction of that name is answered before it is
 * expected, its end cannot be told any more: so a line expects one at most once,
 * and before anybody else hears of the name (that is, before the ACQUIRE of the lock
 * is sent).  The host provides the block's memory before.
 *
 * The expectation ends when the line has come (WEFT_DO_WAKE), or when
 * weft_line_timeout() is called: then the line is asked for as usual, once the node
 * knows what became of data that it retains itself.  How long to wait for that is
 * the host's decision (@expecting).
 *
 * Return: false if the permission is there, or the line busy.
 */
bool weft_line_expect(struct weft_line *l, u8 perm, u32 txn,
		      struct weft_out *out);

/**
 * weft_line_unexpect() - the line is not wanted any more
 *
 * Return: false if it is not only expected: (part of) it has come, or it was asked
 * for.
 */
bool weft_line_unexpect(struct weft_line *l, struct weft_out *out);

/**
 * weft_line_pass() - give the line to who has not asked yet, to write
 * @txn: transaction that the other node expects it with
 *
 * The data goes out after weft_line_revoked().  If the other node does not expect
 * it, or another one was faster, the line comes back, or goes to that one.
 *
 * Return: false if this node is not the owner, the line is busy, or @txn is no
 * other node's.
 */
bool weft_line_pass(struct weft_line *l, u32 txn, struct weft_out *out);

/**
 * weft_line_lend() - let a node read that has not asked yet, and stay the owner
 * @txn: transaction that the other node expects it with
 *
 * The data goes out after weft_line_revoked() if this node could write until now,
 * else at once.  Nobody can write, this node neither, before all that read have
 * given the line up; whoever gets the line from this node sees to that.
 *
 * Return: false if this node is not the owner, the line is busy, the other node has
 * been lent it already, or @txn is no other node's.
 */
bool weft_line_lend(struct weft_line *l, u32 txn, struct weft_out *out);

/**
 * weft_line_yield() - give back what was lent, to who is to have the line next
 * @txn: transaction that the other node expects it with, to write
 *
 * Said after weft_line_revoked().  That node need not know yet that it is to have the
 * line, and never has to: a copy may be dropped at any time.
 *
 * Return: false if the line was not lent to this node, or is busy.
 */
bool weft_line_yield(struct weft_line *l, u32 txn, struct weft_out *out);

/**
 * weft_line_members() - who has left the rack has nothing any more
 * @members: bits of nodes; asked for after the line was @dunned: who was lent it, and
 *	is not among them, has left since
 *
 * To be followed by weft_line_timeout().
 */
void weft_line_members(struct weft_line *l, u32 members);

/**
 * weft_line_recv() - a message for this line
 * @msg: checked by weft_wire_unpack()
 *
 * A node also calls this for a line that it knows nothing of, on a line made by
 * weft_line_init(): the answers need no memory.
 */
void weft_line_recv(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		    struct weft_out *out);

/*
 * The host has done WEFT_DO_PROTECT or WEFT_DO_REVOKE.  @out may ask for more of it: an
 * order that came meanwhile needs what was only to be protected.
 */
void weft_line_revoked(struct weft_line *l, u32 fresh, struct weft_out *out);

/**
 * weft_line_timeout() - the timer that WEFT_DO_TIMER asked for
 *
 * Sends again what is not answered.  Spurious calls are harmless.
 */
void weft_line_timeout(struct weft_line *l, struct weft_out *out);

/**
 * weft_line_return() - the line's home has begun to know nothing of its lines
 *
 * What only this node may have goes home, under a version that is newer than all
 * before; every transaction ends, waiters wake, nothing is cached.  Programs have no
 * access any more: the host has taken it away.  What is retained for others is
 * written home, too: if they have it, theirs is as new or newer.  The home serves
 * nobody until all nodes have done this.
 *
 * Return: true if something is on its way home: the data stays until WEFT_DO_FREE.
 */
bool weft_line_return(struct weft_line *l, u32 fresh, struct weft_out *out);

/* That is still under way. */
bool weft_line_returning(const struct weft_line *l);

/**
 * weft_line_forget() - the line's home does not exist any more
 *
 * For a region that was removed: every transaction ends, waiters wake, data
 * goes.
 */
void weft_line_forget(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_LINE_H */
