// SPDX-License-Identifier: GPL-2.0-only
/* The catalog in the backing file, see journal.h. */
#include "catalog/journal.h"

#include <unistd.h>

#include "base/blade.h"
#include "base/log.h"
#include "catalog/blades.h"
#include "net/members.h"
#include "store/backing.h"

#define MEND_MS		1000	/* between two attempts to write all of the log anew */

/*
 * A record: length of all of it, type, generation of the log, sum of what
 * follows the sum and of what comes before it; then the body.
 */
enum { J_LEN = 0, J_TYPE = 2, J_GENERATION = 4, J_SUM = 8, J_BODY = 12 };

enum record_type {
	RECORD_REGION = 1,	/* all there is to know */
	RECORD_ATTRIBUTES,	/* of a region that is there */
	RECORD_GONE,		/* it is not there any more */
	RECORD_NEXT,		/* first number that no region had yet */
	RECORD_MEMBER,		/* a node, while it is a member */
	RECORD_POLICY,		/* of a region that is there; none: 0 */
	RECORD_BLADE,		/* one that was added, or that is not used */
};

/*
 * Body of REGION and ATTRIBUTES; REGION goes on with the name.  Then up to CUTS_MAX
 * cuts: epoch, first block.
 */
enum {
	B_ID = J_BODY, B_MODE = B_ID + 4, B_UID = B_MODE + 4, B_GID = B_UID + 4,
	B_BLOCK = B_GID + 4, B_EPOCH = B_BLOCK + 4, B_SIZE = B_EPOCH + 4,
	B_MTIME = B_SIZE + 8, B_UNLINKED = B_MTIME + 8, B_NAME_LEN = B_UNLINKED + 1,
	B_NAME = B_NAME_LEN + 1,
};

/* Body of MEMBER. */
enum { B_ADDR = B_ID + 4, B_LIFE = B_ADDR + 4, B_IN = B_LIFE + 4, B_MEMBER_END = B_IN + 1 };

/*
 * Body of POLICY; of older files it ends before the nodes, which are all then, or before the
 * homes, which are the blades that the file was made for.  It ends before the homes that are
 * wanted when there are none: an older weft-memd takes a record with them for the end of the log.
 */
enum {
	B_POLICY = B_ID + 4, B_NODES = B_POLICY + 4, B_HOMES = B_NODES + 4,
	B_FROZEN = B_HOMES + 4, B_WANTED = B_FROZEN + 1, B_POLICY_END = B_WANTED + 4,
};

/* Body of BLADE. */
enum { B_BLADE_ADDR = B_ID + 4, B_USED = B_BLADE_ADDR + 4, B_BLADE_END = B_USED + 1 };

#define BLADE_USED	1u
#define BLADE_DRAINS	2u

#define CUT_LEN		12u
#define RECORD_MAX	(B_NAME + WEFT_NAME_MAX + CUTS_MAX * CUT_LEN)
#define WINDOW		65536u	/* of the log, while it is read */

static_assert((REGIONS_MAX + WEFT_NODE_MAX + 2) * (RECORD_MAX + B_POLICY_END) <
	      BACKING_LOG_BYTES,
	      "all regions fit half of the log");

/* --- writing ---------------------------------------------------------------- */

static u32 seal(u8 *rec, u32 len, u8 type, u32 gen)
{
	put_unaligned_be16((u16)len, rec + J_LEN);
	rec[J_TYPE] = type;
	rec[J_TYPE + 1] = 0;
	put_unaligned_be32(gen, rec + J_GENERATION);
	put_unaligned_be32(0, rec + J_SUM);
	put_unaligned_be32(weft_wire_psum(rec, len), rec + J_SUM);
	return len;
}

