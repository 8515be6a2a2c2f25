// SPDX-License-Identifier: GPL-2.0-only
/* What came from the network, see recv.h. */
#include <linux/export.h>
#include <linux/ratelimit.h>

#include "base/stats.h"
#include "base/trace.h"
#include "net/clock.h"
#include "net/node.h"
#include "net/packet.h"
#include "net/peer.h"
#include "net/recv.h"
#include "net/refused.h"
#include "net/rpc.h"
#include "net/twin.h"

/* For who it comes from; people can ask who that was. */
static void refuse(struct weft_node *node, unsigned int stat, const struct weft_packet *packet)
{
	weft_stat_inc(&node->counters, stat);
	weft_refused_note(&node->refused, stat, packet->from);
}

static bool sender_fits(struct weft_node *node, const struct weft_packet *packet)
{
	switch (weft_peer_sender(&node->peers, &packet->msg, packet->from)) {
	case WEFT_SENDER_FITS:
		return true;
	case WEFT_SENDER_STRANGER:
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_STRANGER);
		/* it may have joined a moment ago; it sends again */
		node->refresh(node);
		return false;
	case WEFT_SENDER_TWIN:
		if (weft_twin_counts(node, &packet->msg))
			return true;
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_TWIN);
		/* it may have taken over a moment ago */
		node->refresh(node);
		weft_rpc_hurry(node);
		return false;
	default:
		refuse(node, WEFT_STAT_MSG_FORGED, packet);
		return false;
	}
}

static void count_bad(struct weft_node *node, int err)
{
	switch (err) {
	case -EPROTONOSUPPORT:
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_OTHER_VERSION);
		break;
	case -EILSEQ:
		/* ours, but its block has changed before it was on the wire (send.h) */
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_TORN);
		break;
	case -ENOMEM:
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_NO_MEMORY);
		break;
	default:
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_BAD);
		break;
	}
}

/*
 * People are told of calls only, and once a minute: a damaged block has a wrong tag, too, and
 * what the first blade answers to a node with another key has none, which the mount tells.
 */
static void say_key(struct weft_node *node, const struct weft_packet *packet)
{
	static DEFINE_RATELIMIT_STATE(once, 60 * HZ, 1);
	const struct weft_msg *msg = &packet->msg;
	__be32 from = packet->from;

	if (msg->type != WEFT_MSG_CALL || !__ratelimit(&once))
		return;
	if (!node->key.set)
		pr_warn("weft: %pI4 has a key and this node has none: give all machines of the rack the same one (weftctl up --key), or none\n",
			&from);
	else if (!msg->tagged)
		pr_warn("weft: %pI4 has no key: copy this rack's there (fingerprint %08x)\n",
			&from, weft_key_fingerprint(&node->key));
	else
		pr_warn("weft: %pI4 has another key than this node (fingerprint %08x): copy the rack's here, or this one there\n",
			&from, weft_key_fingerprint(&node->key));
}

/* Not of somebody who has the rack's key, as far as anybody can tell. */
static void wrong_key(struct weft_node *node, const struct weft_packet *packet, int err)
{
	const struct weft_msg *msg = &packet->msg;

	if (msg->rack != node->rack) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_OTHER_RACK);
		return;
	}
	refuse(node, err == -ENOKEY ? WEFT_STAT_MSG_NO_KEY : WEFT_STAT_MSG_WRONG_KEY, packet);
	if (weft_peer_sender(&node->peers, msg, packet->from) != WEFT_SENDER_FITS)
		return;
	say_key(node, packet);
	weft_rpc_refused(node, msg);
}

static bool is_fresh(struct weft_node *node, const struct weft_msg *msg)
{
	if (!node->key.set)
		return true;
	if (weft_rpc_sets_clock(node, msg)) {
		weft_clock_set(&node->clock, msg->stamp);
		return true;
	}
	if (weft_stamp_fresh(weft_clock_read(&node->clock), msg->stamp))
		return true;
	weft_stat_inc(&node->counters, WEFT_STAT_MSG_STALE);
	/* that, or our clock is wrong: of a new life of the first blade nothing counts till then */
	node->refresh(node);
	weft_rpc_hurry(node);
	return false;
}

/*
 * Until this node has joined, whatever is ordered is for a former life of it, of whose death
 * nobody has heard yet: that this one has nothing is no answer to who asks for what that had.
 */
static bool has_joined(const struct weft_node *node)
{
	return READ_ONCE(node->members) & weft_node_bit(node->id);
}

static void recv_message(struct weft_node *node, struct weft_packet *packet)
{
	struct weft_msg *msg = &packet->msg;

	if (msg->rack != node->rack) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_OTHER_RACK);
		return;
	}
	if (!sender_fits(node, packet) || !is_fresh(node, msg))
		return;
	weft_stat_inc(&node->counters, WEFT_STAT_MSG_RECEIVED);
	weft_stat_add(&node->counters, WEFT_STAT_MSG_RECEIVED_BYTES, packet->len);
	if (msg->type < WEFT_STATS_TYPES)
		weft_stat_inc(&node->counters, WEFT_STAT_RECEIVED_TYPE + msg->type);
	trace_weft_recv(msg, msg->src);

	switch (msg->type) {
	case WEFT_MSG_INV:
	case WEFT_MSG_FWD:
	case WEFT_MSG_GRANT:
	case WEFT_MSG_NACK:
	case WEFT_MSG_COMMIT_ACK:
	case WEFT_MSG_INFO:
	case WEFT_MSG_ENQUEUE:
	case WEFT_MSG_HANDED:
	case WEFT_MSG_PASSED:
	case WEFT_MSG_DATA:
	case WEFT_MSG_LANDED:
	case WEFT_MSG_INV_ACK:
	case WEFT_MSG_WB_ACK:
	case WEFT_MSG_CHASE:
	case WEFT_MSG_HAND_ACK:
		if (!has_joined(node))
			break;
		if (weft_line_kind(msg->line) == WEFT_KIND_LOCK)
			node->above->lock(node, msg);
		else
			node->above->block(node, packet);
		break;
	case WEFT_MSG_REPLY:
	case WEFT_MSG_COUNT_ACK:
		weft_rpc_recv(node, msg);
		break;
	case WEFT_MSG_CALL:
		node->above->call(node, msg);
		break;
	default:
		/* for directories and homes; the switch's group brings them, too */
		break;
	}
}

void weft_recv(struct weft_node *node, struct sk_buff *skb, __be32 from,
	       struct weft_pad *pad)
{
	struct weft_packet packet;
	u32 at = 0;
	int err;

	packet.from = from;
	packet.pad = pad;
	do {
		err = weft_packet_parse(&packet, &node->key, skb, at);
		if (err == -ENOKEY || err == -EKEYREJECTED)
			wrong_key(node, &packet, err);
		else if (err)
			count_bad(node, err);
		else
			recv_message(node, &packet);
		at += packet.len;
	} while (at < skb->len);
}
EXPORT_SYMBOL_GPL(weft_recv);

void weft_recv_own(struct weft_node *node, const struct weft_msg *msg, struct weft_pad *pad)
{
	const struct weft_packet packet = { .msg = *msg, .pad = pad };

	if (has_joined(node))
		node->above->block(node, &packet);
}
EXPORT_SYMBOL_GPL(weft_recv_own);
