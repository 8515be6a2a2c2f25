// SPDX-License-Identifier: GPL-2.0-only
/*
 * A memory blade whose disk is slow: frames of its backing file that were given back rest
 * until the file is on the disk.  When all others are in use, a write-back waits for that,
 * and nobody else does: the blade answers meanwhile.  Also a node may leave meanwhile, in the
 * turn of another thread.
 */
#include <pthread.h>
#include <unistd.h>

#include "rig.h"
#include "tools/common/clock.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/blocks.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/udp.h"
#include "tools/memd/store/backing.h"
#include "tools/memd/store/frames.h"

#define MEMORY		(1u << 20)
#define BLOCK_MOST	16384u
#define ADDR		0x0A570001u
#define LIMIT_S		50	/* a blade that waits for a disk that is stuck waits for ever */
#define TRIES		5000	/* milliseconds until a write is taken */
#define ROUNDS		6

/* --- the disk ----------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go_on = PTHREAD_COND_INITIALIZER;
static bool stuck;
static u32 flushes;

/* In the place of libc's. */
int fdatasync(int fd)
{
	(void)fd;
	pthread_mutex_lock(&lock);
	while (stuck)
		pthread_cond_wait(&go_on, &lock);
	flushes++;
	pthread_mutex_unlock(&lock);
	return 0;
}

static void set_stuck(bool on)
{
	pthread_mutex_lock(&lock);
	stuck = on;
	pthread_cond_broadcast(&go_on);
	pthread_mutex_unlock(&lock);
}

/* --- the blade ----------------------------------------------------------------- */

static struct memd m;
static struct region *r;

static void start(const char *file, u32 block, u32 threads)
{
	struct options o = {
		.id = WEFT_BLADE_MIN, .memory = MEMORY, .blades = 1, .backing = file,
		.threads = threads,
		.peers = { ADDR + 100 },
	};
	char err[ERR_MAX];

	if (memd_init(&m, &o, NULL, err) || udp_open_none(m.udp))
		CHECK_FAIL("%s", err);
	m.udp->fragment = BLOCK_MOST;
	m.udp->addr = ADDR + 100;
	r = region_add(m.b->regions, 1, block, "r", 1);
	CHECK(r && region_prepare(r, MEMORY));
	r->size = MEMORY;
	r->opens = weft_node_bit(1);
	region_account(m.b->regions, r, 0, r->size);
	m.b->members->by_id[1].addr = ADDR;
	m.b->members->by_id[1].in = true;
	m.b->members->mask = weft_node_bit(1);
	m.b->ready = true;
}

/* A millisecond. */
static void pass(void)
{
	usleep(1000);
	m.timers.now++;
	timers_run(&m.timers, &m);
	udp_flush(m.udp);
}

/* Return: whether the blade has taken it. */
static bool write_home(u32 index, u64 version)
{
	static u8 data[BLOCK_MOST];
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = 1, .txn = weft_txn(1, 1),
		.line = weft_line_key(1, WEFT_KIND_PAGE, index),
		.version = version, .info = (u16)r->block,
		.size = r->block, .len = r->block, .payload = data,
	};
	u64 before = m.stats.count[STAT_WRITE];

	memset(data, (int)version, sizeof(data));
	blocks_write(&m, &msg);
	udp_flush(m.udp);
	return m.stats.count[STAT_WRITE] > before;
}

static void check_contents(u32 index, u8 wanted)
{
	struct block *b = region_block(m.b->regions, r, index, false);
	u8 data[BLOCK_MOST];
	u32 i;

	CHECK(b && b->frame);
	CHECK(!frames_load(m.b->frames, b->frame, 0, data, r->block));
	for (i = 0; i < r->block; i++)
		CHECK_EQ(data[i], wanted);
}

/* Until all frames are in use or rest.  Return: the block of which another version waits. */
static u32 fill_frames(u32 block)
{
	u32 blocks = MEMORY / block, i, k;

	set_stuck(true);
	for (i = 0; i < blocks; i++)
		CHECK(write_home(i, 1));
	for (k = 0; k < blocks && write_home(k, 2); k++)
		;
	CHECK(k >= 64 / (block / FRAME_SIZE) && k < blocks);
	return k;
}

/* --- tests ---------------------------------------------------------------------- */