/* Each of these fills in a body.  Return: length of the record. */
static u32 put_region(u8 *rec, const struct region *r, bool unlinked, bool named)
{
	u32 name_len = named ? r->name_len : 0, i;
	u8 *cut = rec + B_NAME + name_len;

	put_unaligned_be32(r->id, rec + B_ID);
	put_unaligned_be32(r->mode, rec + B_MODE);
	put_unaligned_be32(r->uid, rec + B_UID);
	put_unaligned_be32(r->gid, rec + B_GID);
	put_unaligned_be32(r->block, rec + B_BLOCK);
	put_unaligned_be32(r->epoch, rec + B_EPOCH);
	put_unaligned_be64(r->size, rec + B_SIZE);
	put_unaligned_be64(r->mtime, rec + B_MTIME);
	rec[B_UNLINKED] = unlinked;
	rec[B_NAME_LEN] = (u8)name_len;
	memcpy(rec + B_NAME, r->name, name_len);
	for (i = 0; i < r->cuts; i++, cut += CUT_LEN) {
		put_unaligned_be32(r->cut[i].epoch, cut);
		put_unaligned_be64(r->cut[i].from, cut + 4);
	}
	return (u32)(cut - rec);
}

static u32 put_number(u8 *rec, u32 number)
{
	put_unaligned_be32(number, rec + B_ID);
	return B_ID + 4;
}

static u32 put_policy(u8 *rec, const struct region *r)
{
	put_unaligned_be32(r->id, rec + B_ID);
	put_unaligned_be32(r->policy, rec + B_POLICY);
	put_unaligned_be32(r->nodes, rec + B_NODES);
	put_unaligned_be32(r->homes, rec + B_HOMES);
	rec[B_FROZEN] = r->frozen;
	put_unaligned_be32(r->wanted, rec + B_WANTED);
	return r->wanted ? B_POLICY_END : B_WANTED;
}

static u32 put_blade(u8 *rec, const struct memd *m, u32 id)
{
	const struct member *who = &m->b->members->by_id[id];

	put_unaligned_be32(id, rec + B_ID);
	put_unaligned_be32(who->addr, rec + B_BLADE_ADDR);
	rec[B_USED] = (u8)((who->used ? BLADE_USED : 0) | (who->drains ? BLADE_DRAINS : 0));
	return B_BLADE_END;
}

#define MEMBER_IN	1u
#define MEMBER_DEAD	2u	/* others may have heard so, but it is a member still */

static u32 put_member(u8 *rec, const struct memd *m, u32 id)
{
	const struct member *who = &m->b->members->by_id[id];

	put_unaligned_be32(id, rec + B_ID);
	put_unaligned_be32(who->addr, rec + B_ADDR);
	put_unaligned_be32(who->life, rec + B_LIFE);
	rec[B_IN] = (u8)(who->in ? MEMBER_IN | (members_is_dead(m, id) ? MEMBER_DEAD : 0) : 0);
	return B_MEMBER_END;
}

/* Begin the other half of the log with all that there is. */
static int begin_anew(struct memd *m)
{
	u32 gen = m->b->backing->generation + 1, len, i;
	u8 *buf = malloc(BACKING_LOG_BYTES), *p;

	if (!buf)
		return -1;
	len = seal(buf, put_number(buf, m->b->regions->next_id), RECORD_NEXT, gen);
	for (i = 0; i < m->b->regions->n; i++) {
		const struct region *r = m->b->regions->by_id[i];

		if (r->gone || (r->hatching && !r->noted))
			continue;
		p = buf + len;
		len += seal(p, put_region(p, r, r->unlinked, true), RECORD_REGION, gen);
		p = buf + len;
		len += seal(p, put_policy(p, r), RECORD_POLICY, gen);
	}
	for (i = WEFT_NODE_MIN; memd_is_first(m) && i <= WEFT_NODE_MAX; i++) {
		p = buf + len;
		if (m->b->members->by_id[i].in)
			len += seal(p, put_member(p, m, i), RECORD_MEMBER, gen);
	}
	for (i = 1; memd_is_first(m) && i < m->b->regions->blades; i++) {
		p = buf + len;
		if (i >= m->b->opt.blades || members_blade(m, i)->drains)
			len += seal(p, put_blade(p, m, WEFT_BLADE_MIN + i), RECORD_BLADE, gen);
	}
	if (backing_empty_log(m->b->backing, &m->b->opt) ||
	    backing_write(m->b->backing, buf, len, backing_log_at(gen)) ||
	    backing_switch_log(m->b->backing, &m->b->opt)) {
		free(buf);
		/* whatever failed, it may have been a part of the half that is in use */
		m->b->journal->hole = true;
		return -1;
	}
	free(buf);
	m->b->backing->log_end = len;
	return 0;
}

