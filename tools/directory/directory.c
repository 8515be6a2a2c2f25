// SPDX-License-Identifier: GPL-2.0-only
/* The directory engine, see directory.h. */
#include "directory.h"
#include "lockdir.h"

/*
 * One node of @mask, spread over them by the transaction number: the first at
 * or after a position that changes with every transaction, else the first.
 */
static u32 pick(u32 mask, u32 txn)
{
	u32 high = mask & (0xFFFFFFFFu << (txn & 31));
	u32 from = high ? high : mask;

	return from & (~from + 1);
}

static bool is_lock(u64 line)
{
	return weft_line_kind(line) == WEFT_KIND_LOCK;
}

/* The grant number that goes with a status. */
static u32 with_owned(u32 grant, u32 status)
{
	return (grant & ~WEFT_GRANT_OWNED) |
	       (status == WEFT_M ? WEFT_GRANT_OWNED : 0);
}

/*
 * Take the lock if it is free, or also if an earlier copy of the same request
 * has it.  Returns false if another transaction has it.
 */
static bool take_lock(struct weft_dir_entry *e, u32 txn)
{
	if (!e->lock) {
		e->lock = txn;
		e->grant += WEFT_GRANT_STEP;
	}
	return e->lock == txn;
}

static bool holds_lock(const struct weft_dir_entry *e,
		       const struct weft_msg *msg)
{
	return e->lock == msg->txn && e->grant == msg->grant;
}

static enum weft_dir_dest nack(struct weft_msg *msg, u16 why)
{
	msg->type = WEFT_MSG_NACK;
	msg->info = why;
	return WEFT_TO_SENDER;
}

/* The part of an answer that tells what the entry says. */
static void describe(const struct weft_dir_entry *e, u32 members,
		     struct weft_msg *msg, u8 flags)
{
	msg->flags = flags;
	msg->status = (u8)e->status;
	msg->copyset = e->copyset & members;
	msg->grant = e->grant;
	msg->provider = 0;
	msg->holder = 0;
}

static enum weft_dir_dest refuse(const struct weft_dir_entry *e,
				 struct weft_msg *msg)
{
	msg->flags = 0;
	msg->holder = e->lock;
	return nack(msg, WEFT_WHY_BUSY);
}

static enum weft_dir_dest to_home(struct weft_msg *msg, u8 flags)
{
	msg->type = WEFT_MSG_READ;
	msg->flags |= flags;
	return WEFT_TO_HOME;
}

/* Nobody else is asked for anything. */
static enum weft_dir_dest grant(struct weft_msg *msg)
{
	msg->type = WEFT_MSG_GRANT;
	return WEFT_TO_SENDER;
}

static enum weft_dir_dest gets(struct weft_dir_entry *e, u32 members, u32 r,
			       struct weft_msg *msg, u32 *targets)
{
	bool shared = !e->lock && !(e->grant & WEFT_GRANT_OWNED);
	/* what others have, too, the home has as well */
	bool direct = shared && msg->flags & WEFT_F_DIRECT;
	u32 from;

	if (shared) {
		describe(e, members, msg, 0);
		from = e->status == WEFT_S ? msg->copyset & ~r : 0;
		e->status = WEFT_S;
		e->copyset |= r;
	} else {
		bool granted = take_lock(e, msg->txn);

		describe(e, members, msg, WEFT_F_BUSY);
		if (!granted)
			return refuse(e, msg);
		from = msg->copyset & ~r;
	}
	if (direct)
		return grant(msg);
	/* nobody else, or an owner that is gone: what the home has is all */
	if (!from)
		return to_home(msg, 0);
	msg->provider = pick(from, msg->txn);
	msg->type = WEFT_MSG_FWD;
	*targets = msg->provider;
	return WEFT_TO_NODES;
}

static enum weft_dir_dest getm(struct weft_dir_entry *e, u32 members, u32 r,
			       struct weft_msg *msg, u32 *targets)
{
	bool granted = take_lock(e, msg->txn);
	bool upgrade = (msg->flags & WEFT_F_HAVE) && e->status == WEFT_S &&
		       (e->copyset & members & r);
	/* what a node had that has died is the home's to judge */
	bool direct = (msg->flags & WEFT_F_DIRECT) && e->status != WEFT_M;
	u32 others;

