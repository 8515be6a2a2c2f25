// SPDX-License-Identifier: GPL-2.0-only
/*
 * The directory with an error.
 *
 * Each error is made around the real engine: a change of the message or of the
 * state before it runs, or of what it did.
 */
#include "mutate.h"

#define MUTATION_TEXT(name, text) [MUTATE_##name] = text,
const char *const mutation_texts[N_MUTATIONS] = { MUTATIONS(MUTATION_TEXT) };
#undef MUTATION_TEXT

static bool is_request(const struct weft_msg *msg)
{
	return msg->type >= WEFT_MSG_GETS && msg->type <= WEFT_MSG_QUERY;
}

static bool is_lock(const struct weft_msg *msg)
{
	return weft_line_kind(msg->line) == WEFT_KIND_LOCK;
}

/* What the engine gets to see, instead of what came in. */
static void before(enum mutation mutation, struct weft_switch *sw, u32 port,
		   struct weft_slot *slot, struct weft_msg *msg)
{
	bool here = slot->tag == msg->line;
	bool heard = sw->station[msg->src] == port + 1 && msg->rack == sw->rack;

	switch (mutation) {
	case MUTATE_UPGRADE:
		msg->flags |= msg->type == WEFT_MSG_GETM ? WEFT_F_HAVE : 0;
		break;
	case MUTATE_DIRECT:
		msg->flags &= msg->type <= WEFT_MSG_GETM ? (u8)~WEFT_F_DIRECT : 0xFF;
		break;
	case MUTATE_COMMIT_GRANT:
		if (msg->type == WEFT_MSG_COMMIT && here)
			msg->grant = slot->entry.grant;
		break;
	case MUTATE_COMMIT_TXN:
		if (msg->type == WEFT_MSG_COMMIT && here && slot->entry.lock &&
		    weft_txn_member(slot->entry.lock) == msg->src)
			msg->txn = slot->entry.lock;
		break;
	case MUTATE_ADD_OLD:
		msg->nonce = msg->type == WEFT_MSG_ADD ? slot->gen : msg->nonce;
		break;
	case MUTATE_MEMBERS_OLD:
		if (msg->type == WEFT_MSG_MEMBERS && weft_is_blade(msg->src) && heard &&
		    msg->nonce - sw->members_version > WEFT_NEWER_MAX)
			sw->members_version = msg->nonce;
		break;
	case MUTATE_MEMBERS_ROUND:
		if (msg->type == WEFT_MSG_MEMBERS && msg->nonce < sw->members_version)
			msg->nonce = sw->members_version - 1;
		break;
	case MUTATE_MEMBERS_NODE:
		if (msg->type == WEFT_MSG_MEMBERS && weft_node_bit(msg->src))
			msg->src = WEFT_BLADE_MIN;
		break;
	case MUTATE_STRANGER:
		if (is_request(msg) && heard)
			sw->members |= weft_node_bit(msg->src);
		break;
	case MUTATE_OWNER_BLADE:
		if (msg->type == WEFT_MSG_ABORT && weft_is_blade(msg->src))
			msg->txn = 0;
		break;
	case MUTATE_OWNER:
		if (is_request(msg))
			msg->txn = weft_txn(msg->src, msg->txn);
		break;
	case MUTATE_LOCK_OWNER:
		if (msg->type == WEFT_MSG_HAND && here && slot->entry.lock &&
		    weft_node_bit(msg->src) & sw->members)
			msg->src = (u8)(1 + __builtin_ctz(slot->entry.lock));
		msg->txn = msg->type == WEFT_MSG_HAND && here ?
			weft_txn(msg->src, msg->txn) : msg->txn;
		break;
	case MUTATE_LOCK_EPOCH:
		if (msg->type == WEFT_MSG_HAND && here && is_lock(msg) &&
		    !(slot->entry.grant & WEFT_EPOCH_FROZEN))
			msg->grant = slot->entry.grant;
		break;
	case MUTATE_LOCK_RELAY:
		if (msg->type == WEFT_MSG_ACQUIRE && msg->flags & WEFT_F_RELAY)
			msg->txn = weft_txn(msg->src, msg->txn);
		break;
	case MUTATE_LOCK_STRANGER:
		if (msg->type == WEFT_MSG_HAND)
			sw->members |= msg->holder;
		break;
	case MUTATE_LOCK_FROZEN:
		if (msg->type == WEFT_MSG_ACQUIRE && here && is_lock(msg))
			slot->entry.grant &= ~WEFT_EPOCH_FROZEN;
		break;
	case MUTATE_LOCK_REMOVE_OLD:
		if (msg->type == WEFT_MSG_REMOVE && is_lock(msg))
			msg->nonce = slot->gen;
		break;
	case MUTATE_PASS_GRANT:
		if (msg->type == WEFT_MSG_PASS && here && !slot->entry.lock)
			msg->grant = slot->entry.grant;
		break;
	case MUTATE_PASS_TAKEN:
		if (msg->type == WEFT_MSG_PASS && here && slot->entry.lock)
			msg->txn = slot->entry.lock;
		break;
	case MUTATE_PASS_STRANGER:
		if (msg->type == WEFT_MSG_PASS)
			sw->members |= weft_node_bit(weft_txn_member(msg->txn));
		break;
	case MUTATE_LOCK_ADD:
		if (msg->type == WEFT_MSG_ADD && is_lock(msg))
			msg->holder = 0;
		break;
	default:
		break;
	}
}

