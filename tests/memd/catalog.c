// SPDX-License-Identifier: GPL-2.0-only
/*
 * The catalog and membership of a real memory blade, over loopback: what calls
 * do and what they refuse.
 */
#include <signal.h>
#include <sys/wait.h>

#include "fake.h"

#define BLADE	WEFT_BLADE_MIN
#define MIB	(1ull << 20)
#define WAIT_MS	(20000 * rig_scale())	/* for anything that should come */
#define TRIES	3	/* to be silent for long */

/* What one user may have is for tests of their own. */
static void start(const char *memory)
{
	const char *const args[] = {
		"--switch", "none", "--memory", memory, "--user-memory", "0", NULL,
	};

	rig_memd_start(BLADE, args);
	fake_init(1);
}

static void stop(void)
{
	int status = rig_memd_stop(BLADE, SIGTERM);

	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	memset(fakes, 0, sizeof(fakes));
}

/* --- membership ------------------------------------------------------------- */

static void members(void)
{
	struct fake *f = &fakes[1], *other = &fakes[2];
	struct weft_call c = { .op = WEFT_CALL_PEERS };
	struct weft_msg gets = {
		.type = WEFT_MSG_GETS, .src = 1, .txn = weft_txn(1, 1),
		.line = weft_line_key(1, WEFT_KIND_PAGE, 0),
	};
	u32 tries = TRIES;
	u64 end;
	int err;

	start("64M");
	/* nobody yet */
	CHECK_EQ(fake_call(f, BLADE, &c, 5000), 0);
	CHECK_EQ(c.members, 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "x", &c), ENOTCONN);
	rig_send(1, BLADE, &gets);
	for (end = now_ms() + WAIT_MS; f->last.type != WEFT_MSG_NACK; fake_step(1))
		CHECK(now_ms() < end);
	CHECK_EQ(f->last.info, WEFT_WHY_NOT_MEMBER);

	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_join(&fakes[3]), 0);
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_PEERS;
	c.life = f->life;
	CHECK_EQ(fake_call(f, BLADE, &c, 5000), 0);
	CHECK_EQ(c.members, 5);
	CHECK_EQ(c.list_len, 3 * 8);
	CHECK_EQ(c.list[0], 1);
	CHECK_EQ(get_unaligned_be32(c.list + 4), rig_addr(1));
	CHECK_EQ(c.list[8], 3);
	CHECK_EQ(c.list[16], BLADE);
	CHECK_EQ(get_unaligned_be32(c.list + 20), rig_addr(BLADE));

	/* two nodes with one id: the second is told who the first is */
	other->id = 1;
	other->life = 77;
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_JOIN;
	c.node = 1;
	c.life = 77;
	c.addr = rig_addr(2);
	CHECK_EQ(fake_call(other, BLADE, &c, 5000), EEXIST);
	CHECK_EQ(c.addr, rig_addr(1));
	/* and what it sends counts for nothing */
	gets.txn = weft_txn(1, 2);
	rig_send(2, BLADE, &gets);
	for (end = now_ms() + WAIT_MS; other->last.type != WEFT_MSG_NACK; fake_step(1))
		CHECK(now_ms() < end);
	CHECK_EQ(other->last.info, WEFT_WHY_NOT_MEMBER);

	/*
	 * when the first is silent for long the second takes its place; the blade does not count
	 * all of a time in which this machine stands still: then the first is heard once more
	 */
	do {
		CHECK(tries--);
		memset(&c, 0, sizeof(c));
		c.op = WEFT_CALL_PEERS;
		c.life = f->life;
		CHECK_EQ(fake_call(f, BLADE, &c, 5000), 0);
		for (end = now_ms() + 3300; now_ms() < end; )
			fake_step(10);
		err = fake_join(other);
	} while (err == EEXIST);
	CHECK_EQ(err, 0);
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_GETATTR;
	CHECK_EQ(fake_call(f, BLADE, &c, 5000), ENOTCONN);
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_PEERS;
	c.life = f->life;
	CHECK_EQ(fake_call(f, BLADE, &c, 5000), ENOTCONN);

	/* a late LEAVE of another life removes nobody */
	other->life = 76;
	CHECK_EQ(fake_leave(other), ENOTCONN);
	other->life = 77;
	CHECK_EQ(fake_leave(other), 0);
	CHECK_EQ(fake_leave(other), 0);
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_PEERS;
	c.life = fakes[3].life;
	CHECK_EQ(fake_call(&fakes[3], BLADE, &c, 5000), 0);
	CHECK_EQ(c.members, 4);
	stop();
}

