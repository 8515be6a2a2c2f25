// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lives and ends of a memory blade with a backing file: it is stopped, killed, or its
 * machine ends, at any moment, also while it starts; then what is on the disk is any part
 * of what was written since it was last synced (disk.h).  What was promised is kept:
 *
 *  - A block has contents that it had: the last ones that were written before a sync of
 *    the file began, or later ones.  Never a mixture, zeros or others, unless they are
 *    later ones.
 *  - If a block is not what it was last the log says that this may be.
 *  - What a call was answered stays: a region that was made, with its number and name, one
 *    that was removed, a size that became smaller, a mode.  No number is given twice.
 *  - What was written home before a SYNC that was answered is there.
 *  - If only the process has ended nothing is lost, and nothing said.
 *
 * The blade is the real one in this process, its calls and write-backs come as messages
 * do.  From time to time, and wherever it waits for the disk, it is looked what would be if
 * the machine ended now: all sets of the uncertain writes if they are few, else the sets that
 * are most likely to be of interest and some at random, whole writes and single sectors.
 * Then one of them is what the next life of the blade begins with.
 *
 *	memd-crash [SEED [STORIES]]	mutants too, unless STORIES are given
 */
#include "disk.h"

#include <sys/wait.h>

#include "tests/common/argument.h"
#include "tools/common/random.h"
#include "tools/memd/job.h"
#include "tools/memd/journal.h"
#include "tools/memd/log.h"
#include "tools/memd/memd.h"

#define NODE		1u
#define NODE_ADDR	0x0A570000u
#define BLADE_ADDR	0x0A570065u
#define REGIONS		32u	/* in all lives of one disk */
#define AT_A_TIME	4u
#define BLOCKS		6u	/* of a region, at most */
#define VERSIONS	96u	/* of a block, in a life */
#define SIZES		12u
#define SYNCS		3u	/* at a time */
#define STORIES		24u
#define MUTANT_STORIES	60u
#define LIVES		6u	/* of a disk */
#define SAID_MAX	65536u
#define LOG_AT		8192u
#define FRAMES_AT	(LOG_AT + 2ull * BACKING_LOG_BYTES)

/* --- what was promised --------------------------------------------------------- */

/**
 * struct mblock - contents that a block had in this life, and what it began with
 * @n: how many
 * @certain: the last one that is on the disk for certain
 * @tag: which they are, 0: zeros
 * @time: when they were written
 */
struct mblock {
	u32 n;
	u32 certain;
	u32 tag[VERSIONS];
	u64 time[VERSIONS];
};

enum mstate {
	NEVER,		/* not made */
	ASKED,		/* CREATE is not answered */
	THERE,
	REMOVING,	/* UNLINK is not answered */
	GONE,
};

/* @old_mode: before a SETATTR that is not answered; @size: since the last one that is certain */
struct mregion {
	enum mstate state;
	char name[12];
	u32 id;
	u32 block;
	u32 blocks;
	u32 n_sizes;
	struct {
		u32 blocks;
		u64 time;
	} size[SIZES];
	u32 mode, old_mode;
	u32 txn;		/* of a call that is not answered, or 0 */
	struct mblock b[BLOCKS];
};

/*
 * A SYNC that is not answered yet: how many contents each block had when it was made, and when
 * that was, for sizes.  Several, as some wait while a sync is under way.
 */
static struct msync {
	u32 txn;		/* or 0 */
	u64 time;
	u32 n_regions;
	u32 contents[REGIONS][BLOCKS];
} syncs_asked[SYNCS];

static struct mregion regions[REGIONS];
static u32 n_regions, highest_id, tags;
static u32 life_of_node;
static u32 txn_seq;

static struct memd m, probe;
static struct disk one, other, image;
static struct disk *disk = &one;	/* that of the blade */
static struct disk next_disk;		/* what it is to begin with next, if @ends */
static bool ends;
static char boot_path[32];
static int boot_fd;
static u64 seed;

/* What the blade said: that of this life, and that of an image. */
static struct said {
	size_t len;
	char text[SAID_MAX];
} said_here, said_there, *said = &said_here;

/* The mark of who uses the file is in it; -1: perhaps. */
static int marked;

/* Something was lost in a former life. */
static bool lost;

/* What was promised at the moment of which @next_disk is. */
static struct promises {
	struct mregion regions[REGIONS];
	u32 n_regions, highest_id;
	int marked;
} promised;

static u64 images, blocks_seen, older, zeroed, full_sets;
static u64 asked_there, asked_not, gone_back;
static u64 syncs, syncs_of_life, images_synced, plugs_synced;
static u32 ended[3], ended_early;

enum mutant {
	NONE, NO_FLUSH, NO_LOG_SYNC, NO_START_SYNC, NO_SUPER_SYNC, CLEAR_FIRST, FREE_FIRST,
	NO_SUMS, NO_MARK, ANSWER_FIRST, SYNC_FIRST, SYNC_JOINS, MUTANTS,
};
static const char *const mutant_name[] = {
	"none", "the file is not synced", "the log of the catalog is not synced",
	"a start does not sync before it clears", "the superblock is not synced",
	"the old record goes before the new one is certain",
	"frames are used anew before their successors are certain",
	"nobody compares sums of contents", "no mark says who uses the file",
	"a call is answered before its record is certain",
	"a SYNC is answered before its sync is over",
	"a SYNC is answered by a sync that had begun before",
};
static enum mutant mutant;
static u32 blade;	/* which it is, from 0; then it is the last one, too */
static bool starting;	/* the blade is */
static bool unread;	/* what the machine's end has left is not known yet */

static u32 below(u32 n)
{
	return (u32)random_below(&seed, n);
}

/* --- the blade ------------------------------------------------------------------- */

static void set_boot(u32 n)
{
	char text[64];

	snprintf(text, sizeof(text), "%08u-1111-1111-1111-111111111111\n", n);
	CHECK_EQ(syscall(SYS_pwrite64, boot_fd, text, 37, 0), 37);
}

static void begin_saying(struct said *where)
{
	said = where;
	said->len = 0;
	said->text[0] = 0;
}

