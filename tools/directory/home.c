// SPDX-License-Identifier: GPL-2.0-only
/* A line's directory at its home, and its way to the switch; see home.h. */
#include "home.h"
#include "landing.h"

#define FULL_WAIT	64	/* requests before a taken slot is tried again */

static void clear(struct weft_home_out *out)
{
	memset(out, 0, sizeof(*out));
}

void weft_home_init(struct weft_home_line *l, u64 key, u8 self)
{
	memset(l, 0, sizeof(*l));
	l->key = key;
	l->self = self;
}

static bool is_lock(const struct weft_home_line *l)
{
	return weft_line_kind(l->key) == WEFT_KIND_LOCK;
}

static void to_switch(struct weft_home_line *l, u8 type,
		      struct weft_home_out *out)
{
	out->to_switch = true;
	out->timer = true;
	out->sw.type = type;
	out->sw.src = l->self;
	out->sw.txn = l->txn;
	out->sw.line = l->key;
	out->sw.status = (u8)l->e.status;
	out->sw.copyset = l->e.copyset;
	out->sw.grant = l->e.grant;
	out->sw.holder = is_lock(l) ? l->e.lock : 0;
	out->sw.nonce = l->gen;
}

static void move(struct weft_home_line *l, u8 place, u32 fresh,
		 struct weft_home_out *out)
{
	static const u8 type[] = {
		[WEFT_ADDING] = WEFT_MSG_ADD,
		[WEFT_REMOVING] = WEFT_MSG_REMOVE,
	};

	l->place = place;
	l->orphan = false;
	l->fetched = false;
	l->txn = weft_txn(l->self, fresh);
	to_switch(l, type[place], out);
}

static void arrive(struct weft_home_line *l, u8 place,
		   struct weft_home_out *out)
{
	l->place = place;
	l->tries = 0;
	out->moved = true;
}

/*
 * The term that began at the holder's death, and the one of who had the lock next, to
 * write: of these two it is told.
 */
static bool tells_death(const struct weft_home_line *l)
{
	return l->died && l->e.grant - l->died_at <= WEFT_EPOCH_STEP;
}

/*
 * May the line move, and is it worth it?  A lock may, if no death is to be told; and a block of
 * which only the home knows that nothing is lost stays until it is asked for.
 */
static bool may_move(const struct weft_home_line *l)
{
	if (is_lock(l))
		return !l->died && (l->e.lock || l->e.copyset);
	return !l->e.lock && l->e.status != WEFT_I && !l->saved;
}

/* Requests that come here while the switch has the line, or nobody. */
static void not_here(struct weft_home_out *out)
{
	switch (out->msg.type) {
	case WEFT_MSG_COMMIT:
		/*
		 * The line does not move while it is locked.  So the transaction
		 * was over before the move, and this is a late copy.
		 */
		out->msg.type = WEFT_MSG_COMMIT_ACK;
		out->msg.flags = 0;
		out->dest = WEFT_TO_SENDER;
		break;
	case WEFT_MSG_GETS:
	case WEFT_MSG_GETM:
	case WEFT_MSG_PUT:
	case WEFT_MSG_ACQUIRE:
	case WEFT_MSG_HAND:
		out->msg.type = WEFT_MSG_NACK;
		out->msg.flags = 0;
		out->msg.info = WEFT_WHY_MOVING;
		out->dest = WEFT_TO_SENDER;
		break;
	default:
		out->dest = WEFT_TO_NOBODY;
		break;
	}
}

/* What stands behind the header is for the node that will be told. */
static bool passes_on(const struct weft_msg *msg)
{
	switch (msg->type) {
	case WEFT_MSG_GETS:
	case WEFT_MSG_GETM:
		return msg->len == WEFT_LANDING_LEN;
	default:
		return msg->type == WEFT_MSG_HAND || msg->type == WEFT_MSG_PASS;
	}
}

