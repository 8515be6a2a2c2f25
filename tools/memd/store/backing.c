// SPDX-License-Identifier: GPL-2.0-only
/* Backing file, see backing.h. */
#include "store/backing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/flush.h"
#include "base/log.h"
#include "wire.h"

#define FORMAT		2u
#define SUPER_SIZE	4096u
#define LOGS_AT		(2 * SUPER_SIZE)
#define GROUPS_AT	(LOGS_AT + 2ull * BACKING_LOG_BYTES)
#define GROUP_SIZE	((1ull + FRAMES_PER_GROUP) * FRAME_SIZE)

static const u8 magic[8] = { 'w', 'e', 'f', 't', 'm', 'e', 'm', 'd' };

/* Superblock: magic, format, sum of the rest, blade, number of blades, ... */
enum {
	S_MAGIC = 0, S_FORMAT = 8, S_SUM = 12, S_BLADE = 16, S_BLADES = 20,
	S_GENERATION = 24, S_LOG_BYTES = 28, S_FRAME = 32, S_LEN = 64,
};

/* The mark of its user: magic, sum of the rest, in use or not, boot. */
enum {
	U_MAGIC = 0, U_SUM = 4, U_USED = 8, U_BOOT = 12, U_LEN = U_BOOT + BACKING_BOOT_LEN,
};

#define USE_MAGIC	0x75736564u
#define USE_NONE	0u
#define USE_HERE	1u
#define USE_FAILED	2u	/* and something did not get to the disk */

const char *backing_boot_path = "/proc/sys/kernel/random/boot_id";

u64 backing_log_at(u32 gen)
{
	return LOGS_AT + (u64)(gen & 1) * BACKING_LOG_BYTES;
}

u64 backing_frame_at(u32 frame)
{
	u32 i = frame - 1;

	return GROUPS_AT + i / FRAMES_PER_GROUP * GROUP_SIZE +
	       (1ull + i % FRAMES_PER_GROUP) * FRAME_SIZE;
}

u64 backing_record_at(u32 frame)
{
	u32 i = frame - 1;

	return GROUPS_AT + i / FRAMES_PER_GROUP * GROUP_SIZE +
	       (u64)(i % FRAMES_PER_GROUP) * FRAME_RECORD;
}

/* All of it, and no copy of it anywhere. */
static int write_here(struct backing *b, const void *buf, size_t len, u64 at)
{
	bool bad = flush_write(b->fd, buf, len, at);

	/* not before: a sync that begins meanwhile does not have it */
	if (!bad)
		__atomic_store_n(&b->dirty, true, __ATOMIC_RELAXED);
	/* others write, too: no need to take the line from them each time */
	if (__atomic_load_n(&b->refuses, __ATOMIC_RELAXED) != bad)
		__atomic_store_n(&b->refuses, bad, __ATOMIC_RELAXED);
	return bad ? -1 : 0;
}

int backing_write(struct backing *b, const void *buf, size_t len, u64 at)
{
	if (write_here(b, buf, len, at))
		return -1;
	if (b->ship)
		b->ship(b->shipper, buf, len, at);
	return 0;
}

void backing_zeroed(struct backing *b, u64 len, u64 at)
{
	if (b->ship)
		b->ship(b->shipper, NULL, len, at);
}

int backing_read(struct backing *b, void *buf, size_t len, u64 at)
{
	u8 *p = buf;
	ssize_t n;

	while (len) {
		n = pread(b->fd, p, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n) {
			memset(p, 0, len);
			return 0;
		}
		p += n;
		at += (u64)n;
		len -= (size_t)n;
	}
	return 0;
}

void backing_boot(u8 boot[BACKING_BOOT_LEN])
{
	int fd = open(backing_boot_path, O_RDONLY | O_CLOEXEC);

	memset(boot, 0, BACKING_BOOT_LEN);
	if (fd < 0)
		return;
	if (read(fd, boot, BACKING_BOOT_LEN) != BACKING_BOOT_LEN)
		memset(boot, 0, BACKING_BOOT_LEN);
	close(fd);
}

static int write_use(struct backing *b, u32 used)
{
	u8 u[U_LEN] = { 0 };

	put_unaligned_be32(USE_MAGIC, u + U_MAGIC);
	put_unaligned_be32(used, u + U_USED);
	backing_boot(u + U_BOOT);
	put_unaligned_be32(weft_wire_psum(u + U_USED, U_LEN - U_USED), u + U_SUM);
	return write_here(b, u, sizeof(u), BACKING_USE_AT);
}

int backing_sync(struct backing *b, u64 at, size_t len)
{
	if (!flush_part(b->fd, at, len))
		return 0;
	backing_fails(b);
	return -1;
}

void backing_fails(struct backing *b)
{
	int err = errno;

	/* for who begins anew in this boot; if it cannot be written there is nothing worse to say */
	if (!b->failed)
		(void)write_use(b, USE_FAILED);
	b->failed = true;
	log_say("%s does not get to the disk: %s; what was written to it lately does not survive the end of this machine",
		b->path, strerror(err));
	errno = err;
}

