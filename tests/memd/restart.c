// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is left after real memory blades were restarted or killed, over loopback:
 * one with a backing file, and two that share the regions.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

#define BLADE	WEFT_BLADE_MIN
#define MIB	(1ull << 20)
#define SOON_MS	(20000 * (u64)rig_scale())	/* anything that should come */
#define STOOD_MS	500	/* between two steps: the machine stood still */
#define TRIES	5u		/* of what is void then */

static char file[2][128];

static void start(void)
{
	const char *const args[] = {
		"--switch", "none", "--memory", "64M", "--backing", file[0], NULL
	};

	rig_memd_start(BLADE, args);
	fake_init(1);
}

static void stop(int sig)
{
	int status = rig_memd_stop(BLADE, sig);

	if (sig == SIGTERM)
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	memset(fakes, 0, sizeof(fakes));
}

/* --- restart ---------------------------------------------------------------- */

static void restart(void)
{
	struct fake *f = &fakes[1];
	u32 region[3], gone, hidden, i, round;
	static const u32 block[] = { 4096, 16384, 65536 };
	struct weft_call c;
	char name[WEFT_NAME_MAX + 1];

	start();
	CHECK_EQ(fake_join(f), 0);
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "kept%u", i);
		CHECK_EQ(fake_create(f, name, 8 * block[i], block[i], &region[i]), 0);
		CHECK_EQ(fake_open(f, region[i], block[i]), 0);
	}
	for (round = 1; round < 4; round++)
		for (i = 0; i < 3 * 8; i++) {
			struct fake_line *fl = fake_line(f, region[i / 8], i % 8);

			fake_fill(f, fl, (u8)(round * 50 + i));
			fake_settle();
			CHECK(fake_clean(f, fl));
			fake_settle();
		}
	/* the log of the catalog, 8 MiB, goes round */
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (i = 0; i < 14000; i++) {
		struct weft_call s = {
			.op = WEFT_CALL_SETATTR, .region = region[0],
			.valid = WEFT_SET_MTIME, .mtime = i,
		};

		if (i % 100 == 0)
			CHECK_EQ(fake_call(f, BLADE, &s, 5000), 0);
		CHECK_EQ(fake_create(f, name, 0, 0, &gone), 0);
		CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, name, &c), 0);
	}
	CHECK_EQ(fake_set_size(f, region[1], 5 * block[1]), 0);
	CHECK_EQ(fake_set_size(f, region[1], 8 * block[1]), 0);
	CHECK_EQ(fake_create(f, "gone", MIB, 0, &gone), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "gone", &c), 0);
	CHECK_EQ(fake_create(f, "hidden", MIB, 0, &hidden), 0);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_OPEN, hidden, &c), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "hidden", &c), 0);
	CHECK(hidden > gone);

	for (round = 0; round < 3; round++) {
		stop(round ? SIGTERM : SIGKILL);
		start();
		CHECK_EQ(fake_join(f), 0);
		for (i = 0; i < 3; i++) {
			snprintf(name, sizeof(name), "kept%u", i);
			CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, name, &c), 0);
			CHECK_EQ(c.region, region[i]);
			CHECK_EQ(c.block, block[i]);
			CHECK_EQ(c.size, 8 * block[i]);
			CHECK(c.mode == 0640 && c.uid == 7 && c.gid == 8);
			if (!i)
				CHECK_EQ(c.mtime, 13900);
			CHECK_EQ(fake_open(f, region[i], block[i]), 0);
		}
		for (i = 0; i < 3 * 8; i++) {
			struct fake_line *fl = fake_line(f, region[i / 8], i % 8);
			bool cut = i / 8 == 1 && i % 8 >= 5;

			CHECK(fake_get(f, fl, WEFT_S));
			CHECK(fake_is_filled(fl, block[i / 8], cut ? 0 : (u8)(150 + i)));
		}
		CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "gone", &c), ENOENT);
		CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "hidden", &c), ENOENT);
		CHECK_EQ(fake_call_region(f, WEFT_CALL_GETATTR, hidden, &c), ESTALE);
		CHECK_EQ(fake_create(f, "new", 0, 0, &i), 0);
		CHECK(i > hidden);
		hidden = i;
		CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "new", &c), 0);
	}
	stop(SIGTERM);
}