static ssize_t say(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	if (len < SAID_MAX - said->len) {
		memcpy(said->text + said->len, text, len);
		said->len += len;
		said->text[said->len] = 0;
	}
	return (ssize_t)len;
}

static bool says(const char *text)
{
	return strstr(said->text, text);
}

static void start_blade(struct memd *b, const char *path)
{
	struct options o = {
		.id = (u8)(WEFT_BLADE_MIN + blade), .memory = 1 << 20, .blades = 1 + blade,
		.backing = path, .peers = { BLADE_ADDR, BLADE_ADDR + 1 },
	};
	char err[ERR_MAX] = "";

	if (memd_init(b, &o, NULL, err) || udp_open_none(&b->udp))
		CHECK_FAIL("the blade does not start: %s", err);
	b->udp.fragment = 16384;
	b->udp.addr = BLADE_ADDR + blade;
	/* as nodes that are members */
	b->b->members.by_id[NODE].addr = NODE_ADDR + NODE;
}

/* The process ends: nothing more is written. */
static void kill_blade(struct memd *b)
{
	disk_dead = true;
	memd_exit(b);
	disk_dead = false;
}

/* --- what is left ------------------------------------------------------------------ */

static u32 tag_at(const u8 *data, u32 i)
{
	return get_unaligned_be32(data + (size_t)i * 4);
}

/* Which of its contents a block has; -1: none that it had. */
static int contents(struct memd *b, const struct mregion *mr, u32 index)
{
	struct region *r = region_find(&b->b->regions, mr->id);
	struct weft_msg msg = {
		.type = WEFT_MSG_READ, .txn = weft_txn(NODE, 1),
		.line = weft_line_key(mr->id, WEFT_KIND_PAGE, index),
	};
	const struct mblock *mb = &mr->b[index];
	static u8 data[16384];
	u32 tag = 0, late, opens, i;
	struct block *blk;
	u32 mask = b->b->members.mask;

	late = b->b->renew.late;
	b->b->members.mask |= weft_node_bit(NODE);
	b->b->renew.late = 0;
	opens = r->opens;
	r->opens |= weft_node_bit(NODE);
	/* this looks whether it is intact */
	blocks_read(b, &msg);
	udp_flush(&b->udp);
	r->opens = opens;
	b->b->members.mask = mask;
	b->b->renew.late = late;
	blk = region_block(&b->b->regions, r, index, false);
	if (blk && blk->frame) {
		CHECK(!frames_load(&b->b->frames, blk->frame, 0, data, r->block));
		tag = tag_at(data, 0);
		for (i = 1; i < r->block / 4; i++)
			if (tag_at(data, i) != tag)
				return -1;
		if (!tag)
			return -1;
	}
	for (i = mb->n; i--; )
		if (mb->tag[i] == tag)
			return (int)i;
	fprintf(stderr, "found %x, has %x of %u\n", tag, mb->tag[mb->n - 1], mb->n);
	return -1;
}

__attribute__((format(printf, 1, 2)))
static void wrong(const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	CHECK_FAIL("%s", text);
}

static bool same_region(const struct region *r, const struct mregion *mr)
{
	return r->name_len == strlen(mr->name) && !memcmp(r->name, mr->name, r->name_len) &&
	       r->block == mr->block;
}

static void add_size(struct mregion *mr, u32 blocks)
{
	CHECK(mr->n_sizes < SIZES);
	mr->size[mr->n_sizes].blocks = blocks;
	mr->size[mr->n_sizes++].time = disk_time;
}

static bool had_size(const struct mregion *mr, u64 size)
{
	u32 i;

	for (i = 0; i < mr->n_sizes; i++)
		if (size == mr->size[i].blocks * mr->block)
			return true;
	return false;
}

/* Those before @n are not what it may have any more. */
static void forget_sizes(struct mregion *mr, u32 n)
{
	mr->n_sizes -= n;
	memmove(&mr->size[0], &mr->size[n], mr->n_sizes * sizeof(mr->size[0]));
}

/*
 * What the blade has, against what was promised.  @lossless: only its process has ended.
 * @learn: from here on this is what is promised.
 */
static void compare(struct memd *b, bool crashed, bool lossless, bool learn)
{
	bool any = false;
	u32 i, k, known = 0;

	for (i = 0; i < n_regions; i++) {
		struct mregion *mr = &regions[i];
		struct region *r = NULL;

		if (mr->state == NEVER)
			continue;
		if (learn)
			mr->txn = 0;
		if (mr->state != GONE)
			r = region_named(&b->b->regions, mr->name, (u32)strlen(mr->name));
		else if (region_named(&b->b->regions, mr->name, (u32)strlen(mr->name)))
			wrong("%s was removed, and is there", mr->name);
		if (r && !same_region(r, mr))
			wrong("%s is another region", mr->name);
		if (!r && mr->state == THERE)
			wrong("%s (%u) is not there", mr->name, mr->id);
		if (mr->state == ASKED) {
			asked_there += !!r;
			asked_not += !r;
			if (r && mr->id && r->id != mr->id)
				wrong("%s has number %u, not %u", mr->name, r->id, mr->id);
		} else if (r && r->id != mr->id) {
			wrong("%s has number %u, not %u", mr->name, r->id, mr->id);
		}
		gone_back += r && mr->state == REMOVING;
		if (!r) {
			if (learn && mr->state != GONE)
				mr->state = GONE;
			continue;
		}
		known++;
		mr->id = r->id;
		if (!had_size(mr, r->size) || (lossless && r->size != mr->blocks * r->block))
			wrong("%s has %llu bytes, not %u blocks or %u", mr->name,
			      (unsigned long long)r->size, mr->blocks, mr->size[0].blocks);
		if (r->mode != mr->mode && r->mode != mr->old_mode)
			wrong("%s has mode %o, not %o", mr->name, r->mode, mr->mode);
		if (learn) {
			mr->state = THERE;
			mr->blocks = (u32)(r->size / r->block);
			if (crashed)
				mr->n_sizes = 0;
			if (crashed || mr->size[mr->n_sizes - 1].blocks != mr->blocks)
				add_size(mr, mr->blocks);
			mr->mode = mr->old_mode = r->mode;
			if (r->id > highest_id)
				highest_id = r->id;
		}
		for (k = 0; k < BLOCKS; k++) {
			struct mblock *mb = &mr->b[k];
			int is = 0;

			if (k * r->block < r->size) {
				is = contents(b, mr, k);
				blocks_seen++;
				if (is < 0)
					wrong("block %u of %s (%u) has what it never had", k,
					      mr->name, mr->id);
				if ((u32)is < mb->certain)
					wrong("block %u of %s (%u) has contents %d: %u are certain, %u the last",
					      k, mr->name, mr->id, is, mb->certain, mb->n - 1);
				any |= (u32)is < mb->n - 1;
				older += mb->tag[is] && (u32)is < mb->n - 1;
				zeroed += !mb->tag[is] && (u32)is < mb->n - 1;
			}
			/* it all comes from the disk, so that it is on it */
			if (learn && crashed) {
				mb->tag[0] = k * r->block < r->size ? mb->tag[is] : 0;
				mb->time[0] = 0;
				mb->n = 1;
				mb->certain = 0;
			}
		}
	}
	for (i = 0, k = 0; i < b->b->regions.n; i++)
		k += !b->b->regions.by_id[i]->unlinked;
	if (k != known)
		wrong("%u regions have names, not %u", k, known);
	if (b->b->regions.next_id <= highest_id)
		wrong("the next region has number %u, %u is given", b->b->regions.next_id,
		      highest_id);
	if (lossless && any)
		wrong("something is lost, but only the process has ended");
	if ((crashed && marked > 0) != says("was in use when its machine ended") &&
	    !(crashed && marked < 0))
		wrong("the log does not say how it ended (%d, %d)", crashed, marked);
	if (learn && crashed)
		lost |= says("is lost");
	/* what is lost with a machine is said until it is written anew */
	if (!crashed && ((says("is lost") && !lost) || says("is older")))
		wrong("the log speaks of losses");
}

