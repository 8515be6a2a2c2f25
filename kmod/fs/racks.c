// SPDX-License-Identifier: GPL-2.0-only
/* The list of racks, see racks.h. */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/refcount.h>

#include "fs/rack.h"
#include "fs/racks.h"
#include "rack/member.h"

/*
 * The list, and setting up and taking down, which do not wait for the network.  A rack of the list
 * that is down is the only one.
 */
static DEFINE_MUTEX(racks_lock);
static LIST_HEAD(racks);	/* struct weft_rack, by their numbers */
static const struct weft_rack_ops *rack_ops;

/* --- references -------------------------------------------------------------------- */

struct weft_rack *weft_racks_get(struct weft_rack *rack)
{
	refcount_inc(&rack->refs);
	return rack;
}

void weft_racks_put(struct weft_rack *rack)
{
	if (refcount_dec_and_test(&rack->refs))
		rack_ops->free(rack);
}

/* --- the list ---------------------------------------------------------------------- */

/* The first rack with @number or a greater one. */
static struct weft_rack *at_or_after(u32 number)
{
	struct weft_rack *rack;

	lockdep_assert_held(&racks_lock);
	list_for_each_entry(rack, &racks, list) {
		if (rack->number >= number)
			return rack;
	}
	return NULL;
}

static struct weft_rack *of_number(u32 number)
{
	struct weft_rack *rack = at_or_after(number);

	return rack && rack->number == number ? rack : NULL;
}

static void add(struct weft_rack *rack)
{
	struct weft_rack *next = at_or_after(rack->number);

	/* the list's reference */
	refcount_set(&rack->refs, 1);
	list_add_tail(&rack->list, next ? &next->list : &racks);
}

static unsigned int count(void)
{
	struct list_head *at;
	unsigned int n = 0;

	list_for_each(at, &racks)
		n++;
	return n;
}

struct weft_rack *weft_racks_next(u32 number)
{
	struct weft_rack *rack;

	mutex_lock(&racks_lock);
	rack = at_or_after(number);
	if (rack)
		weft_racks_get(rack);
	mutex_unlock(&racks_lock);
	return rack;
}

struct weft_rack *weft_racks_find(u32 number)
{
	struct weft_rack *rack = weft_racks_next(number);

	if (!rack || rack->number == number)
		return rack;
	weft_racks_put(rack);
	return NULL;
}

struct weft_rack *weft_racks_only(void)
{
	struct weft_rack *rack = NULL;

	mutex_lock(&racks_lock);
	if (list_is_singular(&racks))
		rack = weft_racks_get(list_first_entry(&racks, struct weft_rack, list));
	mutex_unlock(&racks_lock);
	return rack;
}

/* --- coming and going -------------------------------------------------------------- */

/* The rack that is down; NULL: all are up. */
static struct weft_rack *idle(void)
{
	struct weft_rack *rack = list_first_entry_or_null(&racks, struct weft_rack, list);

	lockdep_assert_held(&racks_lock);
	return rack && !rack->node.up ? rack : NULL;
}

/* Set up a rack that is not in the list, in place of the one that is down. */
static int another_up(const struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	struct weft_rack *rack, *old = idle();
	int err;

	if (count() == WEFT_RACKS_MAX) {
		NL_SET_ERR_MSG(extack, "this machine is in 8 racks already, as many as there can be: take one down first");
		return -ENOSPC;
	}
	rack = rack_ops->make(cfg->number);
	if (!rack)
		return -ENOMEM;
	err = weft_member_up(&rack->member, cfg, extack);
	if (err) {
		rack_ops->free(rack);
		return err;
	}
	if (old) {
		list_del(&old->list);
		weft_racks_put(old);
	}
	add(rack);
	return 0;
}

int weft_racks_up(const struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	struct weft_rack *rack;
	int err;

	mutex_lock(&racks_lock);
	rack = of_number(cfg->number);
	err = rack ? weft_member_up(&rack->member, cfg, extack) : another_up(cfg, extack);
	mutex_unlock(&racks_lock);
	return err;
}

int weft_racks_down(struct weft_rack *rack, struct netlink_ext_ack *extack)
{
	bool goes;
	int err;

	mutex_lock(&racks_lock);
	err = weft_member_down(&rack->member, extack);
	goes = !err && !list_is_singular(&racks);
	if (goes)
		list_del(&rack->list);
	mutex_unlock(&racks_lock);
	if (goes)
		weft_racks_put(rack);
	return err;
}

int weft_racks_init(const struct weft_rack_ops *ops)
{
	struct weft_rack *rack = ops->make(0);

	if (!rack)
		return -ENOMEM;
	rack_ops = ops;
	mutex_lock(&racks_lock);
	add(rack);
	mutex_unlock(&racks_lock);
	return 0;
}

void weft_racks_exit(void)
{
	struct weft_rack *rack, *next;

	list_for_each_entry_safe(rack, next, &racks, list) {
		list_del(&rack->list);
		weft_racks_put(rack);
	}
}