static int write_super(struct backing *b, const struct options *o, u32 gen)
{
	u8 s[S_LEN];

	b->blades = o->blades;
	memset(s, 0, sizeof(s));
	memcpy(s + S_MAGIC, magic, sizeof(magic));
	put_unaligned_be32(FORMAT, s + S_FORMAT);
	put_unaligned_be32(o->id, s + S_BLADE);
	put_unaligned_be32(o->blades, s + S_BLADES);
	put_unaligned_be32(gen, s + S_GENERATION);
	put_unaligned_be32(BACKING_LOG_BYTES, s + S_LOG_BYTES);
	put_unaligned_be32(FRAME_SIZE, s + S_FRAME);
	put_unaligned_be32(weft_wire_psum(s + S_BLADE, S_LEN - S_BLADE),
			   s + S_SUM);
	return backing_write(b, s, sizeof(s), (u64)(gen & 1) * SUPER_SIZE);
}

/*
 * Whatever is there, where the file system makes no holes: only what is not zeros; unless what
 * reads as zeros may be something else on the disk.
 */
static int write_zeros(struct backing *b, u64 at, u32 len)
{
	static const u8 none[FRAME_SIZE];
	u8 page[FRAME_SIZE];

	for (; len; at += sizeof(page), len -= (u32)sizeof(page))
		if (backing_read(b, page, sizeof(page), at) ||
		    ((b->failed || memcmp(page, none, sizeof(page)) != 0) &&
		     write_here(b, none, sizeof(none), at)))
			return -1;
	return 0;
}

/* Return: 0: the half of the log that the disk says is in use is the one that is. */
static int settle_super(struct backing *b, const struct options *o)
{
	if (b->unsettled && (write_super(b, o, b->generation) ||
			     backing_sync(b, 0, 2 * SUPER_SIZE)))
		return -1;
	b->unsettled = false;
	return 0;
}

int backing_empty_log(struct backing *b, const struct options *o)
{
	u64 at = backing_log_at(b->generation + 1);

	if (settle_super(b, o))
		return -1;
	if (fallocate(b->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
		      BACKING_LOG_BYTES) &&
	    write_zeros(b, at, BACKING_LOG_BYTES))
		return -1;
	backing_zeroed(b, BACKING_LOG_BYTES, at);
	return 0;
}

int backing_switch_log(struct backing *b, const struct options *o)
{
	/* the half gets to the disk before the superblock: all of it, also its empty part */
	if (backing_sync(b, backing_log_at(b->generation + 1), BACKING_LOG_BYTES) ||
	    write_super(b, o, b->generation + 1))
		return -1;
	/* a reader takes this half from now on, whatever is on the disk */
	b->generation++;
	b->unsettled = backing_sync(b, 0, 2 * SUPER_SIZE);
	return 0;
}

/*
 * A new file: it is one when its name is on the disk, too.  Else all of it may be missing
 * some day, and its numbers would be given again.
 */
static int make_file(struct backing *b, const struct options *o)
{
	return write_super(b, o, 0) || fdatasync(b->fd) || flush_name(b->path) ? -1 : 0;
}

/* Also one that was to be made, and of which nothing but its length got to the disk. */
bool backing_is_blank(int fd, u64 size)
{
	u8 s[2 * SUPER_SIZE];
	size_t i;
	ssize_t n;

	if (size > sizeof(s))
		return false;
	n = pread(fd, s, size, 0);
	/* which of two machines serves is noted before there is anything to serve */
	memset(s + BACKING_PAIR_AT, 0, BACKING_SECTOR);
	for (i = 0; n > 0 && i < (size_t)n && !s[i]; i++)
		;
	return n >= 0 && i == (size_t)n;
}

/* Return: whether @s is a whole superblock of this program, of any format. */
static bool is_super(const u8 *s)
{
	return !memcmp(s + S_MAGIC, magic, sizeof(magic)) &&
	       (get_unaligned_be32(s + S_FORMAT) != FORMAT ||
		get_unaligned_be32(s + S_SUM) ==
		weft_wire_psum(s + S_BLADE, S_LEN - S_BLADE));
}

static int check_super(struct backing *b, const struct options *o, const u8 *s,
		       char *err)
{
	u32 blade = get_unaligned_be32(s + S_BLADE);
	u32 blades = get_unaligned_be32(s + S_BLADES);

	if (get_unaligned_be32(s + S_FORMAT) != FORMAT)
		return fail(err, "%s has format %u, this weft-memd knows format %u only",
			    b->path, get_unaligned_be32(s + S_FORMAT), FORMAT);
	if (get_unaligned_be32(s + S_LOG_BYTES) != BACKING_LOG_BYTES ||
	    get_unaligned_be32(s + S_FRAME) != FRAME_SIZE)
		return fail(err, "%s was made by a weft-memd that was built otherwise",
			    b->path);
	if (blade != o->id)
		return fail(err, "%s belongs to blade %u, this is blade %u: name another file",
			    b->path, blade - WEFT_BLADE_MIN + 1,
			    options_blade(o) + 1);
	/* blades can be added: regions say which are their homes */
	if (blades > o->blades)
		return fail(err, "%s is part of a rack of %u blades, --peers says %u: name them all, also those that are not used any more",
			    b->path, blades, o->blades);
	b->blades = blades;
	b->generation = get_unaligned_be32(s + S_GENERATION);
	return 0;
}

