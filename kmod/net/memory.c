// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transport between nodes of a rack in one kernel (JOINS in weft_netlink.h), for tests and
 * debuggers.  Called by transport.c.  Two nodes reach each other if they share rack number and
 * network namespace, and the sender knows the other's address and id.  Messages are bytes as on
 * the wire, and checked as those.
 */
#include <linux/highmem.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

#include "base/stats.h"
#include "net/config.h"
#include "net/contents.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/recv.h"
#include "net/transport.h"

#define BUDGET		64	/* datagrams that an inbox hands over in one turn */
#define INBOX_MAX	4096	/* datagrams that wait in an inbox; more are lost and counted */
#define POSTED_MAX	256	/* blocks that may land at a node at a time */
#define LANDS_MAX	65536	/* bytes: larger blocks come in messages (a spinlock is held) */

/* Datagrams that nodes of this kernel have sent to a node. */
struct weft_inbox {
	struct weft_node *node;
	/* its network namespace, to which its configuration has a reference */
	const struct net *net;
	struct sk_buff_head queue;	/* datagrams, INBOX_MAX at most */
	struct tasklet_struct tasklet;	/* hands them to the node */
	spinlock_t lock; /* guards the posted buffers; held while one is written to */
	struct list_head posted; /* where blocks of the node may land, POSTED_MAX at most */
	u32 n_posted;			/* length of @posted */
	u32 key;			/* of the newest posted buffer */
};

/* A posted buffer of this transport. */
struct inner_posted {
	struct weft_posted posted; /* as the other layers see it */
	struct list_head list;	/* in weft_inbox.posted until it is closed */
	bool open;		/* the request that offers it has gone.  weft_inbox.lock */
};

/* In skb->cb while a datagram is in an inbox. */
struct sender {
	__be32 addr;	/* address of the sender */
	u32 key;	/* of the posted buffer that the datagram closes; 0: none */
};

static DEFINE_MUTEX(inboxes_lock);	/* guards inboxes */
static struct weft_inbox __rcu *inboxes[WEFT_RACKS_MAX];
static unsigned int open_inboxes;	/* how many.  inboxes_lock */
static bool alone = true;		/* fewer than two: no node can be reached */

static struct sender *sender_of(struct sk_buff *skb)
{
	return (struct sender *)skb->cb;
}

/* --- posted buffers ----------------------------------------------------------------------- */

/* The inbox of @node; NULL: it has none.  RCU. */
static struct weft_inbox *inbox_at(const struct weft_node *node)
{
	struct weft_inbox *inbox;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inboxes); i++) {
		inbox = rcu_dereference(inboxes[i]);
		if (inbox && inbox->node == node)
			return inbox;
	}
	return NULL;
}

static struct inner_posted *inner(struct weft_posted *posted)
{
	return container_of(posted, struct inner_posted, posted);
}

static void posted_free(struct weft_posted *posted)
{
	kfree(inner(posted));
}

static bool posted_open(struct weft_posted *posted, const struct weft_outgoing *out)
{
	WRITE_ONCE(inner(posted)->open, true);
	return false;
}

/* Close a posted buffer for writers.  Return: false: it was closed before. */
static bool unlink_posted(struct weft_inbox *inbox, struct inner_posted *posted)
{
	lockdep_assert_held(&inbox->lock);
	if (!posted || list_empty(&posted->list))
		return false;
	list_del_init(&posted->list);
	inbox->n_posted--;
	return true;
}

/* Tell that a posted buffer is closed, after what came by it was handed in. */
static void posted_closed(struct weft_posted *posted)
{
	posted->node->above->closed(posted->node, posted);
	weft_posted_put(posted);
}

static void posted_close(struct weft_posted *posted)
{
	struct weft_inbox *inbox;
	bool taken = false;

	rcu_read_lock();
	inbox = inbox_at(posted->node);
	/* without an inbox the node is going, and closes it */
	if (inbox) {
		spin_lock_bh(&inbox->lock);
		taken = unlink_posted(inbox, inner(posted));
		spin_unlock_bh(&inbox->lock);
	}
	rcu_read_unlock();
	if (taken)
		posted_closed(posted);
}

static const struct weft_posted_ops posted_ops = {
	.open = posted_open,
	.close = posted_close,
	.free = posted_free,
};