/* --- a node that does not give back what it has ------------------------------ */

/* Return: the machine did not stand still, so that all of it counted for the blades. */
static bool wait_ms(u64 ms)
{
	u64 now = now_ms(), end = now + ms, before;
	bool all = true;

	while (now < end) {
		before = now;
		fake_step(10);
		now = now_ms();
		all &= now - before <= STOOD_MS;
	}
	return all;
}

/*
 * Nodes that are up give everything back to the next life of the blade; for one that
 * is silent nobody waits for ever, and what it says later does not count.
 */
static void silent_node(void)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct fake_line *al, *bl;
	u32 region, before, served;
	u64 began, end;

	start();
	CHECK_EQ(fake_join(a), 0);
	CHECK_EQ(fake_join(b), 0);
	CHECK_EQ(fake_create(a, "lines", 8 * 4096, 0, &region), 0);
	CHECK_EQ(fake_open(a, region, 4096), 0);
	CHECK_EQ(fake_open(b, region, 4096), 0);
	al = fake_line(a, region, 0);
	bl = fake_line(b, region, 1);
	/* the home has 1 of both blocks, the nodes change them */
	fake_fill(a, al, 1);
	fake_fill(b, bl, 1);
	fake_settle();
	CHECK(fake_clean(a, al));
	CHECK(fake_clean(b, bl));
	fake_settle();
	fake_fill(a, al, 2);
	fake_fill(b, bl, 3);
	b->deaf = true;
	/* the blade that an earlier test left asked, too */
	before = a->renewals;
	served = a->served;
	rig_memd_stop(BLADE, SIGKILL);
	{
		const char *const args[] = {
			"--switch", "none", "--memory", "64M", "--backing", file[0], NULL
		};

		rig_memd_start(BLADE, args);
	}
	began = now_ms();
	/* nobody is served while the silent one may have something */
	fake_want(a, fake_line(a, region, 1), WEFT_S);
	wait_ms(3000);
	CHECK_EQ(a->renewals, before + 1);
	CHECK_EQ(al->l.state, WEFT_I);
	CHECK_EQ(fake_line(a, region, 1)->l.state, WEFT_I);
	CHECK_EQ(bl->l.state, WEFT_M);
	CHECK_EQ(fake_stat(a, BLADE, "nodes"), 2);
	CHECK_EQ(a->served, served);
	/* then they are: what it had modified is lost, and comes back as it was at home */
	CHECK(fake_get(a, fake_line(a, region, 1), WEFT_M));
	CHECK(now_ms() - began >= 12000);
	/* of which it is told, once */
	fake_settle();
	CHECK_EQ(a->served, served + 1);
	CHECK(fake_is_filled(fake_line(a, region, 1), 4096, 1));
	fake_fill(a, fake_line(a, region, 1), 9);
	CHECK(fake_get(a, al, WEFT_S));
	CHECK(fake_is_filled(al, 4096, 2));
	/* what it writes home now does not count */
	CHECK(fake_clean(b, bl));
	wait_ms(500);
	CHECK(bl->l.op == WEFT_OP_CLEAN && bl->l.state == WEFT_M);
	CHECK(fake_clean(a, fake_line(a, region, 1)));
	for (end = now_ms() + SOON_MS; !weft_line_idle(&fake_line(a, region, 1)->l); wait_ms(1))
		CHECK(now_ms() < end);
	/* it hears, drops what it has, and is a member again */
	b->deaf = false;
	wait_ms(3000);
	for (end = now_ms() + SOON_MS; bl->l.state != WEFT_I; wait_ms(1))
		CHECK(now_ms() < end);
	CHECK_EQ(b->renewals, 1);
	CHECK_EQ(bl->l.state, WEFT_I);
	CHECK(fake_get(b, bl, WEFT_M));
	CHECK(fake_is_filled(bl, 4096, 9));
	CHECK(!weft_line_perm(&fake_line(a, region, 1)->l));
	CHECK_EQ(fake_stat(a, BLADE, "renewals"), 1);
	stop(SIGTERM);
}

