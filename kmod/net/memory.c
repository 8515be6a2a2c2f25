// SPDX-License-Identifier: GPL-2.0-only
/* The transport between members in one kernel, see memory.h. */
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

#include "base/stats.h"
#include "net/config.h"
#include "net/encode.h"
#include "net/memory.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/recv.h"

#define BUDGET	64	/* datagrams that an inbox gives its node before others have a turn */

/**
 * struct weft_inbox - what members in this kernel have sent to a node
 * @node: which
 * @net: the network namespace that it is in, which its configuration holds
 * @queue: datagrams, WEFT_INBOX_MAX at most
 * @tasklet: hands them to the node
 */
struct weft_inbox {
	struct weft_node *node;
	const struct net *net;
	struct sk_buff_head queue;
	struct tasklet_struct tasklet;
};

/* In skb->cb while a datagram is in an inbox: the address of who sent it. */
struct sender {
	__be32 addr;
};

static DEFINE_MUTEX(inboxes_lock);	/* nodes come and go */
static struct weft_inbox __rcu *inboxes[WEFT_RACKS_MAX];
static unsigned int open_inboxes;	/* READ_ONCE by who sends */

static struct sender *sender_of(struct sk_buff *skb)
{
	return (struct sender *)skb->cb;
}

/* --- receiving --------------------------------------------------------------------- */

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
		weft_recv(inbox->node, skb, sender_of(skb)->addr);
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

/* NULL: the member is not in this kernel, or not joined to @node. */
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
		    struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue))) {
		if (skb_queue_len_lockless(&inbox->queue) >= WEFT_INBOX_MAX) {
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_INBOX_FULL);
			kfree_skb(skb);
			continue;
		}
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_SENT);
		weft_stat_add(&node->counters, WEFT_STAT_MSG_SENT_BYTES, skb->len);
		weft_stat_inc(&node->counters, WEFT_STAT_MSG_IN_MEMORY);
		sender_of(skb)->addr = node->peers.addr;
		skb_queue_tail(&inbox->queue, skb);
	}
}

static bool memory_send(struct weft_node *node, const struct weft_outgoing *out)
{
	struct sk_buff_head queue;
	struct weft_inbox *inbox;

	/* all but machines on which somebody tries this */
	if (READ_ONCE(open_inboxes) < 2)
		return false;
	/* a tasklet that is scheduled with bottom halves off runs when they are on again */
	local_bh_disable();
	rcu_read_lock();
	/* pairs with the synchronize_rcu() of memory_close() */
	inbox = inbox_of(node, out->to);
	if (inbox) {
		__skb_queue_head_init(&queue);
		weft_encode(node, out, &queue);
		put_all(node, inbox, &queue);
		tasklet_schedule(&inbox->tasklet);
	}
	rcu_read_unlock();
	local_bh_enable();
	return inbox;
}

/* --- coming and going -------------------------------------------------------------- */

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
	tasklet_setup(&inbox->tasklet, receive);
	mutex_lock(&inboxes_lock);
	/* there are no more nodes than that */
	while (rcu_access_pointer(inboxes[i]))
		i++;
	rcu_assign_pointer(inboxes[i], inbox);
	WRITE_ONCE(open_inboxes, open_inboxes + 1);
	mutex_unlock(&inboxes_lock);
	return 0;
}

/* Takes a node's inbox out of the table; NULL: it has none. */
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
		WRITE_ONCE(open_inboxes, open_inboxes - 1);
		return inbox;
	}
	return NULL;
}

static void memory_close(struct weft_node *node)
{
	struct weft_inbox *inbox;

	mutex_lock(&inboxes_lock);
	inbox = take_out(node);
	mutex_unlock(&inboxes_lock);
	if (!inbox)
		return;
	/* pairs with memory_send(): nobody puts anything there any more */
	synchronize_rcu();
	tasklet_kill(&inbox->tasklet);
	skb_queue_purge(&inbox->queue);
	kfree(inbox);
}

const struct weft_transport weft_memory = {
	.name = "memory",
	.open = memory_open,
	.close = memory_close,
	.send = memory_send,
};
