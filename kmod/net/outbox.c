// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outboxes, and the encoding of messages.  Events of blocks, locks and calls fill an outbox
 * under their locks; weft_outbox_send() hands each message to transport.c, which has it encoded
 * here as datagrams.  Never sends with a spinlock of ours held.
 */
#include <linux/export.h>
#include <linux/highmem.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "base/stats.h"
#include "base/trace.h"
#include "net/contents.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/transport.h"

static struct kmem_cache *outgoing_cache;

int weft_outbox_setup(void)
{
	outgoing_cache = KMEM_CACHE(weft_outgoing, 0);
	return outgoing_cache ? 0 : -ENOMEM;
}

void weft_outbox_cleanup(void)
{
	kmem_cache_destroy(outgoing_cache);
}

void weft_outbox_init(struct weft_outbox *box, struct weft_node *node)
{
	box->node = node;
	box->first = NULL;
	box->last = &box->first;
	box->n = 0;
	box->owned = 0;
	box->closing = NULL;
}

static struct weft_outgoing *put(struct weft_outbox *box, u32 to, const struct weft_msg *msg)
{
	bool own = box->owned < WEFT_OUTBOX_OWN;
	struct weft_outgoing *out;

	out = own ? &box->own[box->owned++] : kmem_cache_alloc(outgoing_cache, GFP_ATOMIC);
	if (!out) {
		weft_stat_inc(&box->node->counters, WEFT_STAT_MSG_NO_MEMORY);
		return NULL;
	}
	out->next = NULL;
	out->to = to;
	out->contents = NULL;
	out->posted = NULL;
	out->landing.key = 0;
	out->own = own;
	out->msg = *msg;
	*box->last = out;
	box->last = &out->next;
	box->n++;
	return out;
}

void weft_outbox_put(struct weft_outbox *box, u32 to, const struct weft_msg *msg)
{
	weft_outbox_put_offer(box, to, msg, NULL);
}

void weft_outbox_put_offer(struct weft_outbox *box, u32 to, const struct weft_msg *msg,
			   struct weft_posted *posted)
{
	const void *payload = NULL;
	struct weft_outgoing *out;

	if (msg->payload && msg->len) {
		payload = kmemdup(msg->payload, msg->len, GFP_ATOMIC);
		if (!payload) {
			weft_stat_inc(&box->node->counters, WEFT_STAT_MSG_NO_MEMORY);
			return;
		}
	}
	out = put(box, to, msg);
	if (!out) {
		kfree(payload);
		return;
	}
	out->msg.payload = payload;
	if (!payload)
		out->msg.len = 0;
	if (posted)
		out->posted = weft_posted_get(posted);
}

void weft_outbox_put_block(struct weft_outbox *box, u32 to, const struct weft_msg *msg,
			   struct weft_contents *contents,
			   const struct weft_landing *landing, bool frozen)
{
	struct weft_outgoing *out = put(box, to, msg);

	if (!out) {
		contents->put(contents);
		return;
	}
	out->msg.payload = NULL;
	out->contents = contents;
	out->generation = contents->generation;
	out->landing = *landing;
	out->frozen = frozen;
}

void weft_outbox_close(struct weft_outbox *box, struct weft_posted *posted)
{
	weft_posted_get(posted);
	posted->next = box->closing;
	box->closing = posted;
}

static void close_all(struct weft_outbox *box)
{
	struct weft_posted *posted;

	while ((posted = box->closing)) {
		box->closing = posted->next;
		posted->ops->close(posted);
		weft_posted_put(posted);
	}
}

static struct weft_outgoing *take(struct weft_outbox *box)
{
	struct weft_outgoing *out = box->first;

	if (!out)
		return NULL;
	box->first = out->next;
	box->n--;
	if (!box->first)
		box->last = &box->first;
	return out;
}

