// SPDX-License-Identifier: GPL-2.0-only
/* Frames, see frames.h. */
#include "store/frames.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "wire.h"

#define SPARE		64u		/* for new versions while memory is full */
#define SPARE_PART	16		/* in a file this part more, for what rests */
#define CACHE_LINE	64u
#define AHEAD		1024u		/* bytes of a frame */
#define LOOSE		0xFFFFFFFFu	/* next of a scanned frame without owner */

/* In @hold: how often, of a chain's first frame; it was given back, its memory as well. */
#define HELD_TIMES	0x0FFFu
#define HELD_GIVEN	0x1000u
#define HELD_BACK	0x2000u
/* Of any frame: it is free, and its memory is to be returned when the card lets go. */
#define BACK_LATE	0x4000u

/* Record of a frame: region, sum, piece, version, sum of the frame, 0. */
enum { R_REGION = 0, R_SUM = 4, R_PIECE = 8, R_VERSION = 16, R_DATA = 24 };

static void *reserve(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void unreserve(void *p, size_t len)
{
	if (p)
		munmap(p, len);
}

/* Bytes of an array by frame. */
static size_t per_frame(const struct frames *f, size_t each)
{
	return ((size_t)f->total + 1) * each;
}

int frames_init(struct frames *f, u64 memory, struct backing *b, char *err)
{
	u64 ram = (u64)sysconf(_SC_PHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE);

	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	f->backing = b;
	if (b->fd >= 0 && flush_open(&f->flush, b->fd, false))
		return fail(err, "cannot open %s once more: %s", b->path, strerror(errno));
	f->fresh = 1;
	f->total = (u32)(memory / FRAME_SIZE) + SPARE;
	if (b->fd >= 0)
		f->total += f->total / SPARE_PART;
	if (b->fd >= 0 && b->frames > f->total)
		f->total = b->frames;
	if (b->fd < 0 && memory > ram)
		return fail(err, "this machine has %llu MiB of memory: say --memory with less, or --backing FILE",
			    (unsigned long long)(ram >> 20));
	f->next = reserve(per_frame(f, sizeof(*f->next)));
	if (b->fd < 0)
		f->mem = reserve((size_t)f->total * FRAME_SIZE);
	else
		f->sum = reserve(per_frame(f, sizeof(*f->sum)));
	if (!f->next || (!f->mem && !f->sum))
		return fail(err, "cannot reserve memory: say --memory with less than %llu MiB",
			    (unsigned long long)(memory >> 20));
	return 0;
}

/* A few instructions at a time, and only for who writes: one lock does for all. */
static void lock(struct frames *f)
{
	if (f->shared)
		pthread_mutex_lock(&f->lock);
}

static void unlock(struct frames *f)
{
	if (f->shared)
		pthread_mutex_unlock(&f->lock);
}

static bool in_file(const struct frames *f)
{
	return f->backing->fd >= 0;
}

bool frames_keep_hashes(struct frames *f, u32 fragment)
{
	if (in_file(f))
		return true;
	f->fragment = fragment;
	f->hashes = (FRAME_SIZE + fragment - 1) / fragment;
	f->hash = reserve(per_frame(f, f->hashes * sizeof(*f->hash)));
	if (!f->hash)
		f->hashes = 0;
	return f->hash;
}

static void end_flush(struct frames *f)
{
	/*
	 * The kernel says it once and forgets it, so that waiting for better times is of
	 * no use: who reads the log knows that this machine must not end now.
	 */
	if (flush_end(&f->flush))
		backing_fails(f->backing);
	f->flushed = f->flushing;
	f->flushing = (struct rest){ 0 };
}

void frames_exit(struct frames *f)
{
	if (f->flush.running)
		end_flush(f);
	flush_close(&f->flush);
	unreserve(f->next, per_frame(f, sizeof(*f->next)));
	unreserve(f->mem, (size_t)f->total * FRAME_SIZE);
	unreserve(f->hash, per_frame(f, f->hashes * sizeof(*f->hash)));
	unreserve(f->sum, per_frame(f, sizeof(*f->sum)));
	frames_detach(f);
}

static void put_free(struct frames *f, u32 frame)
{
	f->next[frame] = f->free;
	f->free = frame;
	f->n_free++;
}

/* Never 0. */
static u32 sum_of(const u8 *data)
{
	u32 sum = weft_wire_psum(data, FRAME_SIZE);

	return sum ? sum : 1;
}

static void pack_record(u8 *r, u32 region, u64 piece, u64 version, u32 sum)
{
	memset(r, 0, FRAME_RECORD);
	put_unaligned_be32(region, r + R_REGION);
	put_unaligned_be64(piece, r + R_PIECE);
	put_unaligned_be64(version, r + R_VERSION);
	put_unaligned_be32(sum, r + R_DATA);
	put_unaligned_be32(weft_wire_psum(r, FRAME_RECORD), r + R_SUM);
}

static bool unpack_record(const u8 *r, struct frame_id *id)
{
	u8 copy[FRAME_RECORD];

	id->region = get_unaligned_be32(r + R_REGION);
	id->piece = get_unaligned_be64(r + R_PIECE);
	id->version = get_unaligned_be64(r + R_VERSION);
	id->sum = get_unaligned_be32(r + R_DATA);
	if (!id->region)
		return false;
	pack_record(copy, id->region, id->piece, id->version, id->sum);
	return !memcmp(r, copy, FRAME_RECORD);
}

/* Of one that has new contents. */
static void forget_hashes(struct frames *f, u32 frame)
{
	u32 i;

	for (i = 0; i < f->hashes; i++)
		f->hash[(size_t)frame * f->hashes + i] = 0;
}

static int write_frame(struct frames *f, u32 frame, const u8 *data, u32 region,
		       u64 piece, u64 version)
{
	u8 r[FRAME_RECORD];

	if (!in_file(f)) {
		memcpy(frames_memory(f, frame), data, FRAME_SIZE);
		forget_hashes(f, frame);
		return 0;
	}
	pack_record(r, region, piece, version, sum_of(data));
	if (backing_write(f->backing, data, FRAME_SIZE, backing_frame_at(frame)) ||
	    backing_write(f->backing, r, sizeof(r), backing_record_at(frame))) {
		log_warn("cannot write to %s: %s", f->backing->path,
			 strerror(errno));
		return -1;
	}
	return 0;
}

/* --- giving back and taking ---------------------------------------------------- */

static void clear_record(struct frames *f, u32 frame)
{
	static const u8 none[FRAME_RECORD];

	if (backing_write(f->backing, none, sizeof(none),
			  backing_record_at(frame)))
		log_warn("cannot write to %s: %s", f->backing->path,
			 strerror(errno));
}

static void give_back_memory(struct frames *f, u32 from, u32 to)
{
	u32 end, i;

	for (; from < to; from = end) {
		end = (frames_chunk(from) + 1) * FRAMES_PER_CHUNK + 1;
		if (end > to || !f->card)
			end = to;
		if (!f->card || f->card->let_go(f->card, from, end)) {
			/* if it fails the memory stays ours: no harm */
			(void)!madvise(frames_memory(f, from),
				       (size_t)(end - from) * FRAME_SIZE, MADV_DONTNEED);
			continue;
		}
		for (i = from; i < end; i++)
			f->hold[i] |= BACK_LATE;
	}
}

static void give_back_run(struct frames *f)
{
	u32 from = f->back_from, to = f->back_to, end;

	f->back_from = 0;
	f->back_to = 0;
	if (from == to)
		return;
	if (!in_file(f)) {
		give_back_memory(f, from, to);
		return;
	}
	for (; from < to; from = end) {
		end = (from - 1) / FRAMES_PER_GROUP * FRAMES_PER_GROUP +
		      FRAMES_PER_GROUP + 1;
		if (end > to)
			end = to;
		/* whose records are cleared: it does not matter whether there are holes */
		if (!fallocate(f->backing->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			       (off_t)backing_frame_at(from), (off_t)(end - from) * FRAME_SIZE))
			backing_zeroed(f->backing, (u64)(end - from) * FRAME_SIZE,
				       backing_frame_at(from));
	}
}

void frames_give_back(struct frames *f)
{
	lock(f);
	give_back_run(f);
	unlock(f);
}

static void add_to_back(struct frames *f, u32 frame)
{
	if (f->back_from != f->back_to && frame == f->back_to) {
		f->back_to++;
	} else if (f->back_from != f->back_to && frame + 1 == f->back_from) {
		f->back_from--;
	} else {
		give_back_run(f);
		f->back_from = frame;
		f->back_to = frame + 1;
	}
}

static bool is_empty(const struct rest *r)
{
	return !r->first[0] && !r->first[1];
}

static void put_to_rest(struct frames *f, u32 frame, bool give_back)
{
	f->next[frame] = f->resting.first[give_back];
	f->resting.first[give_back] = frame;
}

/* Is a chain held that is given back?  Then it is later, by whoever lets go of it. */
static bool is_held(struct frames *f, u32 first, bool give_back)
{
	u32 n = 0;

	if (!f->hold || !first || !(f->hold[first] & HELD_TIMES))
		return false;
	f->hold[first] |= HELD_GIVEN | (give_back ? HELD_BACK : 0);
	for (; first; first = f->next[first])
		n++;
	f->held += n;
	return true;
}

static void release_in_file(struct frames *f, u32 first, bool give_back)
{
	while (first) {
		u32 next = f->next[first];

		f->used--;
		f->sum[first] = 0;
		put_to_rest(f, first, give_back);
		first = next;
	}
}

/*
 * Whoever takes them next gets them in the order in which they were: frames that were in one
 * piece for a card are again.
 */
static void release(struct frames *f, u32 first, bool give_back)
{
	u32 frame = first, last = first;

	if (in_file(f)) {
		release_in_file(f, first, give_back);
		return;
	}
	for (; frame; frame = f->next[frame]) {
		f->used--;
		f->n_free++;
		if (give_back)
			add_to_back(f, frame);
		last = frame;
	}
	if (!first)
		return;
	f->next[last] = f->free;
	f->free = first;
}

void frames_unmark(struct frames *f, u32 first)
{
	if (!f->mark || !f->mark[first])
		return;
	__atomic_store_n(&f->mark[first], 0, __ATOMIC_RELEASE);
	/* a release orders what was before it; here it is what comes after that is to be so */
	__sync_synchronize();
}

void frames_release(struct frames *f, u32 first, bool give_back)
{
	/* also of a chain that a card holds: its contents are not the block's any more */
	frames_unmark(f, first);
	lock(f);
	if (!is_held(f, first, give_back))
		release(f, first, give_back);
	unlock(f);
}

/* --- held ---------------------------------------------------------------------- */

bool frames_attach(struct frames *f, struct frames_card *card)
{
	if (in_file(f))
		return false;
	f->hold = reserve(per_frame(f, sizeof(*f->hold)));
	if (!f->hold)
		return false;
	f->card = card;
	return true;
}

void frames_detach(struct frames *f)
{
	unreserve(f->hold, per_frame(f, sizeof(*f->hold)));
	f->hold = NULL;
	f->card = NULL;
}

bool frames_hold(struct frames *f, u32 first)
{
	bool can;

	lock(f);
	can = f->hold && (f->hold[first] & HELD_TIMES) < HELD_TIMES;
	if (can)
		f->hold[first]++;
	unlock(f);
	return can;
}

void frames_drop(struct frames *f, u32 first)
{
	u32 n = 0, i;
	bool back;

	lock(f);
	if (!(--f->hold[first] & HELD_TIMES) && f->hold[first] & HELD_GIVEN) {
		back = f->hold[first] & HELD_BACK;
		f->hold[first] = 0;
		for (i = first; i; i = f->next[i])
			n++;
		f->held -= n;
		release(f, first, back);
		give_back_run(f);
	}
	unlock(f);
}

void frames_back_late(struct frames *f, u32 chunk)
{
	u32 frame = chunk * FRAMES_PER_CHUNK + 1, end = frame + FRAMES_PER_CHUNK;

	lock(f);
	for (; frame < end && frame <= f->total; frame++) {
		if (!(f->hold[frame] & BACK_LATE))
			continue;
		f->hold[frame] &= (u16)~BACK_LATE;
		add_to_back(f, frame);
	}
	give_back_run(f);
	unlock(f);
}

static bool settle(struct frames *f, u32 n)
{
	u32 i, frame;

	for (i = 0; i < 2; i++) {
		while (n && (frame = f->flushed.first[i])) {
			f->flushed.first[i] = f->next[frame];
			clear_record(f, frame);
			if (i)
				add_to_back(f, frame);
			put_free(f, frame);
			n--;
		}
	}
	give_back_run(f);
	return !is_empty(&f->flushed);
}

bool frames_settle(struct frames *f, u32 n)
{
	bool more;

	lock(f);
	more = settle(f, n);
	unlock(f);
	return more;
}

bool frames_flush(struct frames *f)
{
	if (f->flush.running) {
		if (flush_over(&f->flush))
			end_flush(f);
		return f->flush.running;
	}
	/* first what the last one has left, so that there are no more than three lists */
	if (!in_file(f) || !is_empty(&f->flushed) ||
	    (is_empty(&f->resting) && !f->backing->dirty))
		return false;
	f->flushing = f->resting;
	f->resting = (struct rest){ 0 };
	f->backing->dirty = false;
	flush_begin(&f->flush, 0, 0);
	return true;
}

static u32 take_one(struct frames *f)
{
	u32 frame = f->free;

	if (frame) {
		f->free = f->next[frame];
		f->n_free--;
	} else if (f->fresh <= f->total) {
		frame = f->fresh++;
	}
	if (frame) {
		f->next[frame] = FRAME_NONE;
		f->used++;
		if (f->hold)
			f->hold[frame] = 0;
	}
	return frame;
}

/*
 * A chain of @n frames, or FRAME_NONE.  All at once: other threads would get what stands between,
 * and a card can read in one piece what stands together.
 */
static u32 take(struct frames *f, u32 n)
{
	u32 first = FRAME_NONE, *link = &first;

	lock(f);
	for (; n && (*link = take_one(f)); n--)
		link = &f->next[*link];
	if (n) {
		release(f, first, false);
		first = FRAME_NONE;
	}
	unlock(f);
	return first;
}

static bool has(const struct frames *f, u32 n)
{
	return f->n_free + (f->total + 1 - f->fresh) >= n;
}

/* As many are free. */
static bool make_free(struct frames *f, u32 n, bool *later)
{
	bool enough;

	lock(f);
	if (!has(f, n) && in_file(f))
		settle(f, FRAMES_PER_GROUP);
	enough = has(f, n);
	*later = !enough && (!is_empty(&f->resting) || !is_empty(&f->flushing) ||
			     !is_empty(&f->flushed) || f->held);
	unlock(f);
	return enough;
}

/* --- contents ------------------------------------------------------------------ */

u32 frames_store(struct frames *f, u32 region, u64 piece, u32 n, u64 version,
		 const u8 *data, bool *later)
{
	u32 first, frame, i;

	if (!make_free(f, n, later))
		return FRAME_NONE;
	first = take(f, n);
	for (frame = first, i = 0; frame; frame = f->next[frame], i++) {
		if (!write_frame(f, frame, data + (size_t)i * FRAME_SIZE, region, piece + i,
				 version))
			continue;
		frames_release(f, first, false);
		return FRAME_NONE;
	}
	return first;
}

u64 *frames_hash(const struct frames *f, u32 first, u32 offset)
{
	if (!f->hash)
		return NULL;
	for (; offset >= FRAME_SIZE; offset -= FRAME_SIZE)
		first = f->next[first];
	/* fragments that begin in one frame begin in different parts of that length */
	return &f->hash[(size_t)first * f->hashes + offset / f->fragment];
}

int frames_load(struct frames *f, u32 first, u32 offset, void *buf, u32 len)
{
	u8 *to = buf;

	for (; offset >= FRAME_SIZE; offset -= FRAME_SIZE)
		first = f->next[first];
	while (len) {
		u32 n = FRAME_SIZE - offset < len ? FRAME_SIZE - offset : len;

		if (!in_file(f)) {
			memcpy(to, frames_memory(f, first) + offset, n);
		} else if (backing_read(f->backing, to, n,
					backing_frame_at(first) + offset)) {
			log_warn("cannot read %s: %s", f->backing->path,
				 strerror(errno));
			return -1;
		}
		to += n;
		len -= n;
		offset = 0;
		first = f->next[first];
	}
	return 0;
}

/*
 * The processor finds out by itself that a frame is read in order, but not across the
 * border of a page: it needs the beginning only.
 */
void frames_ahead(const struct frames *f, u32 first)
{
	const u8 *at;
	u32 i;

	if (in_file(f))
		return;
	if (f->hash)
		__builtin_prefetch(&f->hash[(size_t)first * f->hashes], 1);
	at = frames_memory(f, first);
	for (i = 0; i < AHEAD; i += CACHE_LINE)
		__builtin_prefetch(at + i);
}

/* --- after a restart -------------------------------------------------------- */

/* Write a frame once more: the kernel may take for written what is not on the disk. */
static int write_again(struct frames *f, u32 frame)
{
	u8 page[FRAME_SIZE];

	return backing_read(f->backing, page, sizeof(page), backing_frame_at(frame)) ||
	       backing_write(f->backing, page, sizeof(page), backing_frame_at(frame)) ? -1 : 0;
}

int frames_scan(struct frames *f, struct frame_id **ids, size_t *n)
{
	size_t room = 1024;
	u8 page[FRAME_SIZE];
	u32 first, i;

	*n = 0;
	*ids = malloc(room * sizeof(**ids));
	if (!*ids)
		return -1;
	for (first = 1; first <= f->backing->frames; first += FRAMES_PER_GROUP) {
		if (backing_read(f->backing, page, sizeof(page),
				 backing_record_at(first)) ||
		    (f->backing->unwritten &&
		     backing_write(f->backing, page, sizeof(page), backing_record_at(first))))
			return -1;
		for (i = 0; i < FRAMES_PER_GROUP; i++) {
			f->next[first + i] = LOOSE;
			if (!unpack_record(page + (size_t)i * FRAME_RECORD,
					   &(*ids)[*n]))
				continue;
			(*ids)[*n].frame = first + i;
			if (f->backing->unwritten && write_again(f, first + i))
				return -1;
			if (++*n == room) {
				struct frame_id *more =
					realloc(*ids, 2 * room * sizeof(**ids));

				if (!more)
					return -1;
				*ids = more;
				room *= 2;
			}
		}
	}
	f->fresh = f->backing->frames + 1;
	return 0;
}

bool frames_intact(struct frames *f, const struct frame_id *id)
{
	u8 data[FRAME_SIZE];

	return !backing_read(f->backing, data, sizeof(data),
			     backing_frame_at(id->frame)) &&
	       sum_of(data) == id->sum;
}

void frames_claim(struct frames *f, const struct frame_id *id, u32 next)
{
	f->next[id->frame] = next;
	f->sum[id->frame] = id->sum;
	f->used++;
}

bool frames_check(struct frames *f, u32 first)
{
	u8 data[FRAME_SIZE];

	for (; in_file(f) && first; first = f->next[first]) {
		if (!f->sum[first])
			continue;
		/* a read may succeed later; frames_load() reports that it fails */
		if (backing_read(f->backing, data, sizeof(data),
				 backing_frame_at(first)))
			continue;
		if (sum_of(data) != f->sum[first])
			return false;
		f->sum[first] = 0;
	}
	return true;
}

/* Has a frame a record that nobody has claimed? */
static bool is_left(struct frames *f, u32 frame)
{
	u8 r[FRAME_RECORD];
	struct frame_id id;

	return f->next[frame] == LOOSE &&
	       !backing_read(f->backing, r, sizeof(r), backing_record_at(frame)) &&
	       unpack_record(r, &id);
}

int frames_scanned(struct frames *f)
{
	bool synced = false;
	u32 frame;

	for (frame = f->fresh - 1; frame; frame--) {
		/* a restart would take the record for a block's */
		if (is_left(f, frame)) {
			/* the newer version may not be on the disk, if only the process ended */
			if (!synced && fdatasync(f->backing->fd))
				return -1;
			synced = true;
			clear_record(f, frame);
		}
		if (f->next[frame] == LOOSE)
			put_free(f, frame);
	}
	return 0;
}
