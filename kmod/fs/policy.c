// SPDX-License-Identifier: GPL-2.0-only
/* Policies of a region, see policy.h. */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/compat.h"
#include "blocks/safe.h"
#include "fs/inode.h"
#include "fs/policy.h"
#include "weft.h"

void weft_policy_take(struct weft_inode *wi, const struct weft_call *attr)
{
	bool kept = weft_safe_kept(&wi->region);

	spin_lock(&wi->lock);
	if (weft_policy_newer(attr->policy, wi->region.policy)) {
		WRITE_ONCE(wi->region.policy, attr->policy);
		WRITE_ONCE(wi->nodes, attr->nodes);
	}
	spin_unlock(&wi->lock);
	/* who writes from now on sees it, or we see what was written */
	if (!kept && weft_safe_kept(&wi->region))
		weft_safe_begin(&wi->region);
}

static long get_policy(struct weft_inode *wi, struct weft_policy __user *user)
{
	struct weft_policy p = { .which = WEFT_POLICY_ALL };
	int err = weft_inode_refresh(wi);

	if (err)
		return err;
	p.policy = READ_ONCE(wi->region.policy) & WEFT_POLICY_ALL;
	return copy_to_user(user, &p, sizeof(p)) ? -EFAULT : 0;
}

/* Which of them are meant, as a SETATTR says it; 0: that makes no sense. */
static u32 asked(const struct weft_policy *p)
{
	static const struct {
		u32 which;
		u32 set;
	} policies[] = {
		{ WEFT_POLICY_DURABILITY, WEFT_SET_DURABILITY },
		{ WEFT_POLICY_BLOCK, WEFT_SET_DEATH },
		{ WEFT_POLICY_SIGBUS, WEFT_SET_LOSS },
	};
	u32 left = p->which, set = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		if ((left & policies[i].which) != policies[i].which)
			continue;
		left &= ~policies[i].which;
		set |= policies[i].set;
	}
	return left || p->policy & ~p->which ? 0 : set;
}

int weft_policy_allowed(struct file *file)
{
	struct weft_inode *wi = weft_inode_of(file_inode(file));
	/* who the owner is, other nodes may have changed */
	int err = weft_inode_refresh(wi);

	if (err)
		return err;
	return inode_owner_or_capable(weft_file_idmap(file), &wi->vfs) ? 0 : -EPERM;
}

static long change_policy(struct file *file, const struct weft_policy *p, u32 set)
{
	struct weft_inode *wi = weft_inode_of(file_inode(file));
	struct weft_call *call;
	long err = weft_policy_allowed(file);

	if (err)
		return err;
	call = weft_inode_new_call(WEFT_CALL_SETATTR);
	if (!call)
		return -ENOMEM;
	call->valid = set;
	call->policy = p->policy;
	err = weft_inode_call(wi, call);
	kfree(call);
	return err;
}

static long set_policy(struct file *file, const struct weft_policy __user *user)
{
	struct weft_policy p;
	u32 which;
	long err;

	if (copy_from_user(&p, user, sizeof(p)))
		return -EFAULT;
	which = asked(&p);
	if (!which || !weft_policy_valid(p.policy))
		return -EINVAL;
	err = mnt_want_write_file(file);
	if (err)
		return err;
	err = change_policy(file, &p, which);
	mnt_drop_write_file(file);
	return err;
}

long weft_policy_ioctl(struct file *file, unsigned int cmd, void __user *user)
{
	switch (cmd) {
	case WEFT_IOC_POLICY_GET:
		return get_policy(weft_inode_of(file_inode(file)), user);
	case WEFT_IOC_POLICY_SET:
		return set_policy(file, user);
	default:
		return -ENOTTY;
	}
}