/* transport.post.  The key alone names the buffer; there is no address. */
static struct weft_posted *post_make(struct weft_node *node, u32 home, u64 line,
				     struct weft_contents *contents)
{
	struct inner_posted *posted = NULL;
	struct weft_inbox *inbox;

	if (contents->size > LANDS_MAX)
		return NULL;
	rcu_read_lock();
	inbox = inbox_at(node);
	if (inbox && READ_ONCE(inbox->n_posted) < POSTED_MAX)
		posted = kzalloc(sizeof(*posted), GFP_ATOMIC);
	if (posted) {
		weft_posted_init(&posted->posted, node, &posted_ops, contents);
		spin_lock_bh(&inbox->lock);
		if (!++inbox->key)
			inbox->key++;
		posted->posted.landing.key = inbox->key;
		list_add(&posted->list, &inbox->posted);
		inbox->n_posted++;
		spin_unlock_bh(&inbox->lock);
	}
	rcu_read_unlock();
	return posted ? &posted->posted : NULL;
}

static struct inner_posted *find_posted(struct weft_inbox *inbox, u32 key)
{
	struct inner_posted *posted;

	list_for_each_entry(posted, &inbox->posted, list) {
		if (posted->posted.landing.key == key)
			return posted;
	}
	return NULL;
}

/*
 * Write a block into a posted buffer, as the provider's card would.  Return: false: the buffer
 * is not open.
 */
static bool write_there(struct weft_inbox *inbox, const struct weft_outgoing *out)
{
	const struct weft_contents *from = out->contents;
	struct inner_posted *posted;
	bool done = false;
	u32 i;

	spin_lock_bh(&inbox->lock);
	posted = find_posted(inbox, out->landing.key);
	if (posted && READ_ONCE(posted->open) && posted->posted.contents->size == from->size) {
		for (i = 0; i < from->size >> PAGE_SHIFT; i++)
			copy_highpage(posted->posted.contents->pages[i], from->pages[i]);
		done = true;
	}
	spin_unlock_bh(&inbox->lock);
	return done;
}

/* --- receiving --------------------------------------------------------------------- */

static void receive_one(struct weft_inbox *inbox, struct sk_buff *skb)
{
	const struct sender *sender = sender_of(skb);
	struct inner_posted *posted = NULL;
	bool taken;

	if (sender->key) {
		/* as a card does for a send with invalidate */
		spin_lock_bh(&inbox->lock);
		posted = find_posted(inbox, sender->key);
		taken = unlink_posted(inbox, posted);
		spin_unlock_bh(&inbox->lock);
		/* the node closed the buffer before: LANDED counts no more */
		if (!taken)
			return;
	}
	weft_recv(inbox->node, skb, sender->addr, posted ? &posted->posted : NULL);
	if (posted)
		posted_closed(&posted->posted);
}

static void receive(struct tasklet_struct *tasklet)
{
	struct weft_inbox *inbox = container_of(tasklet, struct weft_inbox, tasklet);
	struct sk_buff *skb;
	unsigned int n;

	rcu_read_lock();
	for (n = 0; n < BUDGET; n++) {
		skb = skb_dequeue(&inbox->queue);
		if (!skb)
			break;
		receive_one(inbox, skb);
		consume_skb(skb);
	}
	rcu_read_unlock();
	if (!skb_queue_empty(&inbox->queue))
		tasklet_schedule(tasklet);
}

/* --- sending ----------------------------------------------------------------------- */

static bool is_member(const struct weft_node *node, const struct weft_node *other, u32 id)
{
	return other->rack == node->rack && other->id == id &&
	       other->peers.addr == weft_peer_addr(&node->peers, id);
}

/* The inbox of member @id; NULL: it is not in this kernel, or not joined to @node. */
static struct weft_inbox *inbox_of(const struct weft_node *node, u32 id)
{
	struct weft_inbox *inbox, *own = NULL, *found = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inboxes); i++) {
		inbox = rcu_dereference(inboxes[i]);
		if (!inbox)
			continue;
		if (inbox->node == node)
			own = inbox;
		else if (is_member(node, inbox->node, id))
			found = inbox;
	}
	return own && found && net_eq(own->net, found->net) ? found : NULL;
}

