/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line at a node: what the cache controller knows of it, the outstanding transaction, whether
 * the line is migratory, and what follows from an event.  The parts of controller.h use it; hosts
 * (kernel, explorer, tests) read the fields and write none.  States: docs/protocol.md.
 */
#ifndef WEFT_CORE_LINE_H
#define WEFT_CORE_LINE_H

#include "landing.h"
#include "wire.h"

/*
 * The host hands in events one at a time for a line (in the kernel under its spinlock) and
 * carries out struct weft_out.  No call sleeps.  Taking a copy away from programs can, so it has
 * two parts: WEFT_DO_REVOKE or WEFT_DO_PROTECT asks for it, weft_line_revoked() reports it done.
 */

/* The outstanding transaction of a line. */
enum weft_op {
	WEFT_OP_NONE,
	WEFT_OP_GETS,		/* get a copy to read */
	WEFT_OP_GETM,		/* become the owner */
	WEFT_OP_PUT,		/* leave the copyset, after the write-back */
	WEFT_OP_CLEAN,		/* write back and stay the owner */
	WEFT_OP_COMMIT,		/* permission is here: tell the directory */
	WEFT_OP_TAKE,		/* take back what was lent, or given away and not taken */
};

/*
 * A read miss of another node is answered by a loan: the owner stays the owner, and nothing goes
 * home.  That is for a writer and few readers: each of these has the entry's lock for a while, and
 * all get the line from the owner.  So the next reader gets it from an owner that leaves.
 */
#define WEFT_LOANS	2

/* Data retained for another node until the directory says that it may go. */
enum weft_held {
	WEFT_HELD_NONE,
	WEFT_HELD_GIVEN,	/* was the owner, gave the line away */
	WEFT_HELD_PINNED,	/* was the owner, has a read-only copy now */
};

/*
 * Added to the version of the home's data when newer versions died with their owner.  Some of
 * those may still be in flight to the home, or lent: the step is larger than the number of
 * versions that a line gets before the home hears of one (a day of 3000 owners a second, and no
 * reader).  A home that truncates a region adds far more (2^32), so that all before is older.
 */
#define WEFT_VERSIONS_LOST	(1ull << 28)

#define WEFT_FRAGS_MAX	64	/* fragments of a block, a bit each */