/*
 * What a node has lent to one that is dead keeps it from its answer for a moment only: it is not
 * taken for silent itself.  And a COMMIT that comes meanwhile is acknowledged.
 */
static void dead_borrower(void)
{
	const char *const args[] = {
		"--switch", "none", "--memory", "64M", "--backing", file[0], NULL
	};
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct weft_msg commit = { .type = WEFT_MSG_COMMIT, .src = 1, .status = WEFT_M };
	struct fake_line *al, *bl;
	u32 region, txn, before, served;
	u64 end = now_ms() + SOON_MS;

	start();
	CHECK_EQ(fake_join(a), 0);
	CHECK_EQ(fake_join(b), 0);
	CHECK_EQ(fake_create(a, "lent", 8 * 4096, 0, &region), 0);
	CHECK_EQ(fake_open(a, region, 4096), 0);
	CHECK_EQ(fake_open(b, region, 4096), 0);
	al = fake_line(a, region, 0);
	bl = fake_line(b, region, 0);
	fake_fill(a, al, 1);
	fake_settle();
	txn = fake_expect(b, bl, WEFT_S);
	CHECK(txn && fake_pass(a, al, txn, false));
	while (bl->l.state != WEFT_S) {
		CHECK(now_ms() < end);
		fake_step(1);
	}
	CHECK_EQ(al->l.lent, weft_node_bit(2));
	b->dead = true;
	before = a->renewals;
	served = a->served;
	rig_memd_stop(BLADE, SIGKILL);
	rig_memd_start(BLADE, args);
	while (a->renewals == before || !a->renewed[0]) {
		CHECK(now_ms() < end);
		fake_step(1);
	}
	/* not by the second call, which says that it is late */
	CHECK_EQ(a->renewals, before + 1);
	CHECK_EQ(al->l.state, WEFT_I);
	commit.txn = weft_txn(1, ++a->seq);
	commit.line = weft_line_key(region, WEFT_KIND_PAGE, 1);
	while (a->last.type != WEFT_MSG_COMMIT_ACK || a->last.txn != commit.txn) {
		CHECK(now_ms() < end);
		rig_send(a->at, BLADE, &commit);
		fake_step(10);
	}
	/* the dead one is still waited for */
	CHECK_EQ(a->served, served);
	stop(SIGKILL);
}

/* --- the machine dies ---------------------------------------------------------- */

/* The page of the first records in the backing file, see backing.h. */
static void records(bool put, u8 *page)
{
	FILE *f = fopen(file[0], "r+");

	CHECK(f && !fseek(f, 8192 + 2 * (8 << 20), SEEK_SET));
	CHECK_EQ(put ? fwrite(page, 4096, 1, f) : fread(page, 4096, 1, f), 1);
	CHECK(!fclose(f));
}

/*
 * Of what was written since the last clean stop everything gets to the disk but the
 * records of the frames, though the disk has said that they had, too: nobody reads
 * contents of another region.  (What an honest disk may leave is in power.c.)
 */
