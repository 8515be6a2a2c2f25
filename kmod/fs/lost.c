// SPDX-License-Identifier: GPL-2.0-only
/* Blocks that are lost, see lost.h. */
#include <linux/mount.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fs/inode.h"
#include "fs/lost.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "net/rpc.h"
#include "weft.h"

/* Each home keeps its own.  What one of them has accepted stays so if the next is silent. */
static int accept(struct weft_inode *wi, struct weft_call *call, u64 *blocks)
{
	struct weft_node *node = &wi->rack->node;
	u32 homes = weft_place_homes(&node->places, wi->region.id), blade;
	int err;

	for (blade = WEFT_BLADE_MIN; homes; blade++, homes >>= 1) {
		if (!(homes & 1))
			continue;
		memset(call, 0, sizeof(*call));
		call->op = WEFT_CALL_LOST;
		call->region = wi->region.id;
		call->valid = WEFT_LOST_ACCEPT;
		err = weft_rpc_ask(node, blade, call);
		/* one that has not heard of the region has nothing of it */
		if (err && err != -ENOENT)
			return err;
		if (!err)
			*blocks += call->used;
	}
	return 0;
}

static int accept_all(struct file *file, u64 *blocks)
{
	struct weft_call *call;
	int err = weft_policy_allowed(file);

	if (err)
		return err;
	call = kzalloc(sizeof(*call), GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	err = accept(weft_inode_of(file_inode(file)), call, blocks);
	kfree(call);
	return err;
}

long weft_lost_ioctl(struct file *file, unsigned int cmd, void __user *user)
{
	struct weft_lost lost = { 0 };
	u64 blocks = 0;
	int err;

	if (cmd != WEFT_IOC_LOST_ACCEPT)
		return -ENOTTY;
	err = mnt_want_write_file(file);
	if (err)
		return err;
	err = accept_all(file, &blocks);
	mnt_drop_write_file(file);
	if (err)
		return err;
	lost.blocks = blocks;
	return copy_to_user(user, &lost, sizeof(lost)) ? -EFAULT : 0;
}
