// SPDX-License-Identifier: GPL-2.0-only
/* For which nodes a region is, see nodes.h. */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fs/inode.h"
#include "fs/nodes.h"
#include "fs/opened.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "weft.h"

static long get_nodes(struct weft_inode *wi, struct weft_nodes __user *user)
{
	struct weft_nodes n = { 0 };
	int err = weft_inode_refresh(wi);

	if (err)
		return err;
	n.nodes = READ_ONCE(wi->nodes);
	return copy_to_user(user, &n, sizeof(n)) ? -EFAULT : 0;
}

static long change_nodes(struct file *file, struct weft_nodes *n)
{
	struct weft_call *call;
	long err = weft_policy_allowed(file);

	if (err)
		return err;
	call = weft_inode_new_call(WEFT_CALL_SETATTR);
	if (!call)
		return -ENOMEM;
	call->valid = WEFT_SET_NODES;
	call->nodes = n->nodes;
	err = weft_inode_call(weft_inode_of(file_inode(file)), call);
	n->users = err == -EBUSY || err == -ETIMEDOUT ? call->members : 0;
	kfree(call);
	return err;
}

static long set_nodes(struct file *file, struct weft_nodes __user *user)
{
	struct weft_nodes n;
	long err;

	if (copy_from_user(&n, user, sizeof(n)))
		return -EFAULT;
	err = mnt_want_write_file(file);
	if (err)
		return err;
	err = change_nodes(file, &n);
	mnt_drop_write_file(file);
	if (n.users && copy_to_user(user, &n, sizeof(n)))
		return -EFAULT;
	return err;
}

long weft_nodes_ioctl(struct file *file, unsigned int cmd, void __user *user)
{
	switch (cmd) {
	case WEFT_IOC_NODES_GET:
		return get_nodes(weft_inode_of(file_inode(file)), user);
	case WEFT_IOC_NODES_SET:
		return set_nodes(file, user);
	default:
		return -ENOTTY;
	}
}

static int give_up(struct weft_inode *wi)
{
	if (atomic_read(&wi->files))
		return -EBUSY;
	if (xa_empty(&wi->region.blocks))
		return weft_opened_give_up(wi);
	weft_inode_queue_home(wi);
	return -EAGAIN;
}

int weft_nodes_changed(struct weft_rack *rack, const struct weft_call *attr)
{
	struct weft_inode *wi;
	int err;

	if (!attr->nodes || attr->nodes & weft_node_bit(rack->node.id))
		return 0;
	wi = weft_inode_grab(rack, attr->region);
	if (!wi)
		return weft_opened_disown(rack, attr->region);
	err = give_up(wi);
	iput(&wi->vfs);
	return err;
}
