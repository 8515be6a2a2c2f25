// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one user may have of a real memory blade, over loopback: regions, memory for them,
 * locks; and that others are not in the way of each other.
 */
#include <signal.h>
#include <sys/wait.h>

#include "fake.h"

#define BLADE		WEFT_BLADE_MIN
#define MIB		(1ull << 20)
#define USER		7u	/* as in fake_create() */
#define OTHER		9u
#define REGIONS_MAX	16384u
#define PRIVILEGED	WEFT_CREATE_UNLIMITED

static void start(const char *limit, const char *value)
{
	const char *const args[] = {
		"--switch", "none", "--memory", "64M", "--user-regions", "5", limit, value,
		NULL,
	};

	rig_memd_start(BLADE, args);
	fake_init(1);
	CHECK_EQ(fake_join(&fakes[1]), 0);
}

static void stop(void)
{
	int status = rig_memd_stop(BLADE, SIGTERM);

	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	memset(fakes, 0, sizeof(fakes));
}

static int create_as(u32 uid, u32 valid, const char *name, u64 size, u32 *region)
{
	struct weft_call c = {
		.op = WEFT_CALL_CREATE, .mode = 0666, .uid = uid, .valid = valid,
		.size = size,
	};
	int err;

	c.name_len = (u16)strlen(name);
	memcpy(c.name, name, c.name_len);
	err = fake_call(&fakes[1], BLADE, &c, 20000);
	*region = c.region;
	return err;
}

static int set_size_as(u32 valid, u32 region, u64 size)
{
	struct weft_call c = {
		.op = WEFT_CALL_SETATTR, .region = region, .valid = WEFT_SET_SIZE | valid,
		.size = size,
	};

	return fake_call(&fakes[1], BLADE, &c, 20000);
}

static void user_regions(void)
{
	struct fake *f = &fakes[1];
	u32 region, first = 0, i;
	struct weft_call c;
	char name[8];

	start("--user-memory", "0");
	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "u%u", i);
		CHECK_EQ(create_as(USER, 0, name, 0, i ? &region : &first), 0);
	}
	CHECK_EQ(create_as(USER, 0, "more", 0, &region), EDQUOT);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_LOOKUP, "more", &c), ENOENT);
	/* one that is there is no new one */
	CHECK_EQ(create_as(USER, 0, "u1", 0, &region), 0);
	/* others, root, and who has the privilege */
	CHECK_EQ(create_as(OTHER, 0, "other", 0, &region), 0);
	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		CHECK_EQ(create_as(0, 0, name, 0, &region), 0);
	}
	CHECK_EQ(create_as(USER, PRIVILEGED, "extra", 0, &region), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "extra", &c), 0);
	/* without a name, but open: it is there still */
	CHECK_EQ(fake_call_region(f, WEFT_CALL_OPEN, first, &c), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "u0", &c), 0);
	CHECK_EQ(create_as(USER, 0, "more", 0, &region), EDQUOT);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_CLOSE, first, &c), 0);
	CHECK_EQ(create_as(USER, 0, "more", 0, &region), 0);
	CHECK_EQ(create_as(USER, 0, "again", 0, &region), EDQUOT);
	CHECK_EQ(fake_stat(f, BLADE, "calls_over_quota"), 3);
	stop();
}

/* However many users there are, the last places are for root. */
static void places(void)
{
	const char *const args[] = {
		"--switch", "none", "--memory", "64M", "--user-regions", "0", NULL,
	};
	u32 region, i;
	char name[8];

	rig_memd_start(BLADE, args);
	fake_init(1);
	CHECK_EQ(fake_join(&fakes[1]), 0);
	for (i = 0; i < REGIONS_MAX - REGIONS_MAX / 16; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		CHECK_EQ(create_as(USER + i % 100, 0, name, 0, &region), 0);
	}
	CHECK_EQ(create_as(OTHER, 0, "other", 0, &region), ENOSPC);
	CHECK_EQ(create_as(0, 0, "root", 0, &region), 0);
	CHECK_EQ(create_as(OTHER, PRIVILEGED, "other", 0, &region), 0);
	stop();
}

static void user_memory(void)
{
	u32 mine, second, other;

	start("--user-memory", "8M");
	CHECK_EQ(create_as(USER, 0, "large", 9 * MIB, &mine), EDQUOT);
	CHECK_EQ(create_as(USER, 0, "mine", 6 * MIB, &mine), 0);
	CHECK_EQ(create_as(USER, 0, "second", 0, &second), 0);
	CHECK_EQ(set_size_as(0, second, 2 * MIB), 0);
	CHECK_EQ(set_size_as(0, second, 2 * MIB + 1), EDQUOT);
	CHECK_EQ(set_size_as(0, mine, 7 * MIB), EDQUOT);
	CHECK_EQ(set_size_as(0, mine, ~0ull), ENOSPC);
	/* smaller is never refused, and what is free is free again */
	CHECK_EQ(set_size_as(0, mine, 4 * MIB), 0);
	CHECK_EQ(set_size_as(0, second, 4 * MIB), 0);
	CHECK_EQ(set_size_as(0, second, 5 * MIB), EDQUOT);
	CHECK_EQ(create_as(OTHER, 0, "other", 8 * MIB, &other), 0);
	CHECK_EQ(create_as(0, 0, "root", 16 * MIB, &other), 0);
	CHECK_EQ(set_size_as(WEFT_SET_UNLIMITED, second, 12 * MIB), 0);
	stop();

	/* half of what there is */
	start("--foreground", NULL);
	CHECK_EQ(create_as(USER, 0, "half", 32 * MIB, &mine), 0);
	CHECK_EQ(create_as(USER, 0, "more", 4096, &second), EDQUOT);
	CHECK_EQ(create_as(OTHER, 0, "other", 32 * MIB, &other), 0);
	stop();
}

