// SPDX-License-Identifier: GPL-2.0-only
/* Landing pads, see pad.h. */
#include <linux/export.h>
#include <linux/rcupdate.h>

#include "net/contents.h"
#include "net/pad.h"

void weft_pad_init(struct weft_pad *pad, struct weft_node *node,
		   const struct weft_pad_ops *ops, struct weft_contents *contents)
{
	refcount_set(&pad->ref, 2);
	pad->node = node;
	pad->ops = ops;
	pad->contents = contents;
	pad->direct = false;
	pad->next = NULL;
}
EXPORT_SYMBOL_GPL(weft_pad_init);

struct weft_pad *weft_pad_get(struct weft_pad *pad)
{
	refcount_inc(&pad->ref);
	return pad;
}
EXPORT_SYMBOL_GPL(weft_pad_get);

void weft_pad_put(struct weft_pad *pad)
{
	struct weft_contents *contents = pad->contents;

	if (!refcount_dec_and_test(&pad->ref))
		return;
	/* pairs with the synchronize_rcu() of the module that has made it, as that one goes */
	rcu_read_lock();
	pad->ops->free(pad);
	rcu_read_unlock();
	contents->put(contents);
}
EXPORT_SYMBOL_GPL(weft_pad_put);