/* --- all that may be left -------------------------------------------------------- */

static u64 take_time, take_set;
static u64 writes_uncertain[64];
static u32 n_uncertain, take_one, take_nth;

static u32 take_none(const struct sector *s, u32 n)
{
	(void)s;
	(void)n;
	return 0;
}

static u32 take_all(const struct sector *s, u32 n)
{
	(void)s;
	return n;
}

/* In the order of time. */
static u32 take_until(const struct sector *s, u32 n)
{
	const struct content *c;
	u32 k = 0;

	(void)n;
	for (c = s->since; c && c->time <= take_time; c = c->next)
		k++;
	return k;
}

/* All but one sector, or only that. */
static u32 take_but_one(const struct sector *s, u32 n)
{
	(void)s;
	return take_nth++ == take_one ? below(n) : n;
}

static u32 take_only_one(const struct sector *s, u32 n)
{
	(void)s;
	return take_nth++ == take_one ? 1 + below(n) : 0;
}

static u32 take_any(const struct sector *s, u32 n)
{
	(void)s;
	return below(n + 1);
}

/* Those writes of which there is a bit in @take_set. */
static u32 take_writes(const struct sector *s, u32 n)
{
	const struct content *c;
	u32 k = 0, taken = 0, i;

	(void)n;
	for (c = s->since; c; c = c->next) {
		k++;
		for (i = 0; i < n_uncertain; i++)
			if (writes_uncertain[i] == c->time && take_set >> i & 1)
				taken = k;
	}
	return taken;
}

/* Whole writes at random, @take_set says which. */
static u32 take_random_writes(const struct sector *s, u32 n)
{
	const struct content *c;
	u32 k = 0, taken = 0;

	(void)n;
	for (c = s->since; c; c = c->next) {
		k++;
		if (random_mix(c->time ^ take_set) & 1)
			taken = k;
	}
	return taken;
}

static void count_uncertain(void)
{
	const struct content *c;
	u32 i, k;

	n_uncertain = 0;
	take_one = 0;
	for (i = 0; i < disk->n; i++) {
		take_one += !!disk->sector[i]->since;
		for (c = disk->sector[i]->since; c; c = c->next) {
			for (k = 0; k < n_uncertain && writes_uncertain[k] != c->time; k++)
				;
			if (k == n_uncertain && k < 64)
				writes_uncertain[n_uncertain++] = c->time;
		}
	}
	take_one = below(take_one);
	take_nth = 0;
}

/* Mutant: records say of each frame what it has. */
static void mend_sums(const struct disk *d)
{
	u8 data[FRAME_SIZE], r[FRAME_RECORD];
	u32 frame;

	for (frame = 1; frame <= 3 * FRAMES_PER_GROUP; frame++) {
		if (pread(d->fd, r, sizeof(r), (off_t)backing_record_at(frame)) != sizeof(r) ||
		    !get_unaligned_be32(r))
			continue;
		memset(data, 0, sizeof(data));
		(void)!pread(d->fd, data, sizeof(data), (off_t)backing_frame_at(frame));
		put_unaligned_be32(weft_wire_psum(data, sizeof(data)), r + 24);
		put_unaligned_be32(0, r + 4);
		put_unaligned_be32(weft_wire_psum(r, sizeof(r)), r + 4);
		syscall(SYS_pwrite64, d->fd, r, sizeof(r), backing_record_at(frame));
	}
}

static u32 boots;

/* The blade starts from the image. */
static void look(void)
{
	struct disk *was = disk_recorded;

	images++;
	images_synced += syncs_of_life > 0;
	if (mutant == NO_SUMS)
		mend_sums(&image);
	disk_recorded = NULL;
	set_boot(boots + 1);
	begin_saying(&said_there);
	start_blade(&probe, image.path);
	compare(&probe, true, false, false);
	memd_exit(&probe);
	said = &said_here;
	set_boot(boots);
	disk_recorded = was;
}

static bool may_end;

/* It is this that the next life begins with. */
static void choose_end(void)
{
	static u8 buf[65536];
	off_t at = 0;
	ssize_t n;

	disk_empty(&next_disk);
	/* look() has written to it */
	while ((at = lseek(image.fd, at, SEEK_DATA)) >= 0) {
		n = pread(image.fd, buf, sizeof(buf), at);
		if (n <= 0)
			break;
		CHECK_EQ(syscall(SYS_pwrite64, next_disk.fd, buf, n, at), n);
		at += n;
	}
	memcpy(promised.regions, regions, sizeof(regions));
	promised.n_regions = n_regions;
	promised.highest_id = highest_id;
	promised.marked = marked;
	plugs_synced += syncs_of_life > 0;
	ends = true;
}

