// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a real memory blade sends to one node at a time: as many DATA in a datagram as
 * fit, nothing else joined, over loopback.
 */
#include <signal.h>

#include "fake.h"

#define BLADE	WEFT_BLADE_MIN
#define BLOCK	4096
#define BLOCKS	8
#define FITTING	2		/* into WEFT_MTU_MAX bytes */

static u32 region;

static void start(void)
{
	static const char *const args[] = {
		"--switch", "none", "--memory", "64M", NULL
	};
	u32 i;

	rig_memd_start(BLADE, args);
	fake_init(1);
	CHECK_EQ(fake_join(&fakes[1]), 0);
	CHECK_EQ(fake_join(&fakes[2]), 0);
	CHECK_EQ(fake_create(&fakes[1], "joined", BLOCKS * BLOCK, BLOCK, &region), 0);
	CHECK_EQ(fake_open(&fakes[1], region, BLOCK), 0);
	CHECK_EQ(fake_open(&fakes[2], region, BLOCK), 0);
	for (i = 0; i < BLOCKS; i++)
		fake_fill(&fakes[1], fake_line(&fakes[1], region, i), (u8)(10 + i));
	fake_evict_all();
}

/* So that all requests are there when it looks. */
static void ask_at_once(struct fake *f, u32 from, u32 to)
{
	rig_memd_signal(BLADE, SIGSTOP);
	for (; from < to; from++)
		fake_want(f, fake_line(f, region, from), WEFT_S);
	/* they are only on their way yet */
	rig_pump(0);
	rig_memd_signal(BLADE, SIGCONT);
}

static void check_blocks(struct fake *f, u32 from, u32 to)
{
	for (; from < to; from++) {
		struct fake_line *fl = fake_line(f, region, from);

		CHECK_EQ(fl->l.state, WEFT_S);
		CHECK(fake_is_filled(fl, BLOCK, (u8)(10 + from)));
	}
}

int main(void)
{
	unsigned long before;
	u32 timeout_ms = fake_timeout_ms;

	rig_open(false, 1);
	/* no request is repeated, however slow this machine is: answers are counted */
	fake_timeout_ms = 10000;
	start();

	/* one asks for all: every second one comes behind another */
	before = rig_joined;
	ask_at_once(&fakes[2], 0, BLOCKS);
	fake_settle();
	check_blocks(&fakes[2], 0, BLOCKS);
	CHECK_EQ(rig_joined - before, BLOCKS - BLOCKS / FITTING);

	/* one at a time: none does */
	fake_evict_all();
	before = rig_joined;
	ask_at_once(&fakes[1], 0, 1);
	fake_settle();
	check_blocks(&fakes[1], 0, 1);
	CHECK_EQ(rig_joined - before, 0);

	/* lost, repeated, out of order: the same blocks */
	fake_evict_all();
	fake_timeout_ms = timeout_ms;
	rig_faults = (struct rig_faults){ .loss = 200, .dup = 200, .reorder = 300 };
	ask_at_once(&fakes[1], 0, BLOCKS);
	ask_at_once(&fakes[2], 0, BLOCKS);
	fake_settle();
	rig_faults = (struct rig_faults){ 0 };
	check_blocks(&fakes[1], 0, BLOCKS);
	check_blocks(&fakes[2], 0, BLOCKS);

	rig_memd_stop(BLADE, SIGTERM);
	rig_close();
	return check_result();
}