/* --- names and attributes --------------------------------------------------- */

static void repeated_calls(struct fake *f)
{
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_call c = {
		.op = WEFT_CALL_CREATE, .valid = 1, .name_len = 5, .name = "twice",
	};
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL, .src = 1, .txn = weft_txn(1, 9999),
		.len = weft_call_pack(&c, payload), .payload = payload,
	};
	u64 end = now_ms() + WAIT_MS;
	u32 region = 0, i;

	for (i = 0; i < 5; i++) {
		f->call_txn = msg.txn;
		f->call_nonce = msg.nonce;
		f->replied = false;
		rig_send(1, BLADE, &msg);
		while (!f->replied) {
			fake_step(1);
			CHECK(now_ms() < end);
		}
		CHECK_EQ(f->reply.err, 0);
		CHECK_EQ(f->reply.valid, WEFT_CREATE_NEW);
		if (i)
			CHECK_EQ(f->reply.region, region);
		region = f->reply.region;
	}
	/* another call it is refused */
	CHECK_EQ(fake_create(f, "twice", 0, 0, &region), EEXIST);
	CHECK(fake_stat(f, BLADE, "calls_repeated") >= 4);
}

static u32 count_names(struct fake *f, u32 *pages)
{
	struct weft_call c = { .op = WEFT_CALL_READDIR };
	u32 n = 0, i;

	*pages = 0;
	do {
		c.op = WEFT_CALL_READDIR;
		c.list_len = 0;
		CHECK_EQ(fake_call(f, BLADE, &c, 5000), 0);
		for (i = 0; i < c.list_len; i += 9u + c.list[i + 8]) {
			/* a listing ends at the last region that there was at its beginning */
			CHECK(get_unaligned_be32(c.list + i) <= c.size);
			n++;
		}
		CHECK_EQ(i, c.list_len);
		++*pages;
	} while (c.cookie);
	return n;
}

/* The name, if it means this region. */
static int unlink_region(struct fake *f, const char *name, u32 region)
{
	struct weft_call c = { .op = WEFT_CALL_UNLINK, .region = region };

	c.name_len = (u16)strlen(name);
	memcpy(c.name, name, c.name_len);
	return fake_call(f, BLADE, &c, 5000);
}

static void names(void)
{
	struct fake *f = &fakes[1];
	struct weft_call c;
	u32 region, second;

	start("64M");
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "a", &c), ENOENT);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "a", &c), ENOENT);
	CHECK_EQ(fake_create(f, "a", 10000, 0, &region), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "a", &c), 0);
	CHECK_EQ(c.region, region);
	CHECK_EQ(c.size, 10000);
	CHECK_EQ(c.block, 4096);
	CHECK_EQ(c.mode, 0640);
	CHECK_EQ(c.uid, 7);
	CHECK_EQ(c.gid, 8);
	CHECK(c.mtime > 0);
	CHECK_EQ(fake_create(f, "a", 0, 0, &second), EEXIST);
	/* not exclusive: it is opened, and whether it is new is told */
	CHECK_EQ(fake_call_named(f, WEFT_CALL_CREATE, "a", &c), 0);
	CHECK_EQ(c.region, region);
	CHECK_EQ(c.valid, 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_CREATE, "new", &c), 0);
	CHECK(c.region != region);
	CHECK_EQ(c.valid, WEFT_CREATE_NEW);
	/* the name of a region that another one has by now stays */
	CHECK_EQ(unlink_region(f, "a", region + 1), ENOENT);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "a", &c), 0);
	CHECK_EQ(unlink_region(f, "new", region + 1), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "new", &c), ENOENT);
	CHECK_EQ(fake_create(f, ".", 0, 0, &second), EINVAL);
	CHECK_EQ(fake_create(f, "..", 0, 0, &second), EINVAL);
	CHECK_EQ(fake_create(f, "", 0, 0, &second), EINVAL);
	CHECK_EQ(fake_create(f, "b", 0, 5000, &second), EINVAL);
	CHECK_EQ(fake_create(f, "b", 0, 131072, &second), EINVAL);
	stop();
}

