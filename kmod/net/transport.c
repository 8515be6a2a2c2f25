// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ways to the other members: each message takes the first transport that leads there.  Posted
 * buffers; the transport of another module (weft_rdma.ko).  Called by outbox.c, blocks/effects.c
 * and rack/member.c.  Sends with no spinlock of ours held; knows no device.
 */
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/string.h>

#include "core/hello.h"
#include "net/config.h"
#include "net/contents.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/peer.h"
#include "net/transport.h"

int weft_transport_open(struct weft_node *node, const struct weft_config *cfg,
			struct netlink_ext_ack *extack)
{
	const struct weft_transport *const *way;
	int err;

	for (way = node->transports; *way; way++) {
		err = (*way)->open(node, cfg, extack);
		if (err) {
			weft_transport_close(node);
			return err;
		}
	}
	return 0;
}

void weft_transport_close(struct weft_node *node)
{
	const struct weft_transport *const *way;

	for (way = node->transports; *way; way++)
		(*way)->close(node);
}

static bool is_idle(const struct weft_transport *transport)
{
	return transport->idle && READ_ONCE(*transport->idle);
}

struct weft_posted *weft_transport_post(struct weft_node *node, u32 home, u64 line,
					struct weft_contents *contents)
{
	const struct weft_transport *const *way;
	struct weft_posted *posted = NULL;

	for (way = node->transports; *way && !posted; way++) {
		if ((*way)->post && !is_idle(*way))
			posted = (*way)->post(node, home, line, contents);
	}
	return posted;
}

void weft_transport_send(struct weft_node *node, const struct weft_outgoing *out)
{
	const struct weft_transport *const *way = node->transports;

	if (out->posted && out->posted->ops->open(out->posted, out))
		return;
	while (*way && (is_idle(*way) || !(*way)->send(node, out)))
		way++;
}
EXPORT_SYMBOL_GPL(weft_transport_send);

/* --- posted buffers -------------------------------------------------------------------------- */

void weft_posted_init(struct weft_posted *posted, struct weft_node *node,
		      const struct weft_posted_ops *ops, struct weft_contents *contents)
{
	refcount_set(&posted->ref, 2);
	posted->node = node;
	posted->ops = ops;
	posted->contents = contents;
	posted->direct = false;
	posted->next = NULL;
}
EXPORT_SYMBOL_GPL(weft_posted_init);

struct weft_posted *weft_posted_get(struct weft_posted *posted)
{
	refcount_inc(&posted->ref);
	return posted;
}
EXPORT_SYMBOL_GPL(weft_posted_get);

void weft_posted_put(struct weft_posted *posted)
{
	struct weft_contents *contents = posted->contents;

	if (!refcount_dec_and_test(&posted->ref))
		return;
	/* pairs with synchronize_rcu() of the module that made it, when that goes */
	rcu_read_lock();
	posted->ops->free(posted);
	rcu_read_unlock();
	contents->put(contents);
}
EXPORT_SYMBOL_GPL(weft_posted_put);

/* --- the transport of another module ------------------------------------------------------ */

/* A node that is up, as the registered transport needs it. */
struct socket_of {
	struct weft_node *node;	/* NULL: a free entry */
	struct weft_config cfg;	/* its configuration, without the key */
	bool open;		/* the registered transport is open for it */
};

static DEFINE_MUTEX(module_lock);	/* guards sockets and registered */
static struct socket_of sockets[WEFT_RACKS_MAX];
static const struct weft_transport __rcu *registered;

static const struct weft_transport *brought(void)
{
	return rcu_dereference_protected(registered, lockdep_is_held(&module_lock));
}

static void open_one(const struct weft_transport *transport, struct socket_of *s)
{
	lockdep_assert_held(&module_lock);
	s->open = s->node && !transport->open(s->node, &s->cfg, NULL);
}

static void close_one(const struct weft_transport *transport, struct socket_of *s)
{
	lockdep_assert_held(&module_lock);
	if (s->open)
		transport->close(s->node);
	s->open = false;
}

static int module_open(struct weft_node *node, const struct weft_config *cfg,
		       struct netlink_ext_ack *extack)
{
	struct socket_of *s = sockets;

	mutex_lock(&module_lock);
	/* there are no more nodes than entries */
	while (s->node)
		s++;
	s->node = node;
	s->cfg = *cfg;
	memzero_explicit(s->cfg.key, sizeof(s->cfg.key));
	if (brought())
		open_one(brought(), s);
	mutex_unlock(&module_lock);
	return 0;
}