static void done(struct weft_outgoing *out)
{
	if (out->contents)
		out->contents->put(out->contents);
	else
		kfree(out->msg.payload);
	if (out->posted)
		weft_posted_put(out->posted);
	if (!out->own)
		kmem_cache_free(outgoing_cache, out);
}

void weft_outbox_send(struct weft_outbox *box)
{
	struct weft_outgoing *out;

	while ((out = take(box))) {
		weft_transport_send(box->node, out);
		done(out);
	}
	box->owned = 0;
	close_all(box);
}

/* --- as datagrams -------------------------------------------------------------------------- */

#define HEADROOM	(LL_MAX_HEADER + sizeof(struct iphdr) + \
			 sizeof(struct udphdr))

static struct sk_buff *alloc(const struct weft_node *node, u32 len)
{
	struct sk_buff *skb = alloc_skb(HEADROOM + len, GFP_ATOMIC);

	if (!skb) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_NO_MEMORY);
		return NULL;
	}
	skb_reserve(skb, HEADROOM);
	skb_put(skb, len);
	return skb;
}

/*
 * Write the header of a message, and with a key its trailer, around a payload that is in place.
 */
static void pack(struct weft_node *node, struct weft_msg *msg, void *hdr, void *trailer)
{
	const struct weft_key *key = &node->key;
	struct weft_stamp now = { 0, 0 };

	if (key->set)
		now = weft_clock_read(&node->clock);
	msg->src = node->id;
	msg->rack = node->rack;
	weft_wire_pack_parts(msg, hdr, trailer, key, now);
}

/* A datagram in one piece: header, room for @msg->len bytes, trailer. */
static struct sk_buff *alloc_whole(const struct weft_node *node, const struct weft_msg *msg)
{
	return alloc(node, WEFT_WIRE_HDR_LEN + msg->len + weft_wire_trailer(&node->key));
}

static void pack_whole(struct weft_node *node, struct weft_msg *msg, struct sk_buff *skb)
{
	u8 *payload = skb->data + WEFT_WIRE_HDR_LEN;

	msg->payload = payload;
	pack(node, msg, skb->data, payload + msg->len);
}

static void add(struct weft_node *node, u32 to, const struct weft_msg *msg,
		struct sk_buff *skb, struct sk_buff_head *queue)
{
	__skb_queue_tail(queue, skb);
	weft_stat_inc(&node->counters, WEFT_STAT_SENT_TYPE + msg->type);
	trace_weft_send(msg, to);
}

static void encode_short(struct weft_node *node, const struct weft_outgoing *out,
			 struct sk_buff_head *queue)
{
	struct weft_msg msg = out->msg;
	struct sk_buff *skb = alloc_whole(node, &msg);

	if (!skb)
		return;
	if (msg.len)
		memcpy(skb->data + WEFT_WIRE_HDR_LEN, msg.payload, msg.len);
	pack_whole(node, &msg, skb);
	add(node, out->to, &msg, skb, queue);
}

/* --- fragments of blocks ------------------------------------------------------------- */

/* Copy a part of a block out of its pages. */
static void copy_out(void *dst, struct page *const *pages, u32 from, u32 len)
{
	while (len) {
		u32 at = from & ~PAGE_MASK;
		u32 n = min_t(u32, len, PAGE_SIZE - at);

		memcpy_from_page(dst, pages[from >> PAGE_SHIFT], at, n);
		dst += n;
		from += n;
		len -= n;
	}
}

static struct sk_buff *fragment_copied(struct weft_node *node, struct weft_msg *msg,
				       struct page *const *pages)
{
	struct sk_buff *skb = alloc_whole(node, msg);

	if (!skb)
		return NULL;
	copy_out(skb->data + WEFT_WIRE_HDR_LEN, pages, msg->offset, msg->len);
	pack_whole(node, msg, skb);
	return skb;
}

/*
 * Append memory for a trailer to a datagram of pages, as a fragment of its own: the payload is
 * not copied.
 */