static void machine(void)
{
	struct fake *f = &fakes[1];
	u32 region[2], i, tries;
	u8 page[4096];

	snprintf(file[0], sizeof(file[0]), "%s/machine", rig_dir());
	start();
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_create(f, "one", 4 * 16384, 16384, &region[0]), 0);
	CHECK_EQ(fake_create(f, "two", 4 * 16384, 16384, &region[1]), 0);
	for (i = 0; i < 2; i++)
		CHECK_EQ(fake_open(f, region[i], 16384), 0);
	for (i = 0; i < 4; i++)
		fake_fill(f, fake_line(f, region[0], i), (u8)(i + 1));
	fake_evict_all();
	CHECK_EQ(fake_leave(f), 0);
	stop(SIGTERM);
	records(false, page);

	start();
	CHECK_EQ(fake_join(f), 0);
	for (i = 0; i < 2; i++)
		CHECK_EQ(fake_open(f, region[i], 16384), 0);
	/* the frames that this makes free are those that "two" gets, when they have rested */
	fake_fill(f, fake_line(f, region[0], 0), 11);
	fake_evict_all();
	for (tries = 0; !wait_ms(6000 * (u64)rig_scale()); tries++)
		CHECK(tries < TRIES);
	fake_fill(f, fake_line(f, region[1], 0), 22);
	fake_evict_all();
	CHECK_EQ(fake_leave(f), 0);
	stop(SIGKILL);
	records(true, page);

	start();
	CHECK_EQ(fake_join(f), 0);
	for (i = 0; i < 2; i++)
		CHECK_EQ(fake_open(f, region[i], 16384), 0);
	CHECK_EQ(fake_stat(f, BLADE, "used_bytes"), 4 * 16384);
	for (i = 0; i < 4; i++) {
		CHECK(fake_get(f, fake_line(f, region[0], i), WEFT_S));
		CHECK(fake_is_filled(fake_line(f, region[0], i), 16384, i ? (u8)(i + 1) : 0));
		CHECK(fake_get(f, fake_line(f, region[1], i), WEFT_S));
		CHECK(fake_is_filled(fake_line(f, region[1], i), 16384, 0));
	}
	CHECK_EQ(fake_stat(f, BLADE, "used_bytes"), 3 * 16384);
	/* what is lost can be written again */
	fake_evict_all();
	fake_fill(f, fake_line(f, region[0], 0), 33);
	fake_evict_all();
	CHECK_EQ(fake_leave(f), 0);
	stop(SIGKILL);
	start();
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_open(f, region[0], 16384), 0);
	CHECK(fake_get(f, fake_line(f, region[0], 0), WEFT_S));
	CHECK(fake_is_filled(fake_line(f, region[0], 0), 16384, 33));
	stop(SIGTERM);
}

/* --- a region that became shorter -------------------------------------------- */

/* The blade dies and begins a new life, and all nodes give back what they have. */
static void restart_among(u32 nodes)
{
	const char *const args[] = {
		"--switch", "none", "--memory", "64M", "--backing", file[0], NULL
	};
	u32 before[RIG_NODES + 1], i;
	u64 end = now_ms() + 10000 * (u64)rig_scale();
	bool all = false;

	for (i = 1; i <= nodes; i++)
		before[i] = fakes[i].renewals;
	rig_memd_stop(BLADE, SIGKILL);
	rig_memd_start(BLADE, args);
	while (!all) {
		CHECK(now_ms() < end);
		fake_step(10);
		for (all = true, i = 1; i <= nodes; i++)
			all &= fakes[i].renewals > before[i];
	}
	fake_settle();
}

/*
 * What nodes have of blocks that were never at home survives a restart of the blade,
 * whatever the region's size was meanwhile; what was cut off does not come back from a
 * node that was not told.
 */
