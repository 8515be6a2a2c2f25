// SPDX-License-Identifier: GPL-2.0-only
/* Homes, policies and access list of a region, see policy.h. */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/compat.h"
#include "blocks/clean.h"
#include "blocks/region.h"
#include "fs/inode.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "locks/lockres.h"
#include "net/node.h"
#include "net/rpc.h"
#include "weft.h"

/* --- homes --------------------------------------------------------------------------------- */

/* Ask the first blade for the list of members if one of @homes is not known here. */
static void look_for(struct weft_node *node, u32 homes)
{
	u32 blade;

	for (blade = WEFT_BLADE_MIN; homes; blade++, homes >>= 1)
		if (homes & 1 && !weft_peer_addr(&node->peers, blade)) {
			node->refresh(node);
			return;
		}
}

static int take_place(struct weft_node *node, struct weft_region *r, const struct weft_call *attr)
{
	int err = weft_place_set(&node->places, attr->region, attr->homes);

	if (err)
		return err;
	WRITE_ONCE(r->placed, attr->policy);
	look_for(node, attr->homes);
	return 0;
}

int weft_homes_first(struct weft_node *node, struct weft_region *r, const struct weft_call *attr)
{
	int err;

	mutex_lock(&node->places.lock);
	err = take_place(node, r, attr);
	mutex_unlock(&node->places.lock);
	return err;
}

void weft_homes_take(struct weft_node *node, struct weft_region *r, const struct weft_call *attr)
{
	if (!weft_policy_newer(attr->policy, READ_ONCE(r->placed)))
		return;
	mutex_lock(&node->places.lock);
	if (weft_policy_newer(attr->policy, r->placed))
		take_place(node, r, attr);
	mutex_unlock(&node->places.lock);
}

/* Does this node know a later change than @move? */
static bool is_old(struct weft_rack *rack, const struct weft_call *move)
{
	struct weft_region *region;
	bool old;

	rcu_read_lock();
	region = weft_region_find(&rack->cache.regions, move->region);
	old = region && weft_policy_newer(region->placed, move->policy);
	rcu_read_unlock();
	return old;
}

/* If the region has no inode any more, mark the homes as unused, as its eviction does. */
static void note_move(struct weft_rack *rack, const struct weft_call *move)
{
	struct weft_region *region;

	rcu_read_lock();
	region = weft_region_find(&rack->cache.regions, move->region);
	if (region)
		WRITE_ONCE(region->placed, move->policy);
	else
		weft_place_leave(&rack->node.places, move->region);
	rcu_read_unlock();
}

int weft_homes_move(struct weft_rack *rack, const struct weft_call *move)
{
	struct weft_places *places = &rack->node.places;
	int err = 0;

	mutex_lock(&places->lock);
	if (!is_old(rack, move)) {
		err = weft_place_set(places, move->region, move->homes);
		if (!err)
			note_move(rack, move);
	}
	mutex_unlock(&places->lock);
	look_for(&rack->node, move->homes);
	return err;
}

/* weft_places_trim(): locks of a region without inode may still send messages. */
static bool is_used(void *arg, u32 region)
{
	u64 key = weft_line_key(region, WEFT_KIND_LOCK, 0);
	struct weft_rack *rack = arg;
	struct weft_lockres *lr;
	bool used;

	rcu_read_lock();
	used = weft_region_find(&rack->cache.regions, region);
	rcu_read_unlock();
	if (used)
		return true;
	lr = weft_lockres_next(&rack->locks, &key, weft_line_key(region, WEFT_KIND_LOCK, ~0ull));
	if (lr)
		weft_lockres_put(lr);
	return lr;
}

void weft_homes_trim(struct weft_rack *rack)
{
	weft_places_trim(&rack->node.places, is_used, rack);
}

/* --- policies ------------------------------------------------------------------------------ */

void weft_policy_take(struct weft_inode *wi, const struct weft_call *attr)
{
	bool kept = weft_through_kept(&wi->region);

	spin_lock(&wi->lock);
	if (weft_policy_newer(attr->policy, wi->region.policy)) {
		WRITE_ONCE(wi->region.policy, attr->policy);
		WRITE_ONCE(wi->nodes, attr->nodes);
	}
	spin_unlock(&wi->lock);
	/* writes from now on set marks; blocks that were modified before have none yet */
	if (!kept && weft_through_kept(&wi->region))
		weft_clean_mark_all(&wi->region);
}

