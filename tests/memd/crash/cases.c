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
#include "tools/memd/base/blade.h"
#include "tools/memd/catalog/follow.h"
#include "tools/memd/catalog/journal.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/blocks.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/store/backing.h"
#include "tools/memd/store/frames.h"
#include "words.h"

#define UNTIL_MENDED	1100u	/* milliseconds: each attempt waits for the disk, so they are few */

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
	r = region_add(blade.b->regions, id, 4096, name, 3);
	CHECK(r && region_prepare(r, 4096));
	r->size = 4096;
	region_account(blade.b->regions, r, 0, r->size);
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
	fdatasync(blade.b->backing->fd);
	note_region(2);
	note_region(3);
	blade_kill(&blade);
	blade_starting = true;
	disk_waited = on_super;
	blade_start(&blade, machine_disk->path);
	blade_starting = false;
	CHECK_EQ(blade.b->regions->n, 3);
	CHECK(machine_ends);
	blade_kill(&blade);
	machine_end();
	disk_waited = NULL;
	blade_start(&blade, machine_disk->path);
	CHECK_EQ(blade.b->regions->n, 1);
	memd_exit(&blade);
	blade_start(&blade, machine_disk->path);
	CHECK_EQ(blade.b->regions->n, 1);
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
	node_wait(UNTIL_MENDED);
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

/* --- a disk that fails, and does not any more -------------------------------------- */

/* The log becomes longer by more than a page, and nobody waits for it. */
static void note_much(void)
{
	const struct region *r = region_named(blade.b->regions, "a", 1);
	u32 i;

	CHECK(r);
	for (i = 0; i < 200; i++)
		CHECK(!journal_attributes(&blade, r));
}

static int create_now(const char *name)
{
	struct weft_call c = {
		.op = WEFT_CALL_CREATE, .size = 8192, .name_len = 1, .name = { name[0] },
		.valid = WEFT_CREATE_UNLIMITED,
	};

	return call_now(&c);
}

static void begin_failing(void)
{
	begin();
	machine_disk_speed = 1000;
	blade_start(&blade, machine_disk->path);
	node_join();
	CHECK_EQ(create_now("a"), 0);
	note_much();
}

/* The machine ends, and the disk has nothing but what it is certain to have: regions @names. */
static void end_failing(const char *names)
{
	const char *name;

	CHECK(blade.b->backing->failed);
	image_end_certain();
	blade_kill(&blade);
	machine_end();
	blade_start(&blade, machine_disk->path);
	for (name = names; *name; name++)
		CHECK(region_named(blade.b->regions, name, 1), "region %s of %s is lost", name,
		      names);
	memd_exit(&blade);
	machine_finish();
}

/* What is answered behind something that did not get there is there. */
static void behind_hole(void)
{
	begin_failing();
	disk_fails = true;
	CHECK_EQ(create_now("b"), EIO);
	disk_fails = false;
	node_wait(UNTIL_MENDED);
	CHECK_EQ(create_now("c"), 0);
	end_failing("ac");
}

/* Also what was noted, and waited, while it was not known yet that it would not get there. */
static void waiting_for_hole(void)
{
	struct weft_call c = {
		.op = WEFT_CALL_CREATE, .size = 8192, .name_len = 1, .name = "b",
		.valid = WEFT_CREATE_UNLIMITED,
	};
	u32 txn = blade_next_call(NODE), then = blade_next_call(NODE);
	struct weft_call reply;

	begin_failing();
	machine_disk_speed = 0;
	node_send(WEFT_MSG_CALL, txn, &c);
	node_wait(20);
	note_much();
	c.name[0] = 'c';
	node_send(WEFT_MSG_CALL, then, &c);
	node_wait(20);
	CHECK_EQ(node_outcome(txn, &reply), WAITING);
	CHECK_EQ(node_outcome(then, &reply), WAITING);
	disk_fails = true;
	disk_work(0);
	disk_fails = false;
	machine_disk_speed = 1000;
	node_wait(30);
	CHECK_EQ(node_outcome(txn, &reply), ANSWERED);
	CHECK_EQ(reply.err, EIO);
	CHECK_EQ(node_outcome(then, &reply), ANSWERED);
	CHECK_EQ(reply.err, 0);
	end_failing("ac");
}