static void *add_trailer(struct sk_buff *skb)
{
	void *trailer = netdev_alloc_frag(WEFT_WIRE_TRAILER_LEN);
	struct page *page;

	if (!trailer)
		return NULL;
	page = virt_to_head_page(trailer);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
			(int)(trailer - page_address(page)), WEFT_WIRE_TRAILER_LEN,
			WEFT_WIRE_TRAILER_LEN);
	return trailer;
}

/*
 * Can a fragment be sent from the block's pages?  It must lie in one page, or in contiguous
 * ones.  For an interface that does not gather pieces the kernel copies header and payload,
 * which costs more than copying here.
 */
static bool as_it_is(const struct weft_node *node, const struct weft_contents *c,
		     u32 from, u32 len)
{
	return node->gathers &&
	       (c->whole || from >> PAGE_SHIFT == (from + len - 1) >> PAGE_SHIFT);
}

/* A fragment that is sent from the block's pages. */
static struct sk_buff *fragment_of_piece(struct weft_node *node, struct weft_msg *msg,
					 struct page *const *pages)
{
	struct sk_buff *skb = alloc(node, WEFT_WIRE_HDR_LEN);
	struct page *page = pages[msg->offset >> PAGE_SHIFT];
	u32 at = msg->offset & ~PAGE_MASK;
	void *data, *trailer = NULL;

	if (!skb)
		return NULL;
	get_page(page);
	skb_add_rx_frag(skb, 0, page, (int)at, (int)msg->len, msg->len);
	if (node->key.set) {
		trailer = add_trailer(skb);
		if (!trailer) {
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_NO_MEMORY);
			kfree_skb(skb);
			return NULL;
		}
	}
	/* contiguous pages are mapped for good */
	data = at + msg->len > PAGE_SIZE ? page_address(page) : kmap_local_page(page);
	msg->payload = data + at;
	pack(node, msg, skb->data, trailer);
	if (at + msg->len <= PAGE_SIZE)
		kunmap_local(data);
	return skb;
}

static void encode_block(struct weft_node *node, const struct weft_outgoing *out,
			 struct sk_buff_head *queue)
{
	const struct weft_contents *c = out->contents;
	struct weft_msg msg = out->msg;
	u32 fragment = node->fragment;
	u32 at;

	for (at = 0; at < c->size; at += fragment) {
		struct sk_buff *skb;

		msg.info = (u16)fragment;
		msg.offset = at;
		msg.size = c->size;
		msg.len = min(fragment, c->size - at);
		if (out->frozen && as_it_is(node, c, at, msg.len))
			skb = fragment_of_piece(node, &msg, c->pages);
		else
			skb = fragment_copied(node, &msg, c->pages);
		if (!skb)
			continue;
		if (!weft_contents_are(c, out->generation)) {
			/* the rest is outdated as well */
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_OUTDATED);
			kfree_skb(skb);
			return;
		}
		add(node, out->to, &msg, skb, queue);
	}
	weft_stat_inc(&node->counters, WEFT_STAT_BLOCKS_OUT);
}

void weft_encode(struct weft_node *node, const struct weft_outgoing *out,
		 struct sk_buff_head *queue)
{
	if (out->contents)
		encode_block(node, out, queue);
	else
		encode_short(node, out, queue);
}
EXPORT_SYMBOL_GPL(weft_encode);

void weft_encode_landed(struct weft_node *node, const struct weft_outgoing *out,
			const struct weft_landing *room, struct sk_buff_head *queue)
{
	struct weft_outgoing landed = { .to = out->to, .msg = out->msg };
	u8 payload[WEFT_LANDING_LEN];

	landed.msg.type = WEFT_MSG_LANDED;
	landed.msg.size = out->contents->size;
	if (room) {
		weft_landing_pack(room, payload);
		landed.msg.payload = payload;
		landed.msg.len = WEFT_LANDING_LEN;
	}
	encode_short(node, &landed, queue);
}
EXPORT_SYMBOL_GPL(weft_encode_landed);