/* Return: 0 for the owner of the file and CAP_FOWNER; else -EPERM; errors as stat(). */
static int check_owner(struct file *file)
{
	struct weft_inode *wi = weft_inode_of(file_inode(file));
	/* another node may have changed the owner */
	int err = weft_inode_refresh(wi);

	if (err)
		return err;
	return inode_owner_or_capable(weft_file_idmap(file), &wi->vfs) ? 0 : -EPERM;
}

/* Make @call for the region if the thread is its owner. */
static int as_owner(struct file *file, struct weft_call *call,
		    int (*make)(struct weft_inode *wi, struct weft_call *call))
{
	int err = mnt_want_write_file(file);

	if (err)
		return err;
	err = check_owner(file);
	if (!err)
		err = make(weft_inode_of(file_inode(file)), call);
	mnt_drop_write_file(file);
	return err;
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

/* Return: WEFT_SET_* of the policies that @p is to change; 0: @p is invalid. */
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

static long set_policy(struct file *file, struct weft_call *call,
		       const struct weft_policy __user *user)
{
	struct weft_policy p;

	if (copy_from_user(&p, user, sizeof(p)))
		return -EFAULT;
	call->valid = asked(&p);
	call->policy = p.policy;
	if (!call->valid || !weft_policy_valid(p.policy))
		return -EINVAL;
	return as_owner(file, call, weft_inode_call);
}

static long get_nodes(struct weft_inode *wi, struct weft_nodes __user *user)
{
	struct weft_nodes n = { 0 };
	int err = weft_inode_refresh(wi);

	if (err)
		return err;
	n.nodes = READ_ONCE(wi->nodes);
	return copy_to_user(user, &n, sizeof(n)) ? -EFAULT : 0;
}

static long set_nodes(struct file *file, struct weft_call *call, struct weft_nodes __user *user)
{
	struct weft_nodes n;
	long err;

	if (copy_from_user(&n, user, sizeof(n)))
		return -EFAULT;
	call->valid = WEFT_SET_NODES;
	call->nodes = n.nodes;
	err = as_owner(file, call, weft_inode_call);
	n.users = err == -EBUSY || err == -ETIMEDOUT ? call->members : 0;
	if (n.users && copy_to_user(user, &n, sizeof(n)))
		return -EFAULT;
	return err;
}

/*
 * Each home keeps its own list of lost blocks.  If a home does not answer, those before it have
 * accepted all the same.  @call.used: out: how many blocks they were.
 */
static int accept_lost(struct weft_inode *wi, struct weft_call *call)
{
	struct weft_node *node = &wi->rack->node;
	u32 homes = weft_place_homes(&node->places, wi->region.id), blade;
	u64 blocks = 0;
	int err;

	for (blade = WEFT_BLADE_MIN; homes; blade++, homes >>= 1) {
		if (!(homes & 1))
			continue;
		memset(call, 0, sizeof(*call));
		call->op = WEFT_CALL_LOST;
		call->region = wi->region.id;
		call->valid = WEFT_LOST_ACCEPT;
		err = weft_rpc_ask(node, blade, call);
		/* -ENOENT: the home does not know the region, so it has lost nothing of it */
		if (err && err != -ENOENT)
			return err;
		if (!err)
			blocks += call->used;
	}
	call->used = blocks;
	return 0;
}

static long accept_all(struct file *file, struct weft_call *call, struct weft_lost __user *user)
{
	struct weft_lost lost = { 0 };
	int err = as_owner(file, call, accept_lost);

	if (err)
		return err;
	lost.blocks = call->used;
	return copy_to_user(user, &lost, sizeof(lost)) ? -EFAULT : 0;
}

long weft_policy_ioctl(struct file *file, unsigned int cmd, void __user *user)
{
	struct weft_call *call;
	long err;

	switch (cmd) {
	case WEFT_IOC_POLICY_GET:
		return get_policy(weft_inode_of(file_inode(file)), user);
	case WEFT_IOC_NODES_GET:
		return get_nodes(weft_inode_of(file_inode(file)), user);
	case WEFT_IOC_POLICY_SET:
	case WEFT_IOC_NODES_SET:
	case WEFT_IOC_LOST_ACCEPT:
		break;
	default:
		return -ENOTTY;
	}
	call = weft_inode_new_call(WEFT_CALL_SETATTR);
	if (!call)
		return -ENOMEM;
	if (cmd == WEFT_IOC_POLICY_SET)
		err = set_policy(file, call, user);
	else if (cmd == WEFT_IOC_NODES_SET)
		err = set_nodes(file, call, user);
	else
		err = accept_all(file, call, user);
	kfree(call);
	return err;
}