/* May records be missing on the disk that come before those that are added now? */
static bool has_hole(const struct memd *m)
{
	return m->b->journal->hole || m->b->backing->unsettled;
}

/*
 * After a failed sync the kernel takes for written what is not: nothing behind that is read when
 * the machine has ended, however well it is written.  So all that there is has to begin anew.
 */
static int mend(struct memd *m)
{
	struct journal *j = m->b->journal;

	if (m->timers.now < j->mend_at) {
		errno = EIO;
		return -1;
	}
	/* take the kernel's error of this failure: the next sync must not report it */
	(void)backing_sync(m->b->backing, 0, 1);
	if (!j->commit.flush.running)
		(void)flush_part(j->commit.flush.fd, 0, 1);
	if (begin_anew(m) || m->b->backing->unsettled) {
		j->mend_at = m->timers.now + MEND_MS;
		return -1;
	}
	j->hole = false;
	log_say("the catalog in %s is whole on the disk again", m->b->backing->path);
	return 0;
}

static int make_room(struct memd *m)
{
	if (has_hole(m)) {
		if (!mend(m))
			return 0;
	} else if (m->b->backing->log_end + RECORD_MAX <= BACKING_LOG_BYTES ||
		   (!begin_anew(m) && !m->b->backing->unsettled)) {
		return 0;
	}
	log_warn("cannot write to %s: %s", m->b->backing->path, strerror(errno));
	return -1;
}

/* Seal a record and append it to the log; @now: it is on the disk when this returns. */
static int note(struct memd *m, u8 *rec, u32 len, u8 type, bool now)
{
	struct backing *b = m->b->backing;

	if (b->fd < 0)
		return 0;
	if (make_room(m))
		return -1;
	seal(rec, len, type, b->generation);
	if (backing_write(b, rec, len, backing_log_at(b->generation) + b->log_end)) {
		log_warn("cannot write to %s: %s", b->path, strerror(errno));
		return -1;
	}
	b->log_end += len;
	/* all of the log: nothing is read that comes after a record that is not whole */
	if (!now || !backing_sync(b, backing_log_at(b->generation), b->log_end))
		return 0;
	m->b->journal->hole = true;
	return -1;
}

int journal_region(struct memd *m, const struct region *r, bool unlinked)
{
	u8 rec[RECORD_MAX];

	return note(m, rec, put_region(rec, r, unlinked, true), RECORD_REGION, false);
}

int journal_attributes(struct memd *m, const struct region *r)
{
	u8 rec[RECORD_MAX];

	return note(m, rec, put_region(rec, r, r->unlinked, false), RECORD_ATTRIBUTES, false);
}

int journal_policy(struct memd *m, const struct region *r)
{
	u8 rec[RECORD_MAX];

	return note(m, rec, put_policy(rec, r), RECORD_POLICY, false);
}

int journal_gone(struct memd *m, u32 id)
{
	u8 rec[RECORD_MAX];

	return note(m, rec, put_number(rec, id), RECORD_GONE, false);
}

int journal_blade(struct memd *m, u32 id)
{
	u8 rec[RECORD_MAX];

	return note(m, rec, put_blade(rec, m, id), RECORD_BLADE, true);
}

/* A node that is not known would not be asked for what it has. */
int journal_member(struct memd *m, u32 id)
{
	u8 rec[RECORD_MAX];

	return note(m, rec, put_member(rec, m, id), RECORD_MEMBER, true);
}

/* --- to the disk ------------------------------------------------------------- */

/*
 * Those that wait are in the log as it is now, or in an older half.  Then all that there
 * is stands at the beginning of this one, which was synced (begin_anew()).
 */
static void part(struct memd *m, u64 *at, size_t *len)
{
	*at = backing_log_at(m->b->backing->generation);
	*len = m->b->backing->log_end;
}

static bool over(struct memd *m, bool failed)
{
	m->b->journal->hole |= failed;
	return has_hole(m);
}

/* Calls that wait have records behind the hole: begin the log anew with them, or fail them. */
static void next(struct memd *m)
{
	if (has_hole(m))
		(void)mend(m);
}

bool journal_hold(struct memd *m, struct deferred *dc)
{
	if (m->b->backing->fd < 0)
		return false;
	commit_hold(m, &m->b->journal->commit, dc);
	return true;
}

