// SPDX-License-Identifier: GPL-2.0-only
/* The ways of a node to the others, see transport.h. */
#include <linux/export.h>

#include "net/node.h"
#include "net/outbox.h"
#include "net/pad.h"
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

struct weft_pad *weft_transport_pad(struct weft_node *node, u32 home, u64 line,
				    struct weft_contents *contents)
{
	const struct weft_transport *const *way;
	struct weft_pad *pad = NULL;

	for (way = node->transports; *way && !pad; way++) {
		if ((*way)->pad)
			pad = (*way)->pad(node, home, line, contents);
	}
	return pad;
}

void weft_transport_send(struct weft_node *node, const struct weft_outgoing *out)
{
	const struct weft_transport *const *way = node->transports;

	if (out->pad && out->pad->ops->open(out->pad, out))
		return;
	while (*way && !(*way)->send(node, out))
		way++;
}
EXPORT_SYMBOL_GPL(weft_transport_send);