static void put_all(struct weft_node *node, struct weft_inbox *inbox,
		    struct sk_buff_head *queue, u32 key)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue))) {
		if (skb_queue_len_lockless(&inbox->queue) >= INBOX_MAX) {
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_INBOX_FULL);
			kfree_skb(skb);
			continue;
		}
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_SENT);
		weft_stat_add(&node->counters, WEFT_STAT_MSG_SENT_BYTES, skb->len);
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_IN_MEMORY);
		sender_of(skb)->addr = node->peers.addr;
		sender_of(skb)->key = key;
		skb_queue_tail(&inbox->queue, skb);
	}
}

/*
 * Write a block to its landing, and send LANDED behind it.  Return: false: there is no open
 * landing.
 */
static bool land(struct weft_node *node, struct weft_inbox *inbox,
		 const struct weft_outgoing *out)
{
	struct sk_buff_head queue;

	if (!out->contents || !out->landing.key || !out->frozen || !write_there(inbox, out))
		return false;
	if (!weft_contents_are(out->contents, out->generation)) {
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_OUTDATED);
		return true;
	}
	__skb_queue_head_init(&queue);
	weft_encode_landed(node, out, NULL, &queue);
	put_all(node, inbox, &queue, out->landing.key);
	weft_stat_inc(&node->counters, WEFT_STAT_BLOCKS_LANDED_OUT);
	return true;
}

static bool memory_send(struct weft_node *node, const struct weft_outgoing *out)
{
	struct sk_buff_head queue;
	struct weft_inbox *inbox;

	/* the tasklet runs when bottom halves are on again */
	local_bh_disable();
	rcu_read_lock();
	/* pairs with the synchronize_rcu() of memory_close() */
	inbox = inbox_of(node, out->to);
	if (inbox) {
		if (!land(node, inbox, out)) {
			__skb_queue_head_init(&queue);
			weft_encode(node, out, &queue);
			put_all(node, inbox, &queue, 0);
		}
		tasklet_schedule(&inbox->tasklet);
	}
	rcu_read_unlock();
	local_bh_enable();
	return inbox;
}

/* --- opening and closing ------------------------------------------------------------------ */

static int memory_open(struct weft_node *node, const struct weft_config *cfg,
		       struct netlink_ext_ack *extack)
{
	struct weft_inbox *inbox = kzalloc(sizeof(*inbox), GFP_KERNEL);
	unsigned int i = 0;

	if (!inbox)
		return -ENOMEM;
	inbox->node = node;
	inbox->net = cfg->net;
	skb_queue_head_init(&inbox->queue);
	spin_lock_init(&inbox->lock);
	INIT_LIST_HEAD(&inbox->posted);
	tasklet_setup(&inbox->tasklet, receive);
	mutex_lock(&inboxes_lock);
	/* there are no more nodes than entries */
	while (rcu_access_pointer(inboxes[i]))
		i++;
	rcu_assign_pointer(inboxes[i], inbox);
	WRITE_ONCE(alone, ++open_inboxes < 2);
	mutex_unlock(&inboxes_lock);
	return 0;
}

/* Take a node's inbox out of the table; NULL: it has none. */
static struct weft_inbox *take_out(const struct weft_node *node)
{
	struct weft_inbox *inbox;
	unsigned int i;

	lockdep_assert_held(&inboxes_lock);
	for (i = 0; i < ARRAY_SIZE(inboxes); i++) {
		inbox = rcu_dereference_protected(inboxes[i], lockdep_is_held(&inboxes_lock));
		if (!inbox || inbox->node != node)
			continue;
		RCU_INIT_POINTER(inboxes[i], NULL);
		WRITE_ONCE(alone, --open_inboxes < 2);
		return inbox;
	}
	return NULL;
}

static void memory_close(struct weft_node *node)
{
	struct weft_inbox *inbox;
	struct inner_posted *posted;

	mutex_lock(&inboxes_lock);
	inbox = take_out(node);
	mutex_unlock(&inboxes_lock);
	if (!inbox)
		return;
	/* pairs with memory_send(): no thread adds to the inbox any more */
	synchronize_rcu();
	tasklet_kill(&inbox->tasklet);
	skb_queue_purge(&inbox->queue);
	while ((posted = list_first_entry_or_null(&inbox->posted, struct inner_posted, list))) {
		list_del_init(&posted->list);
		local_bh_disable();
		posted_closed(&posted->posted);
		local_bh_enable();
	}
	kfree(inbox);
}

const struct weft_transport weft_memory = {
	.idle = &alone,
	.open = memory_open,
	.close = memory_close,
	.post = post_make,
	.send = memory_send,
};
