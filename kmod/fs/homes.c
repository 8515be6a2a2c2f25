// SPDX-License-Identifier: GPL-2.0-only
/* Which blades are the homes of a region, see homes.h. */
#include "blocks/region.h"
#include "fs/homes.h"
#include "fs/rack.h"
#include "locks/klock.h"
#include "net/node.h"

/* Are these blades that this node has not heard of?  The first blade's list has them. */
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

int weft_homes_first(struct weft_node *node, struct weft_region *r,
		     const struct weft_call *attr)
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

/* Has this node heard of a later change? */
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

/* An inode may go at any time: then it has marked the entry, or we do. */
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

/* Messages of locks may be on their way when the inode has gone. */
static bool is_used(void *arg, u32 region)
{
	u64 key = weft_line_key(region, WEFT_KIND_LOCK, 0);
	struct weft_rack *rack = arg;
	struct weft_klock *kl;
	bool used;

	rcu_read_lock();
	used = weft_region_find(&rack->cache.regions, region);
	rcu_read_unlock();
	if (used)
		return true;
	kl = weft_klock_next(&rack->locks, &key, weft_line_key(region, WEFT_KIND_LOCK, ~0ull));
	if (kl)
		weft_klock_put(kl);
	return kl;
}

void weft_homes_trim(struct weft_rack *rack)
{
	weft_places_trim(&rack->node.places, is_used, rack);
}
