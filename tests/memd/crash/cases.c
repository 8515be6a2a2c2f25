// SPDX-License-Identifier: GPL-2.0-only
/* Cases that are too rare to be met by chance, see cases.h. */
#include "cases.h"

#include "blade.h"
#include "disk.h"
#include "image.h"
#include "machine.h"
#include "node.h"
#include "promise.h"
#include "tests/common/check.h"
#include "tests/common/folder.h"
#include "tools/memd/journal.h"
#include "words.h"

/* Nobody looks what would be left. */
static void begin(void)
{
	machine_begin();
	machine_forget_end();
	promise_begin();
	disk_waited = NULL;
	disk_synced = NULL;
	words_begin();
}

static void note_region(u32 id)
{
	char name[8];
	struct region *r;

	snprintf(name, sizeof(name), "n%02u", id);
	r = region_add(&blade.b->regions, id, 4096, name, 3);
	CHECK(r && region_prepare(r, 4096));
	r->size = 4096;
	region_account(&blade.b->regions, r, 0, r->size);
	CHECK(!journal_region(&blade, r, false));
}

static void on_super(void)
{
	static u32 syncs;

	/* the other half of the log is on the disk, that it is in use is not */
	if (blade_starting && ++syncs == 2)
		image_end_certain();
}

/*
 * The other half of the log has more in it than it is to have: of a start that did not come
 * to its end, when more was known.  That is not taken for what follows.
 */
static void stale_log(void)
{
	begin();
	blade_start(&blade, machine_disk->path);
	note_region(1);
	fdatasync(blade.b->backing.fd);
	note_region(2);
	note_region(3);
	blade_kill(&blade);
	blade_starting = true;
	disk_waited = on_super;
	blade_start(&blade, machine_disk->path);
	blade_starting = false;
	CHECK_EQ(blade.b->regions.n, 3);
	CHECK(machine_ends);
	blade_kill(&blade);
	machine_end();
	disk_waited = NULL;
	blade_start(&blade, machine_disk->path);
	CHECK_EQ(blade.b->regions.n, 1);
	memd_exit(&blade);
	blade_start(&blade, machine_disk->path);
	CHECK_EQ(blade.b->regions.n, 1);
	memd_exit(&blade);
	machine_finish();
}

/* A call and its answer. */
static int call_now(struct weft_call *c)
{
	u32 txn = blade_next_call(NODE);
	struct weft_call reply;

	node_send(WEFT_MSG_CALL, txn, c);
	node_wait(20);
	CHECK_EQ(node_outcome(txn, &reply), ANSWERED);
	c->region = reply.region;
	return reply.err;
}

/* The next boot: the blade starts.  Return: it says that its machine has ended before. */
static bool finds_crash(void)
{
	machine_boot();
	words_begin();
	blade_start(&blade, machine_disk->path);
	return words_have("was in use when its machine ended");
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

	begin();
	machine_disk_speed = 1000;
	blade_start(&blade, machine_disk->path);
	node_join();
	CHECK_EQ(call_now(&sync), 0);
	disk_fails = true;
	CHECK_EQ(call_now(&c), EIO);
	CHECK(words_have("does not get to the disk"));
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
	memd_exit(&blade);
	CHECK(finds_crash());
	memd_exit(&blade);
	CHECK(!finds_crash());
	node_wait(3000);
	words_begin();
	disk_fails = true;
	note_region(5);
	node_wait(3000);
	disk_fails = false;
	CHECK(words_have("does not get to the disk"));
	memd_exit(&blade);
	CHECK(finds_crash());
	memd_exit(&blade);
	machine_finish();
}

/* What the first blade tells another one of a region.  Return: how that answers it. */
static enum outcome tell_second(u32 blocks, u32 *txn, struct weft_call *reply)
{
	struct weft_call c = {
		.op = WEFT_CALL_REGION, .region = 7, .block = 4096, .size = blocks * 4096,
		.life = blade.b->life, .cookie = blade.b->follow.seq + 1,
		.name_len = 1, .name = "x", .members = weft_node_bit(NODE),
	};

	*txn = blade_next_call(WEFT_BLADE_MIN);
	blade_receive(WEFT_MSG_CALL, WEFT_BLADE_MIN, BLADE_ADDR, *txn, &c);
	return blade_outcome(WEFT_BLADE_MIN, *txn, reply);
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

	begin();
	blade_number = 1;
	machine_disk_speed = 0;
	blade_start(&blade, machine_disk->path);
	memd_start(&blade);
	CHECK_EQ(tell_second(6, &txn, &reply), ANSWERED);
	CHECK_EQ(reply.err, 0);
	blocks_write(&blade, &msg);
	CHECK_EQ(blade.stats.count[STAT_WRITE], 1);
	fdatasync(blade.b->backing.fd);
	CHECK_EQ(tell_second(2, &txn, &reply), WAITING);
	machine_disk_speed = 1000;
	node_wait(20);
	CHECK_EQ(blade_outcome(WEFT_BLADE_MIN, txn, &reply), ANSWERED);
	CHECK_EQ(reply.err, 0);
	/* larger again, of which nothing is on the disk; nor is it that its block is gone */
	CHECK_EQ(tell_second(6, &txn, &reply), ANSWERED);
	image_end_certain();
	blade_kill(&blade);
	machine_end();
	blade_start(&blade, machine_disk->path);
	memd_start(&blade);
	r = region_find(&blade.b->regions, 7);
	CHECK(r && r->size == 2 * 4096);
	CHECK_EQ(tell_second(6, &txn, &reply), ANSWERED);
	b = region_block(&blade.b->regions, r, 3, false);
	CHECK(!b || !b->frame);
	CHECK_EQ(region_base(r, 3), 1ull << 32);
	memd_exit(&blade);
	blade_number = 0;
	machine_finish();
}

/* The name of a file that is new is on the disk, too, or none of it is there again. */
static void new_file(void)
{
	char dir[FOLDER_MAX], path[FOLDER_MAX + 8];

	begin();
	folder_make(dir, sizeof(dir), folder_usual(), "crash");
	snprintf(path, sizeof(path), "%s/backing", dir);
	disk_folders = 0;
	blade_start(&blade, path);
	CHECK_EQ(disk_folders, 1);
	memd_exit(&blade);
	blade_start(&blade, path);
	CHECK_EQ(disk_folders, 1);
	memd_exit(&blade);
	folder_remove();
	machine_finish();
}

void cases_try(void)
{
	stale_log();
	failing_disk();
	new_file();
	second_blade();
}
