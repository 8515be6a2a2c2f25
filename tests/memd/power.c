// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine of a memory blade ends: what a backing file says then, whichever part of
 * what was written since it was last brought to the disk had got there.
 *
 * All that the blade writes is recorded, sector by sector, with what each call of
 * fdatasync() and msync() has made durable.  Then the disk is put together as it may
 * have been at some moment, each sector as any of the writes since has left it, and the
 * blade is started from it.  Each block must have contents that it had, of the last time
 * that they are known to be on the disk or later, or the log says which block is lost;
 * and if anything is older than it was the log says that it may be.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rig.h"
#include "tests/common/argument.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/base/flush.h"
#include "tools/memd/catalog/journal.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/blocks.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/udp.h"
#include "tools/memd/store/backing.h"
#include "tools/memd/store/frames.h"

#define SECTOR		512u
#define BLOCKS		6u	/* of each region */
#define REGIONS		2u
#define VERSIONS	200u	/* of a block */
#define STEPS		1200u	/* of what happens to it */
#define DISKS		12u	/* that are tried for each moment */
#define MOMENT		10u	/* steps from one to the next */
#define SECTORS_MAX	65536u	/* of the file, numbered as they are first written */
#define LOG_MAX		65536u

static const u32 block_size[REGIONS] = { 4096, 16384 };

/* --- the disk ----------------------------------------------------------------- */

struct content {
	struct content *next;	/* later */
	u64 time;
	u8 data[SECTOR];
};

/* A sector: what it has on the disk for certain, and what was written since. */
static struct sector {
	u64 at;
	u8 durable[SECTOR];
	struct content *since;
} sectors[SECTORS_MAX];

static u32 n_sectors;
static u64 now;			/* counts writes */
static int recorded = -1;	/* the file whose writes are */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct sector *sector(u64 at)
{
	u32 i;

	for (i = 0; i < n_sectors; i++)
		if (sectors[i].at == at)
			return &sectors[i];
	if (n_sectors == SECTORS_MAX)
		CHECK_FAIL("too many sectors");
	sectors[n_sectors].at = at;
	return &sectors[n_sectors++];
}

static void record(const u8 *data, size_t len, u64 at)
{
	pthread_mutex_lock(&lock);
	now++;
	while (len) {
		u32 in = (u32)(at % SECTOR);
		u32 n = SECTOR - in < len ? SECTOR - in : (u32)len;
		struct sector *s = sector(at - in);
		struct content *c = malloc(sizeof(*c)), **p = &s->since, *last = NULL;

		if (!c)
			CHECK_FAIL("out of memory");
		for (; *p; p = &(*p)->next)
			last = *p;
		memcpy(c->data, last ? last->data : s->durable, SECTOR);
		memcpy(c->data + in, data, n);
		c->time = now;
		c->next = NULL;
		*p = c;
		data += n;
		at += n;
		len -= n;
	}
	pthread_mutex_unlock(&lock);
}

/* What was written up to @time is durable, in a part of the file. */
static void settle(u64 time, u64 from, u64 to)
{
	u32 i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < n_sectors; i++) {
		struct sector *s = &sectors[i];

		while (s->at >= from && s->at < to && s->since && s->since->time <= time) {
			struct content *c = s->since;

			memcpy(s->durable, c->data, SECTOR);
			s->since = c->next;
			free(c);
		}
	}
	pthread_mutex_unlock(&lock);
}

/* Is it the file, by whichever of those that have it open? */
static bool is_recorded(int fd)
{
	struct stat a, b;

	return recorded >= 0 && !fstat(fd, &a) && !fstat(recorded, &b) &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* In the place of libc's. */
ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
	ssize_t n = syscall(SYS_pwrite64, fd, buf, len, at);

	if (n > 0 && is_recorded(fd))
		record(buf, (size_t)n, (u64)at);
	return n;
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off_t at)
{
	return pwrite(fd, buf, len, at);
}

static u64 flushes;
static int real_stderr;

int fdatasync(int fd)
{
	/* what comes while it is at it is not in it */
	u64 time = now;

	if (is_recorded(fd)) {
		settle(time, 0, ~0ull);
		flushes++;
	}
	return 0;
}

int fsync(int fd)
{
	return fdatasync(fd);
}

int msync(void *addr, size_t len, int flags)
{
	/* the superblocks, the log: nothing else is mapped */
	(void)addr;
	(void)flags;
	if (recorded < 0)
		return 0;
	settle(now, 0, len < 8192 + 2ull * BACKING_LOG_BYTES ?
	       8192 + 2ull * BACKING_LOG_BYTES : len);
	return 0;
}

/*
 * A disk as it may have been: @how 0: with nothing of what is not durable; 1: with all; 2:
 * in the order of time up to some moment; 3: one sector without what all others have; 4:
 * with it alone; else: each sector as it pleases.
 */