static void cuts(void)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u32 region, i;

	start();
	CHECK_EQ(fake_join(a), 0);
	CHECK_EQ(fake_join(b), 0);
	CHECK_EQ(fake_create(a, "cut", 16 * 4096, 0, &region), 0);
	CHECK_EQ(fake_open(a, region, 4096), 0);
	CHECK_EQ(fake_open(b, region, 4096), 0);
	fake_fill(a, fake_line(a, region, 0), 7);
	fake_fill(b, fake_line(b, region, 3), 8);
	fake_fill(b, fake_line(b, region, 15), 9);
	b->deaf = true;
	CHECK_EQ(fake_set_size(a, region, 2 * 4096), 0);
	CHECK_EQ(fake_set_size(a, region, 16 * 4096), 0);
	fake_fill(a, fake_line(a, region, 4), 10);
	CHECK_EQ(fake_set_size(a, region, 6 * 4096), 0);
	CHECK_EQ(fake_set_size(a, region, 16 * 4096), 0);
	fake_fill(a, fake_line(a, region, 6), 11);
	CHECK_EQ(fake_line(a, region, 0)->l.state, WEFT_M);
	CHECK_EQ(fake_line(a, region, 4)->l.state, WEFT_M);
	CHECK_EQ(fake_line(a, region, 6)->l.state, WEFT_M);
	CHECK_EQ(fake_line(b, region, 3)->l.state, WEFT_M);
	CHECK_EQ(fake_line(b, region, 15)->l.state, WEFT_M);
	b->deaf = false;
	CHECK_EQ(fake_stat(a, BLADE, "write_backs"), 0);
	restart_among(2);
	CHECK_EQ(fake_stat(a, BLADE, "write_backs"), 3);
	CHECK(fake_stat(a, BLADE, "write_backs_old"));
	/* once from the nodes, then from the file */
	for (i = 0; i < 2; i++) {
		static const u8 has[16] = { [0] = 7, [4] = 10, [6] = 11 };
		u32 k;

		for (k = 0; k < 16; k++) {
			CHECK(fake_get(a, fake_line(a, region, k), WEFT_S));
			CHECK(fake_is_filled(fake_line(a, region, k), 4096, has[k]));
		}
		restart_among(2);
	}
	/* more cuts than are kept, each one further out: the newest count */
	for (i = 0; i < 12; i++) {
		CHECK_EQ(fake_set_size(a, region, (2 + i) * 4096), 0);
		CHECK_EQ(fake_set_size(a, region, 16 * 4096), 0);
		fake_fill(a, fake_line(a, region, 2 + i), (u8)(20 + i));
	}
	fake_fill(a, fake_line(a, region, 1), 19);
	restart_among(2);
	for (i = 0; i < 13; i++) {
		CHECK(fake_get(a, fake_line(a, region, 1 + i), WEFT_S));
		CHECK(fake_is_filled(fake_line(a, region, 1 + i), 4096, (u8)(19 + i)));
	}
	stop(SIGTERM);
}

/* --- two blades ------------------------------------------------------------- */

static void start_one(u32 n)
{
	const char *const args[] = {
		"--switch", "none", "--memory", "8M", "--peers",
		"127.0.0.101,127.0.0.105", "--backing", file[n],
		"--user-memory", "0", NULL
	};

	rig_memd_start(BLADE + n, args);
}