static void make_image(u32 how)
{
	static u32 (*const takes[])(const struct sector *s, u32 n) = {
		take_none, take_all, take_until, take_but_one, take_only_one, take_any,
		take_random_writes, take_random_writes, take_until, take_any,
	};

	count_uncertain();
	disk_longer = below(2);
	take_time = disk_time - below(24);
	take_set = random_u64(&seed);
	disk_image(disk, &image, takes[how % 10]);
}

static u32 budget;	/* of sets of writes */

/* What if the machine ended now? */
static void moment(u32 times)
{
	u64 sets;
	u32 i;

	for (i = 0; i < times; i++) {
		make_image(i < 2 ? i : 2 + below(8));
		/* before it is looked at, for that changes it */
		if (may_end && !ends && !below(starting ? 12 : 60))
			choose_end();
		look();
	}
	count_uncertain();
	if (n_uncertain > 12 || n_uncertain < 3)
		return;
	sets = 1ull << n_uncertain;
	if (sets > budget)
		return;
	budget -= (u32)sets;
	full_sets++;
	for (take_set = 0; take_set < sets; take_set++) {
		u64 set = take_set;

		disk_image(disk, &image, take_writes);
		look();
		take_set = set;
	}
}

static void on_wait(void)
{
	/* an end while another one is looked at is no end of this one */
	if (disk_recorded != disk || disk_dead)
		return;
	moment(starting ? 4 : 2);
}

static void on_sync(u64 time, u64 from, u64 to)
{
	u32 i, k;

	/* of the log alone what is answered tells more */
	if (from || to != ~0ull || unread)
		return;
	for (i = 0; i < n_regions; i++) {
		struct mregion *mr = &regions[i];

		for (k = mr->n_sizes; k > 1 && mr->size[k - 1].time > time; k--)
			;
		if (k > 1)
			forget_sizes(mr, k - 1);
	}
	for (i = 0; i < n_regions; i++)
		for (k = 0; k < BLOCKS; k++) {
			struct mblock *mb = &regions[i].b[k];

			while (mb->certain + 1 < mb->n && mb->time[mb->certain + 1] <= time)
				mb->certain++;
		}
}

static bool on_leave_out(bool all, u64 from)
{
	return (mutant == NO_FLUSH && all && task_time) ||
	       (mutant == NO_START_SYNC && all && starting && marked > 0) ||
	       (mutant == NO_LOG_SYNC && !all && from) ||
	       ((mutant == NO_SUPER_SYNC || mutant == NO_MARK) && !all && !from);
}

/* --- messages -------------------------------------------------------------------- */

static void send_call(u8 type, u32 txn, const struct weft_call *c)
{
	static u8 buf[WEFT_WIRE_HDR_LEN + 8192];
	struct weft_msg msg = {
		.type = type, .src = NODE, .txn = txn, .nonce = 77, .rack = 0,
		.payload = buf + WEFT_WIRE_HDR_LEN,
	};
	size_t len;

	msg.len = weft_call_pack(c, buf + WEFT_WIRE_HDR_LEN);
	len = weft_wire_pack(&msg, buf, NULL, memd_time(&m));
	memd_receive(&m, buf, len, NODE_ADDR + NODE, m.udp.port);
	udp_flush(&m.udp);
}

enum outcome { UNKNOWN, WAITING, ANSWERED };

static enum outcome outcome_of(u32 id, u32 txn, struct weft_call *reply)
{
	const struct caller *c = m.b->callers[id];
	u32 i;

	for (i = 0; c && i < CALLS_KEPT; i++) {
		const struct kept_reply *k = &c->kept[i];

		if (k->txn != txn)
			continue;
		if (k->pending)
			return WAITING;
		CHECK(!weft_call_unpack(reply, k->payload, k->len));
		return ANSWERED;
	}
	return UNKNOWN;
}

static enum outcome outcome(u32 txn, struct weft_call *reply)
{
	return outcome_of(NODE, txn, reply);
}

/* What was at home before it is on the disk now. */
static void end_sync(struct msync *sync)
{
	u32 i, k;

	sync->txn = 0;
	syncs++;
	syncs_of_life++;
	for (i = 0; i < sync->n_regions; i++) {
		struct mregion *mr = &regions[i];

		for (k = mr->n_sizes; k > 1 && mr->size[k - 1].time > sync->time; k--)
			;
		if (k > 1)
			forget_sizes(mr, k - 1);
		for (k = 0; k < BLOCKS; k++)
			if (mr->b[k].certain < sync->contents[i][k])
				mr->b[k].certain = sync->contents[i][k];
	}
}

static void take_syncs(void)
{
	struct weft_call reply;
	enum outcome o;
	u32 i;

	for (i = 0; i < SYNCS; i++) {
		if (!syncs_asked[i].txn)
			continue;
		o = outcome(syncs_asked[i].txn, &reply);
		CHECK(o != UNKNOWN);
		if (o == ANSWERED)
			CHECK_EQ(reply.err, 0);
		if (o == ANSWERED || mutant == SYNC_FIRST)
			end_sync(&syncs_asked[i]);
	}
}