static int load_super(struct backing *b, const struct options *o, char *err)
{
	u8 s[2][SUPER_SIZE];
	bool ok[2];
	int use, i;

	if (backing_read(b, s, sizeof(s), 0))
		return fail(err, "cannot read %s: %s", b->path, strerror(errno));
	for (i = 0; i < 2; i++)
		ok[i] = is_super(s[i]);
	if (!ok[0] && !ok[1])
		return fail(err, "%s is not a backing file of weft-memd, or its beginning is damaged: name another one, or remove it",
			    b->path);
	use = ok[1] && (!ok[0] || (int)(get_unaligned_be32(s[1] + S_GENERATION) -
					get_unaligned_be32(s[0] + S_GENERATION)) > 0);
	return check_super(b, o, s[use], err);
}

/*
 * Has its last user ended with its machine?  A file that nobody has marked, as it is
 * older, does not say.
 */
static int load_use(struct backing *b)
{
	u8 u[U_LEN], boot[BACKING_BOOT_LEN];
	u32 used;

	if (backing_read(b, u, sizeof(u), BACKING_USE_AT))
		return -1;
	backing_boot(boot);
	if (get_unaligned_be32(u + U_MAGIC) != USE_MAGIC ||
	    get_unaligned_be32(u + U_SUM) != weft_wire_psum(u + U_USED, U_LEN - U_USED))
		return 0;
	used = get_unaligned_be32(u + U_USED);
	b->crashed = used != USE_NONE &&
		     (!boot[0] || memcmp(u + U_BOOT, boot, BACKING_BOOT_LEN) != 0);
	b->unwritten = used == USE_FAILED && !b->crashed;
	return 0;
}

int backing_begin(struct backing *b)
{
	return write_use(b, USE_HERE) || backing_sync(b, 0, SUPER_SIZE) ? -1 : 0;
}

static void check_room(const struct backing *b, const struct options *o, u64 have)
{
	struct statvfs fs;

	if (fstatvfs(b->fd, &fs) || have >= o->memory)
		return;
	if ((u64)fs.f_bavail * fs.f_frsize < o->memory - have)
		log_say("%s: its file system has %llu MiB free, less than --memory may come to need",
			b->path, (unsigned long long)
			((u64)fs.f_bavail * fs.f_frsize >> 20));
}

int backing_open(struct backing *b, const struct options *o, char *err)
{
	struct stat st;

	memset(b, 0, sizeof(*b));
	b->fd = -1;
	b->path = o->backing;
	if (!b->path)
		return 0;
	b->fd = open(b->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (b->fd < 0)
		return fail(err, "cannot open %s: %s", b->path, strerror(errno));
	if (flock(b->fd, LOCK_EX | LOCK_NB))
		return fail(err, "%s is in use: is another weft-memd running?",
			    b->path);
	if (fstat(b->fd, &st) || !S_ISREG(st.st_mode))
		return fail(err, "%s is not a regular file", b->path);
	check_room(b, o, (u64)st.st_blocks * 512);
	if (backing_is_blank(b->fd, (u64)st.st_size)) {
		if (make_file(b, o))
			return fail(err, "cannot write to %s: %s", b->path,
				    strerror(errno));
		return 0;
	}
	if ((u64)st.st_size > GROUPS_AT) {
		u64 groups = ((u64)st.st_size - GROUPS_AT + GROUP_SIZE - 1) /
			     GROUP_SIZE;

		if (groups * FRAMES_PER_GROUP > 0x7FFFFFFF)
			return fail(err, "%s is too large", b->path);
		b->frames = (u32)groups * FRAMES_PER_GROUP;
	}
	if (load_use(b))
		return fail(err, "cannot read %s: %s", b->path, strerror(errno));
	b->taken = o->role.taken;
	b->crashed |= b->taken;
	return load_super(b, o, err);
}

void backing_close(struct backing *b)
{
	if (b->fd < 0)
		return;
	/*
	 * Nobody may take it for complete that is not.  What the kernel could not write once
	 * it may believe to be written now: the mark stays.
	 */
	if (fsync(b->fd) || (!b->failed && (write_use(b, USE_NONE) || backing_sync(b, 0, SUPER_SIZE))))
		log_say("%s may be incomplete on disk: %s", b->path,
			strerror(errno));
	close(b->fd);
	b->fd = -1;
}
