/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line at a compute node: what the cache controller (controller.h) knows of it, and
 * what follows from an event.
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

#include "landing.h"
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

/* Data kept for somebody else, until the directory says that it may go. */
enum weft_held {
	WEFT_HELD_NONE,
	WEFT_HELD_GIVEN,	/* was the owner, gave the line away */
	WEFT_HELD_PINNED,	/* was the owner, has a read-only copy now */
};

/*
 * More than a line gets versions before the home hears of one: a day of nodes that take it from
 * each other 3000 times a second, and nobody reads.  If they are lost with their owner, some of
 * them may still be under way to the home, or said of what was lent: who has the home's data
 * then goes on counting far behind them.  Far less than what a home counts on with when it
 * cuts a region (2^32): what was written before is to be older than that.
 */
#define WEFT_VERSIONS_LOST	(1ull << 28)

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
 * @chase_home: the next CHASE is for the home, see weft_transaction_chase()
 * @dunned: GETM, TAKE: those to whom the line was lent were told to give it up
 * @adopted: GETS: the owner that was to write back has died: we do, in its place
 * @lost: GETS, GETM: what the owner had died with it, and what the home has is all, see
 *	WEFT_VERSIONS_LOST
 * @need_known: the lock is ours; @status, @copyset and @grant are valid
 * @fetching: GETS, GETM: nobody was told to send the data, it is asked from home
 * @in_whole: all fragments of the data coming in came
 * @landing: a card may write into the block, see landing.h
 * @landed: GETS, GETM: it was offered a landing, which may be closed by now
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
 * @rq.landing: where the data may land; its key is 0: nowhere
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
	bool adopted;
	bool lost;
	bool need_known;
	bool fetching;
	bool in_whole;
	bool landing;
	bool landed;
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
		struct weft_landing landing;
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
#define WEFT_DO_CLOSE		0x100	/* close the landing, then weft_line_landing_closed() */
#define WEFT_DO_AGAIN		0x200	/* with CLOSE: then hand in the same message again */

/**
 * struct weft_send - a message to send
 * @to: member id, or 0: to the line's home (the switch serves it on the way)
 * @with_data: DATA, WB, PASS: the host sends the whole block in fragments and
 *	fills in info, offset, size, len and payload
 * @landing: its key is not 0: DATA may go there, and LANDED behind it; or, without data,
 *	it is the payload of the message
 * @msg: the rest
 */
struct weft_send {
	u8 to;
	bool with_data;
	struct weft_landing landing;
	struct weft_msg msg;
};

#define WEFT_OUT_MAX	4

/* What the directory knew of a line whose permission has come that was asked for. */
enum weft_miss {
	WEFT_MISS_NONE,			/* it has not */
	WEFT_MISS_READ_UNSHARED,	/* to read; the home had it alone */
	WEFT_MISS_READ_SHARED,		/* ... other nodes read it */
	WEFT_MISS_READ_MODIFIED,	/* ... another node had modified it */
	WEFT_MISS_WRITE_UNSHARED,	/* to write; likewise */
	WEFT_MISS_WRITE_SHARED,
	WEFT_MISS_WRITE_MODIFIED,
	WEFT_MISS_UPGRADE,		/* to write what this node could read */
};

/**
 * struct weft_out - what follows from one event
 * @effects: WEFT_DO_*
 * @miss: enum weft_miss
 * @n: messages
 * @send: the messages, in any order, after INSTALL and before FREE
 */
struct weft_out {
	u32 effects;
	u32 miss;
	u32 n;
	struct weft_send send[WEFT_OUT_MAX];
};

static inline void weft_out_init(struct weft_out *out)
{
	out->effects = 0;
	out->miss = WEFT_MISS_NONE;
	out->n = 0;
}

/* A line that this node knows nothing of: state I. */
void weft_line_init(struct weft_line *l, u64 key, u8 self);

/* Permission that programs may use now: WEFT_I, WEFT_S or WEFT_M. */
u8 weft_line_perm(const struct weft_line *l);

/*
 * What it is until the host begins to take it away (@revoking): programs may go on for so
 * long.
 */
u8 weft_line_perm_yet(const struct weft_line *l);

/* True if nothing is outstanding: in state I the host may forget the line. */
bool weft_line_idle(const struct weft_line *l);

/* What weft_line_return() has begun is still under way. */
bool weft_line_returning(const struct weft_line *l);

/**
 * weft_line_unexpect() - the line is not wanted any more
 *
 * Return: false if it is not only expected: (part of) it has come, or it was asked
 * for.
 */
bool weft_line_unexpect(struct weft_line *l, struct weft_out *out);

/* --- migratory lines --------------------------------------------------------------------- */