static void module_close(struct weft_node *node)
{
	unsigned int i;

	mutex_lock(&module_lock);
	for (i = 0; i < ARRAY_SIZE(sockets); i++) {
		if (sockets[i].node != node)
			continue;
		close_one(brought(), &sockets[i]);
		sockets[i].node = NULL;
	}
	mutex_unlock(&module_lock);
}

/* The registered transport, valid until rcu_read_unlock(); or NULL. */
static const struct weft_transport *enter(void) __acquires(RCU)
{
	rcu_read_lock();
	/* pairs with synchronize_rcu() of weft_transport_unregister() */
	return rcu_dereference(registered);
}

static struct weft_posted *module_post(struct weft_node *node, u32 home, u64 line,
				       struct weft_contents *contents)
{
	const struct weft_transport *transport = enter();
	struct weft_posted *posted = transport ? transport->post(node, home, line, contents) : NULL;

	rcu_read_unlock();
	return posted;
}

static bool module_send(struct weft_node *node, const struct weft_outgoing *out)
{
	const struct weft_transport *transport = enter();
	bool sent = transport && transport->send(node, out);

	rcu_read_unlock();
	return sent;
}

bool weft_transport_why(struct weft_node *node, u32 to, char *why, size_t size)
{
	const struct weft_transport *transport = enter();
	const char *text = transport ? transport->why(node, to) : NULL;

	/* the sentence is in the module's memory */
	strscpy(why, text ?: "", size);
	rcu_read_unlock();
	return transport;
}

void weft_transport_moved(struct weft_node *node, u32 member)
{
	const struct weft_transport *transport = enter();

	if (transport && transport->moved)
		transport->moved(node, member);
	rcu_read_unlock();
}

const struct weft_transport weft_module_transport = {
	.open = module_open,
	.close = module_close,
	.post = module_post,
	.send = module_send,
};

int weft_transport_register(const struct weft_transport *transport)
{
	unsigned int i;

	mutex_lock(&module_lock);
	if (brought()) {
		mutex_unlock(&module_lock);
		return -EBUSY;
	}
	for (i = 0; i < ARRAY_SIZE(sockets); i++)
		open_one(transport, &sockets[i]);
	rcu_assign_pointer(registered, transport);
	mutex_unlock(&module_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(weft_transport_register);

void weft_transport_unregister(const struct weft_transport *transport)
{
	unsigned int i;

	mutex_lock(&module_lock);
	RCU_INIT_POINTER(registered, NULL);
	/* pairs with enter(): no thread calls the transport any more */
	synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(sockets); i++)
		close_one(transport, &sockets[i]);
	mutex_unlock(&module_lock);
}
EXPORT_SYMBOL_GPL(weft_transport_unregister);

/* --- landings and deeds in messages ------------------------------------------------------- */

bool weft_landing_of(const struct weft_outgoing *request, struct weft_landing *landing)
{
	return weft_landing_unpack(landing, &request->msg);
}
EXPORT_SYMBOL_GPL(weft_landing_of);

bool weft_deed_of(const struct weft_node *node, const struct sk_buff *skb,
		  struct weft_msg *landed, struct weft_deed *deed)
{
	if (weft_wire_unpack(landed, skb->data, skb->len, &node->key) ||
	    landed->type != WEFT_MSG_LANDED || !weft_is_blade(landed->src))
		return false;
	return weft_deed_unpack(deed, landed);
}
EXPORT_SYMBOL_GPL(weft_deed_of);

/* --- private data of connections ---------------------------------------------------------- */

void weft_private_say(struct weft_node *node, u8 to, void *buf)
{
	struct weft_hello hello = {
		.from = node->id, .to = to, .rack = node->rack,
		.stamp = weft_clock_read(&node->clock),
	};

	weft_hello_pack(&hello, buf, &node->key);
}
EXPORT_SYMBOL_GPL(weft_private_say);

const char *weft_private_check(struct weft_node *node, const void *said, size_t len,
			       __be32 addr, u8 must_be, struct weft_hello *hello)
{
	if (weft_hello_unpack(hello, said, len, &node->key))
		return "it speaks another version, or has another key";
	if (hello->rack != node->rack || hello->to != node->id)
		return "it means another node";
	if (node->key.set && !weft_stamp_fresh(weft_clock_read(&node->clock), hello->stamp))
		return "what it says is old";
	if (!addr || addr != weft_peer_addr(&node->peers, hello->from))
		return "no member has its number and address";
	if (must_be && must_be != hello->from)
		return "it is another member";
	return NULL;
}
EXPORT_SYMBOL_GPL(weft_private_check);