/* A lock whose holder is no member is nobody's: nobody else can end that term. */
static bool free_lock(struct weft_home_line *l, u32 members, bool died)
{
	if (!l->e.lock || l->e.lock & members)
		return false;
	l->e.lock = 0;
	l->e.grant += WEFT_EPOCH_STEP;
	if (died) {
		l->died = true;
		l->died_at = l->e.grant;
	}
	return true;
}

/*
 * The holder has ended its term, and says that a death is to be told on: to who has it
 * now, whom this very message tells, or to who comes.
 */
static void hand_death_on(struct weft_home_line *l)
{
	l->died = true;
	l->died_at = l->e.lock ? l->e.grant - WEFT_EPOCH_STEP : l->e.grant;
}

/* Of a lock: is what the directory answers news of a death, for who is to have it? */
static bool is_for_heir(const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_GRANT || msg->type == WEFT_MSG_INV ||
	       msg->type == WEFT_MSG_INFO;
}

static void request(struct weft_home_line *l, u32 members, bool use_switch,
		    const struct weft_msg *msg, u32 fresh,
		    struct weft_home_out *out)
{
	u32 copyset;

	out->msg = *msg;
	if (!passes_on(msg)) {
		out->msg.len = 0;
		out->msg.payload = NULL;
	}
	if (l->place != WEFT_AT_HOME) {
		not_here(out);
		return;
	}
	if (is_lock(l))
		free_lock(l, members, true);
	/* who asks here is served by a program in any case: the sooner the better */
	if (msg->type == WEFT_MSG_GETS || msg->type == WEFT_MSG_GETM)
		out->msg.flags &= (u8)~WEFT_F_DIRECT;
	copyset = l->e.copyset;
	out->dest = weft_dir_handle(&l->e, members, &out->msg, &out->targets);
	/* others have it now, and may write */
	if (l->e.copyset != copyset)
		l->saved = false;
	if (is_lock(l) && out->msg.type == WEFT_MSG_HANDED && out->msg.flags & WEFT_F_DIED)
		hand_death_on(l);
	l->died = tells_death(l);
	if (l->died && is_for_heir(&out->msg))
		out->msg.flags |= WEFT_F_DIED;
	if (out->dest == WEFT_TO_NOBODY || !use_switch || !may_move(l))
		return;
	if (l->full)
		l->full--;
	else
		move(l, WEFT_ADDING, fresh, out);
}

static void add_ack(struct weft_home_line *l, const struct weft_msg *msg,
		    u32 fresh, struct weft_home_out *out)
{
	l->gen = msg->nonce;
	if (msg->flags & WEFT_F_INSTALLED) {
		arrive(l, WEFT_IN_SWITCH, out);
	} else if (msg->info == WEFT_WHY_FULL) {
		l->full = FULL_WAIT;
		arrive(l, WEFT_AT_HOME, out);
	} else {
		/* all copies of that ADD are void: the generation only grows */
		move(l, WEFT_ADDING, fresh, out);
	}
}

static void remove_ack(struct weft_home_line *l, const struct weft_msg *msg,
		       struct weft_home_out *out)
{
	l->gen = msg->nonce;
	if (l->fetched && !(msg->flags & WEFT_F_INSTALLED)) {
		arrive(l, WEFT_AT_HOME, out);
		return;
	}
	l->e.status = msg->status;
	l->e.copyset = msg->copyset;
	l->e.grant = is_lock(l) ? msg->grant & ~WEFT_EPOCH_FROZEN : msg->grant;
	l->e.lock = is_lock(l) ? msg->holder : 0;
	if (msg->flags & WEFT_F_INSTALLED) {
		/* same txn: a late copy of this answer must not unlock the line */
		l->place = WEFT_DROPPING;
		to_switch(l, WEFT_MSG_DROP, out);
	} else {
		out->lost = true;
		arrive(l, WEFT_AT_HOME, out);
	}
}