/**
 * struct weft_line - one line at one node
 * @key: name of the line
 * @self: id of this node
 * @state: permission of this node: WEFT_I, WEFT_S or WEFT_M
 * @op: the outstanding transaction, enum weft_op
 * @held: data retained for another node, enum weft_held
 * @revoking: the host is taking away the copy (2) or the right to write (1)
 * @granted: PUT: the directory has let this node go
 * @quiet: an unmodified copy is dropped without a message
 * @quiesced: PUT: no program uses the copy any more
 * @busy: GETS, GETM: an answer said that the transaction holds the entry's lock
 * @no_data: GETM: no node that was asked has data to send
 * @refused: refused since the last request, so the repetition does not count as a loss
 * @poisoned: GETS: an INV overtook the answer, whose data may be old unless the transaction holds
 *	the entry's lock
 * @expecting: GETS, GETM: no request is out: the owner is to pass the line on
 * @overdue: it was expected, and is asked for now
 * @written: PUT: the write-back is at home
 * @wb_wanted: GETS: commit only after the owner's write-back is at home
 * @uncommitted: CLEAN: the COMMIT of @txn is not acknowledged, see weft_line_return()
 * @downgraded: GETS: an answer with the entry's lock was not lent
 * @loaned: S: lent by the owner @lender; the directory does not know of this copy
 * @heir: the lender has died: the copy goes home (S: as soon as programs have no access; I: CLEAN)
 * @chase_home: the next CHASE goes to the home, see weft_transaction_chase()
 * @calling: TAKE: the nodes that the line is lent to are asked, and not yet the directory
 * @dunned: GETM, TAKE: INV has gone to the nodes that the line is lent to
 * @adopted: GETS: the owner that was to write back has died, and this node does it instead
 * @lost: GETS, GETM: newer data died with its owner: the home's is all, see WEFT_VERSIONS_LOST
 * @need_known: the entry's lock is ours, and @status, @copyset and @grant are valid
 * @fetching: GETS, GETM: no provider was asked, so READ fetches the data from home
 * @in_whole: all fragments of the incoming data have come
 * @landing: a card may write into the block, see landing.h
 * @landed: GETS, GETM: has offered a landing, which may be closed by now
 * @lender: see @loaned
 * @nacks: refusals in a row, for back-off
 * @tries: time-outs in a row, for back-off
 * @status: of the entry, as answers say
 * @version: of the data in the block (state not I, or @held)
 * @txn: transaction of @op
 * @grant: of the entry: which taking of its lock is ours
 * @owned: M or @held: @grant when this node last knew to be the owner
 * @lent: M or @held: nodes that were lent the line to read, unknown to the directory; until all
 *	have given it back no node may write, this one included
 * @unasked: it was lent to a node that had not asked, see WEFT_LOANS
 * @back: nodes of @lent that have
 * @copyset: of the entry, as answers say
 * @acked: nodes whose acknowledgement has come
 * @loans: GETS, GETM: nodes that the owner has lent the line to, as its answer says
 * @returned: GETM: nodes that have given back unasked, in @returned_version
 * @new_status: COMMIT: status that the entry gets
 * @new_copyset: COMMIT: copyset that the entry gets
 * @provider_nonce: retention of the provider to end, 0 for none
 * @provider_id: the provider that retains
 * @in_version: version of the incoming data
 * @in_frags: fragments of it that have come
 * @wb_version: GETS: newest version that the home is known to have
 * @returned_version: see @returned
 * @in_size: bytes of a full fragment of the incoming data
 * @nonce: number of our retention, or of the query that asks for it
 * @held_txn: transaction that the data was given to
 * @held_grant: of the entry, as the order to give it said, or @owned if there was no order; what
 *	the directory said under an earlier grant is out of date
 * @lending: transaction to lend the line to, unasked, when the host has revoked; 0 for none
 * @rq: the order that waits for the host (@revoking): INV, FWD, PASS, or INV_ACK to give back
 *	what was lent
 * @rq.type: 0 for none
 * @rq.landing: where the data may land; key 0: nowhere
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
	bool uncommitted;
	bool downgraded;
	bool loaned;
	bool heir;
	bool chase_home;
	bool unasked;
	bool calling;
	bool dunned;
	bool adopted;
	bool lost;
	bool need_known;
	bool fetching;
	bool in_whole;
	bool landing;
	bool landed;
	u8 lender;
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
#define WEFT_DO_PROTECT		0x02	/* take away the right to write, weft_line_revoked() */
#define WEFT_DO_REVOKE		0x04	/* take away all access, weft_line_revoked() */
					/* (send the messages) */
#define WEFT_DO_WAKE		0x08	/* waiters look again */
#define WEFT_DO_FREE		0x10	/* the block's data is not needed any more */
#define WEFT_DO_TIMER		0x20	/* (re)start the timer, see weft_line_timeout() */
#define WEFT_DO_BACKOFF		0x40	/* with TIMER: refused, ask again soon */
#define WEFT_DO_FAIL		0x80	/* the home has no such line: waiters get an error */
#define WEFT_DO_CLOSE		0x100	/* close the landing, then weft_line_landing_closed() */
#define WEFT_DO_AGAIN		0x200	/* with CLOSE: then hand in the same message again */

/**
 * struct weft_send - a message to send
 * @to: member id; 0: the line's home, or the switch on the way there
 * @with_data: DATA, WB, PASS: the host sends the whole block in fragments and fills in info,
 *	offset, size, len and payload
 * @landing: key not 0: DATA may go there, and LANDED behind it; without data: the payload
 * @msg: the rest
 */
struct weft_send {
	u8 to;
	bool with_data;
	struct weft_landing landing;
	struct weft_msg msg;
};

#define WEFT_OUT_MAX	4

/*
 * Time-outs in a row after which weft_line_return() does not wait any more for a node that the line
 * was lent to: it is dead, or will be found so; nor weft_line_gone() for the home.  With those of
 * the kernel for write-backs (40 ms at least, doubled, 1 s at most) that is 4 seconds: more than a
 * machine stands still, and less than the 15 for which a home waits for a node without progress.
 */