static void two_blades(void)
{
	struct fake *f = &fakes[1];
	struct weft_call c;
	u32 region, other, i;

	snprintf(file[0], sizeof(file[0]), "%s/two-a", rig_dir());
	snprintf(file[1], sizeof(file[1]), "%s/two-b", rig_dir());
	start_one(0);
	fake_init(2);
	/* without the second nobody may begin */
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_JOIN;
	c.node = 1;
	c.life = f->life;
	c.addr = rig_addr(1);
	CHECK_EQ(fake_call(f, BLADE, &c, 500), -1);
	start_one(1);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_join(&fakes[2]), 0);
	/* 16 runs of 64 blocks, half of them at each blade: all there is */
	CHECK_EQ(fake_create(f, "r", 15 * MIB, 0, &region), 0);
	CHECK_EQ(fake_open(f, region, 4096), 0);
	/* the number after an odd one is even: this begins at the other blade */
	CHECK_EQ(fake_create(f, "x", 2 * 65536, 65536, &other), 0);
	CHECK_EQ(other, region + 1);
	CHECK_EQ(fake_create(f, "large", 2 * MIB, 0, &i), ENOSPC);
	CHECK_EQ(fake_open(f, other, 65536), 0);
	for (i = 0; i < 8; i++)
		fake_fill(f, fake_line(f, region, i), (u8)(i + 1));
	fake_fill(f, fake_line(f, other, 1), 0x77);
	fake_evict_all();
	CHECK(fake_stat(f, BLADE, "write_backs") > 0);
	CHECK(fake_stat(f, BLADE + 1, "write_backs") > 0);
	/* only the first blade keeps the catalog */
	memset(&c, 0, sizeof(c));
	c.op = WEFT_CALL_GETATTR;
	c.region = region;
	CHECK_EQ(fake_call(f, BLADE + 1, &c, 5000), EREMOTE);

	/* the second one dies: what needs it waits, then is refused */
	rig_memd_stop(BLADE + 1, SIGKILL);
	c.op = WEFT_CALL_CREATE;
	c.size = 0;
	c.name_len = 1;
	c.name[0] = 'y';
	CHECK_EQ(fake_call(f, BLADE, &c, 20000), EHOSTDOWN);
	memset(&c, 0, sizeof(c));
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "y", &c), ENOENT);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "x", &c), 0);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_CLOSE, other, &c), 0);
	/* when it is back it hears what it missed */
	start_one(1);
	CHECK_EQ(fake_create(f, "z", MIB / 2, 0, &other), 0);
	for (i = 0; i < 8; i++) {
		CHECK(fake_get(f, fake_line(f, region, i), WEFT_S));
		CHECK(fake_is_filled(fake_line(f, region, i), 4096, (u8)(i + 1)));
	}
	CHECK_EQ(fake_stat(f, BLADE + 1, "regions"), 2);
	CHECK_EQ(fake_stat(f, BLADE + 1, "nodes"), 2);
	/* the first one dies: the second follows its next life */
	fake_evict_all();
	rig_memd_stop(BLADE, SIGKILL);
	start_one(0);
	/* it knows its members still: this waits for the second */
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "r", &c), 0);
	CHECK_EQ(c.region, region);
	for (i = 0; i < 8; i++) {
		CHECK(fake_get(f, fake_line(f, region, i), WEFT_S));
		CHECK(fake_is_filled(fake_line(f, region, i), 4096, (u8)(i + 1)));
	}
	CHECK_EQ(fake_set_size(f, region, 0), 0);
	CHECK_EQ(fake_stat(f, BLADE, "used_bytes"), 0);
	CHECK_EQ(fake_stat(f, BLADE + 1, "used_bytes"), 0);
	rig_memd_stop(BLADE, SIGTERM);
	rig_memd_stop(BLADE + 1, SIGTERM);
}

/* --- a file system that is full ----------------------------------------------- */

/*
 * The second blade cannot note the region of which it hears when it joins: it is not
 * taken for one that has, and what it writes when there is room again is whole.
 */