static void make_disk(const char *path, u32 how)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	u64 until = how == 2 ? now - rig_random(40) : now;
	u32 odd = rig_random(n_sectors), i, k;

	CHECK(fd >= 0);
	/* sectors that have something not durable are the interesting ones */
	for (k = 0; k < n_sectors && !sectors[odd].since; k++)
		odd = (odd + 1) % n_sectors;
	for (i = 0; i < n_sectors; i++) {
		const u8 *data = sectors[i].durable;
		struct content *c;
		u32 n = 0, take;

		for (c = sectors[i].since; c; c = c->next)
			n += c->time <= until;
		take = how == 0 ? 0 : how <= 2 ? n : how == 3 ? (i == odd ? 0 : n) :
		       how == 4 ? (i == odd ? n : 0) : rig_random(n + 1);
		for (c = sectors[i].since; take--; c = c->next)
			data = c->data;
		CHECK_EQ(syscall(SYS_pwrite64, fd, data, SECTOR, sectors[i].at), SECTOR);
	}
	close(fd);
}

/* --- what was written home ----------------------------------------------------- */

struct history {
	u64 time[VERSIONS];	/* after which it was all handed to the kernel */
	u32 n;			/* contents 1..n, in this order */
	u32 durable;		/* the last that must be on the disk */
};

static struct memd m;
static struct history history[REGIONS][BLOCKS];
static char path[128], disk[128], boot[2][128], log_path[128], said[LOG_MAX];

static void options(struct options *o, const char *file)
{
	memset(o, 0, sizeof(*o));
	o->id = WEFT_BLADE_MIN;
	o->memory = 1 << 20;
	o->blades = 1;
	o->backing = file;
}

static void start(const char *file)
{
	struct options o;
	char err[ERR_MAX];

	options(&o, file);
	if (memd_init(&m, &o, NULL, err) || udp_open_none(m.udp))
		CHECK_FAIL("%s", err);
	m.udp->fragment = 16384;
}

static u8 value(u32 version)
{
	return (u8)(version % 251 + 1);
}

static void write_home(u32 r, u32 index, u32 version)
{
	static u8 data[16384];
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = 1, .txn = weft_txn(1, 1),
		.line = weft_line_key(r + 1, WEFT_KIND_PAGE, index),
		.version = version, .info = (u16)block_size[r],
		.size = block_size[r], .len = block_size[r], .payload = data,
	};

	memset(data, value(version), sizeof(data));
	region_find(m.b->regions, r + 1)->opens = weft_node_bit(1);
	blocks_write(&m, &msg);
	udp_flush(m.udp);
}

/* What is durable now: all that was handed to the kernel before what is not yet. */
static void note_durable(void)
{
	u64 oldest = now + 1;
	u32 r, i;

	for (i = 0; i < n_sectors; i++)
		if (sectors[i].since && sectors[i].since->time < oldest &&
		    sectors[i].at >= 8192 + 2ull * BACKING_LOG_BYTES)
			oldest = sectors[i].since->time;
	for (r = 0; r < REGIONS; r++)
		for (i = 0; i < BLOCKS; i++) {
			struct history *h = &history[r][i];

			while (h->durable < h->n && h->time[h->durable] < oldest)
				h->durable++;
		}
}

/* --- what is left ---------------------------------------------------------------- */

/* What the blade says goes to a file meanwhile. */
static void begin_log(void)
{
	int fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	fflush(stderr);
	real_stderr = dup(STDERR_FILENO);
	CHECK(real_stderr >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	close(fd);
}

static void end_log(void)
{
	FILE *f;
	size_t n;

	fflush(stderr);
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	f = fopen(log_path, "r");
	CHECK(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = 0;
	fclose(f);
}

static bool says_lost(u32 r, u32 index)
{
	char text[64];

	snprintf(text, sizeof(text), "block %u of region %u is lost", index, r + 1);
	return strstr(said, text);
}

/* The contents of a block as a node gets them: the number of them, or -1: a mixture. */
static int contents(u32 r, u32 index)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_READ, .txn = weft_txn(1, 2),
		.line = weft_line_key(r + 1, WEFT_KIND_PAGE, index),
	};
	struct region *reg = region_find(m.b->regions, r + 1);
	const struct history *h = &history[r][index];
	static u8 data[16384];
	struct block *b;
	u32 i;

	CHECK(reg && reg->block == block_size[r]);
	reg->opens = weft_node_bit(1);
	m.b->members->by_id[1].addr = 1;
	m.b->members->mask = 1;
	/* this looks whether it is intact */
	blocks_read(&m, &msg);
	udp_flush(m.udp);
	b = region_block(m.b->regions, reg, index, false);
	if (!b || !b->frame)
		return 0;
	CHECK(!frames_load(m.b->frames, b->frame, 0, data, block_size[r]));
	for (i = 1; i < block_size[r]; i++)
		if (data[i] != data[0])
			return -1;
	for (i = h->n; i; i--)
		if (data[0] == value(i))
			return (int)i;
	return -1;
}

static u32 older, lost;

