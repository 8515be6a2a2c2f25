// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory blades that are added and drained while nodes are at work: what the administrator is
 * answered, which regions use which, and that contents come along.  (Accesses in the midst of
 * moves are memd-coherence's and memd-locks'.)
 *
 *	memd-move plain|switch [TEST]
 */
#include <signal.h>

#include "fake.h"

#define BLADE		WEFT_BLADE_MIN
#define APART		64u	/* the blades take turns */
#define LINES		8
#define BLOCK		65536u
#define SIZE		((u64)LINES * APART * BLOCK)
#define WAIT_MS		(20000 * rig_scale())

static bool use_switch;

/* --- blades ---------------------------------------------------------------------- */

/* Blade @i (0 based) of a rack that it takes for one of @count. */
static void start(u32 count, u32 i, const char *memory)
{
	static const char * const peers[] = {
		"10.87.0.101", "10.87.0.101,10.87.0.105", "10.87.0.101,10.87.0.105,10.87.0.109",
	};
	char file[128];
	const char *const args[] = {
		"--memory", memory, "--backing", file, "--peers", peers[count - 1],
		"--user-memory", "0", NULL
	};

	snprintf(file, sizeof(file), "%s/file-%u", rig_dir(), i);
	rig_memd_start(BLADE + i, args);
}

static void begin(u32 count, const char *memory)
{
	u32 i;

	/* of the test before */
	memset(fakes, 0, sizeof(fakes));
	rig_p4 = use_switch;
	rig_open(true, 1);
	for (i = 0; i < count; i++)
		start(count, i, memory);
	fake_init(count);
	fake_apart = APART;
	CHECK_EQ(fake_join(&fakes[1]), 0);
	CHECK_EQ(fake_join(&fakes[2]), 0);
}

static void end(void)
{
	rig_memd_stop_all();
	rig_close();
}

/* BLADE.  Return: its errno; @c has the list. */
static int blade(u32 valid, u32 id, u32 addr, struct weft_call *c)
{
	memset(c, 0, sizeof(*c));
	c->op = WEFT_CALL_BLADE;
	c->valid = valid;
	c->node = id;
	c->addr = addr;
	return fake_call(&fakes[1], BLADE, c, WAIT_MS);
}

/* What the list says of a blade: how many regions have lines there, and its flags. */
static u32 regions_at(u32 id, u8 *flags)
{
	struct weft_call c;
	u32 i;

	CHECK_EQ(blade(0, 0, 0, &c), 0);
	for (i = 0; i < c.list_len; i += WEFT_BLADE_LEN)
		if (c.list[i] == id) {
			if (flags)
				*flags = c.list[i + 1];
			CHECK_EQ(get_unaligned_be32(c.list + i + 4), rig_addr(id));
			return get_unaligned_be32(c.list + i + 24);
		}
	CHECK_FAIL("blade %u is in no list", id);
}

static void wait_empty(u32 id)
{
	u64 limit = now_ms() + WAIT_MS;

	while (regions_at(id, NULL)) {
		CHECK(now_ms() < limit);
		fake_step(5);
	}
}

/* --- regions --------------------------------------------------------------------- */

static u32 homes_of(u32 region)
{
	struct weft_call c;

	CHECK_EQ(fake_call_region(&fakes[1], WEFT_CALL_GETATTR, region, &c), 0);
	return c.homes;
}

static u32 create(const char *name, u64 size)
{
	u32 region;

	CHECK_EQ(fake_create(&fakes[1], name, size, BLOCK, &region), 0);
	CHECK_EQ(fake_open(&fakes[1], region, BLOCK), 0);
	CHECK_EQ(fake_open(&fakes[2], region, BLOCK), 0);
	return region;
}

/* Every second line goes home, the others are with their node; both nodes have some. */
static void fill(u32 region, u8 value)
{
	u32 i;

	for (i = 0; i < LINES; i++) {
		struct fake *f = &fakes[1 + i / 2 % 2];
		struct fake_line *fl = fake_line(f, region, i);

		fake_fill(f, fl, (u8)(value + i));
		if (i % 2)
			while (!fake_evict(f, fl, false))
				fake_step(1);
	}
	fake_settle();
}

static void check_filled(struct fake *f, u32 region, u8 value)
{
	u32 i;

	for (i = 0; i < LINES; i++) {
		struct fake_line *fl = fake_line(f, region, i);

		CHECK(fake_get(f, fl, WEFT_S));
		CHECK(fake_is_filled(fl, BLOCK, (u8)(value + i)));
	}
}

/* --- tests ----------------------------------------------------------------------- */

