// SPDX-License-Identifier: GPL-2.0-only
/* A transport that another module brings, see plug.h. */
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "net/config.h"
#include "net/node.h"
#include "net/plug.h"

/**
 * struct socket_of - a node that is up
 * @node: NULL: of none
 * @cfg: how it takes part in its rack, without the key
 * @open: what was brought is open for it
 */
struct socket_of {
	struct weft_node *node;
	struct weft_config cfg;
	bool open;
};

static DEFINE_MUTEX(plug_lock);	/* nodes, and what is brought, come and go */
static struct socket_of sockets[WEFT_RACKS_MAX];
static const struct weft_transport __rcu *plugged;

static const struct weft_transport *brought(void)
{
	return rcu_dereference_protected(plugged, lockdep_is_held(&plug_lock));
}

static void open_one(const struct weft_transport *transport, struct socket_of *s)
{
	lockdep_assert_held(&plug_lock);
	s->open = s->node && !transport->open(s->node, &s->cfg, NULL);
}

static void close_one(const struct weft_transport *transport, struct socket_of *s)
{
	lockdep_assert_held(&plug_lock);
	if (s->open)
		transport->close(s->node);
	s->open = false;
}

static int plug_open(struct weft_node *node, const struct weft_config *cfg,
		     struct netlink_ext_ack *extack)
{
	struct socket_of *s = sockets;

	mutex_lock(&plug_lock);
	/* there are no more nodes than that */
	while (s->node)
		s++;
	s->node = node;
	s->cfg = *cfg;
	memzero_explicit(s->cfg.key, sizeof(s->cfg.key));
	if (brought())
		open_one(brought(), s);
	mutex_unlock(&plug_lock);
	return 0;
}

static void plug_close(struct weft_node *node)
{
	unsigned int i;

	mutex_lock(&plug_lock);
	for (i = 0; i < ARRAY_SIZE(sockets); i++) {
		if (sockets[i].node != node)
			continue;
		close_one(brought(), &sockets[i]);
		sockets[i].node = NULL;
	}
	mutex_unlock(&plug_lock);
}

static struct weft_pad *plug_pad(struct weft_node *node, u32 home, u64 line,
				 struct weft_contents *contents)
{
	const struct weft_transport *transport;
	struct weft_pad *pad = NULL;

	rcu_read_lock();
	/* pairs with the synchronize_rcu() of weft_plug_unregister() */
	transport = rcu_dereference(plugged);
	if (transport)
		pad = transport->pad(node, home, line, contents);
	rcu_read_unlock();
	return pad;
}

static bool plug_send(struct weft_node *node, const struct weft_outgoing *out)
{
	const struct weft_transport *transport;
	bool sent = false;

	rcu_read_lock();
	/* pairs with the synchronize_rcu() of weft_plug_unregister() */
	transport = rcu_dereference(plugged);
	if (transport)
		sent = transport->send(node, out);
	rcu_read_unlock();
	return sent;
}

bool weft_plug_why(struct weft_node *node, u32 to, char *why, size_t size)
{
	const struct weft_transport *transport;
	const char *text = NULL;

	rcu_read_lock();
	/* pairs with the synchronize_rcu() of weft_plug_unregister() */
	transport = rcu_dereference(plugged);
	if (transport)
		text = transport->why(node, to);
	/* the sentence is the module's */
	strscpy(why, text ?: "", size);
	rcu_read_unlock();
	return transport;
}

void weft_plug_moved(struct weft_node *node, u32 member)
{
	const struct weft_transport *transport;

	rcu_read_lock();
	/* pairs with the synchronize_rcu() of weft_plug_unregister() */
	transport = rcu_dereference(plugged);
	if (transport && transport->moved)
		transport->moved(node, member);
	rcu_read_unlock();
}

const struct weft_transport weft_plug = {
	.name = "plug",
	.open = plug_open,
	.close = plug_close,
	.pad = plug_pad,
	.send = plug_send,
};

int weft_plug_register(const struct weft_transport *transport)
{
	unsigned int i;

	mutex_lock(&plug_lock);
	if (brought()) {
		mutex_unlock(&plug_lock);
		return -EBUSY;
	}
	for (i = 0; i < ARRAY_SIZE(sockets); i++)
		open_one(transport, &sockets[i]);
	rcu_assign_pointer(plugged, transport);
	mutex_unlock(&plug_lock);
	return 0;
}
EXPORT_SYMBOL_GPL(weft_plug_register);

void weft_plug_unregister(const struct weft_transport *transport)
{
	unsigned int i;

	mutex_lock(&plug_lock);
	RCU_INIT_POINTER(plugged, NULL);
	/* pairs with plug_pad() and plug_send(): nobody is in there any more */
	synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(sockets); i++)
		close_one(transport, &sockets[i]);
	mutex_unlock(&plug_lock);
}
EXPORT_SYMBOL_GPL(weft_plug_unregister);