static void shapes(void)
{
	struct fake *f = &fakes[1];
	struct weft_call c;
	u32 region, second;

	start("64M");
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_create(f, "a", 10000, 0, &region), 0);
	CHECK_EQ(fake_create(f, "b", 65 * MIB, 0, &second), ENOSPC);
	CHECK_EQ(fake_create(f, "b", 1ull << 60, 0, &second), ENOSPC);
	CHECK_EQ(fake_create(f, "b", ~0ull, 0, &second), ENOSPC);
	CHECK_EQ(fake_set_size(f, region, 65 * MIB), ENOSPC);
	CHECK_EQ(fake_set_size(f, region, ~0ull), ENOSPC);
	CHECK_EQ(fake_set_size(f, region, 63 * MIB), 0);
	/* to grow only */
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_SETATTR;
	c.region = region;
	c.valid = WEFT_SET_SIZE | WEFT_SET_GROW;
	c.size = MIB;
	CHECK_EQ(fake_call(f, BLADE, &c, 5000), 0);
	CHECK_EQ(c.size, 63 * MIB);
	CHECK_EQ(fake_create(f, "b", 2 * MIB, 0, &second), ENOSPC);
	CHECK_EQ(fake_set_size(f, region, 0), 0);
	CHECK_EQ(fake_create(f, "b", 2 * MIB, 65536, &second), 0);
	CHECK(second > region);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_GETATTR, second, &c), 0);
	CHECK_EQ(c.block, 65536);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_GETATTR, second + 1, &c), ESTALE);

	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_SETATTR;
	c.region = second;
	c.valid = WEFT_SET_MODE | WEFT_SET_OWNER | WEFT_SET_MTIME;
	c.mode = 0177777;
	c.uid = 1;
	c.gid = 2;
	c.mtime = 3;
	CHECK_EQ(fake_call(f, BLADE, &c, 5000), 0);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_GETATTR, second, &c), 0);
	CHECK_EQ(c.mode, 07777);
	CHECK(c.uid == 1 && c.gid == 2 && c.mtime == 3 && c.size == 2 * MIB);
	c.op = WEFT_CALL_SETATTR;
	c.valid = 0x100;
	c.name_len = 0;
	CHECK_EQ(fake_call(f, BLADE, &c, 5000), EINVAL);

	stop();
}

static void lists(void)
{
	struct fake *f = &fakes[1];
	u32 region, pages, i;
	struct weft_call c;
	char name[256];

	start("64M");
	CHECK_EQ(fake_join(f), 0);
	memset(name, 'n', sizeof(name));
	for (i = 0; i < 40; i++) {
		snprintf(name + 200, 20, "%u", i);
		CHECK_EQ(fake_create(f, name, 0, 0, &region), 0);
	}
	CHECK_EQ(count_names(f, &pages), 40);
	CHECK(pages > 8);
	repeated_calls(f);
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_STATFS;
	CHECK_EQ(fake_call(f, BLADE, &c, 5000), 0);
	CHECK_EQ(c.size, 64 * MIB);
	CHECK_EQ(c.used, 0);
	CHECK_EQ(c.cookie, 41);
	CHECK_EQ(c.region, 16384 - 41);
	/* calls that are not for the first blade, or for nobody, are not answered */
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_REGION;
	c.region = 1;
	CHECK_EQ(fake_call(f, BLADE, &c, 300), -1);
	stop();
}

/* --- lines ------------------------------------------------------------------ */

