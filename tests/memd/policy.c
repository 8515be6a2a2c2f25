// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policies of regions at real memory blades, over loopback: what may be set, who hears of it,
 * and that it outlives the blade.
 */
#include <signal.h>
#include <sys/wait.h>

#include "fake.h"

#define BLADE	WEFT_BLADE_MIN
#define MIB	(1ull << 20)
#define BITS	(WEFT_POLICY_CHANGE - 1)

static char file[2][128];

static void start(const char *backing)
{
	const char *const args[] = {
		"--switch", "none", "--memory", "64M", backing ? "--backing" : NULL, backing, NULL
	};

	rig_memd_start(BLADE, args);
	fake_init(1);
}

static void stop(u32 blade, int sig)
{
	int status = rig_memd_stop(blade, sig);

	if (sig == SIGTERM)
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

static int set(struct fake *f, u32 region, u32 valid, u32 policy)
{
	struct weft_call c = {
		.op = WEFT_CALL_SETATTR, .region = region, .valid = valid, .policy = policy,
	};

	return fake_call(f, BLADE, &c, 20000);
}

static u32 get(struct fake *f, u32 region)
{
	struct weft_call c;

	CHECK_EQ(fake_call_region(f, WEFT_CALL_GETATTR, region, &c), 0);
	return c.policy;
}

/* --- what may be set -------------------------------------------------------- */

static void range(void)
{
	struct fake *f = &fakes[1];
	u32 region, was;

	start(file[0]);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_create(f, "range", MIB, 0, &region), 0);
	CHECK_EQ(get(f, region), 0);
	CHECK_EQ(set(f, region, WEFT_SET_DURABILITY, WEFT_POLICY_MIRROR), EOPNOTSUPP);
	CHECK_EQ(set(f, region, WEFT_SET_LOSS, WEFT_POLICY_ALL + 1), EINVAL);
	CHECK_EQ(set(f, region, WEFT_SET_LOSS, 0x8000), EINVAL);
	/* with nothing else at the same time */
	CHECK_EQ(set(f, region, WEFT_SET_LOSS | WEFT_SET_MODE, WEFT_POLICY_SIGBUS), EINVAL);
	CHECK_EQ(set(f, region, WEFT_SET_LOSS | 0x8000, WEFT_POLICY_SIGBUS), EINVAL);
	CHECK_EQ(get(f, region), 0);
	CHECK_EQ(set(f, region + 1, WEFT_SET_LOSS, WEFT_POLICY_SIGBUS), ESTALE);
	/* each by itself, and all at once */
	CHECK_EQ(set(f, region, WEFT_SET_LOSS, WEFT_POLICY_SIGBUS | WEFT_POLICY_RELEASE), 0);
	CHECK_EQ(get(f, region) & BITS, WEFT_POLICY_SIGBUS);
	CHECK_EQ(set(f, region, WEFT_SET_DURABILITY, WEFT_POLICY_SYNC), 0);
	was = get(f, region);
	CHECK_EQ(was & BITS, WEFT_POLICY_SIGBUS | WEFT_POLICY_SYNC);
	CHECK_EQ(set(f, region, WEFT_SET_POLICY, WEFT_POLICY_BLOCK | WEFT_POLICY_RELEASE), 0);
	CHECK_EQ(get(f, region) & BITS, WEFT_POLICY_BLOCK | WEFT_POLICY_RELEASE);
	CHECK(weft_policy_newer(get(f, region), was));
	stop(BLADE, SIGTERM);
}

/* Without a file there is no disk to wait for. */
static void without_disk(void)
{
	struct fake *f = &fakes[1];
	u32 region;

	start(NULL);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_create(f, "ram", MIB, 0, &region), 0);
	CHECK_EQ(set(f, region, WEFT_SET_DURABILITY, WEFT_POLICY_SYNC), EOPNOTSUPP);
	CHECK_EQ(get(f, region), 0);
	CHECK_EQ(set(f, region, WEFT_SET_DURABILITY, WEFT_POLICY_RELEASE), 0);
	CHECK_EQ(get(f, region) & BITS, WEFT_POLICY_RELEASE);
	stop(BLADE, SIGTERM);
}

/* --- who hears of it -------------------------------------------------------- */