int journal_init(struct memd *m)
{
	static const struct commit_ops ops = { part, over, next };

	return commit_init(m, &m->b->journal->commit, &ops);
}

/* --- reading ---------------------------------------------------------------- */

/* Does a record of a region have the length that what it says needs? */
static bool region_fits(const u8 *rec, u32 len)
{
	u32 cuts;

	if (len < B_NAME || len < (u32)B_NAME + rec[B_NAME_LEN])
		return false;
	cuts = len - B_NAME - rec[B_NAME_LEN];
	return cuts % CUT_LEN == 0 && cuts / CUT_LEN <= CUTS_MAX;
}

/* Length of the record at @rec, 0 if none is there. */
static u32 check(const u8 *rec, u32 room, u32 gen)
{
	u8 copy[RECORD_MAX];
	u32 len;

	if (room < B_ID + 4)
		return 0;
	len = get_unaligned_be16(rec + J_LEN);
	if (len < B_ID + 4 || len > RECORD_MAX || len > room ||
	    get_unaligned_be32(rec + J_GENERATION) != gen)
		return 0;
	memcpy(copy, rec, len);
	put_unaligned_be32(0, copy + J_SUM);
	if (weft_wire_psum(copy, len) != get_unaligned_be32(rec + J_SUM))
		return 0;
	if ((rec[J_TYPE] == RECORD_REGION || rec[J_TYPE] == RECORD_ATTRIBUTES) &&
	    !region_fits(rec, len))
		return 0;
	if ((rec[J_TYPE] == RECORD_MEMBER && len != B_MEMBER_END) ||
	    (rec[J_TYPE] == RECORD_POLICY && len != B_POLICY_END && len != B_NODES &&
	     len != B_HOMES && len != B_WANTED) ||
	    (rec[J_TYPE] == RECORD_BLADE && len != B_BLADE_END))
		return 0;
	return len;
}

static int load_member(struct memd *m, const u8 *rec, u32 id)
{
	struct members *ms = m->b->members;
	struct member *who;

	if (!weft_node_bit(id))
		return -1;
	who = &ms->by_id[id];
	who->addr = get_unaligned_be32(rec + B_ADDR);
	who->life = get_unaligned_be32(rec + B_LIFE);
	who->in = rec[B_IN];
	who->dying = rec[B_IN] & MEMBER_DEAD;
	/* the node may be gone: its next life joins without a wait */
	who->heard = 0;
	ms->mask = who->in ? ms->mask | weft_node_bit(id) :
			     ms->mask & ~weft_node_bit(id);
	return 0;
}

static int load_cuts(struct region *r, const u8 *rec)
{
	const u8 *p = rec + B_NAME + rec[B_NAME_LEN];
	const u8 *end = rec + get_unaligned_be16(rec + J_LEN);
	struct cut before = { 0 };

	for (r->cuts = 0; p < end; p += CUT_LEN) {
		struct cut c = {
			.epoch = get_unaligned_be32(p),
			.from = get_unaligned_be64(p + 4),
		};

		if (c.epoch <= before.epoch || c.epoch > r->epoch ||
		    (r->cuts && c.from <= before.from))
			return -1;
		before = c;
		r->cut[r->cuts++] = c;
	}
	return 0;
}

static int load_region(struct memd *m, const u8 *rec, u32 id)
{
	struct region *r = region_find(m->b->regions, id);
	u32 block = get_unaligned_be32(rec + B_BLOCK);

	if (r && rec[J_TYPE] == RECORD_REGION) {
		/* the only change to a name is that it goes */
		if (rec[B_UNLINKED])
			region_unname(r);
	} else if (!r && rec[J_TYPE] == RECORD_REGION) {
		if (!region_block_ok(block) || !id || id > WEFT_REGION_MAX)
			return -1;
		r = region_add(m->b->regions, id, block, (const char *)rec + B_NAME,
			       rec[B_NAME_LEN]);
		if (r) {
			r->homes = weft_first_homes(m->b->backing->blades);
			r->strays = true;
		}
		if (r && rec[B_UNLINKED])
			region_unname(r);
	}
	if (!r)
		return -1;
	r->mode = get_unaligned_be32(rec + B_MODE);
	r->uid = get_unaligned_be32(rec + B_UID);
	r->gid = get_unaligned_be32(rec + B_GID);
	r->epoch = get_unaligned_be32(rec + B_EPOCH);
	r->size = get_unaligned_be64(rec + B_SIZE);
	r->mtime = get_unaligned_be64(rec + B_MTIME);
	return region_size_ok(m->b->regions, r->size) ? load_cuts(r, rec) : -1;
}