#define WEFT_RETURN_TRIES	8

/* What the directory knew of a line whose requested permission has come. */
enum weft_miss {
	WEFT_MISS_NONE,			/* none has come */
	WEFT_MISS_READ_UNSHARED,	/* to read: only the home had it */
	WEFT_MISS_READ_SHARED,		/* to read: other nodes had copies */
	WEFT_MISS_READ_MODIFIED,	/* to read: another node had modified it */
	WEFT_MISS_WRITE_UNSHARED,	/* to write; likewise */
	WEFT_MISS_WRITE_SHARED,
	WEFT_MISS_WRITE_MODIFIED,
	WEFT_MISS_UPGRADE,		/* to write a line that this node could read */
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

/* State I, nothing outstanding. */
void weft_line_init(struct weft_line *l, u64 key, u8 self);

/* Permission that programs may use now: WEFT_I, WEFT_S or WEFT_M. */
u8 weft_line_perm(const struct weft_line *l);

/* The same until the host begins to take away what it is @revoking: programs may go on. */
u8 weft_line_perm_yet(const struct weft_line *l);

/* Is nothing outstanding?  In state I the host may forget the line then. */
bool weft_line_idle(const struct weft_line *l);

/* Is weft_line_return() under way? */
bool weft_line_returning(const struct weft_line *l);

/* End an expectation.  Return: false if the line was asked for, or part of it has come. */
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
 * The owner's data leaves under a version that no other node has.  What is lent has been raised
 * already, and nobody has written since.
 */
static inline void weft_line_raise(struct weft_line *l)
{
	if (!l->lent)
		l->version++;
}

/* How many nodes a mask names. */
static inline u32 weft_line_count(u32 nodes)
{
	u32 n;

	for (n = 0; nodes; n++)
		nodes &= nodes - 1;
	return n;
}

/* Nothing is lent any more, or another node sees to it. */
static inline void weft_line_unlend(struct weft_line *l)
{
	l->lent = l->back = 0;
	l->unasked = false;
}

/* Add a message to @out; the caller fills in the fields of its type. */
struct weft_msg *weft_line_send(struct weft_line *l, struct weft_out *out,
				u8 to, u8 type, u32 txn);

/* Add a message that carries the block. */
void weft_line_send_data(struct weft_line *l, struct weft_out *out, u8 to,
			 u8 type, u32 txn, u32 nonce);

/* Free the data of a line that is idle in state I, or start the timer of a busy one. */
void weft_line_settle(struct weft_line *l, struct weft_out *out);

/* End the retention: no other node needs the data. */
void weft_line_release(struct weft_line *l, struct weft_out *out);

/* The outstanding transaction (@op, @txn). */

/* Begin a transaction that has heard nothing yet. */
void weft_transaction_begin(struct weft_line *l, u8 op, u32 fresh);

/* Send GETS or GETM. */
void weft_transaction_request(struct weft_line *l, struct weft_out *out);

/* All is here: send COMMIT with the entry to be. */
void weft_transaction_commit(struct weft_line *l, u32 status, u32 copyset,
			     struct weft_out *out);

/* End the transaction. */
void weft_transaction_finish(struct weft_line *l, struct weft_out *out);

/* Repeat COMMIT. */
void weft_transaction_send_commit(struct weft_line *l, struct weft_out *out);

/* Send ABORT: no node waits for this transaction, which holds the entry's lock. */
void weft_transaction_abort(struct weft_line *l, u32 txn, u32 grant, struct weft_out *out);

/*
 * Transaction @msg->holder holds the entry's lock, and this node was refused for the @n th time.
 * If it is a dead one of this node, end it.  Else ask its member now and then (CHASE), or at once
 * if @n is 0.
 */
void weft_transaction_chase(struct weft_line *l, const struct weft_msg *msg, u8 n,
			    struct weft_out *out);

/* Take back what this node retains, by a transaction so that no other node has it. */
void weft_transaction_take(struct weft_line *l, u32 fresh, struct weft_out *out);

#endif /* WEFT_CORE_LINE_H */