/* What is answered is promised. */
static void take_answers(void)
{
	struct weft_call reply;
	enum outcome o;
	u32 i, k;

	take_syncs();
	for (i = 0; i < n_regions; i++) {
		struct mregion *mr = &regions[i];

		if (!mr->txn)
			continue;
		o = outcome(mr->txn, &reply);
		CHECK(o != UNKNOWN);
		if (o == WAITING && mutant == ANSWER_FIRST) {
			struct region *r = region_named(&m.b->regions, mr->name,
							(u32)strlen(mr->name));

			if (mr->state == ASKED && !r)
				continue;
			reply.err = 0;
			reply.region = r ? r->id : mr->id;
			o = ANSWERED;
		}
		if (o == WAITING)
			continue;
		CHECK_EQ(reply.err, 0);
		mr->txn = 0;
		mr->old_mode = mr->mode;
		if (mr->state == REMOVING) {
			mr->state = GONE;
			continue;
		}
		if (mr->state == ASKED) {
			if (reply.region <= highest_id)
				wrong("number %u is given again: %u was", reply.region,
				      highest_id);
			mr->id = reply.region;
			mr->state = THERE;
			highest_id = mr->id;
		}
		if (mr->n_sizes > 1 &&
		    mr->blocks < mr->size[mr->n_sizes - 2].blocks)
			forget_sizes(mr, mr->n_sizes - 1);
		/* what was cut off does not come back */
		for (k = mr->blocks; k < BLOCKS; k++)
			mr->b[k].certain = mr->b[k].n - 1;
	}
}

/* --- time --------------------------------------------------------------------------- */

static u32 disk_speed;	/* of 1000 milliseconds, so many see the disk do something */

static void pass_time(u32 ms)
{
	while (ms--) {
		u32 i;

		m.timers.now++;
		timers_run(&m.timers, &m);
		udp_flush(&m.udp);
		for (i = 0; i < TASKS; i++)
			if (tasks[i].fn && below(1000) < disk_speed)
				disk_work(i);
		take_answers();
	}
}

/* --- what happens ------------------------------------------------------------------- */

static struct mregion *any_region(void)
{
	u32 first = below(n_regions), i;

	for (i = 0; i < n_regions; i++) {
		struct mregion *mr = &regions[(first + i) % n_regions];

		if (mr->state == THERE && !mr->txn)
			return mr;
	}
	return NULL;
}

static void add_content(struct mblock *mb, u32 tag)
{
	CHECK(mb->n < VERSIONS);
	mb->tag[mb->n] = tag;
	mb->time[mb->n++] = disk_time;
}

/* Send it; false: it was not taken up. */
static bool call(struct mregion *mr, struct weft_call *c)
{
	struct weft_call reply;

	mr->txn = weft_txn(NODE, ++txn_seq);
	send_call(WEFT_MSG_CALL, mr->txn, c);
	if (outcome(mr->txn, &reply) != UNKNOWN)
		return true;
	mr->txn = 0;
	return false;
}

static void create(void)
{
	struct mregion *mr = &regions[n_regions];
	struct weft_call c = { .op = WEFT_CALL_CREATE, .valid = WEFT_CREATE_UNLIMITED };
	u32 i, n = 0;

	for (i = 0; i < n_regions; i++)
		n += regions[i].state != GONE;
	if (n >= AT_A_TIME || n_regions == REGIONS)
		return;
	memset(mr, 0, sizeof(*mr));
	for (i = 0; i < BLOCKS; i++)
		mr->b[i].n = 1;
	snprintf(mr->name, sizeof(mr->name), "r%02u", n_regions);
	mr->block = below(3) ? 4096 : 16384;
	mr->blocks = below(BLOCKS + 1);
	add_size(mr, mr->blocks);
	mr->mode = mr->old_mode = below(512);
	mr->state = ASKED;
	n_regions++;
	c.block = mr->block;
	c.size = mr->blocks * mr->block;
	c.mode = mr->mode;
	c.name_len = (u16)strlen(mr->name);
	memcpy(c.name, mr->name, c.name_len);
	if (!call(mr, &c))
		n_regions--;
	take_answers();
}

static void remove_region(struct mregion *mr)
{
	struct weft_call c = { .op = WEFT_CALL_UNLINK };

	c.name_len = (u16)strlen(mr->name);
	memcpy(c.name, mr->name, c.name_len);
	mr->state = REMOVING;
	if (!call(mr, &c))
		mr->state = THERE;
	take_answers();
}

static void set_size(struct mregion *mr)
{
	struct weft_call c = { .op = WEFT_CALL_SETATTR, .region = mr->id };
	u32 was = mr->blocks, k;

	if (mr->n_sizes == SIZES)
		return;
	mr->blocks = below(BLOCKS + 1);
	if (mr->blocks == was)
		return;
	add_size(mr, mr->blocks);
	c.valid = WEFT_SET_SIZE | WEFT_SET_UNLIMITED;
	c.size = mr->blocks * mr->block;
	for (k = mr->blocks; k < BLOCKS; k++)
		add_content(&mr->b[k], 0);
	if (!call(mr, &c)) {
		for (k = mr->blocks; k < BLOCKS; k++)
			mr->b[k].n--;
		mr->blocks = was;
		mr->n_sizes--;
		return;
	}
	/* now it is written, if it is */
	mr->size[mr->n_sizes - 1].time = disk_time;
	for (k = mr->blocks; k < BLOCKS; k++)
		mr->b[k].time[mr->b[k].n - 1] = disk_time;
	take_answers();
}

static void set_mode(struct mregion *mr)
{
	struct weft_call c = { .op = WEFT_CALL_SETATTR, .region = mr->id };

	mr->mode = below(512);
	c.valid = WEFT_SET_MODE;
	c.mode = mr->mode;
	if (!call(mr, &c))
		mr->mode = mr->old_mode;
	take_answers();
}

/* Mutant: what was there goes at once. */
static void clear_now(u32 frame)
{
	static const u8 none[FRAME_RECORD];

	for (; frame; frame = m.b->frames.next[frame])
		CHECK(!backing_write(&m.b->backing, none, sizeof(none),
				     backing_record_at(frame)));
}

static void write_home(struct mregion *mr)
{
	u32 k = below(mr->blocks), i, was = 0, opens;
	struct region *r = region_find(&m.b->regions, mr->id);
	struct mblock *mb = &mr->b[k];
	static u8 data[16384];
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = NODE, .txn = weft_txn(NODE, 1),
		.line = weft_line_key(mr->id, WEFT_KIND_PAGE, k),
		.info = (u16)mr->block, .size = mr->block, .len = mr->block,
		.payload = data,
	};
	struct block *b = region_block(&m.b->regions, r, k, false);
	u64 before = m.stats.count[STAT_WRITE];

	if (mb->n == VERSIONS - 2)
		return;
	msg.version = (b ? b->version : region_base(r, k)) + 1;
	for (i = 0; i < mr->block / 4; i++)
		put_unaligned_be32(tags + 1, data + (size_t)i * 4);
	if (b && mutant == CLEAR_FIRST)
		was = b->frame;
	/* a region that is open would stay when it is removed */
	opens = r->opens;
	r->opens |= weft_node_bit(NODE);
	blocks_write(&m, &msg);
	udp_flush(&m.udp);
	r->opens = opens;
	if (m.stats.count[STAT_WRITE] == before)
		return;
	add_content(mb, ++tags);
	clear_now(was);
}