	describe(e, members, msg, WEFT_F_BUSY);
	if (!granted)
		return refuse(e, msg);
	others = msg->copyset & ~r;
	if (!others)
		return upgrade || direct ? grant(msg) : to_home(msg, WEFT_F_EXCL);
	if (!upgrade)
		msg->provider = pick(others, msg->txn);
	msg->type = WEFT_MSG_INV;
	*targets = others;
	return WEFT_TO_NODES;
}

static enum weft_dir_dest put(struct weft_dir_entry *e, u32 members,
			      struct weft_msg *msg)
{
	bool granted = take_lock(e, msg->txn);

	describe(e, members, msg, WEFT_F_BUSY);
	return granted ? grant(msg) : refuse(e, msg);
}

/*
 * The owner answers a request that has not come yet.  That it is still the owner,
 * and what it sends still the data, is what the grant number says: it has not been
 * raised since, so nobody has taken the lock.  Each fragment is sent on as it comes
 * as long as the transaction has the lock.
 */
static enum weft_dir_dest pass(struct weft_dir_entry *e, u32 members,
			       struct weft_msg *msg, u32 *targets)
{
	u32 r = weft_node_bit(weft_txn_member(msg->txn));
	u32 next = msg->grant + WEFT_GRANT_STEP, lent = msg->holder;

	if (!(r & members))
		return WEFT_TO_NOBODY;
	if (!e->lock && e->grant == msg->grant) {
		e->lock = msg->txn;
		e->grant = next;
	}
	if (e->lock != msg->txn || e->grant != next)
		return WEFT_TO_NOBODY;
	describe(e, members, msg, WEFT_F_BUSY);
	msg->holder = lent & members;
	msg->type = WEFT_MSG_PASSED;
	*targets = r;
	return WEFT_TO_NODES;
}

/* A home ends what nodes have left over that are no members any more. */
static bool ends_others(const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_ABORT && weft_is_blade(msg->src);
}

enum weft_dir_dest weft_dir_handle(struct weft_dir_entry *e, u32 members,
				   struct weft_msg *msg, u32 *targets)
{
	u32 r = weft_node_bit(msg->src);

	if (is_lock(msg->line))
		return weft_lockdir_handle(e, members, msg, targets);
	*targets = 0;
	/* src is not 0, so neither is txn */
	if (weft_txn_member(msg->txn) != msg->src && msg->type != WEFT_MSG_PASS &&
	    !ends_others(msg))
		return WEFT_TO_NOBODY;
	if (msg->type == WEFT_MSG_ABORT) {
		if (holds_lock(e, msg))
			e->lock = 0;
		return WEFT_TO_NOBODY;
	}
	if ((msg->type < WEFT_MSG_GETS || msg->type > WEFT_MSG_QUERY) &&
	    msg->type != WEFT_MSG_PASS)
		return WEFT_TO_NOBODY;
	if (!(r & members)) {
		msg->flags = 0;
		return nack(msg, WEFT_WHY_NOT_MEMBER);
	}

	switch (msg->type) {
	case WEFT_MSG_GETS:
		return gets(e, members, r, msg, targets);
	case WEFT_MSG_GETM:
		return getm(e, members, r, msg, targets);
	case WEFT_MSG_PUT:
		return put(e, members, msg);
	case WEFT_MSG_PASS:
		return pass(e, members, msg, targets);
	case WEFT_MSG_COMMIT:
		if (holds_lock(e, msg)) {
			e->lock = 0;
			e->grant = with_owned(e->grant, msg->status);
			e->status = msg->status;
			e->copyset = msg->copyset;
		}
		msg->type = WEFT_MSG_COMMIT_ACK;
		msg->flags = 0;
		/* whoever retains what the sender has now need not ask what became of it */
		*targets = msg->provider & members & ~r;
		if (!*targets)
			return WEFT_TO_SENDER;
		*targets |= r;
		return WEFT_TO_NODES;
	default: /* WEFT_MSG_QUERY */
		describe(e, members, msg, 0);
		msg->holder = e->lock;
		msg->type = WEFT_MSG_INFO;
		return WEFT_TO_SENDER;
	}
}

static enum weft_dir_dest add(struct weft_slot *slot, struct weft_msg *msg)
{
	bool fresh = slot->gen == msg->nonce;
	u64 tag = slot->tag;