static void ends(void)
{
	struct fake *f = &fakes[1], *g = &fakes[2];
	struct fake_line *fl;
	u32 region, i;

	start("64M");
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_join(g), 0);
	CHECK_EQ(fake_create(f, "r", 8 * 4096, 0, &region), 0);
	CHECK_EQ(fake_open(f, region, 4096), 0);
	CHECK_EQ(fake_open(g, region, 4096), 0);
	for (i = 0; i < 8; i++)
		fake_fill(f, fake_line(f, region, i), (u8)(i + 1));
	/* no such line, no such region */
	CHECK(!fake_get(f, fake_line(f, region, 8), WEFT_S));
	f->region[1].id = region + 1;
	f->region[1].block = 4096;
	CHECK(!fake_get(f, fake_line(f, region + 1, 0), WEFT_M));
	f->region[1].id = 0;
	/* what others read is to be at home */
	f->keeps = g->keeps = true;
	for (i = 0; i < 8; i++) {
		CHECK(fake_get(g, fake_line(g, region, i), WEFT_S));
		CHECK(fake_is_filled(fake_line(g, region, i), 4096, (u8)(i + 1)));
	}
	fake_settle();

	/* shorter: who has it open gives up what is beyond */
	CHECK_EQ(fake_set_size(f, region, 3 * 4096 - 5), 0);
	for (i = 0; i < 8; i++) {
		CHECK_EQ(weft_line_perm(&fake_line(f, region, i)->l) != WEFT_I, i < 3);
		CHECK_EQ(weft_line_perm(&fake_line(g, region, i)->l) != WEFT_I, i < 3);
	}
	CHECK(!fake_get(f, fake_line(f, region, 3), WEFT_S));
	CHECK_EQ(fake_stat(f, BLADE, "used_bytes"), 3 * 4096);
	/* longer again: zeros */
	CHECK_EQ(fake_set_size(f, region, 8 * 4096), 0);
	for (i = 3; i < 8; i++) {
		fl = fake_line(g, region, i);
		CHECK(fake_get(g, fl, WEFT_S));
		CHECK(fake_is_filled(fl, 4096, 0));
	}
	/* what was written then does not come back with a late write-back */
	for (i = 3; i < 8; i++) {
		u8 old[1408];
		struct weft_msg wb = {
			.type = WEFT_MSG_WB, .src = 1, .txn = weft_txn(1, 5000 + i),
			.line = weft_line_key(region, WEFT_KIND_PAGE, i),
			.version = 40, .size = 4096, .info = 1408,
			.payload = old,
		};

		memset(old, 0x99, sizeof(old));
		for (wb.offset = 0; wb.offset < 4096; wb.offset += 1408) {
			wb.len = wb.offset + 1408 > 4096 ? 4096 - wb.offset : 1408;
			rig_send(1, BLADE, &wb);
		}
	}
	fake_settle();
	for (i = 3; i < 8; i++) {
		fake_evict(g, fake_line(g, region, i), false);
		fake_settle();
		CHECK(fake_get(g, fake_line(g, region, i), WEFT_M));
		CHECK(fake_is_filled(fake_line(g, region, i), 4096, 0));
	}
	for (i = 0; i < 3; i++)
		CHECK(fake_is_filled(fake_line(g, region, i), 4096, (u8)(i + 1)));
	CHECK(fake_stat(f, BLADE, "write_backs_old") >= 5);

	stop();
}