/* Mutant: what rests is free. */
static void free_now(void)
{
	struct frames *f = &m.b->frames;

	if (f->flushed.first[0] || f->flushed.first[1])
		return;
	f->flushed = f->resting;
	f->resting = (struct rest){ 0 };
	frames_settle(f, 1000);
}

/* A node's fsync(): all that is at home. */
static void ask_sync(void)
{
	struct weft_call c = { .op = WEFT_CALL_SYNC }, reply;
	struct msync *sync = NULL;
	u32 i, k;

	for (i = 0; i < SYNCS && !sync; i++)
		if (!syncs_asked[i].txn)
			sync = &syncs_asked[i];
	if (!sync)
		return;
	sync->time = disk_time;
	sync->n_regions = n_regions;
	for (i = 0; i < n_regions; i++)
		for (k = 0; k < BLOCKS; k++)
			sync->contents[i][k] = regions[i].b[k].n - 1;
	sync->txn = weft_txn(NODE, ++txn_seq);
	send_call(WEFT_MSG_CALL, sync->txn, &c);
	CHECK(outcome(sync->txn, &reply) != UNKNOWN);
	if (mutant == SYNC_JOINS && m.b->sync.syncing && m.b->sync.waiting) {
		CHECK(!m.b->sync.waiting->next_noted);
		m.b->sync.waiting->next_noted = m.b->sync.syncing;
		m.b->sync.syncing = m.b->sync.waiting;
		m.b->sync.waiting = NULL;
	}
	take_answers();
}

static void step(void)
{
	u32 what = below(100);
	struct mregion *mr = n_regions ? any_region() : NULL;

	if (what < 8 || !mr)
		create();
	else if (what < 11)
		remove_region(mr);
	else if (what < 17)
		set_size(mr);
	else if (what < 20)
		set_mode(mr);
	else if (what < 30)
		pass_time(below(60));
	else if (what < 33)
		pass_time(2000 + below(200));
	else if (what < 42)
		ask_sync();
	else if (mr->blocks)
		write_home(mr);
	if (mutant == FREE_FIRST)
		free_now();
	pass_time(below(3));
}

/* --- a life ------------------------------------------------------------------------- */

/* The node gives back what it has, which is nothing, or is new. */
static void join(void)
{
	struct weft_call c = { .op = WEFT_CALL_JOIN, .node = NODE, .addr = NODE_ADDR + NODE };
	const struct member *who = &m.b->members.by_id[NODE];
	u32 i;

	memd_start(&m);
	pass_time(5);
	if (m.b->renew.waiting) {
		struct weft_call renew = { .op = WEFT_CALL_RENEW, .node = NODE };

		send_call(WEFT_MSG_REPLY, m.b->renew.txn[NODE], &renew);
	}
	for (i = 0; i < 3 && m.b->renew.active; i++)
		pass_time(250);
	CHECK(!m.b->renew.active);
	c.life = ++life_of_node;
	txn_seq++;
	/* its former life is taken out first, so it is repeated, as nodes do */
	for (i = 0; i < 20 && !(m.b->members.mask && who->life == c.life); i++) {
		send_call(WEFT_MSG_CALL, weft_txn(NODE, txn_seq), &c);
		pass_time(50);
	}
	CHECK(m.b->members.mask);
	CHECK_EQ(who->life, c.life);
}

static void exchange_disks(void)
{
	struct disk *unused = disk == &one ? &other : &one;
	static u8 buf[65536];
	off_t at = 0;
	ssize_t n;

	disk_empty(unused);
	while ((at = lseek(next_disk.fd, at, SEEK_DATA)) >= 0) {
		n = pread(next_disk.fd, buf, sizeof(buf), at);
		if (n <= 0)
			break;
		CHECK_EQ(syscall(SYS_pwrite64, unused->fd, buf, n, at), n);
		at += n;
	}
	disk_load(unused);
	disk_empty(disk);
	disk = unused;
	disk_recorded = disk;
	memset(mappings, 0, sizeof(mappings));
	memcpy(regions, promised.regions, sizeof(regions));
	n_regions = promised.n_regions;
	highest_id = promised.highest_id;
	marked = promised.marked;
	unread = true;
	ends = false;
}

enum ending { STOPPED, KILLED, POWER };

/* Return: how it ended. */
static enum ending life(enum ending before, u32 steps)
{
	u32 n, end = below(10);

	begin_saying(&said_here);
	memset(syncs_asked, 0, sizeof(syncs_asked));
	syncs_of_life = 0;
	starting = true;
	may_end = !below(3);
	start_blade(&m, disk->path);
	starting = false;
	if (!ends && before == POWER)
		compare(&m, true, false, true);
	else if (!ends)
		compare(&m, false, true, true);
	marked = 1;
	unread = false;
	if (ends) {
		kill_blade(&m);
		ended_early++;
		return POWER;
	}
	join();
	for (n = 0; n < steps; n++) {
		may_end = n > steps / 4 && end < 7;
		step();
		if (n % 5 == 0)
			moment(4);
		if (ends)
			break;
	}
	may_end = false;
	if (ends) {
		kill_blade(&m);
		return POWER;
	}
	if (end == 9) {
		/* all is answered before it ends */
		for (n = 0; n < REGIONS * 20; n++)
			pass_time(10);
		marked = -1;
		memd_exit(&m);
		return STOPPED;
	}
	kill_blade(&m);
	return KILLED;
}