/* Who syncs the frames does not hear in the place of who syncs the log, nor the other way. */
static void others_error(void)
{
	begin_failing();
	disk_fails = true;
	node_wait(3000);
	disk_fails = false;
	CHECK(words_have("does not get to the disk"));
	CHECK_EQ(create_now("b"), EIO);
	CHECK_EQ(create_now("c"), 0);
	end_failing("ac");
}

/* Nodes and blades that are noted at once fail the file as well. */
static void members_hole(bool a_blade)
{
	begin_failing();
	disk_fails = true;
	CHECK(a_blade ? journal_blade(&blade, WEFT_BLADE_MIN + 1) :
			journal_member(&blade, NODE));
	disk_fails = false;
	CHECK(blade.b->backing->failed);
	/* the other one that waits for the log hears of it, too */
	(void)create_now("b");
	CHECK_EQ(create_now("c"), 0);
	end_failing("ac");
}

static void fail_second(void)
{
	static u32 syncs;

	disk_fails |= ++syncs == 2;
}

/*
 * The other half of the log is on the disk, that it is in use is not: the one of which the disk
 * says so is not written to before that is mended.
 */
static void unsettled(void)
{
	begin_failing();
	blade.b->backing->log_end = BACKING_LOG_BYTES;
	disk_waited = fail_second;
	CHECK_EQ(create_now("b"), EIO);
	disk_waited = NULL;
	CHECK(disk_fails);
	node_wait(UNTIL_MENDED);
	CHECK_EQ(create_now("c"), EIO);
	disk_fails = false;
	CHECK_EQ(create_now("d"), EIO);
	node_wait(UNTIL_MENDED);
	CHECK_EQ(create_now("e"), 0);
	end_failing("ae");
}

/*
 * The process begins anew, and sees what the disk never took: before it says of anything that it
 * is there, all of it is written again.
 */
static void begun_after_failure(void)
{
	static u8 data[4096] = { 1 };
	struct weft_call sync = { .op = WEFT_CALL_SYNC };
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = NODE, .txn = weft_txn(NODE, 1), .version = 1,
		.info = 4096, .size = 4096, .len = 4096, .payload = data,
	};
	u8 found[4096];
	struct region *r;
	struct block *b;

	begin_failing();
	r = region_named(blade.b->regions, "a", 1);
	CHECK(r);
	r->opens |= weft_node_bit(NODE);
	msg.line = weft_line_key(r->id, WEFT_KIND_PAGE, 0);
	blocks_write(&blade, &msg);
	CHECK_EQ(blade.stats.count[STAT_WRITE], 1);
	disk_fails = true;
	node_wait(3000);
	disk_fails = false;
	CHECK(blade.b->backing->failed);
	blade_kill(&blade);
	blade_start(&blade, machine_disk->path);
	CHECK(!blade.b->backing->failed);
	node_join();
	CHECK_EQ(call_now(&sync), 0);
	image_end_certain();
	blade_kill(&blade);
	machine_end();
	blade_start(&blade, machine_disk->path);
	r = region_named(blade.b->regions, "a", 1);
	CHECK(r);
	b = region_block(blade.b->regions, r, 0, false);
	CHECK(b && b->frame && b->version == 1);
	CHECK(frames_check(blade.b->frames, b->frame));
	CHECK(!frames_load(blade.b->frames, b->frame, 0, found, sizeof(found)));
	CHECK(!memcmp(found, data, sizeof(data)));
	memd_exit(&blade);
	machine_finish();
}

/* What the first blade tells another one of a region.  Return: how that answers it. */
static enum outcome tell_second(u32 blocks, u32 *txn, struct weft_call *reply)
{
	struct weft_call c = {
		.op = WEFT_CALL_REGION, .region = 7, .block = 4096, .size = blocks * 4096,
		.life = blade.b->life, .cookie = blade.b->follow->seq + 1,
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
	fdatasync(blade.b->backing->fd);
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
	r = region_find(blade.b->regions, 7);
	CHECK(r && r->size == 2 * 4096);
	CHECK_EQ(tell_second(6, &txn, &reply), ANSWERED);
	b = region_block(blade.b->regions, r, 3, false);
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
	behind_hole();
	waiting_for_hole();
	others_error();
	members_hole(false);
	members_hole(true);
	unsettled();
	begun_after_failure();
	new_file();
	second_blade();
}