static void without_name(void)
{
	struct fake *f = &fakes[1], *g = &fakes[2];
	struct weft_call c;
	u32 region, i;
	u64 used;

	start("64M");
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_join(g), 0);
	CHECK_EQ(fake_create(f, "r", 8 * 4096, 0, &region), 0);
	CHECK_EQ(fake_open(f, region, 4096), 0);
	CHECK_EQ(fake_open(g, region, 4096), 0);
	g->keeps = true;
	for (i = 0; i < 8; i++)
		fake_fill(g, fake_line(g, region, i), (u8)(i + 1));
	CHECK(fake_get(f, fake_line(f, region, 0), WEFT_S));
	fake_settle();
	/* a node that does not give up its copies does not stop the others */
	g->deaf = true;
	CHECK_EQ(fake_set_size(f, region, 4096), 0);
	g->deaf = false;

	/* without a name, but open */
	used = fake_stat(f, BLADE, "used_bytes");
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "r", &c), 0);
	CHECK_EQ(c.region, region);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "r", &c), ENOENT);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_GETATTR, region, &c), 0);
	CHECK(fake_get(g, fake_line(g, region, 0), WEFT_M));
	CHECK(fake_is_filled(fake_line(g, region, 0), 4096, 1));
	CHECK_EQ(fake_create(f, "r", 4096, 0, &i), 0);
	CHECK(i > region);
	fake_evict_all();
	CHECK_EQ(fake_call_region(f, WEFT_CALL_CLOSE, region, &c), 0);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_GETATTR, region, &c), 0);
	/* a node that leaves has nothing open */
	CHECK_EQ(fake_leave(g), 0);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_GETATTR, region, &c), ESTALE);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_CLOSE, region, &c), 0);
	CHECK(!fake_get(f, fake_line(f, region, 0), WEFT_S));
	CHECK(fake_stat(f, BLADE, "used_bytes") < used);
	stop();
}

/* Memory that is freed is there again, and its contents are not. */
static void memory(void)
{
	struct fake *f = &fakes[1];
	struct weft_call c;
	u32 region, round, i;
	char name[8];

	start("1M");
	CHECK_EQ(fake_join(f), 0);
	for (round = 0; round < 20; round++) {
		u32 block = round % 2 ? 65536 : 4096, n = round % 2 ? 15 : 64;

		snprintf(name, sizeof(name), "m%u", round);
		CHECK_EQ(fake_create(f, name, (u64)n * block, block, &region), 0);
		CHECK_EQ(fake_open(f, region, block), 0);
		for (i = 0; i < n; i++) {
			CHECK(fake_get(f, fake_line(f, region, i), WEFT_S));
			CHECK(fake_is_filled(fake_line(f, region, i), block, 0));
			fake_fill(f, fake_line(f, region, i), (u8)(round + 1));
		}
		fake_evict_all();
		CHECK_EQ(fake_stat(f, BLADE, "used_bytes"), (u64)n * block);
		CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, name, &c), 0);
		CHECK_EQ(fake_call_region(f, WEFT_CALL_CLOSE, region, &c), 0);
		f->region[0].id = 0;
		for (i = 0; i < FAKE_LINES; i++)
			f->region[0].line[i] = (struct fake_line){ 0 };
	}
	stop();
}

/* --- a blade that waits for the first one ------------------------------------- */

static void start_of_two(u32 id)
{
	static const char *const args[] = {
		"--switch", "none", "--memory", "8M", "--peers", "127.0.0.101,127.0.0.105",
		NULL
	};

	rig_memd_start(id, args);
}

/* It has heard neither the catalog nor the rack's time, and says so to who asks. */
static void waits(void)
{
	struct fake *f = &fakes[1];
	u64 end;

	start_of_two(BLADE);
	start_of_two(BLADE + 1);
	fake_init(2);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_stat(f, BLADE + 1, "ready"), 1);
	rig_memd_stop(BLADE + 1, SIGKILL);
	rig_memd_signal(BLADE, SIGSTOP);
	start_of_two(BLADE + 1);
	CHECK_EQ(fake_stat(f, BLADE + 1, "ready"), 0);
	CHECK_EQ(fake_stat(f, BLADE + 1, "nodes"), 0);
	rig_memd_signal(BLADE, SIGCONT);
	end = now_ms() + WAIT_MS;
	while (!fake_stat(f, BLADE + 1, "ready"))
		CHECK(now_ms() < end);
	CHECK_EQ(fake_stat(f, BLADE + 1, "nodes"), 1);
	rig_memd_stop(BLADE + 1, SIGTERM);
	stop();
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "members", members }, { "names", names }, { "lists", lists }, { "ends", ends },
		{ "without_name", without_name },
		{ "shapes", shapes }, { "memory", memory }, { "waits", waits },
		{ 0 }
	};

	rig_open(false, 1);
	return rig_run(tests, argc > 1 ? argv[1] : NULL);
}
