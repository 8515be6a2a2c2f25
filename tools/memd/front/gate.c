// SPDX-License-Identifier: GPL-2.0-only
/* The gate for messages, see gate.h. */
#include "front/gate.h"

#include "base/blade.h"
#include "base/log.h"
#include "catalog/follow.h"
#include "front/calls.h"
#include "net/udp.h"

#define SAY_AGAIN_MS	60000

/* People are told once a minute of a machine; what the network says is in the counters. */
static bool is_news(struct memd *m, u32 addr)
{
	struct gate *g = m->gate;
	u64 now = m->timers.now;
	u32 i;

	for (i = 0; i < GATE_SAID; i++)
		if (g->said[i].addr == addr && now - g->said[i].when < SAY_AGAIN_MS)
			return false;
	i = g->next++ % GATE_SAID;
	g->said[i].addr = addr;
	g->said[i].when = now;
	return true;
}

/*
 * A message without a tag, or with a wrong one.  Only calls are worth a sentence: each
 * machine begins by one, and a damaged block has a wrong tag, too.
 */
static void say_key(struct memd *m, const struct weft_msg *msg, u32 from)
{
	if (!is_news(m, from))
		return;
	if (!m->b->key.set)
		log_warn("%s has a key and this blade has none: give all machines of the rack the same one (--key), or none",
			 log_addr(from));
	else if (!msg->tagged)
		log_warn("%s has no key: copy this rack's there (fingerprint %08x)",
			 log_addr(from), weft_key_fingerprint(&m->b->key));
	else
		log_warn("%s has another key than this blade (fingerprint %08x): copy this rack's there",
			 log_addr(from), weft_key_fingerprint(&m->b->key));
}

/* Limit the answers to senders that may not belong to the rack. */
static bool may_answer(struct memd *m)
{
	struct gate *g = m->gate;
	u64 second = m->timers.now / 1000;

	if (g->second != second)
		g->answered = 0;
	g->second = second;
	return g->answered++ < GATE_ANSWERS;
}

static void wrong_key(struct memd *m, const struct weft_msg *msg, int err, u32 from)
{
	if (err == -ENOKEY)
		count(m, NO_KEY);
	else
		count(m, WRONG_KEY);
	if (msg->rack != m->b->opt.rack)
		return;
	memd_refused(m);
	if ((msg->type != WEFT_MSG_CALL && msg->type != WEFT_MSG_REPLY) || !may_answer(m))
		return;
	say_key(m, msg, from);
	if (msg->type == WEFT_MSG_CALL)
		calls_wrong_key(m, msg, msg->tagged && m->b->key.set ? EKEYREJECTED : ENOKEY,
				from);
	else
		follow_wrong_key(m, msg, from);
}

/* Return: true if it is as new as it has to be. */
static bool is_fresh(struct memd *m, const struct weft_msg *msg, u32 from)
{
	if (!m->b->key.set)
		return true;
	/* the answer to a question of ours sets the clock, whatever it says */
	if (msg->type == WEFT_MSG_REPLY && follow_is_answer(m, msg, from)) {
		turn_alone(m);
		if (follow_clock(m, msg, from))
			return true;
	}
	if (weft_stamp_fresh(memd_time(m), msg->stamp))
		return true;
	if (!m->b->clock.epoch && msg->type == WEFT_MSG_CALL && may_answer(m)) {
		turn_alone(m);
		if (calls_without_time(m, msg, from))
			return false;
	}
	count(m, STALE);
	if (!memd_is_first(m)) {
		if (follow_wants_time(m)) {
			turn_alone(m);
			follow_ask_time(m);
		}
	} else if (msg->type == WEFT_MSG_CALL && may_answer(m)) {
		calls_stale(m, msg, from);
	}
	return false;
}

/* Messages that concern the blade instead of a line. */
static bool is_for_blade(const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_CALL || msg->type == WEFT_MSG_REPLY ||
	       msg->type == WEFT_MSG_MEMBERS_ACK;
}

bool gate_take(struct memd *m, struct weft_msg *msg, const void *buf, size_t len,
	       u32 from, u16 port)
{
	u8 type = len > WEFT_WIRE_TYPE_AT ? ((const u8 *)buf)[WEFT_WIRE_TYPE_AT] : 0;
	int err;

	/* before anything else: the standby may have taken over */
	if (memd_suspended(m)) {
		count(m, SUSPENDED);
		return false;
	}
	if (!weft_flow_fits(type, port, m->udp->port)) {
		count(m, WRONG_PORT);
		return false;
	}
	err = weft_wire_unpack(msg, buf, len, &m->b->key);
	switch (err) {
	case 0:
		break;
	case -ENOKEY:
	case -EKEYREJECTED:
		wrong_key(m, msg, err, from);
		return false;
	case -EPROTONOSUPPORT:
		count(m, OTHER_VERSION);
		log_warn("%s speaks another version of the protocol", log_addr(from));
		return false;
	default:
		count(m, BAD);
		return false;
	}
	if (msg->rack != m->b->opt.rack) {
		count(m, OTHER_RACK);
		return false;
	}
	if (!is_fresh(m, msg, from))
		return false;
	if (is_for_blade(msg))
		turn_alone(m);
	return true;
}
