// SPDX-License-Identifier: GPL-2.0-only
/* Messages as datagrams, see send.h. */
#include <linux/highmem.h>

#include "base/stats.h"
#include "base/trace.h"
#include "net/clock.h"
#include "net/datagram.h"
#include "net/node.h"
#include "net/send.h"

/*
 * The header goes in front of a payload that stands in the datagram already, the trailer,
 * if the rack has a key, to @trailer.
 */
static void finish(struct weft_node *node, struct sk_buff_head *queue, u32 to,
		   struct weft_msg *msg, struct sk_buff *skb, void *trailer)
{
	const struct weft_key *key = &node->key;
	struct weft_stamp now = { 0, 0 };

	if (key->set)
		now = weft_clock_read(&node->clock);
	msg->src = node->id;
	msg->rack = node->rack;
	weft_wire_pack_parts(msg, skb->data, trailer, key, now);
	__skb_queue_tail(queue, skb);
	weft_stat_inc(&node->counters, WEFT_STAT_SENT_TYPE + msg->type);
	trace_weft_send(msg, to);
}

void weft_send(struct weft_node *node, struct sk_buff_head *queue, u32 to,
	       struct weft_msg *msg)
{
	const void *payload = msg->payload;
	struct sk_buff *skb;

	if (!payload)
		msg->len = 0;
	skb = weft_udp_alloc(node, to, WEFT_WIRE_HDR_LEN + msg->len +
				 weft_wire_trailer(&node->key));
	if (!skb)
		return;
	if (msg->len) {
		msg->payload = skb->data + WEFT_WIRE_HDR_LEN;
		memcpy(skb->data + WEFT_WIRE_HDR_LEN, payload, msg->len);
	}
	finish(node, queue, to, msg, skb, skb->data + WEFT_WIRE_HDR_LEN + msg->len);
	msg->payload = payload;
}

/* Part of a block, which may lie in several pages. */
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

static void send_copy(struct weft_node *node, struct sk_buff_head *queue, u32 to,
		      struct weft_msg *msg,       struct page *const *pages)
{
	struct sk_buff *skb = weft_udp_alloc(node, to, WEFT_WIRE_HDR_LEN + msg->len +
					     weft_wire_trailer(&node->key));

	if (!skb)
		return;
	copy_out(skb->data + WEFT_WIRE_HDR_LEN, pages, msg->offset, msg->len);
	msg->payload = skb->data + WEFT_WIRE_HDR_LEN;
	finish(node, queue, to, msg, skb, skb->data + WEFT_WIRE_HDR_LEN + msg->len);
}

/*
 * Room for a trailer behind the pages of a datagram, as a piece of its own: the payload
 * need not be copied for it.
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

/* A fragment that lies in one page. */
static void send_page(struct weft_node *node, struct sk_buff_head *queue, u32 to,
		      struct weft_msg *msg,       struct page *page)
{
	struct sk_buff *skb = weft_udp_alloc(node, to, WEFT_WIRE_HDR_LEN);
	u32 at = msg->offset & ~PAGE_MASK;
	void *data, *trailer = NULL;

	if (!skb)
		return;
	get_page(page);
	skb_add_rx_frag(skb, 0, page, (int)at, (int)msg->len, msg->len);
	if (node->key.set) {
		trailer = add_trailer(skb);
		if (!trailer) {
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_NO_MEMORY);
			kfree_skb(skb);
			return;
		}
	}
	data = kmap_local_page(page);
	msg->payload = data + at;
	finish(node, queue, to, msg, skb, trailer);
	kunmap_local(data);
}

void weft_send_block(struct weft_node *node, struct sk_buff_head *queue, u32 to,
		     struct weft_msg *msg, struct page *const *pages, u32 size,
		     bool frozen)
{
	u32 fragment = node->fragment;
	u32 at;

	for (at = 0; at < size; at += fragment) {
		u32 page = at >> PAGE_SHIFT;

		msg->info = (u16)fragment;
		msg->offset = at;
		msg->size = size;
		msg->len = min(fragment, size - at);
		if (frozen && page == (at + msg->len - 1) >> PAGE_SHIFT)
			send_page(node, queue, to, msg, pages[page]);
		else
			send_copy(node, queue, to, msg, pages);
	}
	msg->payload = NULL;
	weft_stat_inc(&node->counters, WEFT_STAT_BLOCKS_OUT);
}