static void nodes(void)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *other = &fakes[3];
	u32 region;
	u64 began;

	start(file[0]);
	CHECK_EQ(fake_join(a), 0);
	CHECK_EQ(fake_join(b), 0);
	CHECK_EQ(fake_join(other), 0);
	CHECK_EQ(fake_create(a, "heard", MIB, 0, &region), 0);
	CHECK_EQ(fake_open(a, region, 4096), 0);
	CHECK_EQ(fake_open(b, region, 4096), 0);
	CHECK_EQ(set(a, region, WEFT_SET_DURABILITY, WEFT_POLICY_RELEASE), 0);
	/* those that have it open, before who has set it is answered */
	CHECK_EQ(a->changed.region, region);
	CHECK_EQ(b->changed.region, region);
	CHECK_EQ(b->changed.policy, get(a, region));
	CHECK_EQ(other->changed.region, 0);
	/* who has it open and is silent is waited for, within reason */
	b->deaf = true;
	began = now_ms();
	CHECK_EQ(set(a, region, WEFT_SET_DEATH, WEFT_POLICY_BLOCK), ETIMEDOUT);
	CHECK(now_ms() - began < 10000 * rig_scale());
	CHECK_EQ(get(a, region) & BITS, WEFT_POLICY_RELEASE | WEFT_POLICY_BLOCK);
	CHECK_EQ(a->changed.policy, get(a, region));
	b->deaf = false;
	/* the same once more: all hear of it */
	CHECK_EQ(set(a, region, WEFT_SET_DEATH, WEFT_POLICY_BLOCK), 0);
	CHECK_EQ(b->changed.policy, get(a, region));
	stop(BLADE, SIGTERM);
}

/* --- after a restart -------------------------------------------------------- */

static void restart(void)
{
	struct fake *f = &fakes[1];
	u32 region, plain, gone, i, policy;
	struct weft_call c;

	start(file[1]);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_create(f, "kept", MIB, 0, &region), 0);
	CHECK_EQ(fake_create(f, "plain", MIB, 0, &plain), 0);
	CHECK_EQ(fake_create(f, "gone", MIB, 0, &gone), 0);
	CHECK_EQ(set(f, gone, WEFT_SET_LOSS, WEFT_POLICY_SIGBUS), 0);
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "gone", &c), 0);
	CHECK_EQ(set(f, region, WEFT_SET_POLICY, WEFT_POLICY_SYNC | WEFT_POLICY_BLOCK), 0);
	policy = get(f, region);
	/* killed, stopped; each start begins the log anew */
	for (i = 0; i < 3; i++) {
		stop(BLADE, i ? SIGTERM : SIGKILL);
		start(file[1]);
		CHECK_EQ(fake_join(f), 0);
		CHECK_EQ(get(f, region), policy);
		CHECK_EQ(get(f, plain), 0);
	}
	CHECK_EQ(set(f, region, WEFT_SET_DURABILITY, WEFT_POLICY_WRITE_BACK), 0);
	CHECK(weft_policy_newer(get(f, region), policy));
	CHECK_EQ(get(f, region) & BITS, WEFT_POLICY_BLOCK);
	stop(BLADE, SIGTERM);
}

/* --- two blades ------------------------------------------------------------- */

static void start_of_two(u32 n, bool backed)
{
	const char *const args[] = {
		"--switch", "none", "--memory", "8M", "--peers", "127.0.0.101,127.0.0.105",
		backed ? "--backing" : NULL, file[n], NULL
	};

	rig_memd_start(BLADE + n, args);
}

/* It has heard everything from the first one, which knows of its new life. */
static void wait_ready(struct fake *f)
{
	u64 end = now_ms() + 10000 * rig_scale();

	while (!fake_stat(f, BLADE + 1, "ready"))
		CHECK(now_ms() < end);
}

static void two_blades(void)
{
	struct fake *f = &fakes[1];
	u32 region, policy;

	snprintf(file[0], sizeof(file[0]), "%s/policy-two-a", rig_dir());
	snprintf(file[1], sizeof(file[1]), "%s/policy-two-b", rig_dir());
	start_of_two(0, true);
	start_of_two(1, false);
	fake_init(2);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_create(f, "r", MIB, 0, &region), 0);
	/* the second one has no disk */
	CHECK_EQ(set(f, region, WEFT_SET_DURABILITY, WEFT_POLICY_SYNC), EOPNOTSUPP);
	CHECK_EQ(set(f, region, WEFT_SET_DEATH, WEFT_POLICY_BLOCK), 0);
	stop(BLADE + 1, SIGTERM);
	start_of_two(1, true);
	wait_ready(f);
	CHECK_EQ(set(f, region, WEFT_SET_DURABILITY, WEFT_POLICY_SYNC), 0);
	policy = get(f, region);
	CHECK_EQ(policy & BITS, WEFT_POLICY_SYNC | WEFT_POLICY_BLOCK);
	/* the second one's file is whole, and so is the first one's */
	stop(BLADE + 1, SIGKILL);
	start_of_two(1, true);
	wait_ready(f);
	stop(BLADE, SIGKILL);
	start_of_two(0, true);
	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(get(f, region), policy);
	CHECK_EQ(set(f, region, WEFT_SET_POLICY, 0), 0);
	stop(BLADE + 1, SIGTERM);
	stop(BLADE, SIGTERM);
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "range", range }, { "without_disk", without_disk }, { "nodes", nodes },
		{ "restart", restart }, { "two_blades", two_blades },
		{ 0 }
	};

	rig_open(false, 1);
	snprintf(file[0], sizeof(file[0]), "%s/policy-a", rig_dir());
	snprintf(file[1], sizeof(file[1]), "%s/policy-b", rig_dir());
	return rig_run(tests, argc > 1 ? argv[1] : NULL);
}