/*
 * A migratory line is read and then written by one node after the other (Cox and Fowler;
 * Stenstrom, Brorsson, Sandberg; both ISCA 1993).  Each turn costs two transactions: the read,
 * which leaves a copy at the node that wrote the line last, and the write, which takes that copy
 * away.  A node that asks for the line to write at once pays for one.  It learns that line by
 * line from its own accesses; nothing of it is on the wire, and a wrong guess costs time only.
 *
 * A visit of a line begins when the line comes here and ends when another node takes the line,
 * or the right to write it.
 */

#define WEFT_MIGRATORY_FIRST	2	/* visits of that kind before the first guess */
#define WEFT_MIGRATORY_MOST	32	/* the same after many wrong guesses */

/* The request that brought a line, or the right to write it. */
enum weft_came {
	WEFT_CAME_READ,
	WEFT_CAME_WRITE,
	WEFT_CAME_UPGRADE,	/* to write a line that this node could read */
	WEFT_CAME_GUESSED,	/* to write, for a program that wanted to read */
};

/**
 * struct weft_migratory - whether a line is read and then written on each visit; zeroed at first
 * @seen: visits of that kind; each other visit halves it, so guessing goes on as long as two of
 *	three guesses are right
 * @needed: visits beyond WEFT_MIGRATORY_FIRST before the node guesses.  Wrong guesses that end
 *	the guessing double the sum of both; a right guess takes one off
 * @read: this visit began with a read
 * @wrote: this visit had a write
 * @guessed: this visit began with a guess
 */
struct weft_migratory {
	u8 seen;
	u8 needed;
	bool read;
	bool wrote;
	bool guessed;
};

/* Permission to ask for when a program wants to read a line that is not here. */
u8 weft_migratory_ask(const struct weft_migratory *m);

/* The requested permission has come. */
void weft_migratory_came(struct weft_migratory *m, enum weft_came how);

/* A program is about to write, with the permission that it needs. */
static inline void weft_migratory_wrote(struct weft_migratory *m)
{
	m->wrote = true;
}

/**
 * weft_migratory_ends() - the visit is over
 * @taken: another node asked for the line.  An eviction (false) counts only against a guess
 *
 * Return: false if the visit began with a wrong guess.
 */
bool weft_migratory_ends(struct weft_migratory *m, bool taken);

/* --- for the parts of the cache controller --------------------------------- */

static inline u32 weft_line_me(const struct weft_line *l)
{
	return weft_node_bit(l->self);
}

/*
 * What the owner has goes elsewhere: under a version that nobody else has, but those
 * to whom it is lent.  Nobody has written since.
 */
static inline void weft_line_raise(struct weft_line *l)
{
	if (!l->lent)
		l->version++;
}

/* Add a message to @out; the caller fills in what its type needs besides. */
struct weft_msg *weft_line_send(struct weft_line *l, struct weft_out *out,
				u8 to, u8 type, u32 txn);

/* Add a message that carries the block. */
void weft_line_send_data(struct weft_line *l, struct weft_out *out, u8 to,
			 u8 type, u32 txn, u32 nonce);

/* If the line is nobody's business any more its memory can go; else the timer. */
void weft_line_settle(struct weft_line *l, struct weft_out *out);

/* No other node needs the data that is retained. */
void weft_line_release(struct weft_line *l, struct weft_out *out);

/*
 * The one outstanding transaction of a line (@op, @txn): how it begins and ends, and what the
 * directory is told of it.
 */

/* A transaction of kind @op, and what it will have heard: nothing yet. */
void weft_transaction_begin(struct weft_line *l, u8 op, u32 fresh);

/* Ask the directory for what a miss wants. */
void weft_transaction_request(struct weft_line *l, struct weft_out *out);

/* All is here: tell the directory what its entry is from now on. */
void weft_transaction_commit(struct weft_line *l, u32 status, u32 copyset,
			     struct weft_out *out);

/* Nothing is outstanding any more. */
void weft_transaction_finish(struct weft_line *l, struct weft_out *out);

/* Tell it once more. */
void weft_transaction_send_commit(struct weft_line *l, struct weft_out *out);

/* Tell the directory that no node waits for a transaction that it granted. */
void weft_transaction_abort(struct weft_line *l, u32 txn, u32 grant,
			    struct weft_out *out);

/*
 * The transaction @msg->holder is in our way, for the @n th time.  If it is a
 * dead one of ours end it; else ask its member now and then whether it is alive, or
 * at once if @n is 0.
 */
void weft_transaction_chase(struct weft_line *l, const struct weft_msg *msg, u8 n,
			    struct weft_out *out);

/* Take back what we retain: a transaction of ours, so that nobody else has it. */
void weft_transaction_take(struct weft_line *l, u32 fresh, struct weft_out *out);

#endif /* WEFT_CORE_LINE_H */