static void added(void)
{
	struct weft_call c;
	u32 old, new;
	u64 limit;

	begin(2, "256M");
	old = create("old", SIZE);
	fill(old, 10);
	CHECK_EQ(homes_of(old), 3);
	CHECK_EQ(blade(WEFT_BLADE_ADD, BLADE + 3, rig_addr(BLADE + 3), &c), EINVAL);
	CHECK_EQ(blade(WEFT_BLADE_ADD, BLADE + 2, rig_addr(BLADE + 1), &c), EADDRINUSE);
	CHECK_EQ(blade(WEFT_BLADE_ADD, BLADE + 2, 0, &c), EINVAL);
	CHECK_EQ(blade(WEFT_BLADE_ADD, BLADE + 1, rig_addr(BLADE + 2), &c), EEXIST);
	CHECK_EQ(blade(WEFT_BLADE_ADD, BLADE + 2, rig_addr(BLADE + 2), &c), 0);
	CHECK_EQ(blade(WEFT_BLADE_ADD, BLADE + 2, rig_addr(BLADE + 2), &c), 0);
	/* it is known, and nobody waits for it */
	CHECK_EQ(homes_of(create("meanwhile", SIZE)), 3);
	CHECK_EQ(fake_spread(&fakes[1], old, 4), EINVAL);
	start(3, 2, "256M");
	limit = now_ms() + WAIT_MS;
	while (fake_spread(&fakes[1], old, 7)) {
		CHECK(now_ms() < limit);
		fake_step(20);
	}
	CHECK(fake_moved(old, 7));
	CHECK_EQ(regions_at(BLADE + 2, NULL), 1);
	new = create("new", SIZE);
	CHECK_EQ(homes_of(new), 7);
	fill(new, 40);
	check_filled(&fakes[1], old, 10);
	check_filled(&fakes[2], old, 10);
	fake_evict_all();
	CHECK(fake_stat(&fakes[1], BLADE + 2, "used_bytes") >= 2 * BLOCK);
	/* the first blade knows it again, though its command line does not */
	rig_memd_stop(BLADE, SIGKILL);
	start(2, 0, "256M");
	check_filled(&fakes[1], old, 10);
	check_filled(&fakes[2], new, 40);
	CHECK_EQ(regions_at(BLADE + 2, NULL), 2);
	end();
}

static void drained(void)
{
	struct weft_call c;
	u32 region, new;
	u8 flags;

	begin(3, "256M");
	region = create("here", SIZE);
	fill(region, 10);
	CHECK_EQ(homes_of(region), 7);
	CHECK_EQ(blade(WEFT_BLADE_DRAIN, BLADE, 0, &c), EINVAL);
	CHECK_EQ(blade(WEFT_BLADE_DRAIN, BLADE + 3, 0, &c), ENXIO);
	CHECK_EQ(blade(WEFT_BLADE_DRAIN, BLADE + 1, 0, &c), 0);
	wait_empty(BLADE + 1);
	CHECK_EQ(homes_of(region), 5);
	CHECK(fake_moved(region, 5));
	check_filled(&fakes[2], region, 10);
	/* nobody misses it */
	rig_memd_stop(BLADE + 1, SIGKILL);
	CHECK_EQ(fake_join(&fakes[3]), 0);
	CHECK_EQ(fake_open(&fakes[3], region, BLOCK), 0);
	check_filled(&fakes[3], region, 10);
	new = create("new", SIZE);
	CHECK_EQ(homes_of(new), 5);
	fill(new, 40);
	/* nor does another life of the first one */
	rig_memd_stop(BLADE, SIGKILL);
	start(3, 0, "256M");
	check_filled(&fakes[3], region, 10);
	check_filled(&fakes[1], new, 40);
	regions_at(BLADE + 1, &flags);
	CHECK(flags & WEFT_BLADE_DRAINS);
	CHECK(!(flags & WEFT_BLADE_IN));
	/* it may come back, with what it had then */
	start(3, 1, "256M");
	CHECK_EQ(blade(WEFT_BLADE_USE, BLADE + 1, 0, &c), 0);
	CHECK_EQ(fake_spread(&fakes[1], region, 0), 0);
	CHECK(fake_moved(region, 7));
	check_filled(&fakes[2], region, 10);
	check_filled(&fakes[3], region, 10);
	end();
}

/* What is drained has to find room: it stays, and all goes on. */
static void no_room(void)
{
	struct weft_call c;
	u64 limit;
	u32 region;

	begin(2, "64M");
	CHECK_EQ(fake_create(&fakes[1], "large", 96u << 20, BLOCK, &region), 0);
	CHECK_EQ(fake_open(&fakes[1], region, BLOCK), 0);
	CHECK_EQ(blade(WEFT_BLADE_DRAIN, BLADE + 1, 0, &c), 0);
	for (limit = now_ms() + 1500; now_ms() < limit; )
		fake_step(20);
	CHECK_EQ(homes_of(region), 3);
	CHECK_EQ(regions_at(BLADE + 1, NULL), 1);
	fake_fill(&fakes[1], fake_line(&fakes[1], region, 1), 7);
	/* half as large it fits */
	CHECK_EQ(fake_set_size(&fakes[1], region, 48u << 20), 0);
	CHECK_EQ(fake_spread(&fakes[1], region, 1), 0);
	CHECK(fake_moved(region, 1));
	fake_evict_all();
	CHECK(fake_get(&fakes[1], fake_line(&fakes[1], region, 1), WEFT_S));
	CHECK(fake_is_filled(fake_line(&fakes[1], region, 1), BLOCK, 7));
	end();
}