/* One disk from its beginning. */
static void story(u32 lives, u32 steps)
{
	enum ending how = STOPPED;

	disk_empty(&one);
	disk_empty(&other);
	disk = &one;
	disk_recorded = disk;
	n_regions = highest_id = 0;
	marked = -1;
	unread = lost = false;
	boots = 1;
	set_boot(boots);
	ends = false;
	budget = 3000;
	while (lives--) {
		disk_speed = 1u << below(10);
		how = life(how, steps);
		ended[how]++;
		if (how == POWER) {
			set_boot(++boots);
			exchange_disks();
		}
	}
	disk_recorded = NULL;
}

/* --- what is too rare for that ------------------------------------------------------- */

static void begin_alone(void)
{
	disk_empty(&one);
	disk_empty(&other);
	disk_empty(&next_disk);
	disk = &one;
	disk_recorded = disk;
	n_regions = 0;
	marked = -1;
	disk_waited = NULL;
	disk_synced = NULL;
	set_boot(1);
	begin_saying(&said_here);
}

static void end_alone(void)
{
	disk_recorded = NULL;
	disk_waited = on_wait;
	disk_synced = on_sync;
}

static void note_region(u32 id)
{
	char name[8];
	struct region *r;

	snprintf(name, sizeof(name), "n%02u", id);
	r = region_add(&m.b->regions, id, 4096, name, 3);
	CHECK(r && region_prepare(r, 4096));
	r->size = 4096;
	region_account(&m.b->regions, r, 0, r->size);
	CHECK(!journal_region(&m, r, false));
}

static void on_super(void)
{
	static u32 syncs;

	/* the other half of the log is on the disk, that it is in use is not */
	if (starting && ++syncs == 2) {
		disk_longer = false;
		disk_image(disk, &image, take_none);
		choose_end();
	}
}

/*
 * The other half of the log has more in it than it is to have: of a start that did not come
 * to its end, when more was known.  That is not taken for what follows.
 */
static void stale_log(void)
{
	begin_alone();
	start_blade(&m, disk->path);
	note_region(1);
	fdatasync(m.b->backing.fd);
	note_region(2);
	note_region(3);
	kill_blade(&m);
	starting = true;
	disk_waited = on_super;
	start_blade(&m, disk->path);
	starting = false;
	CHECK_EQ(m.b->regions.n, 3);
	CHECK(ends);
	kill_blade(&m);
	set_boot(2);
	exchange_disks();
	unread = false;
	disk_waited = NULL;
	start_blade(&m, disk->path);
	CHECK_EQ(m.b->regions.n, 1);
	memd_exit(&m);
	start_blade(&m, disk->path);
	CHECK_EQ(m.b->regions.n, 1);
	memd_exit(&m);
	end_alone();
}

/* A call and its answer. */
static int call_now(struct weft_call *c)
{
	u32 txn = weft_txn(NODE, ++txn_seq);
	struct weft_call reply;

	send_call(WEFT_MSG_CALL, txn, c);
	pass_time(20);
	CHECK_EQ(outcome(txn, &reply), ANSWERED);
	c->region = reply.region;
	return reply.err;
}

/* What a sync said that it could not is not taken for good when the blade stops. */
static void failing_disk(void)
{
	struct weft_call c = {
		.op = WEFT_CALL_CREATE, .size = 8192, .name_len = 1, .name = "x",
		.valid = WEFT_CREATE_UNLIMITED,
	};
	struct weft_call resize = {
		.op = WEFT_CALL_SETATTR, .valid = WEFT_SET_SIZE, .size = 4096,
	};
	struct weft_call sync = { .op = WEFT_CALL_SYNC };

	begin_alone();
	disk_speed = 1000;
	start_blade(&m, disk->path);
	join();
	CHECK_EQ(call_now(&sync), 0);
	disk_fails = true;
	CHECK_EQ(call_now(&c), EIO);
	CHECK(says("does not get to the disk"));
	/* others heard of it, and what it was about is nowhere to be had */
	disk_fails = false;
	CHECK_EQ(call_now(&sync), EIO);
	CHECK_EQ(call_now(&sync), EIO);
	CHECK_EQ(call_now(&c), 0);
	resize.region = c.region;
	disk_fails = true;
	CHECK_EQ(call_now(&resize), EIO);
	c.op = WEFT_CALL_UNLINK;
	CHECK_EQ(call_now(&c), EIO);
	disk_fails = false;
	memd_exit(&m);
	set_boot(2);
	begin_saying(&said_here);
	start_blade(&m, disk->path);
	CHECK(says("was in use when its machine ended"));
	memd_exit(&m);
	set_boot(3);
	begin_saying(&said_here);
	start_blade(&m, disk->path);
	CHECK(!says("was in use when its machine ended"));
	pass_time(3000);
	begin_saying(&said_here);
	disk_fails = true;
	note_region(5);
	pass_time(3000);
	disk_fails = false;
	CHECK(says("does not get to the disk"));
	memd_exit(&m);
	set_boot(4);
	begin_saying(&said_here);
	start_blade(&m, disk->path);
	CHECK(says("was in use when its machine ended"));
	memd_exit(&m);
	end_alone();
}

/* What the first blade tells another one of a region.  Return: how that answers it. */
static enum outcome tell_second(u32 blocks, u32 *txn, struct weft_call *reply)
{
	static u8 buf[WEFT_WIRE_HDR_LEN + 8192];
	struct weft_call c = {
		.op = WEFT_CALL_REGION, .region = 7, .block = 4096, .size = blocks * 4096,
		.life = m.b->life, .cookie = m.b->follow.seq + 1, .name_len = 1, .name = "x",
		.members = weft_node_bit(NODE),
	};
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL, .src = WEFT_BLADE_MIN, .nonce = 77,
		.txn = weft_txn(WEFT_BLADE_MIN, ++txn_seq), .payload = buf + WEFT_WIRE_HDR_LEN,
	};
	size_t len;

	*txn = msg.txn;
	msg.len = weft_call_pack(&c, buf + WEFT_WIRE_HDR_LEN);
	len = weft_wire_pack(&msg, buf, NULL, memd_time(&m));
	memd_receive(&m, buf, len, BLADE_ADDR, m.udp.port);
	udp_flush(&m.udp);
	return outcome_of(WEFT_BLADE_MIN, *txn, reply);
}

