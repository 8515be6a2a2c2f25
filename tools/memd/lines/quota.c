// SPDX-License-Identifier: GPL-2.0-only
/* Limits of users, see quota.h. */
#include "lines/quota.h"

#include "base/blade.h"
#include "base/log.h"
#include "lines/region.h"

#define ROOT		0u
#define PLACES_KEPT	(REGIONS_MAX / 16)	/* for the privileged */
#define NUMBERS_KEPT	((WEFT_REGION_MAX + 1) / 16)	/* for the privileged */
#define LOCK_PART	4	/* of the lock lines, for a region, and for an owner */
#define LOCK_CHUNK	64	/* lock lines that a region is allowed at a time */
#define REFUSED_MS	100	/* until all regions are looked at again */
#define LOCK_MEMORY	2048	/* bytes of the blade's memory for a lock line, unless told */
#define LOCKS_LEAST	(1u << 18)
#define LOCKS_MOST	(1u << 28)

void quota_init(struct memd *m)
{
	u64 locks = m->b->opt.memory / LOCK_MEMORY;

	if (m->b->opt.locks)
		return;
	if (locks < LOCKS_LEAST)
		locks = LOCKS_LEAST;
	m->b->opt.locks = locks < LOCKS_MOST ? (u32)locks : LOCKS_MOST;
}

/* --- numbers of regions -------------------------------------------------------- */

u32 quota_numbers_left(const struct memd *m)
{
	u32 next = m->b->regions->next_id ? m->b->regions->next_id : 1;

	return next <= WEFT_REGION_MAX ? WEFT_REGION_MAX + 1 - next : 0;
}

/* Those for who is not privileged. */
static u32 numbers_for_all(const struct memd *m)
{
	u32 left = quota_numbers_left(m);

	return left > NUMBERS_KEPT ? left - NUMBERS_KEPT : 0;
}

static struct number_use *use_of(struct numbers *ns, u32 uid)
{
	struct number_use *least = &ns->user[0];
	u32 i;

	for (i = 0; i < ns->users; i++) {
		if (ns->user[i].uid == uid)
			return &ns->user[i];
		if (ns->user[i].n < least->n)
			least = &ns->user[i];
	}
	if (ns->users < NUMBER_USERS) {
		least = &ns->user[ns->users++];
		least->n = 0;
	}
	least->uid = uid;
	return least;
}

void quota_numbered(struct memd *m, u32 uid, bool unlimited)
{
	if (!unlimited && uid != ROOT)
		use_of(m->b->numbers, uid)->n++;
}

static u16 quota_number(const struct memd *m, u32 uid)
{
	u32 left = numbers_for_all(m), i;

	if (!left) {
		log_warn("user %u gets no region: of the %u numbers of regions only some for root are left, and none is used twice; begin anew with an empty --backing file, or without one",
			 uid, WEFT_REGION_MAX);
		return ENOSPC;
	}
	for (i = 0; i < m->b->numbers->users; i++) {
		const struct number_use *use = &m->b->numbers->user[i];

		if (use->uid != uid || use->n < left)
			continue;
		log_warn("user %u gets no region: it has used up %u numbers of regions, and %u are left for all others; none is used twice",
			 uid, use->n, left);
		return EDQUOT;
	}
	return 0;
}

/* --- regions --------------------------------------------------------------------- */

u16 quota_region(const struct memd *m, u32 uid, bool unlimited)
{
	u32 i, n = 0;
	u16 err;

	if (unlimited || uid == ROOT)
		return 0;
	err = quota_number(m, uid);
	if (err)
		return err;
	if (m->b->regions->n >= REGIONS_MAX - PLACES_KEPT)
		return ENOSPC;
	if (!m->b->opt.user_regions)
		return 0;
	for (i = 0; i < m->b->regions->n; i++) {
		const struct region *r = m->b->regions->by_id[i];

		n += r->uid == uid && !r->gone;
	}
	return n < m->b->opt.user_regions ? 0 : EDQUOT;
}

/* Bytes that one user's regions may have together; 0: no limit. */
static u64 memory_limit(const struct memd *m)
{
	u64 all = 0;
	u32 i;

	if (m->b->opt.user_memory != USER_MEMORY_HALF)
		return m->b->opt.user_memory;
	for (i = 0; i < m->b->regions->blades; i++)
		all += m->b->regions->size[i];
	return all / 2;
}

u16 quota_memory(const struct memd *m, u32 uid, bool unlimited, u64 more)
{
	u64 limit = memory_limit(m), sum = 0;
	u32 i;

	if (unlimited || uid == ROOT || !limit || !more)
		return 0;
	/* keeps the sum from overflowing; no room is said to whom it is too large for */
	if (!region_size_ok(m->b->regions, more))
		return 0;
	for (i = 0; i < m->b->regions->n; i++) {
		const struct region *r = m->b->regions->by_id[i];

		if (r->uid == uid && !r->gone)
			sum += r->growing > r->size ? r->growing : r->size;
	}
	return sum + more <= limit ? 0 : EDQUOT;
}

/* --- lock lines --------------------------------------------------------------- */

u32 quota_locks(const struct memd *m)
{
	u32 i, all = 0;

	for (i = 0; i < m->b->regions->n; i++)
		all += m->b->regions->by_id[i]->locks.n;
	return all;
}

/*
 * A region is allowed some at a time, so that the others are not looked at for each.  Who
 * has been refused is for a moment without that, too.
 */
bool quota_lock(struct memd *m, struct region *r)
{
	struct locks *t = &r->locks;
	u64 part = m->b->opt.locks / LOCK_PART, all = 0, own = 0;
	/* all who read root's regions can make locks of them: leave a part for other regions */
	u64 own_most = r->uid == ROOT ? m->b->opt.locks - part : part;
	u32 i;

	if (t->n < t->allowed)
		return true;
	if (t->refused && m->timers.now - t->refused < REFUSED_MS)
		return false;
	for (i = 0; i < m->b->regions->n; i++) {
		const struct region *other = m->b->regions->by_id[i];

		all += other->locks.allowed;
		own += other->uid == r->uid ? other->locks.allowed : 0;
	}
	if (t->allowed + LOCK_CHUNK > part || all + LOCK_CHUNK > m->b->opt.locks ||
	    own + LOCK_CHUNK > own_most) {
		t->refused = m->timers.now;
		return false;
	}
	t->refused = 0;
	t->allowed += LOCK_CHUNK;
	return true;
}
