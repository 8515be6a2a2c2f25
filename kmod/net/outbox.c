// SPDX-License-Identifier: GPL-2.0-only
/* Messages that are to be sent, see outbox.h. */
#include <linux/slab.h>
#include <linux/string.h>

#include "base/stats.h"
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