static void check_disk(bool crashed, u32 how)
{
	int found[REGIONS][BLOCKS];
	bool any = false;
	u32 r, i;

	begin_log();
	start(disk);
	for (r = 0; r < REGIONS; r++)
		for (i = 0; i < BLOCKS; i++)
			found[r][i] = contents(r, i);
	end_log();
	for (r = 0; r < REGIONS; r++)
		for (i = 0; i < BLOCKS; i++) {
			const struct history *h = &history[r][i];
			int is = found[r][i];

			if (is < 0 || is > (int)h->n ||
			    (is < (int)h->durable)) {
				printf("%s\n", said);
				CHECK_FAIL("block %u of region %u has contents %d, not %u to %u (disk %u, crashed %d)",
					 i, r + 1, is, h->durable, h->n, how, crashed);
			}
			any |= is < (int)h->n;
			older += is && is < (int)h->n;
			lost += !is && says_lost(r, i);
		}
	if (!crashed && any)
		CHECK_FAIL("something is lost without a crash");
	if (crashed != !!strstr(said, "was in use when its machine ended")) {
		printf("%s\n", said);
		CHECK_FAIL("the log does not say how it ended (%d)", crashed);
	}
	if (!crashed && (strstr(said, "lost") || strstr(said, "older"))) {
		printf("%s\n", said);
		CHECK_FAIL("the log speaks of losses without a crash");
	}
	memd_exit(&m);
}

static void wait_flush(void)
{
	while (m.b->frames->flush.running && !flush_over(&m.b->frames->flush))
		usleep(10);
}

static void step(void)
{
	u32 r = rig_random(REGIONS), i = rig_random(BLOCKS), what = rig_random(100);
	struct history *h = &history[r][i];

	if (what < 12) {
		frames_flush(m.b->frames);
		wait_flush();
	} else if (what < 20) {
		frames_flush(m.b->frames);
	} else if (what < 36) {
		frames_settle(m.b->frames, 1 + rig_random(64));
	} else if (h->n + 1 < VERSIONS) {
		write_home(r, i, h->n + 1);
		h->time[h->n++] = now;
	}
	note_durable();
}

static void set_boot(u32 which)
{
	backing_boot_path = boot[which];
}

static void power(void)
{
	struct memd running;
	u32 n, k, r, i;

	start(path);
	recorded = m.b->backing->fd;
	for (r = 0; r < REGIONS; r++) {
		struct region *reg = region_add(m.b->regions, r + 1, block_size[r],
						r ? "b" : "a", 1);

		CHECK(reg && region_prepare(reg, BLOCKS * block_size[r]));
		reg->size = BLOCKS * block_size[r];
		region_account(m.b->regions, reg, 0, reg->size);
		CHECK(!journal_region(&m, reg, false));
	}
	/* from here on it has all that was written before the recording began */
	memd_exit(&m);
	recorded = -1;
	start(path);
	CHECK(!m.b->backing->crashed);
	CHECK_EQ(m.b->regions->n, REGIONS);
	{
		/* what is there now is durable */
		int fd = open(path, O_RDONLY);
		u8 data[SECTOR];
		u64 at;

		for (at = 0; pread(fd, data, SECTOR, (off_t)at) == SECTOR; at += SECTOR) {
			static const u8 none[SECTOR];

			if (memcmp(data, none, SECTOR) != 0)
				memcpy(sector(at)->durable, data, SECTOR);
		}
		close(fd);
	}
	recorded = m.b->backing->fd;
	for (n = 0; n < STEPS; n++) {
		step();
		if (n % MOMENT)
			continue;
		/* its thread knows where it is */
		wait_flush();
		running = m;
		i = (u32)recorded;
		recorded = -1;
		for (k = 0; k < DISKS; k++) {
			make_disk(disk, k);
			set_boot(1);
			memset(&m, 0, sizeof(m));
			check_disk(true, k);
			set_boot(0);
		}
		/* the process alone has ended: nothing is lost */
		make_disk(disk, 1);
		memset(&m, 0, sizeof(m));
		check_disk(false, 1);
		m = running;
		recorded = (int)i;
	}
	recorded = -1;
	memd_exit(&m);
	printf("%llu writes, %llu flushes; on %u disks %u blocks were older, %u lost and said so\n",
	       (unsigned long long)now, (unsigned long long)flushes,
	       (STEPS + MOMENT - 1) / MOMENT * DISKS, older, lost);
	/* or nothing was tried */
	CHECK(flushes > 20);
	CHECK(older > 1000 && lost > 10);
}

static void put(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = { { "power", power }, { 0 } };

	rig_open(false, argc > 2 ? argument_u32(argv[2]) : 5);
	snprintf(path, sizeof(path), "%s/backing", rig_dir());
	snprintf(disk, sizeof(disk), "%s/disk", rig_dir());
	snprintf(log_path, sizeof(log_path), "%s/log", rig_dir());
	snprintf(boot[0], sizeof(boot[0]), "%s/boot0", rig_dir());
	snprintf(boot[1], sizeof(boot[1]), "%s/boot1", rig_dir());
	put(boot[0], "11111111-1111-1111-1111-111111111111\n");
	put(boot[1], "22222222-2222-2222-2222-222222222222\n");
	set_boot(0);
	return rig_run(tests, argc > 1 && *argv[1] ? argv[1] : NULL);
}
