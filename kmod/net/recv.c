// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams from any transport, which are not trusted: check each message (hash or tag, rack,
 * sender, age), count what is refused, hand the rest to the layer that it is for (struct
 * weft_receivers) or to rpc.c.  Softirq; never sleeps, and changes no datagram that a message
 * before may refer to.
 */
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/xxhash.h>

#include "base/stats.h"
#include "base/trace.h"
#include "core/call.h"
#include "net/config.h"
#include "net/node.h"
#include "net/peer.h"
#include "net/recv.h"
#include "net/rpc.h"

/* --- one message of a datagram ------------------------------------------------------------- */

/* Hash of a payload that lies in several pieces of a datagram. */
static u32 scattered_psum(const struct weft_packet *packet)
{
	unsigned int len = packet->len - WEFT_WIRE_HDR_LEN;
	struct skb_seq_state seq;
	struct xxh64_state hash;
	unsigned int at = 0, n;
	const u8 *data;

	xxh64_reset(&hash, WEFT_WIRE_PSUM_SEED);
	skb_prepare_seq_read(packet->skb, packet->at + WEFT_WIRE_HDR_LEN,
			     packet->at + packet->len, &seq);
	while ((n = skb_seq_read(at, &data, &seq))) {
		/* the last piece may be longer than the message */
		n = min(n, len - at);
		xxh64_update(&hash, data, n);
		at += n;
	}
	return weft_wire_psum_fold(xxh64_digest(&hash));
}

/*
 * Memory, for each processor's softirq, in which a scattered payload and its trailer become one
 * piece, as SipHash wants it.  As long as a datagram.
 */
static u8 __percpu *whole;

int weft_packet_init(void)
{
	/* more than modules get by DEFINE_PER_CPU() */
	whole = __alloc_percpu(WEFT_MTU_MAX, sizeof(u64));
	return whole ? 0 : -ENOMEM;
}

void weft_packet_exit(void)
{
	free_percpu(whole);
}

/*
 * Check the hash or tag of a message whose payload is scattered, and leave the payload where it
 * is.
 */
static int check_scattered(struct weft_packet *packet, const struct weft_key *key,
			   const void *hdr, u32 psum)
{
	u32 rest = packet->len - WEFT_WIRE_HDR_LEN;
	u8 *copy;

	if (!packet->msg.tagged) {
		if (scattered_psum(packet) != psum)
			return -EILSEQ;
		return weft_wire_check_tag(&packet->msg, hdr, hdr, key);
	}
	copy = this_cpu_ptr(whole);
	if (rest > WEFT_MTU_MAX ||
	    skb_copy_bits(packet->skb, (int)(packet->at + WEFT_WIRE_HDR_LEN), copy,
			  (int)rest))
		return -EBADMSG;
	return weft_wire_check_tag(&packet->msg, hdr, copy, key);
}

/*
 * Check the next message of a datagram.  Blocks stay where they are; other payloads, of messages
 * that are alone in their datagram, are made one piece.  Softirq.
 * @packet: out; its @len also after an error, so that a damaged message does not take those
 *	behind it along
 * @skb: begins with the header of its first message; not trusted
 * @at: offset of the message, less than the length of @skb
 *
 * Return: as weft_wire_unpack(); -ENOMEM.
 */
static int weft_packet_parse(struct weft_packet *packet, const struct weft_key *key,
			     struct sk_buff *skb, u32 at)
{
	u8 room[WEFT_WIRE_HDR_LEN];
	const void *hdr;
	u32 psum;
	int err;

	packet->skb = skb;
	packet->at = at;
	packet->len = skb->len - at;
	hdr = skb_header_pointer(skb, (int)at, sizeof(room), room);
	if (!hdr)
		return -EBADMSG;
	packet->len = (u32)weft_wire_first(hdr, packet->len);
	/*
	 * A message before this one may wait for its landing with a reference to the datagram,
	 * which must not change then: behind the first one there are only messages that need not
	 * be moved.
	 */
	if (at && !weft_wire_joins(weft_wire_type(hdr)))
		return -EBADMSG;
	if (at + packet->len > skb_headlen(skb)) {
		err = weft_wire_unpack_header(&packet->msg, hdr, packet->len, &psum);
		if (err)
			return err;
		if (weft_msg_has_data(packet->msg.type))
			return check_scattered(packet, key, hdr, psum);
		if (skb_linearize(skb))
			return -ENOMEM;
	}
	return weft_wire_unpack(&packet->msg, skb->data + at, packet->len, key);
}