static struct weft_msg lock_answer;

static void take_answer(struct fake *f, const struct weft_msg *msg)
{
	(void)f;
	lock_answer = *msg;
}

/* Asks to read a lock.  Return: 0, or why it is refused. */
static u16 ask_lock(u32 region, u64 offset)
{
	static u32 seq = 100;
	struct weft_msg acquire = {
		.type = WEFT_MSG_ACQUIRE, .src = 1, .txn = weft_txn(1, ++seq),
		.line = weft_line_key(region, WEFT_KIND_LOCK, offset),
	};
	u64 end = now_ms() + 20000, again;

	lock_answer = (struct weft_msg){ 0 };
	do {
		CHECK(now_ms() < end);
		rig_send(1, BLADE, &acquire);
		for (again = now_ms() + 200; now_ms() < again; fake_step(1))
			if (lock_answer.txn == acquire.txn)
				break;
	} while (lock_answer.txn != acquire.txn);
	CHECK(lock_answer.type == WEFT_MSG_GRANT || lock_answer.type == WEFT_MSG_NACK);
	return lock_answer.type == WEFT_MSG_GRANT ? 0 : lock_answer.info;
}

/* How many locks of a region the blade makes, out of @n. */
static u32 locks_made(u32 region, u32 n)
{
	struct weft_call c;
	u32 i;
	u16 why;

	CHECK_EQ(fake_call_region(&fakes[1], WEFT_CALL_OPEN, region, &c), 0);
	for (i = 0; i < n; i++) {
		why = ask_lock(region, i);
		if (why) {
			CHECK_EQ(why, WEFT_WHY_FULL);
			break;
		}
	}
	return i;
}

/* 4096 locks in all, a quarter for a region, and for one who is not root. */
static void locks(void)
{
	u32 mine, second, other, root, more;
	struct fake *f = &fakes[1];
	struct weft_call c;
	u64 end;

	start("--locks", "4096");
	fake_take_lock = take_answer;
	CHECK_EQ(create_as(USER, 0, "mine", MIB, &mine), 0);
	CHECK_EQ(create_as(USER, 0, "second", MIB, &second), 0);
	CHECK_EQ(create_as(OTHER, 0, "other", MIB, &other), 0);
	CHECK_EQ(create_as(0, 0, "root", MIB, &root), 0);
	CHECK_EQ(create_as(0, 0, "more", MIB, &more), 0);
	CHECK_EQ(locks_made(mine, 2000), 1024);
	/* what is there works on */
	CHECK_EQ(ask_lock(mine, 1023), 0);
	CHECK_EQ(locks_made(second, 10), 0);
	CHECK_EQ(locks_made(other, 300), 300);
	CHECK_EQ(locks_made(root, 2000), 1024);
	CHECK_EQ(locks_made(more, 300), 300);
	CHECK_EQ(fake_stat(f, BLADE, "locks"), 1024 + 300 + 1024 + 300);
	CHECK_EQ(fake_stat(f, BLADE, "locks_max"), 4096);
	CHECK(fake_stat(f, BLADE, "locks_refused") >= 3);
	/* when a region goes, what it had is for others */
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "mine", &c), 0);
	CHECK_EQ(fake_call_region(f, WEFT_CALL_CLOSE, mine, &c), 0);
	for (end = now_ms() + 20000; ask_lock(second, 0); fake_step(10))
		CHECK(now_ms() < end);
	CHECK_EQ(locks_made(second, 100), 100);
	fake_take_lock = NULL;
	stop();
}

/* Whoever may read root's regions makes locks of them: other regions have locks all the same. */
static void roots_locks(void)
{
	u32 root[4], other, i, sum = 0;
	char name[8];

	start("--locks", "4096");
	fake_take_lock = take_answer;
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		CHECK_EQ(create_as(0, 0, name, MIB, &root[i]), 0);
		sum += locks_made(root[i], 2000);
	}
	CHECK_EQ(sum, 3072);
	CHECK_EQ(create_as(OTHER, 0, "other", MIB, &other), 0);
	CHECK_EQ(locks_made(other, 2000), 1024);
	fake_take_lock = NULL;
	stop();
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "regions", user_regions }, { "places", places }, { "memory", user_memory },
		{ "locks", locks }, { "root", roots_locks }, { 0 }
	};

	rig_open(false, 1);
	return rig_run(tests, argc > 1 ? argv[1] : NULL);
}