static void full(void)
{
	/* of its file: up to the end of the first record of the catalog, see backing.h */
	struct rlimit all, little = { .rlim_cur = 8192 + (8 << 20) + 16 };
	struct fake *f = &fakes[1];
	u32 region, i;
	u64 before, end;
	int err;

	snprintf(file[0], sizeof(file[0]), "%s/full-a", rig_dir());
	snprintf(file[1], sizeof(file[1]), "%s/full-b", rig_dir());
	start_one(0);
	start_one(1);
	fake_init(2);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_create(f, "r", MIB, 0, &region), 0);
	CHECK_EQ(fake_open(f, region, 4096), 0);
	before = fake_stat(f, BLADE, "pushes_failed");
	rig_memd_stop(BLADE + 1, SIGKILL);
	CHECK(!unlink(file[1]));
	CHECK(!getrlimit(RLIMIT_FSIZE, &all));
	little.rlim_max = all.rlim_max;
	/* the write fails, nobody is killed for it */
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &little));
	start_one(1);
	CHECK(!setrlimit(RLIMIT_FSIZE, &all));
	signal(SIGXFSZ, SIG_DFL);
	for (end = now_ms() + SOON_MS; fake_stat(f, BLADE, "pushes_failed") < before + 2; wait_ms(100))
		CHECK(now_ms() < end);
	CHECK_EQ(fake_stat(f, BLADE + 1, "regions"), 0);
	rig_memd_limit(BLADE + 1, &all);
	/* its last failure may be on its way still, and ends what is asked meanwhile */
	for (end = now_ms() + SOON_MS; (err = fake_set_size(f, region, 2 * MIB)); wait_ms(10))
		CHECK(err == EHOSTDOWN && now_ms() < end, "%d", err);
	CHECK_EQ(fake_stat(f, BLADE + 1, "regions"), 1);
	/* the region's first blocks are at home there */
	for (i = 0; i < FAKE_LINES; i += 16)
		fake_fill(f, fake_line(f, region, i), (u8)(i + 1));
	fake_evict_all();
	CHECK_EQ(fake_stat(f, BLADE + 1, "write_backs"), FAKE_LINES / 16);
	rig_memd_stop(BLADE + 1, SIGKILL);
	start_one(1);
	for (i = 0; i < FAKE_LINES; i += 16) {
		CHECK(fake_get(f, fake_line(f, region, i), WEFT_S));
		CHECK(fake_is_filled(fake_line(f, region, i), 4096, (u8)(i + 1)));
	}
	rig_memd_stop(BLADE, SIGTERM);
	rig_memd_stop(BLADE + 1, SIGTERM);
}

/* --- a blade that is dead --------------------------------------------------- */

/* Who the first blade says is in the rack, in its list and in its statistics. */
static u32 members_now(void)
{
	struct weft_call c = { .op = WEFT_CALL_PEERS, .life = fakes[1].life };

	CHECK_EQ(fake_call(&fakes[1], BLADE, &c, 5000), 0);
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "nodes"),
		 __builtin_popcount(c.members));
	/* besides the nodes the blades are listed */
	CHECK_EQ(c.list_len, 8 * (__builtin_popcount(c.members) + 2));
	return c.members;
}

static int join_for(struct fake *f, int ms)
{
	struct weft_call c = {
		.op = WEFT_CALL_JOIN, .node = f->id, .life = f->life,
		.addr = rig_addr(f->id),
	};

	return fake_call(f, BLADE, &c, ms);
}

/*
 * The second blade is only slow, and the node gives up before it answers, without a word.
 * Return: false: the first one may not have counted long enough to know that.
 */
static bool give_up_silently(struct fake *f)
{
	bool all;

	rig_memd_signal(BLADE + 1, SIGSTOP);
	CHECK_EQ(join_for(f, 100), -1);
	all = wait_ms(1700);
	rig_memd_signal(BLADE + 1, SIGCONT);
	wait_ms(1500);
	return all;
}