void weft_packet_copy(const struct weft_packet *packet, u32 from, void *dst, u32 n)
{
	if (packet->msg.payload)
		memcpy(dst, packet->msg.payload + from, n);
	else
		/* within the message, as weft_wire_unpack_header() has checked */
		skb_copy_bits(packet->skb,
			      (int)(packet->at + WEFT_WIRE_HDR_LEN + from), dst,
			      (int)n);
}

/* --- messages of a blade's twin ----------------------------------------------------------- */

/*
 * Does a reply of a twin answer what the twin was asked?  An error is believed as such, anything
 * else only with a new view that says that the blade is there.
 */
static bool answers(struct weft_node *node, const struct weft_msg *msg,
		    const struct weft_call *call)
{
	if (msg->type != WEFT_MSG_REPLY || !weft_rpc_asked_twin(node, msg))
		return false;
	return call->err || call->op == WEFT_CALL_LEAVE ||
	       weft_peer_moves(&node->peers, msg->src, call->list, call->list_len);
}

/*
 * A message from the address of a blade's twin, which stands by as far as this node knows: does
 * it count? Only TWIN, by which the twin says that it has taken over, and its answers to what it
 * was asked while the blade was silent.  It may as well be the former blade, which has not heard
 * that its twin serves.
 */
static bool weft_twin_counts(struct weft_node *node, const struct weft_msg *msg)
{
	struct weft_call *call;
	bool counts = false;

	if ((msg->type != WEFT_MSG_REPLY && msg->type != WEFT_MSG_CALL) || !msg->payload)
		return false;
	call = kmalloc(sizeof(*call), GFP_ATOMIC);
	if (call && !weft_call_read(call, msg))
		counts = (msg->type == WEFT_MSG_CALL && call->op == WEFT_CALL_TWIN) ||
			 answers(node, msg, call);
	kfree(call);
	return counts;
}

/* --- which messages count, and for which layer --------------------------------------------- */

/* Count a message that is refused for its sender, and note the sender. */
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
		/* the sender may have joined a moment ago; it sends again */
		node->refresh(node);
		return false;
	case WEFT_SENDER_TWIN:
		if (weft_twin_counts(node, &packet->msg))
			return true;
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_TWIN);
		/* the twin may have taken over a moment ago */
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
		/* from a member: the block changed before it was on the wire (outbox.h) */
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
 * Log a wrong key, once a minute, for calls only: a damaged block has a wrong tag, too, and the
 * mount tells what the first blade answers to a node with another key.
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

/* Refuse a message whose sender seems not to have the rack's key. */
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
	/*
	 * either the message is old or this node's clock is wrong, as in a new life of the first
	 * blade: ask for the time
	 */
	node->refresh(node);
	weft_rpc_hurry(node);
	return false;
}

/*
 * Until this node has joined, orders are for its former life, of whose death nobody has heard
 * yet: that this life has nothing is no answer to them.
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
		/* messages for directories and homes, which the switch's group brings, too */
		break;
	}
}

void weft_recv(struct weft_node *node, struct sk_buff *skb, __be32 from,
	       struct weft_posted *posted)
{
	struct weft_packet packet;
	u32 at = 0;
	int err;

	packet.from = from;
	packet.posted = posted;
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

void weft_recv_own(struct weft_node *node, const struct weft_msg *msg, struct weft_posted *posted)
{
	const struct weft_packet packet = { .msg = *msg, .posted = posted };

	if (has_joined(node))
		node->above->block(node, &packet);
}
EXPORT_SYMBOL_GPL(weft_recv_own);