/* On the second blade, too, what was cut off does not come back. */
static void second_blade(void)
{
	static u8 data[4096] = { 1 };
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = NODE, .txn = weft_txn(NODE, 1), .version = 1,
		/* every second run of blocks is there, of this one the first */
		.line = weft_line_key(7, WEFT_KIND_PAGE, 3), .info = 4096, .size = 4096,
		.len = 4096, .payload = data,
	};
	struct weft_call reply;
	struct region *r;
	struct block *b;
	u32 txn;

	begin_alone();
	blade = 1;
	disk_speed = 0;
	start_blade(&m, disk->path);
	memd_start(&m);
	CHECK_EQ(tell_second(6, &txn, &reply), ANSWERED);
	CHECK_EQ(reply.err, 0);
	blocks_write(&m, &msg);
	CHECK_EQ(m.stats.count[STAT_WRITE], 1);
	fdatasync(m.b->backing.fd);
	CHECK_EQ(tell_second(2, &txn, &reply), WAITING);
	disk_speed = 1000;
	pass_time(20);
	CHECK_EQ(outcome_of(WEFT_BLADE_MIN, txn, &reply), ANSWERED);
	CHECK_EQ(reply.err, 0);
	/* larger again, of which nothing is on the disk; nor is it that its block is gone */
	CHECK_EQ(tell_second(6, &txn, &reply), ANSWERED);
	disk_longer = false;
	disk_image(disk, &image, take_none);
	choose_end();
	kill_blade(&m);
	set_boot(2);
	exchange_disks();
	unread = false;
	start_blade(&m, disk->path);
	memd_start(&m);
	r = region_find(&m.b->regions, 7);
	CHECK(r && r->size == 2 * 4096);
	CHECK_EQ(tell_second(6, &txn, &reply), ANSWERED);
	b = region_block(&m.b->regions, r, 3, false);
	CHECK(!b || !b->frame);
	CHECK_EQ(region_base(r, 3), 1ull << 32);
	memd_exit(&m);
	blade = 0;
	end_alone();
}

/* The name of a file that is new is on the disk, too, or none of it is there again. */
static void new_file(void)
{
	char dir[] = "/tmp/weft-crash-XXXXXX", path[64];

	begin_alone();
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/backing", dir);
	disk_folders = 0;
	start_blade(&m, path);
	CHECK_EQ(disk_folders, 1);
	memd_exit(&m);
	start_blade(&m, path);
	CHECK_EQ(disk_folders, 1);
	memd_exit(&m);
	CHECK(!unlink(path));
	CHECK(!rmdir(dir));
	end_alone();
}

/* --- all of it ---------------------------------------------------------------------- */

/* What the check says is in there, too. */
static void at_end(void)
{
	printf("%s\n", said->text);
	fflush(stdout);
}

static void set_up(void)
{
	check_at_end = at_end;
	disk_make(&one);
	disk_make(&other);
	disk_make(&image);
	disk_make(&next_disk);
	boot_fd = memfd_create("boot", MFD_CLOEXEC);
	CHECK(boot_fd >= 0);
	snprintf(boot_path, sizeof(boot_path), "/proc/self/fd/%d", boot_fd);
	backing_boot_path = boot_path;
	stderr = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = say });
	CHECK(stderr && !setvbuf(stderr, NULL, _IONBF, 0));
	disk_waited = on_wait;
	disk_synced = on_sync;
	disk_leaves_out = on_leave_out;
}

/* Stories, until it is time to end. */
static void stories(u32 first, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		seed = random_stream(first, i);
		story(LIVES, 100);
	}
}

/* What is wrong with a mutant is found. */
static void try_mutant(enum mutant which, u32 first)
{
	int out[2], status;
	char text[1024] = "", *line;
	ssize_t n, len = 0;
	pid_t child;

	CHECK(!pipe(out));
	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		dup2(out[1], STDOUT_FILENO);
		mutant = which;
		stories(first, MUTANT_STORIES);
		_exit(0);
	}
	close(out[1]);
	while ((n = read(out[0], text, sizeof(text) - 1)) > 0)
		len = n;
	text[len] = 0;
	close(out[0]);
	CHECK_EQ(waitpid(child, &status, 0), child);
	line = strstr(text, "not ok: ");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1 && line,
	      "not found: %s (status %x)", mutant_name[which], status);
	line[strcspn(line, "\n")] = 0;
	printf("found: %s: %s\n", mutant_name[which], strchr(line + 8, ' ') + 1);
}

int main(int argc, char **argv)
{
	u32 first = argc > 1 ? argument_u32(argv[1]) : 1, i;

	set_up();
	stale_log();
	failing_disk();
	new_file();
	second_blade();
	if (argc > 3)
		mutant = argument_u32(argv[3]);
	stories(first, argc > 2 ? argument_u32(argv[2]) : STORIES);
	printf("lives: %u stopped, %u killed, %u with their machine, %u of them as they began\n",
	       ended[STOPPED], ended[KILLED], ended[POWER], ended_early);
	printf("%llu images, %llu times of all sets; %llu blocks, %llu older, %llu zeros\n",
	       (unsigned long long)images, (unsigned long long)full_sets,
	       (unsigned long long)blocks_seen, (unsigned long long)older,
	       (unsigned long long)zeroed);
	printf("%llu SYNC, after one in that life %llu images and %llu ends of the machine\n",
	       (unsigned long long)syncs, (unsigned long long)images_synced,
	       (unsigned long long)plugs_synced);
	printf("regions without an answer: %llu there, %llu not; removed without one: %llu there\n",
	       (unsigned long long)asked_there, (unsigned long long)asked_not,
	       (unsigned long long)gone_back);
	if (argc <= 2) {
		/* or nothing was tried */
		CHECK(ended[STOPPED] && ended[KILLED] && ended[POWER] && ended_early);
		CHECK(full_sets > 100 && older > 1000 && zeroed > 100);
		CHECK(syncs > 100 && images_synced > 1000 && plugs_synced > 10);
		CHECK(asked_there > 10 && asked_not > 10 && gone_back > 10);
	}
	for (i = NONE + 1; argc <= 2 && i < MUTANTS; i++)
		try_mutant(i, first);
	return check_result();
}