	if (fresh) {
		slot->gen++;
		if (!tag) {
			bool lock = is_lock(msg->line);

			slot->tag = msg->line;
			slot->entry.lock = lock ? msg->holder : 0;
			slot->entry.grant = lock ? msg->grant :
				with_owned(msg->grant, msg->status);
			slot->entry.status = msg->status;
			slot->entry.copyset = msg->copyset;
		}
	}
	msg->type = WEFT_MSG_ADD_ACK;
	msg->nonce = slot->gen;
	msg->flags = slot->tag == msg->line ? WEFT_F_INSTALLED : 0;
	msg->info = fresh ? WEFT_WHY_FULL : WEFT_WHY_GEN;
	return WEFT_TO_SENDER;
}

/*
 * REMOVE of a lock line freezes it, whoever has it: only the entry moves, the
 * queue stays where it is.  A late copy must not freeze it again after it came
 * back: the slot's generation tells.
 */
static enum weft_dir_dest freeze(struct weft_switch *sw, struct weft_slot *slot,
				 struct weft_msg *msg)
{
	bool fresh = slot->gen == msg->nonce;

	msg->nonce = slot->gen;
	msg->flags = 0;
	if (!fresh)
		return nack(msg, WEFT_WHY_GEN);
	slot->entry.grant |= WEFT_EPOCH_FROZEN;
	describe(&slot->entry, sw->members, msg, WEFT_F_INSTALLED);
	msg->holder = slot->entry.lock;
	msg->type = WEFT_MSG_REMOVE_ACK;
	return WEFT_TO_SENDER;
}

/* REMOVE locks a line for its home; the home drops it when it has the entry. */
static enum weft_dir_dest remove_line(struct weft_switch *sw,
				      struct weft_slot *slot,
				      struct weft_msg *msg)
{
	if (slot->tag != msg->line) {
		static const struct weft_dir_entry none;

		describe(&none, 0, msg, 0);
	} else {
		bool granted;

		if (is_lock(msg->line))
			return freeze(sw, slot, msg);
		granted = take_lock(&slot->entry, msg->txn);

		describe(&slot->entry, sw->members, msg,
			 WEFT_F_INSTALLED | WEFT_F_BUSY);
		if (!granted)
			return refuse(&slot->entry, msg);
	}
	msg->type = WEFT_MSG_REMOVE_ACK;
	msg->nonce = slot->gen;
	return WEFT_TO_SENDER;
}

static enum weft_dir_dest drop(struct weft_slot *slot, struct weft_msg *msg)
{
	bool fresh = slot->gen == msg->nonce;

	if (fresh)
		slot->gen++;
	if (fresh && slot->tag == msg->line) {
		slot->tag = 0;
		slot->entry.lock = 0;
		slot->entry.grant = 0;
		slot->entry.status = WEFT_I;
		slot->entry.copyset = 0;
	}
	msg->type = WEFT_MSG_DROP_ACK;
	msg->nonce = slot->gen;
	msg->flags = slot->tag == msg->line ? WEFT_F_INSTALLED : 0;
	return WEFT_TO_SENDER;
}

/*
 * Versions go round: whatever the switch has taken before, there is a newer one, which
 * the first blade takes when it sees the answer.
 */
static enum weft_dir_dest members(struct weft_switch *sw, struct weft_msg *msg)
{
	if (msg->nonce - sw->members_version <= WEFT_NEWER_MAX) {
		sw->members_version = msg->nonce;
		sw->members = msg->copyset;
	}
	msg->type = WEFT_MSG_MEMBERS_ACK;
	msg->nonce = sw->members_version;
	msg->copyset = sw->members;
	return WEFT_TO_SENDER;
}

static enum weft_dir_dest at_slot(struct weft_switch *sw, struct weft_slot *slot,
				  struct weft_msg *msg, u32 *targets)
{
	enum weft_dir_dest dest;

	switch (msg->type) {
	case WEFT_MSG_ADD:
		return add(slot, msg);
	case WEFT_MSG_REMOVE:
		return remove_line(sw, slot, msg);
	case WEFT_MSG_DROP:
		return drop(slot, msg);
	default:
		if (slot->tag != msg->line)
			return WEFT_TO_HOME;
		dest = weft_dir_handle(&slot->entry, sw->members, msg, targets);
		if (dest != WEFT_TO_NOBODY)
			msg->flags |= WEFT_F_SWITCH;
		return dest;
	}
}