/* What goes out. */
static void after_message(enum mutation mutation, const struct weft_switch *sw,
			  const struct weft_slot *old, const struct weft_msg *in,
			  struct weft_msg *msg, u32 *targets)
{
	u32 others = msg->copyset & ~weft_node_bit(in->src);

	switch (mutation) {
	case MUTATE_PICK:
		others &= ~msg->provider;
		if (msg->type == WEFT_MSG_FWD && others)
			*targets = msg->provider = others & -others;
		break;
	case MUTATE_PICK_SPREAD:
		if (msg->type == WEFT_MSG_FWD)
			*targets = msg->provider = others & -others;
		break;
	case MUTATE_SWITCH_FLAG:
		msg->flags &= msg->type != in->type ? (u8)~WEFT_F_SWITCH : 0xFF;
		break;
	case MUTATE_BUSY_FLAG:
		msg->flags &= msg->type == WEFT_MSG_GRANT ? (u8)~WEFT_F_BUSY : 0xFF;
		break;
	case MUTATE_DIRECT_DEAD:
		if (in->flags & WEFT_F_DIRECT && msg->type == WEFT_MSG_READ &&
		    msg->status == WEFT_M)
			msg->type = WEFT_MSG_GRANT;
		break;
	case MUTATE_TARGETS:
		*targets |= msg->type == WEFT_MSG_INV ? weft_node_bit(in->src) : 0;
		break;
	case MUTATE_ONE_TARGET:
		*targets &= msg->type == WEFT_MSG_INV ? *targets - 1 : *targets;
		break;
	case MUTATE_GRANT_OLD:
		if (msg->type != in->type && is_request(in) &&
		    in->type != WEFT_MSG_COMMIT)
			msg->grant = old->entry.grant;
		break;
	case MUTATE_HOLDER:
		msg->holder = msg->type == WEFT_MSG_NACK ? 0 : msg->holder;
		break;
	case MUTATE_QUERY_LOCK:
		msg->holder = msg->type == WEFT_MSG_INFO ? 0 : msg->holder;
		break;
	case MUTATE_ADD_WHY:
		msg->info = msg->type == WEFT_MSG_ADD_ACK ? WEFT_WHY_GEN : msg->info;
		break;
	case MUTATE_REMOVE_ABSENT:
		if (msg->type == WEFT_MSG_REMOVE_ACK && !(msg->flags & WEFT_F_INSTALLED))
			msg->copyset = in->copyset;
		break;
	case MUTATE_LOCK_AGAIN:
		if (msg->type == WEFT_MSG_HANDED && old->entry.grant == msg->grant)
			*targets = 0;
		break;
	case MUTATE_LOCK_FREE:
		if (msg->type == WEFT_MSG_HANDED && !msg->holder)
			*targets = msg->copyset;
		break;
	case MUTATE_LOCK_ALONE:
		if (msg->type == WEFT_MSG_INV && in->type == WEFT_MSG_ACQUIRE)
			msg->type = WEFT_MSG_GRANT;
		break;
	case MUTATE_PASS_LENT:
		if (msg->type == WEFT_MSG_PASSED)
			msg->holder = 0;
		break;
	case MUTATE_COUNT_OTHER:
		if (msg->type == WEFT_MSG_COUNT_ACK)
			msg->holder = sw->count[(msg->nonce + 1) % WEFT_COUNTERS];
		break;
	default:
		break;
	}
}

/* What stays in the slot. */
static void after_slot(enum mutation mutation, const struct weft_slot *old,
		       const struct weft_msg *in, struct weft_slot *slot,
		       struct weft_msg *msg)
{
	struct weft_dir_entry *e = &slot->entry;
	bool took = e->lock && !old->entry.lock;