/* A JOIN that fails makes no member, neither while it waits nor afterwards. */
static void dead_blade(void)
{
	struct weft_call leave = { .op = WEFT_CALL_LEAVE, .node = 2 };
	struct weft_call sync = { .op = WEFT_CALL_SYNC };
	struct fake *f = &fakes[2];
	u64 end, failed;
	u32 tries;

	snprintf(file[0], sizeof(file[0]), "%s/dead-a", rig_dir());
	snprintf(file[1], sizeof(file[1]), "%s/dead-b", rig_dir());
	start_one(0);
	start_one(1);
	fake_init(2);
	CHECK_EQ(fake_join(&fakes[1]), 0);
	CHECK_EQ(members_now(), 1);

	/* the second blade is dead, which nobody has noticed yet */
	rig_memd_stop(BLADE + 1, SIGKILL);
	CHECK(join_for(f, 500));
	CHECK_EQ(members_now(), 1);
	CHECK(join_for(f, 500));
	CHECK_EQ(members_now(), 1);
	/* when it has been noticed */
	for (end = now_ms() + 4000; now_ms() < end; )
		fake_step(10);
	CHECK_EQ(members_now(), 1);
	CHECK(join_for(f, 500));
	CHECK_EQ(members_now(), 1);
	/* and when it is back */
	start_one(1);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(members_now(), 3);
	CHECK_EQ(fake_stat(f, BLADE + 1, "nodes"), 2);
	CHECK_EQ(fake_leave(f), 0);
	CHECK_EQ(members_now(), 1);

	/*
	 * It is only slow, and the node gives up before it answers, silently or
	 * with LEAVE: then it has not joined when the blade does answer.
	 */
	for (tries = 0; !give_up_silently(f); tries++) {
		CHECK(tries < TRIES);
		CHECK_EQ(fake_join(f), 0);
		CHECK_EQ(fake_leave(f), 0);
	}
	CHECK_EQ(members_now(), 1);
	CHECK_EQ(fake_stat(f, BLADE + 1, "nodes"), 1);

	rig_memd_signal(BLADE + 1, SIGSTOP);
	CHECK_EQ(join_for(f, 100), -1);
	leave.life = f->life;
	CHECK_EQ(fake_call(f, BLADE, &leave, 100), -1);
	rig_memd_signal(BLADE + 1, SIGCONT);
	for (end = now_ms() + 1500; now_ms() < end; )
		fake_step(10);
	CHECK_EQ(members_now(), 1);
	CHECK_EQ(fake_stat(f, BLADE + 1, "nodes"), 1);

	/* who waits joins */
	rig_memd_signal(BLADE + 1, SIGSTOP);
	CHECK_EQ(join_for(f, 100), -1);
	CHECK_EQ(members_now(), 1);
	rig_memd_signal(BLADE + 1, SIGCONT);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(members_now(), 3);
	CHECK_EQ(fake_leave(f), 0);

	/*
	 * The first one stands still, for as long as makes others dead: what they sent
	 * meanwhile is there, so the second is not given up.
	 */
	failed = fake_stat(&fakes[1], BLADE, "pushes_failed");
	rig_memd_signal(BLADE + 1, SIGSTOP);
	CHECK_EQ(join_for(f, 100), -1);
	rig_memd_signal(BLADE, SIGSTOP);
	rig_memd_signal(BLADE + 1, SIGCONT);
	wait_ms(4000);
	rig_memd_signal(BLADE, SIGCONT);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(members_now(), 3);
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "pushes_failed"), failed);

	/* who begins has yet to hear who is a member: until then it refuses nobody */
	rig_memd_stop(BLADE + 1, SIGKILL);
	rig_memd_signal(BLADE, SIGSTOP);
	start_one(1);
	CHECK_EQ(fake_stat(&fakes[1], BLADE + 1, "ready"), 0);
	CHECK_EQ(fake_call(&fakes[1], BLADE + 1, &sync, 500), -1);
	rig_memd_signal(BLADE, SIGCONT);
	CHECK_EQ(fake_call(&fakes[1], BLADE + 1, &sync, 5000), 0);
	rig_memd_stop(BLADE, SIGTERM);
	rig_memd_stop(BLADE + 1, SIGTERM);
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "restart", restart }, { "silent_node", silent_node },
		{ "machine", machine }, { "cuts", cuts },
		{ "two_blades", two_blades }, { "full", full },
		{ "dead_blade", dead_blade }, { "dead_borrower", dead_borrower },
		{ 0 }
	};

	rig_open(false, 2);
	snprintf(file[0], sizeof(file[0]), "%s/backing", rig_dir());
	return rig_run(tests, argc > 1 ? argv[1] : NULL);
}