/* Who cuts a region does not wait for its move. */
static void gives_way(void)
{
	struct weft_call c;
	u32 region, i;

	begin(2, "256M");
	region = create("here", SIZE);
	CHECK_EQ(fake_spread(&fakes[1], region, 1), 0);
	CHECK(fake_moved(region, 1));
	fill(region, 10);
	fake_evict_all();
	/* the other one takes nothing: it goes on until that is noticed */
	rig_memd_signal(BLADE + 1, SIGSTOP);
	CHECK_EQ(fake_spread(&fakes[1], region, 2), 0);
	for (i = 0; i < 20; i++)
		fake_step(10);
	check_filled(&fakes[2], region, 10);
	rig_memd_signal(BLADE + 1, SIGCONT);
	CHECK_EQ(fake_set_size(&fakes[1], region, SIZE / 2), 0);
	CHECK_EQ(fake_call_region(&fakes[1], WEFT_CALL_GETATTR, region, &c), 0);
	CHECK_EQ(c.size, SIZE / 2);
	CHECK(fake_moved(region, 2));
	for (i = 0; i < LINES / 2; i++) {
		CHECK(fake_get(&fakes[1], fake_line(&fakes[1], region, i), WEFT_S));
		CHECK(fake_is_filled(fake_line(&fakes[1], region, i), BLOCK, (u8)(10 + i)));
	}
	/* what went is not back in the other's file */
	CHECK_EQ(fake_set_size(&fakes[1], region, SIZE), 0);
	for (i = LINES / 2; i < LINES; i++) {
		struct fake_line *fl = fake_line(&fakes[1], region, i);

		CHECK(fake_get(&fakes[1], fl, WEFT_S));
		CHECK(fake_is_filled(fl, BLOCK, 0));
	}
	end();
}

/* A region is removed while it moves, and another one afterwards moves all the same. */
static void removed(void)
{
	struct weft_call c;
	u32 region, other;

	begin(2, "256M");
	region = create("here", SIZE);
	other = create("other", SIZE);
	fill(region, 10);
	fill(other, 40);
	fake_evict_all();
	CHECK_EQ(fake_spread(&fakes[1], region, 2), 0);
	CHECK_EQ(fake_call_named(&fakes[1], WEFT_CALL_UNLINK, "here", &c), 0);
	CHECK_EQ(fake_call_region(&fakes[1], WEFT_CALL_CLOSE, region, &c), 0);
	CHECK_EQ(fake_call_region(&fakes[2], WEFT_CALL_CLOSE, region, &c), 0);
	CHECK_EQ(fake_spread(&fakes[1], other, 2), 0);
	CHECK(fake_moved(other, 2));
	check_filled(&fakes[2], other, 40);
	CHECK_EQ(fake_call_region(&fakes[1], WEFT_CALL_GETATTR, region, &c), ESTALE);
	fake_evict_all();
	CHECK_EQ(regions_at(BLADE, NULL), 0);
	CHECK(fake_stat(&fakes[1], BLADE, "used_bytes") < BLOCK);
	end();
}

/* The first blade ends before the new homes are noted: its next life knows what was asked for. */
static void remembered(void)
{
	u32 region, i;

	begin(2, "256M");
	region = create("here", SIZE);
	fill(region, 10);
	fake_evict_all();
	/* the other one takes nothing, so that it does not come to an end */
	rig_memd_signal(BLADE + 1, SIGSTOP);
	CHECK_EQ(fake_spread(&fakes[1], region, 2), 0);
	rig_memd_stop(BLADE, SIGKILL);
	rig_memd_signal(BLADE + 1, SIGCONT);
	start(2, 0, "256M");
	CHECK(fake_moved(region, 2));
	check_filled(&fakes[2], region, 10);
	/* and that it is over */
	for (i = 0; i < 2; i++) {
		rig_memd_stop(BLADE, SIGKILL);
		start(2, 0, "256M");
		CHECK_EQ(homes_of(region), 2);
	}
	end();
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "added", added }, { "drained", drained }, { "no_room", no_room },
		{ "gives_way", gives_way }, { "removed", removed },
		{ "remembered", remembered }, { NULL, NULL }
	};

	if (argc < 2)
		return 2;
	use_switch = !strcmp(argv[1], "switch");
	return rig_run(tests, argc > 2 ? argv[2] : NULL);
}