	switch (mutation) {
	case MUTATE_GRANT_WRAP:
		if (took && e->grant < old->entry.grant)
			e->grant = msg->grant = old->entry.grant;
		break;
	case MUTATE_TAKE_TWICE:
		if (in->type == WEFT_MSG_GETM && msg->type != in->type &&
		    old->entry.lock == in->txn && e->lock == in->txn)
			msg->grant = e->grant += WEFT_GRANT_STEP;
		break;
	case MUTATE_COMMIT_OWNED:
		if (in->type == WEFT_MSG_COMMIT && old->entry.lock && !e->lock)
			e->grant &= ~WEFT_GRANT_OWNED;
		break;
	case MUTATE_ABORT:
		e->lock = in->type == WEFT_MSG_ABORT ? old->entry.lock : e->lock;
		break;
	case MUTATE_JOIN:
		e->copyset = in->type == WEFT_MSG_GETS ? old->entry.copyset : e->copyset;
		break;
	case MUTATE_JOIN_STATUS:
		e->status = in->type == WEFT_MSG_GETS ? old->entry.status : e->status;
		break;
	case MUTATE_DROP:
		slot->tag = in->type == WEFT_MSG_DROP ? old->tag : slot->tag;
		break;
	case MUTATE_DROP_ENTRY:
		*e = in->type == WEFT_MSG_DROP ? old->entry : *e;
		break;
	case MUTATE_LOCK_READERS:
		if (msg->type == WEFT_MSG_HANDED)
			e->copyset = old->entry.copyset;
		break;
	case MUTATE_LOCK_JOIN:
		if (in->type == WEFT_MSG_ACQUIRE)
			e->copyset = old->entry.copyset;
		break;
	case MUTATE_LOCK_THAW:
		if (msg->type == WEFT_MSG_REMOVE_ACK && is_lock(in))
			e->grant = old->entry.grant;
		break;
	case MUTATE_PASS_LOCK:
		if (in->type == WEFT_MSG_PASS)
			e->lock = old->entry.lock;
		break;
	case MUTATE_REMOVE_LOCK:
		e->lock = in->type == WEFT_MSG_REMOVE ? old->entry.lock : e->lock;
		break;
	default:
		break;
	}
}

static void after_counters(enum mutation mutation, struct weft_switch *sw,
			   const struct weft_msg *in, const struct weft_msg *msg,
			   u32 aborts)
{
	if (mutation == MUTATE_COUNTER && msg->type == WEFT_MSG_NACK &&
	    in->type != WEFT_MSG_NACK && msg->info == WEFT_WHY_BUSY) {
		sw->count[WEFT_COUNT_BUSY]--;
		sw->count[WEFT_COUNT_MISS]++;
	}
	if (mutation == MUTATE_COUNT_ABORT)
		sw->count[WEFT_COUNT_ABORT] = aborts;
}

static void swap(struct weft_slot *a, struct weft_slot *b)
{
	struct weft_slot was = *a;

	*a = *b;
	*b = was;
}

/* The line whose slot is taken for that of @line. */
static u64 aliased(enum mutation mutation, u64 line)
{
	if (mutation == MUTATE_SLOT_KIND)
		return line & ~((u64)WEFT_LINE_KIND_MASK << 36);
	if (mutation == MUTATE_SLOT_REGION)
		return line & 0xFFFFFFFFFFull;
	return line;
}

/* The port that counts, instead of that at which a message came in. */
static u32 heard_at(enum mutation mutation, const struct weft_switch *sw, u32 port,
		    const struct weft_msg *msg)
{
	if ((mutation == MUTATE_STATION ||
	     (mutation == MUTATE_STATION_BLADE && weft_is_blade(msg->src))) &&
	    sw->station[msg->src])
		return sw->station[msg->src] - 1u;
	return port;
}

enum weft_dir_dest mutated_handle(enum mutation mutation, struct weft_switch *sw, u32 port,
				  struct weft_msg *msg, u32 *targets)
{
	struct weft_slot *slot = &sw->slots[weft_line_slot(msg->line)];
	struct weft_slot *other = &sw->slots[weft_line_slot(aliased(mutation, msg->line))];
	const struct weft_msg in = *msg;
	u32 members = sw->members, aborts = sw->count[WEFT_COUNT_ABORT];
	enum weft_dir_dest dest;
	struct weft_slot old;

	swap(slot, other);
	old = *slot;
	before(mutation, sw, port, slot, msg);
	if (mutation == MUTATE_RACK)
		msg->rack = sw->rack;
	dest = weft_switch_handle(sw, heard_at(mutation, sw, port, msg), msg, targets);
	/* these stay in every message */
	msg->src = in.src;
	msg->txn = in.txn;
	msg->line = in.line;
	if ((mutation == MUTATE_STRANGER && is_request(&in)) ||
	    (mutation == MUTATE_LOCK_STRANGER && in.type == WEFT_MSG_HAND) ||
	    (mutation == MUTATE_PASS_STRANGER && in.type == WEFT_MSG_PASS))
		sw->members = members;
	after_message(mutation, sw, &old, &in, msg, targets);
	after_slot(mutation, &old, &in, slot, msg);
	after_counters(mutation, sw, &in, msg, aborts);
	swap(slot, other);
	return dest;
}