/* Which counter stands for what became of a message; @was is its type before. */
static int counter(const struct weft_msg *msg, u8 was)
{
	static const u8 by_type[] = {
		[WEFT_MSG_READ] = WEFT_COUNT_READ,
		[WEFT_MSG_FWD] = WEFT_COUNT_FWD,
		[WEFT_MSG_INV] = WEFT_COUNT_INV,
		[WEFT_MSG_GRANT] = WEFT_COUNT_GRANT,
		[WEFT_MSG_NACK] = WEFT_COUNT_BUSY,
		[WEFT_MSG_COMMIT_ACK] = WEFT_COUNT_COMMIT,
		[WEFT_MSG_INFO] = WEFT_COUNT_QUERY,
		[WEFT_MSG_ADD_ACK] = WEFT_COUNT_ADD,
		[WEFT_MSG_REMOVE_ACK] = WEFT_COUNT_REMOVE,
		[WEFT_MSG_DROP_ACK] = WEFT_COUNT_DROP,
		[WEFT_MSG_MEMBERS_ACK] = WEFT_COUNT_MEMBERS,
		[WEFT_MSG_ENQUEUE] = WEFT_COUNT_ENQUEUE,
		[WEFT_MSG_HANDED] = WEFT_COUNT_HANDED,
		[WEFT_MSG_HAND_ACK] = WEFT_COUNT_HAND_ACK,
		[WEFT_MSG_PASSED] = WEFT_COUNT_PASSED,
	};

	if (msg->type == was)
		return WEFT_COUNT_MISS;
	if (msg->type == WEFT_MSG_NACK && msg->info == WEFT_WHY_NOT_MEMBER)
		return WEFT_COUNT_STRANGER;
	if (msg->type == WEFT_MSG_ADD_ACK && !(msg->flags & WEFT_F_INSTALLED))
		return WEFT_COUNT_ADD_REFUSED;
	return by_type[msg->type];
}

/* Is it a type that the switch looks at? */
static bool for_switch(u8 type)
{
	return type && type <= WEFT_MSG_SWITCH_MAX;
}

enum weft_dir_dest weft_switch_handle(struct weft_switch *sw, u32 port,
				      struct weft_msg *msg, u32 *targets)
{
	struct weft_slot *slot = &sw->slots[weft_line_slot(msg->line)];
	enum weft_dir_dest dest;
	u8 was = msg->type;

	*targets = 0;
	if (!for_switch(msg->type) || msg->rack != sw->rack)
		return WEFT_TO_HOME;
	if (sw->station[msg->src] != port + 1) {
		sw->count[WEFT_COUNT_FORGED]++;
		return WEFT_TO_NOBODY;
	}
	switch (msg->type) {
	case WEFT_MSG_COUNT:
		msg->type = WEFT_MSG_COUNT_ACK;
		msg->holder = sw->count[msg->nonce % WEFT_COUNTERS];
		return WEFT_TO_SENDER;
	case WEFT_MSG_MEMBERS:
		if (!weft_is_blade(msg->src))
			return WEFT_TO_NOBODY;
		dest = members(sw, msg);
		break;
	case WEFT_MSG_ADD:
	case WEFT_MSG_REMOVE:
	case WEFT_MSG_DROP:
		/* an empty slot has tag 0: that is no line (region 0) */
		if (!weft_is_blade(msg->src) || !msg->line)
			return WEFT_TO_NOBODY;
		dest = at_slot(sw, slot, msg, targets);
		break;
	case WEFT_MSG_GETS:
	case WEFT_MSG_GETM:
	case WEFT_MSG_PUT:
	case WEFT_MSG_COMMIT:
	case WEFT_MSG_ABORT:
	case WEFT_MSG_QUERY:
	case WEFT_MSG_ACQUIRE:
	case WEFT_MSG_HAND:
	case WEFT_MSG_PASS:
		if (!msg->line)
			return WEFT_TO_HOME;
		dest = at_slot(sw, slot, msg, targets);
		break;
	default:
		return WEFT_TO_HOME;
	}
	/* an ABORT for an installed line ends here; other refusals leave no trace */
	if (dest != WEFT_TO_NOBODY)
		sw->count[counter(msg, was)]++;
	else if (was == WEFT_MSG_ABORT && !is_lock(msg->line) &&
		 (weft_txn_member(msg->txn) == msg->src || ends_others(msg)))
		sw->count[WEFT_COUNT_ABORT]++;
	else if (was == WEFT_MSG_PASS && !is_lock(msg->line))
		sw->count[WEFT_COUNT_NOT_PASSED]++;
	return dest;
}