static void slow_disk(const char *file, u32 block)
{
	u32 blocks = MEMORY / block, i, k, tries;
	u8 last[MEMORY / FRAME_SIZE];
	u64 reads;

	start(file, block, 1);
	k = fill_frames(block);
	for (i = 0; i < 100; i++) {
		CHECK(!write_home(k, 2));
		pass();
	}
	CHECK_EQ(m.stats.count[STAT_WRITE_LATE], 101);
	CHECK_EQ(m.stats.count[STAT_WRITE_FAILED], 0);
	/* what is there is there: the old contents, and the new ones */
	reads = m.stats.count[STAT_READ];
	for (i = 0; i < blocks; i++) {
		struct weft_msg msg = {
			.type = WEFT_MSG_READ, .txn = weft_txn(1, 2),
			.line = weft_line_key(1, WEFT_KIND_PAGE, i),
		};

		blocks_read(&m, &msg);
		udp_flush(m.udp);
		check_contents(i, i < k ? 2 : 1);
	}
	CHECK_EQ(m.stats.count[STAT_READ], reads + blocks);
	/* the disk works: all that is repeated is taken, time and again */
	set_stuck(false);
	for (i = 0; i < blocks * ROUNDS; i++) {
		for (tries = 0; !write_home((k + i) % blocks, 3 + (k + i) / blocks); tries++) {
			CHECK(tries < TRIES);
			pass();
		}
		last[(k + i) % blocks] = (u8)(3 + (k + i) / blocks);
	}
	CHECK_EQ(m.stats.count[STAT_WRITE_FAILED], 0);
	CHECK(flushes >= 2);
	for (i = 0; i < blocks; i++)
		check_contents(i, last[i]);
	CHECK_EQ(m.b->frames->used, MEMORY / FRAME_SIZE);
	memd_exit(&m);
}

static void rest(void)
{
	static const u32 sizes[] = { 4096, BLOCK_MOST };
	char file[256];
	u32 i;

	for (i = 0; i < 2; i++) {
		snprintf(file, sizeof(file), "%s/rest.%u", rig_dir(), sizes[i]);
		slow_disk(file, sizes[i]);
	}
}

/* The second thread, alone as soon as it can be: node 1 leaves. */
static void *leave(void *arg)
{
	struct memd *other = arg;

	turn_begin(other);
	turn_alone(other);
	blocks_forget(other, 1);
	turn_together(other);
	turn_end(other);
	return NULL;
}

/* Somebody is to be alone next. */
static bool is_wanted(void)
{
	if (pthread_mutex_trylock(&m.b->turns.lock))
		return true;
	pthread_mutex_unlock(&m.b->turns.lock);
	return false;
}

/*
 * A block comes in two fragments and finds all frames in use.  While its thread waits to be
 * alone the node leaves, and with it all that came of its blocks.
 */
static void leaves(void)
{
	static u8 data[BLOCK_MOST / 2];
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = 1, .txn = weft_txn(1, 1), .version = 2,
		.info = BLOCK_MOST / 2, .size = BLOCK_MOST, .len = BLOCK_MOST / 2, .payload = data,
	};
	pthread_t thread;
	char file[256];
	u32 tries;

	snprintf(file, sizeof(file), "%s/leaves", rig_dir());
	start(file, BLOCK_MOST, 2);
	turn_begin(&m);
	msg.line = weft_line_key(1, WEFT_KIND_PAGE, fill_frames(BLOCK_MOST));
	/* the last one that was refused has made this thread alone */
	turn_together(&m);
	blocks_write(&m, &msg);
	CHECK_EQ(m.staging->bytes[1], BLOCK_MOST);
	CHECK(!pthread_create(&thread, NULL, leave, m.b->thread[1]));
	for (tries = 0; !is_wanted(); tries++) {
		CHECK(tries < TRIES);
		usleep(1000);
	}
	msg.offset = BLOCK_MOST / 2;
	blocks_write(&m, &msg);
	CHECK(turn_is_alone(&m));
	turn_together(&m);
	CHECK(m.stats.count[STAT_WRITE_LATE] > 1);
	CHECK_EQ(m.staging->bytes[1], 0);
	CHECK(TAILQ_EMPTY(&m.staging->of[1]));
	turn_end(&m);
	CHECK(!pthread_join(thread, NULL));
	set_stuck(false);
	memd_exit(&m);
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = { { "rest", rest }, { "leaves", leaves }, { 0 } };

	check_limit(LIMIT_S);
	rig_open(false, 1);
	return rig_run(tests, argc > 1 ? argv[1] : NULL);
}
