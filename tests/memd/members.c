// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the switch knows of the rack is what the first blade says, whatever somebody
 * else has told it before; another rack's blade behind the same switch gets no answer.
 * Needs TUN, like the other programs with a switch.
 */
#include "fake.h"

#define BLADE		WEFT_BLADE_MIN
#define PATIENCE_MS	(20000 * rig_scale())	/* the blade looks once a second */

static bool agrees(void)
{
	return rig_switch.members == 3;
}

/* Deliver until it does, within PATIENCE_MS. */
static bool wait_until(bool (*condition)(void))
{
	u64 end = now_ms() + PATIENCE_MS;

	while (!condition() && now_ms() < end)
		rig_pump(10);
	return condition();
}

static bool misled(void)
{
	return rig_switch.members == 0xDEAD0000;
}

/* Somebody else tells the switch who is in the rack, under any version. */
static void corrected_after(u32 version)
{
	u32 told = rig_switch.count[WEFT_COUNT_MEMBERS];

	rig_switch.members_version = version;
	rig_switch.members = 0xDEAD0000;
	CHECK(misled());
	CHECK(wait_until(agrees));
	CHECK(rig_switch.count[WEFT_COUNT_MEMBERS] > told);
	CHECK(rig_switch.members_version - version <= WEFT_NEWER_MAX);
}

static void any_version_is_corrected(void)
{
	u32 at = rig_switch.members_version;

	corrected_after(at);
	corrected_after(0xFFFFFFFF);
	corrected_after(0x7FFFFFFF);
	corrected_after(0xF0000001);
	corrected_after(0);
	corrected_after(rig_switch.members_version + WEFT_NEWER_MAX);
	corrected_after(rig_switch.members_version - WEFT_NEWER_MAX);
}

/* The switch serves another rack: ours works, with its directories at home. */
static void other_rack(void)
{
	u32 told, region;

	rig_switch_restart();
	rig_switch.rack = 7;
	told = rig_switch.count[WEFT_COUNT_MEMBERS];
	CHECK_EQ(fake_create(&fakes[1], "mine", 4096, 4096, &region), 0);
	CHECK_EQ(fake_open(&fakes[1], region, 4096), 0);
	fake_fill(&fakes[1], fake_line(&fakes[1], region, 0), 0x5A);
	CHECK_EQ(rig_switch.count[WEFT_COUNT_MEMBERS], told);
	CHECK_EQ(rig_switch.count[WEFT_COUNT_ADD], 0);
	CHECK_EQ(rig_switch.members, 0);
}

int main(void)
{
	static const char *const args[] = { "--memory", "64M", NULL };

	rig_open(true, 1);
	rig_p4 = true;
	rig_memd_start(BLADE, args);
	fake_init(1);
	CHECK_EQ(fake_join(&fakes[1]), 0);
	CHECK_EQ(fake_join(&fakes[2]), 0);
	CHECK(wait_until(agrees));
	any_version_is_corrected();
	other_rack();
	rig_close();
	return check_result();
}
