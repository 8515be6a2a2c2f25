// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of what this node has: regions, blocks in the cache, locks.
 *
 * They may be long, and readers slow: only the place is kept between two calls,
 * and each object is looked at when its message is put together.  One that does
 * not fit is looked at again for the next buffer.  Who may not list the directory does not
 * see the regions that are in it, who may not read a file not its blocks and locks.
 */
#include <linux/kernel.h>
#include <net/genetlink.h>

#include "control/genl.h"
#include "control/inspect.h"
#include "control/netlink_cache.h"
#include "core/line.h"
#include "fs/rack.h"
#include "weft_netlink.h"

static_assert(WEFT_STATE_NONE == WEFT_I && WEFT_STATE_SHARED == WEFT_S &&
	      WEFT_STATE_MODIFIED == WEFT_M, "states have the same numbers");
static_assert((int)WEFT_LINE_OP_NONE == (int)WEFT_OP_NONE &&
	      (int)WEFT_LINE_OP_READ == (int)WEFT_OP_GETS &&
	      (int)WEFT_LINE_OP_WRITE == (int)WEFT_OP_GETM &&
	      (int)WEFT_LINE_OP_PUT == (int)WEFT_OP_PUT &&
	      (int)WEFT_LINE_OP_CLEAN == (int)WEFT_OP_CLEAN &&
	      (int)WEFT_LINE_OP_COMMIT == (int)WEFT_OP_COMMIT &&
	      (int)WEFT_LINE_OP_TAKE == (int)WEFT_OP_TAKE,
	      "requests have the same numbers");

/**
 * struct weft_genl_place - how far a list has got
 * @region: the next region
 * @index: the next block of it, or the name of the next lock
 * @last: the last region, or the name of the last lock
 * @info: room for one object
 */
struct weft_genl_place {
	u32 region;
	u64 index;
	u64 last;
	union {
		struct weft_region_info region;
		struct weft_line_info line;
		struct weft_lock_info lock;
	} info;
};

static int take_region(struct netlink_callback *cb, int type, struct weft_genl_place *p)
{
	const struct nlattr *attr = nlmsg_find_attr(cb->nlh, GENL_HDRLEN, type);

	if (!attr)
		return 0;
	p->region = nla_get_u32(attr);
	if (weft_inspect_region(weft_genl_list_rack(cb), &p->region, &p->info.region) &&
	    p->region == nla_get_u32(attr) && weft_genl_sees(cb, p->region, true))
		return 0;
	NL_SET_ERR_MSG_ATTR(cb->extack, attr,
			    "REGION: this node knows no such region");
	return -ENOENT;
}

/*
 * @rack: attribute that names the rack.  @region: attribute that names a region, checked against
 * the policy, 0: there is none; p->region is 0 if the request names none.  Return: ERR_PTR(-ENOENT)
 * of one that the node does not know, or who asks not either.
 */
static struct weft_genl_place *new_place(struct netlink_callback *cb, int rack, int region)
{
	struct weft_genl_place *p = weft_genl_list_new(cb, sizeof(*p), rack);
	struct weft_config cfg;
	int err;

	if (IS_ERR(p))
		return p;
	err = weft_genl_config(cb, &cfg);
	if (!err && region)
		err = take_region(cb, region, p);
	if (!err)
		return p;
	weft_genl_list_done(cb);
	return ERR_PTR(err);
}

/* Puts @n flags, of which @set hold, by their types. */
static int weft_genl_put_flags(struct sk_buff *skb, const u16 *type,
			       const bool *set, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (set[i] && nla_put_flag(skb, type[i]))
			return -EMSGSIZE;
	}
	return 0;
}

/* --- Regions ------------------------------------------------------------- */

int weft_genl_region_start(struct netlink_callback *cb)
{
	struct weft_genl_place *p = new_place(cb, WEFT_A_REGION_RACK, 0);

	if (IS_ERR(p))
		return PTR_ERR(p);
	p->region = 1;
	return 0;
}

static bool weft_genl_put_region(struct sk_buff *skb, struct netlink_callback *cb,
				 const struct weft_region_info *r)
{
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_REGION_GET);

	return hdr && weft_genl_item_end(skb, hdr,
		nla_put_u32(skb, WEFT_A_REGION_ID, r->region) ||
		(*r->name && nla_put_string(skb, WEFT_A_REGION_NAME, r->name)) ||
		nla_put_u64_64bit(skb, WEFT_A_REGION_SIZE, r->size,
				  WEFT_A_REGION_PAD) ||
		nla_put_u32(skb, WEFT_A_REGION_BLOCK, r->block) ||
		nla_put_u32(skb, WEFT_A_REGION_LINES, r->lines) ||
		nla_put_u32(skb, WEFT_A_REGION_LOCKS, r->locks) ||
		nla_put_u32(skb, WEFT_A_REGION_POLICY, r->policy) ||
		nla_put_u32(skb, WEFT_A_REGION_NODES, r->nodes) ||
		nla_put_u32(skb, WEFT_A_REGION_HOMES, r->homes) ||
		(r->gone && nla_put_flag(skb, WEFT_A_REGION_GONE)));
}

int weft_genl_region_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_place *p = weft_genl_list(cb);

	for (; weft_inspect_region(weft_genl_list_rack(cb), &p->region, &p->info.region);
	     p->region++) {
		/* one without a name is not in the directory */
		if (!weft_genl_sees(cb, p->region, !*p->info.region.name))
			continue;
		if (!weft_genl_put_region(skb, cb, &p->info.region))
			break;
	}
	return skb->len;
}