/* End a transaction in the switch that nobody waits for, ours or a departed node's. */
static void abort_txn(struct weft_home_line *l, u32 txn, u32 grant,
		      struct weft_home_out *out)
{
	to_switch(l, WEFT_MSG_ABORT, out);
	out->sw.txn = txn;
	out->sw.grant = grant;
	out->timer = l->place != WEFT_AT_HOME && l->place != WEFT_IN_SWITCH;
}

/*
 * A node has left the rack, and its transaction is left over: nobody else can end it
 * there.  It cannot take effect any more, and the grant says which time it is.
 */
static void end_for(struct weft_home_line *l, u32 txn, u32 grant,
		    struct weft_home_out *out)
{
	if (l->place == WEFT_AT_HOME && l->e.lock == txn && l->e.grant == grant)
		l->e.lock = 0;
	else if (l->place != WEFT_AT_HOME || !l->e.lock)
		/* also in a switch that has the line from a former life of this home */
		abort_txn(l, txn, grant, out);
}

/* A node's transaction that the members do not include. */
static bool has_left(const struct weft_home_line *l, u32 members, u32 txn)
{
	u32 bit = weft_node_bit(weft_txn_member(txn));

	return bit && !(bit & members) && !is_lock(l);
}

/* A node's transaction holds the line in the switch: ask again, ask the node. */
static void remove_nack(struct weft_home_line *l, u32 members,
			const struct weft_msg *msg, struct weft_home_out *out)
{
	out->timer = true;
	if (is_lock(l)) {
		/* WEFT_WHY_GEN: another line has tried the slot meanwhile */
		l->gen = msg->nonce;
		to_switch(l, WEFT_MSG_REMOVE, out);
		return;
	}
	if (weft_txn_member(msg->holder) == l->self) {
		/* a late copy of an earlier REMOVE took the lock */
		abort_txn(l, msg->holder, msg->grant, out);
		return;
	}
	if (has_left(l, members, msg->holder)) {
		end_for(l, msg->holder, msg->grant, out);
		return;
	}
	if (l->tries % WEFT_CHASE_AFTER != WEFT_CHASE_AFTER - 1 ||
	    !weft_node_bit(weft_txn_member(msg->holder)))
		return;
	out->chase = (u8)weft_txn_member(msg->holder);
	out->msg_chase.type = WEFT_MSG_CHASE;
	out->msg_chase.src = l->self;
	out->msg_chase.txn = l->txn;
	out->msg_chase.line = l->key;
	out->msg_chase.holder = msg->holder;
	out->msg_chase.grant = msg->grant;
}

static void switch_answer(struct weft_home_line *l, u32 members,
			  const struct weft_msg *msg, u32 fresh,
			  struct weft_home_out *out)
{
	if (msg->txn != l->txn) {
		/* a late REMOVE locked the line again, and nobody wants it */
		if (msg->type == WEFT_MSG_REMOVE_ACK && !is_lock(l) &&
		    msg->flags & WEFT_F_BUSY)
			abort_txn(l, msg->txn, msg->grant, out);
		return;
	}
	if (l->place == WEFT_ADDING && msg->type == WEFT_MSG_ADD_ACK) {
		add_ack(l, msg, fresh, out);
	} else if (l->place == WEFT_REMOVING &&
		   msg->type == WEFT_MSG_REMOVE_ACK) {
		remove_ack(l, msg, out);
	} else if (l->place == WEFT_REMOVING && msg->type == WEFT_MSG_NACK) {
		remove_nack(l, members, msg, out);
	} else if (l->place == WEFT_DROPPING &&
		   msg->type == WEFT_MSG_DROP_ACK) {
		l->gen = msg->nonce;
		if (msg->flags & WEFT_F_INSTALLED)
			to_switch(l, WEFT_MSG_DROP, out);
		else
			arrive(l, WEFT_AT_HOME, out);
	}
}

/*
 * A node is refused because of a REMOVE of ours: a late copy took the lock.  Or because
 * of a node that does not answer it.
 */
