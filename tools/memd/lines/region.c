// SPDX-License-Identifier: GPL-2.0-only
/* Regions, see region.h. */
#include "lines/region.h"

#include <time.h>

#include "base/blade.h"

void region_init(struct memd *m)
{
	struct regions *rs = m->b->regions;

	rs->self = m->b->opt.id;
	rs->blades = m->b->opt.blades;
	rs->size[options_blade(&m->b->opt)] = m->b->opt.memory;
	rs->next_id = m->b->opt.backing ? 1 :
		      1 + (u32)time(NULL) * 64 % (WEFT_REGION_MAX / 2);
}

/* --- table ------------------------------------------------------------------ */

/* Position of the first region whose number is not below @id. */
static u32 position(const struct regions *rs, u32 id)
{
	u32 low = 0, high = rs->n;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (rs->by_id[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct region *region_find(const struct regions *rs, u32 id)
{
	u32 i = position(rs, id);

	return i < rs->n && rs->by_id[i]->id == id ? rs->by_id[i] : NULL;
}

struct region *region_find_again(const struct regions *rs, struct region_hint *hint, u32 id)
{
	if (!hint->r || hint->freed != rs->freed || hint->r->id != id) {
		hint->r = region_find(rs, id);
		hint->freed = rs->freed;
	}
	return hint->r;
}

struct region *region_after(struct regions *rs, u32 id)
{
	u32 i = id < WEFT_REGION_MAX ? position(rs, id + 1) : rs->n;

	return i < rs->n ? rs->by_id[i] : NULL;
}

struct region *region_named(struct regions *rs, const char *name, u32 len)
{
	u32 hash = weft_wire_psum(name, len);
	struct region *r;

	LIST_FOREACH(r, &rs->by_name[hash % NAME_SLOTS], by_name)
		if (r->hash == hash && r->name_len == len &&
		    !memcmp(r->name, name, len))
			return r;
	return NULL;
}

struct region *region_add(struct regions *rs, u32 id, u32 block,
			  const char *name, u32 len)
{
	u32 i = position(rs, id);
	struct region *r;

	if (rs->n == REGIONS_MAX)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->id = id;
	r->block = block;
	r->homes = weft_first_homes(rs->blades);
	r->name_len = (u16)len;
	memcpy(r->name, name, len);
	memmove(&rs->by_id[i + 1], &rs->by_id[i],
		(rs->n - i) * sizeof(rs->by_id[0]));
	rs->by_id[i] = r;
	rs->n++;
	if (id >= rs->next_id)
		rs->next_id = id + 1;
	if (len) {
		r->hash = weft_wire_psum(name, len);
		LIST_INSERT_HEAD(&rs->by_name[r->hash % NAME_SLOTS], r, by_name);
	} else {
		r->unlinked = true;
	}
	return r;
}

void region_unname(struct region *r)
{
	if (r->unlinked)
		return;
	LIST_REMOVE(r, by_name);
	r->unlinked = true;
}

void region_set_nodes(struct regions *rs, struct region *r, u32 nodes)
{
	rs->restricted -= r->nodes != 0;
	rs->restricted += nodes != 0;
	r->nodes = nodes;
}

void region_free(struct regions *rs, struct region *r)
{
	u32 i = position(rs, r->id);
	u64 n;

	region_unname(r);
	region_set_nodes(rs, r, 0);
	region_account(rs, r, r->size, 0);
	rs->n--;
	memmove(&rs->by_id[i], &rs->by_id[i + 1],
		(rs->n - i) * sizeof(rs->by_id[0]));
	rs->freed++;
	timer_stop(&r->trim.timer);
	timer_stop(&r->withdraw.timer);
	rs->end_move(r);
	for (n = 0; n < r->runs; n++)
		free(r->run[n]);
	free(r->run);
	region_drop_locks(r, 0, true);
	free(r->locks.bucket);
	free(r);
}

/* --- room ------------------------------------------------------------------- */

static bool among(const struct region *r, u64 run, u32 homes, u32 blade)
{
	return homes && weft_line_blade(weft_line_key(r->id, WEFT_KIND_PAGE, run * RUN_BLOCKS),
					homes) == blade;
}

/* Is, or becomes, that blade (0 based) the home of a run? */
static bool has_run(const struct region *r, u64 run, u32 blade)
{
	return among(r, run, r->homes, blade) || among(r, run, r->to, blade);
}

static u32 bits(u32 mask)
{
	return (u32)__builtin_popcount(mask);
}

/* Bytes of a region of @size that blade @blade (0 based) has, or is to have. */
static u64 share(const struct region *r, u64 size, u32 blade)
{
	u32 period = (bits(r->homes) ? bits(r->homes) : 1) * (r->to ? bits(r->to) : 1), i;
	u64 blocks = region_blocks(r, size);
	u64 full = blocks / RUN_BLOCKS, each = 0, n = 0;

	if (!((r->homes | r->to) & 1u << blade))
		return 0;
	/* after so many runs it is the same again */
	for (i = 0; i < period; i++) {
		each += has_run(r, i, blade);
		n += i < full % period && has_run(r, i, blade);
	}
	n += full / period * each;
	n *= RUN_BLOCKS;
	if (has_run(r, full % period, blade))
		n += blocks % RUN_BLOCKS;
	return n * r->block;
}

void region_account(struct regions *rs, const struct region *r, u64 from, u64 to)
{
	u32 i;

	for (i = 0; i < rs->blades; i++)
		rs->reserved[i] += share(r, to, i) - share(r, from, i);
}

bool region_reserve(struct regions *rs, const struct region *r, u64 size)
{
	u32 i;

	/* keeps the sums below from overflowing */
	if (!region_size_ok(rs, size) ||
	    region_blocks(r, size) > (u64)WEFT_LINE_INDEX_HI_MASK << 32)
		return false;
	for (i = 0; i < rs->blades; i++) {
		u64 more = share(r, size, i), now = share(r, r->size, i);

		if (more > now && rs->reserved[i] + more - now > rs->size[i])
			return false;
	}
	region_account(rs, r, r->size, size);
	return true;
}

void region_set_homes(struct regions *rs, struct region *r, u32 homes, u32 to)
{
	u64 size = r->growing > r->size ? r->growing : r->size;

	region_account(rs, r, size, 0);
	r->homes = homes;
	r->to = to;
	region_account(rs, r, 0, size);
}

bool region_reserve_move(struct regions *rs, struct region *r, u32 to)
{
	bool room = true;
	u32 i;

	region_set_homes(rs, r, r->homes, to);
	for (i = 0; i < rs->blades; i++)
		room &= !(to & 1u << i) || rs->reserved[i] <= rs->size[i];
	if (!room)
		region_set_homes(rs, r, r->homes, 0);
	return room;
}

bool region_is_home(const struct regions *rs, const struct region *r, u64 key)
{
	return weft_line_blade(key, r->homes) == (u32)(rs->self - WEFT_BLADE_MIN);
}

bool region_will_be_home(const struct regions *rs, const struct region *r, u64 key)
{
	return r->to && weft_line_blade(key, r->to) == (u32)(rs->self - WEFT_BLADE_MIN);
}

/* --- blocks ----------------------------------------------------------------- */

bool region_prepare(struct region *r, u64 size)
{
	u64 blocks = region_blocks(r, size);
	u64 runs = (blocks + RUN_BLOCKS - 1) / RUN_BLOCKS;
	struct run **run;

	/* when it shrinks, what is beyond the end goes later, see trim.h */
	if (runs > r->runs) {
		/* not realloc(): what is never touched takes no memory */
		run = calloc(runs, sizeof(struct run *));
		if (!run)
			return false;
		if (r->runs)
			memcpy(run, r->run, r->runs * sizeof(struct run *));
		free(r->run);
		r->run = run;
		r->runs = runs;
	}
	return true;
}

void region_reset_line(struct regions *rs, struct region *r, struct block *b)
{
	u64 key = b->line.key;

	/* later than all that was granted so far, as far as 32 bits can tell */
	if ((int)(b->line.e.grant - r->grant) > 0)
		r->grant = (b->line.e.grant + WEFT_GRANT_STEP) &
			   ~(u32)WEFT_GRANT_OWNED;
	timer_stop(&b->timer);
	weft_home_init(&b->line, key, rs->self);
	b->line.e.grant = r->grant;
	b->wanted = false;
	b->sure = false;
	b->probe = 0;
}

void region_cut(struct region *r, u64 from, u64 to)
{
	u64 block = region_blocks(r, to);

	if (block >= region_blocks(r, from))
		return;
	while (r->cuts && r->cut[r->cuts - 1].from >= block)
		r->cuts--;
	/*
	 * Too many: the oldest is forgotten.  It would take a node that has kept its
	 * blocks through all the later ones to bring back what went then.
	 */
	if (r->cuts == CUTS_MAX)
		memmove(&r->cut[0], &r->cut[1], --r->cuts * sizeof(r->cut[0]));
	r->cut[r->cuts++] = (struct cut){ .epoch = ++r->epoch, .from = block };
}

u64 region_base(const struct region *r, u64 index)
{
	u32 i = r->cuts;

	while (i && r->cut[i - 1].from > index)
		i--;
	return i ? (u64)r->cut[i - 1].epoch << 32 : 0;
}

struct block *region_block(struct regions *rs, struct region *r, u64 index,
			   bool make)
{
	u64 n = index / RUN_BLOCKS;
	struct run *run;
	u32 i;

	if (n >= r->runs)
		return NULL;
	run = r->run[n];
	if (!run && make) {
		run = calloc(1, sizeof(*run));
		if (!run)
			return NULL;
		for (i = 0; i < RUN_BLOCKS; i++) {
			struct block *b = &run->block[i];
			u64 at = n * RUN_BLOCKS + i;

			weft_home_init(&b->line,
				       weft_line_key(r->id, WEFT_KIND_PAGE, at),
				       rs->self);
			b->line.e.grant = r->grant;
			b->version = region_base(r, at);
		}
		r->run[n] = run;
	}
	return run ? &run->block[index % RUN_BLOCKS] : NULL;
}

/* --- locks ------------------------------------------------------------------ */

static struct bucket *bucket_of(const struct locks *t, u64 offset)
{
	/* locks stand at regular distances */
	return &t->bucket[(u32)(offset * 0x9E3779B97F4A7C15ull >> 40) & (t->buckets - 1)];
}

/* Four times as many buckets.  Return: false if there is no memory. */
static bool more_buckets(struct locks *t)
{
	struct locks more = *t;
	struct lock *l;
	u32 i;

	more.buckets = t->buckets ? 4 * t->buckets : 64;
	more.bucket = calloc(more.buckets, sizeof(*more.bucket));
	if (!more.bucket)
		return t->buckets > 0;
	for (i = 0; i < t->buckets; i++)
		while ((l = SLIST_FIRST(&t->bucket[i]))) {
			SLIST_REMOVE_HEAD(&t->bucket[i], next);
			SLIST_INSERT_HEAD(bucket_of(&more, block_index(&l->block)), l, next);
		}
	free(t->bucket);
	*t = more;
	return true;
}

struct block *region_lock(struct regions *rs, struct region *r, u64 offset,
			  bool make)
{
	struct locks *t = &r->locks;
	struct lock *l;

	if (t->buckets)
		SLIST_FOREACH(l, bucket_of(t, offset), next)
			if (block_index(&l->block) == offset)
				return &l->block;
	if (!make || t->n == LOCKS_MAX ||
	    (t->n >= t->buckets && !more_buckets(t)))
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	weft_home_init(&l->block.line,
		       weft_line_key(r->id, WEFT_KIND_LOCK, offset), rs->self);
	l->block.line.e.grant = r->grant;
	SLIST_INSERT_HEAD(bucket_of(t, offset), l, next);
	/* locks that nodes claim after a restart are not refused */
	if (++t->n > t->allowed)
		t->allowed = t->n;
	return &l->block;
}

void region_drop_lock(struct locks *t, struct bucket *b, struct lock *l)
{
	timer_stop(&l->block.timer);
	SLIST_REMOVE(b, l, lock, next);
	free(l);
	t->n--;
}

void region_drop_locks(struct region *r, u64 offset, bool all)
{
	struct locks *t = &r->locks;
	struct lock *l, *next;
	u32 i;

	for (i = 0; i < t->buckets; i++)
		for (l = SLIST_FIRST(&t->bucket[i]); l; l = next) {
			next = SLIST_NEXT(l, next);
			if (block_index(&l->block) >= offset && (all || !l->block.wanted))
				region_drop_lock(t, &t->bucket[i], l);
		}
	/* leave the rest to other regions */
	if (t->allowed > t->n)
		t->allowed = t->n;
}

void region_changed(struct region *r, u64 index)
{
	/* extend() of rehome.c looks at the runs behind when nobody writes any more */
	if (index / RUN_BLOCKS < r->unsent.runs)
		__atomic_fetch_or(&r->unsent.left[index / RUN_BLOCKS], 1ull << index % RUN_BLOCKS,
				  __ATOMIC_ACQ_REL);
}

bool region_expects(const struct regions *rs, const struct region *r, u64 line)
{
	return r->rehome && r->phase <= WEFT_REHOME_FREEZE && region_will_be_home(rs, r, line);
}