/* --- Blocks -------------------------------------------------------------- */

int weft_genl_line_start(struct netlink_callback *cb)
{
	struct weft_genl_place *p = new_place(cb, WEFT_A_LINE_RACK, WEFT_A_LINE_REGION);

	if (IS_ERR(p))
		return PTR_ERR(p);
	p->last = p->region ?: WEFT_REGION_MAX;
	p->region = p->region ?: 1;
	return 0;
}

static bool weft_genl_put_line(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct weft_line_info *l)
{
	static const u16 flags[] = {
		WEFT_A_LINE_DIRTY, WEFT_A_LINE_REVOKING, WEFT_A_LINE_AHEAD,
	};
	const bool set[] = { l->dirty, l->revoking, l->ahead };
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_LINE_GET);

	return hdr && weft_genl_item_end(skb, hdr,
		nla_put_u32(skb, WEFT_A_LINE_REGION, l->region) ||
		nla_put_u64_64bit(skb, WEFT_A_LINE_INDEX, l->index, WEFT_A_LINE_PAD) ||
		nla_put_u32(skb, WEFT_A_LINE_STATE, l->state) ||
		nla_put_u32(skb, WEFT_A_LINE_OP, l->op) ||
		nla_put_u32(skb, WEFT_A_LINE_WAITERS, l->waiters) ||
		nla_put_u32(skb, WEFT_A_LINE_MISSES, l->misses) ||
		nla_put_u32(skb, WEFT_A_LINE_REVOCATIONS, l->revocations) ||
		weft_genl_put_flags(skb, flags, set, ARRAY_SIZE(flags)));
}

/* To the next region, if there is one that belongs to the list. */
static bool weft_genl_next_region(struct weft_rack *rack, struct weft_genl_place *p)
{
	struct weft_region_info *info = &p->info.region;

	cond_resched();
	if (p->region >= p->last)
		return false;
	p->region++;
	p->index = 0;
	return weft_inspect_region(rack, &p->region, info) && p->region <= p->last;
}

int weft_genl_line_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_rack *rack = weft_genl_list_rack(cb);
	struct weft_genl_place *p = weft_genl_list(cb);

	do {
		if (!weft_genl_sees(cb, p->region, true))
			continue;
		for (; weft_inspect_line(rack, p->region, &p->index, &p->info.line);
		     p->index++) {
			if (!weft_genl_put_line(skb, cb, &p->info.line))
				return skb->len;
		}
	} while (weft_genl_next_region(rack, p));
	/* again from here, and nothing comes */
	p->region = (u32)p->last;
	p->index = ~0ull;
	return skb->len;
}

/* --- Locks --------------------------------------------------------------- */

int weft_genl_lock_start(struct netlink_callback *cb)
{
	struct weft_genl_place *p = new_place(cb, WEFT_A_LOCK_RACK, WEFT_A_LOCK_REGION);

	if (IS_ERR(p))
		return PTR_ERR(p);
	p->last = ~0ull;
	if (p->region) {
		p->index = weft_line_key(p->region, WEFT_KIND_LOCK, 0);
		p->last = weft_line_key(p->region, WEFT_KIND_LOCK, ~0ull);
	}
	return 0;
}

static bool weft_genl_put_lock(struct sk_buff *skb, struct netlink_callback *cb,
			       const struct weft_lock_info *l)
{
	static const u16 flags[] = {
		WEFT_A_LOCK_WRITER, WEFT_A_LOCK_OPEN, WEFT_A_LOCK_TENURED,
		WEFT_A_LOCK_REVOKING,
	};
	const bool set[] = { l->writer, l->open, l->tenured, l->revoking };
	void *hdr = weft_genl_item(skb, cb, WEFT_CMD_LOCK_GET);

	return hdr && weft_genl_item_end(skb, hdr,
		nla_put_u32(skb, WEFT_A_LOCK_REGION, l->region) ||
		nla_put_u64_64bit(skb, WEFT_A_LOCK_OFFSET, l->offset,
				  WEFT_A_LOCK_PAD) ||
		nla_put_u32(skb, WEFT_A_LOCK_STATE, l->state) ||
		nla_put_u32(skb, WEFT_A_LOCK_WANT, l->want) ||
		nla_put_u32(skb, WEFT_A_LOCK_READERS, l->readers) ||
		nla_put_u32(skb, WEFT_A_LOCK_WAITERS, l->waiters) ||
		nla_put_u32(skb, WEFT_A_LOCK_QUEUE, l->queue) ||
		nla_put_u32(skb, WEFT_A_LOCK_GRANTS, l->grants) ||
		nla_put_u32(skb, WEFT_A_LOCK_HAND_OVERS, l->hand_overs) ||
		weft_genl_put_flags(skb, flags, set, ARRAY_SIZE(flags)));
}

int weft_genl_lock_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weft_genl_place *p = weft_genl_list(cb);

	/* no lock has the name ~0 */
	for (; p->index <= p->last &&
	       weft_inspect_lock(weft_genl_list_rack(cb), &p->index, p->last,
				 &p->info.lock); p->index++) {
		if (!weft_genl_sees(cb, p->info.lock.region, true)) {
			/* none of this region */
			p->index = weft_line_key(p->info.lock.region, WEFT_KIND_LOCK, ~0ull);
			continue;
		}
		if (!weft_genl_put_lock(skb, cb, &p->info.lock))
			break;
	}
	return skb->len;
}