static void chased(struct weft_home_line *l, u32 members, const struct weft_msg *msg,
		   struct weft_home_out *out)
{
	bool ours = l->place == WEFT_REMOVING || l->place == WEFT_DROPPING;

	if (has_left(l, members, msg->holder))
		end_for(l, msg->holder, msg->grant, out);
	else if (weft_txn_member(msg->holder) == l->self &&
		 !(ours && msg->holder == l->txn))
		abort_txn(l, msg->holder, msg->grant, out);
}

void weft_home_recv(struct weft_home_line *l, u32 members, bool use_switch,
		    const struct weft_msg *msg, u32 fresh,
		    struct weft_home_out *out)
{
	clear(out);
	if ((msg->type >= WEFT_MSG_GETS && msg->type <= WEFT_MSG_QUERY) ||
	    msg->type == WEFT_MSG_ACQUIRE || msg->type == WEFT_MSG_HAND ||
	    msg->type == WEFT_MSG_PASS)
		request(l, members, use_switch, msg, fresh, out);
	else if (msg->type == WEFT_MSG_CHASE)
		chased(l, members, msg, out);
	else if (weft_txn_member(msg->txn) == l->self)
		switch_answer(l, members, msg, fresh, out);
}

bool weft_home_recall(struct weft_home_line *l, u32 fresh,
		      struct weft_home_out *out)
{
	clear(out);
	if (l->place == WEFT_IN_SWITCH)
		move(l, WEFT_REMOVING, fresh, out);
	return l->place == WEFT_AT_HOME;
}

bool weft_home_fetch(struct weft_home_line *l, u32 fresh, struct weft_home_out *out)
{
	clear(out);
	if (l->place != WEFT_AT_HOME ||
	    (!is_lock(l) && (l->e.lock || l->e.copyset || l->e.status != WEFT_I)))
		return true;
	move(l, WEFT_REMOVING, fresh, out);
	l->fetched = true;
	return false;
}

/* A block at home, whatever a dead node did with it. */
static enum weft_gone block_gone(struct weft_home_line *l, u32 members)
{
	if (l->e.lock && has_left(l, members, l->e.lock))
		l->e.lock = 0;
	/* what comes from the switch does not name who is no member */
	if (l->orphan && l->e.status == WEFT_M && !l->e.copyset)
		return WEFT_GONE_NOTHING;
	if (l->e.status != WEFT_M || l->e.copyset & members) {
		l->saved = false;
		return WEFT_GONE_NOTHING;
	}
	/* it has been owned since it was last lost */
	if (l->e.copyset)
		l->orphan = false;
	/*
	 * Owned, by nobody: who asks next takes the lock, and with the home's data a version
	 * that is later than all that are lost, see weft_gather_data().
	 */
	l->e.copyset = 0;
	/* its transaction may have heard from the owner before it died */
	if (l->e.lock)
		return WEFT_GONE_LATER;
	l->orphan = true;
	return l->saved ? WEFT_GONE_NOTHING : WEFT_GONE_LOST;
}

enum weft_gone weft_home_gone(struct weft_home_line *l, u32 members, bool died, u32 fresh,
			      struct weft_home_out *out)
{
	clear(out);
	if (l->place == WEFT_IN_SWITCH)
		move(l, WEFT_REMOVING, fresh, out);
	if (l->place != WEFT_AT_HOME)
		return WEFT_GONE_ASKS;
	if (!is_lock(l))
		return block_gone(l, members);
	return free_lock(l, members, died) ? WEFT_GONE_FREE : WEFT_GONE_NOTHING;
}

void weft_home_timeout(struct weft_home_line *l, struct weft_home_out *out)
{
	clear(out);
	if (l->tries < 255)
		l->tries++;
	if (l->place == WEFT_ADDING)
		to_switch(l, WEFT_MSG_ADD, out);
	else if (l->place == WEFT_REMOVING)
		to_switch(l, WEFT_MSG_REMOVE, out);
	else if (l->place == WEFT_DROPPING)
		to_switch(l, WEFT_MSG_DROP, out);
}