static int load_policy(struct memd *m, const u8 *rec, u32 id)
{
	struct region *r = region_find(m->b->regions, id);
	u16 len = get_unaligned_be16(rec + J_LEN);

	if (!r)
		return -1;
	r->policy = get_unaligned_be32(rec + B_POLICY);
	region_set_nodes(m->b->regions, r,
			 len < B_HOMES ? 0 : get_unaligned_be32(rec + B_NODES));
	if (len >= B_WANTED) {
		r->homes = get_unaligned_be32(rec + B_HOMES);
		r->frozen = rec[B_FROZEN];
		r->wanted = len < B_POLICY_END ? 0 : get_unaligned_be32(rec + B_WANTED);
	}
	return weft_policy_valid(r->policy) ? 0 : -1;
}

static int load(struct memd *m, const u8 *rec)
{
	u32 number = get_unaligned_be32(rec + B_ID);
	struct region *r;

	switch (rec[J_TYPE]) {
	case RECORD_BLADE:
		return blades_restore(m, number, get_unaligned_be32(rec + B_BLADE_ADDR),
				      rec[B_USED] & BLADE_USED, rec[B_USED] & BLADE_DRAINS) ? 0 : -1;
	case RECORD_REGION:
	case RECORD_ATTRIBUTES:
		return load_region(m, rec, number);
	case RECORD_GONE:
		r = region_find(m->b->regions, number);
		if (r) {
			r->size = 0;	/* not accounted for yet */
			region_free(m->b->regions, r);
		}
		return 0;
	case RECORD_NEXT:
		if (number > m->b->regions->next_id)
			m->b->regions->next_id = number;
		return 0;
	case RECORD_MEMBER:
		return load_member(m, rec, number);
	case RECORD_POLICY:
		return load_policy(m, rec, number);
	default:
		return -1;
	}
}

/* Everything is loaded: what is open nowhere any more and has no name goes. */
static int settle(struct memd *m, char *err)
{
	struct region *r;
	u32 id;

	for_each_region(m, r, id) {
		/* a member may have it open: remove_all_unused() comes back to it */
		if (r->unlinked && memd_is_first(m) && !m->b->members->mask) {
			r->size = 0;
			region_free(m->b->regions, r);
			continue;
		}
		if (!region_prepare(r, r->size))
			return fail(err, "out of memory for the regions of %s",
				    m->b->backing->path);
		region_account(m->b->regions, r, 0, r->size);
		r->grant = m->b->life & ~(u32)WEFT_GRANT_OWNED;
	}
	/* a new half: after the last good record here there may be anything */
	if (begin_anew(m))
		return fail(err, "cannot write to %s: %s", m->b->backing->path,
			    strerror(errno));
	return 0;
}

/* Read the log in use.  Return: 0, or -1 with a sentence. */
static int load_all(struct memd *m, u8 *buf, char *err)
{
	struct backing *b = m->b->backing;
	u64 at = backing_log_at(b->generation);
	u32 have = 0, pos = 0, len;

	for (b->log_end = 0; ; b->log_end += len, pos += len) {
		/* whole records, up to the end of the half */
		if (have - pos < RECORD_MAX) {
			have = BACKING_LOG_BYTES - b->log_end;
			if (have > WINDOW)
				have = WINDOW;
			if (backing_read(b, buf, have, at + b->log_end))
				return fail(err, "cannot read %s: %s", b->path,
					    strerror(errno));
			pos = 0;
		}
		len = check(buf + pos, have - pos, b->generation);
		if (!len)
			return 0;
		if (load(m, buf + pos))
			return fail(err, "the catalog in %s does not make sense at byte %u: restore the file from a copy, or name another one",
				    b->path, b->log_end);
	}
}

int journal_restore(struct memd *m, char *err)
{
	u8 *buf = malloc(WINDOW);
	int ret;

	if (!buf)
		return fail(err, "out of memory");
	ret = load_all(m, buf, err);
	free(buf);
	return ret ? ret : settle(m, err);
}
