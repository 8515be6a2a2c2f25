// SPDX-License-Identifier: GPL-2.0-only
/*
 * A blade's new life, with a switch all of whose slots are taken: its mark is there from its
 * first life on.  Without it no life begins until a slot is free.  And by it a blade knows which
 * generation slots have that no line has had.
 *
 *	memd-mark
 */
#include <signal.h>

#include "mortal.h"
#include "tools/common/clock.h"

#define STUCK_MS	(1500 * (u64)rig_scale())	/* a life that has not begun by then does not */
#define LINES		32u
#define EPOCH		0x6A000000u	/* generation of all slots at first */
#define MARK_KIND	2u	/* of its line, which is no kind of line */

static struct fake *a, *b;
static struct fake_line *al, *bl;

/* A line that no blade is the home of. */
static u64 foreign(u32 i)
{
	return weft_line_key(WEFT_REGION_MAX - 1, WEFT_KIND_PAGE, i);
}

/*
 * All slots that are free get a foreign line; those of marks, too, if @marks.  Return: how many
 * marks there were.
 */
static u32 fill(bool marks)
{
	u32 i, found = 0;

	for (i = 0; i < WEFT_SWITCH_SLOTS; i++) {
		struct weft_slot *s = &rig_switch.slots[i];
		bool mark = s->tag && weft_line_kind(s->tag) == MARK_KIND;

		found += mark;
		if (!s->tag || (marks && mark))
			s->tag = foreign(i);
	}
	return found;
}

/* Without one a blade looks for a place once a second. */
static void wait_for_mark(void)
{
	u64 end = now_ms() + MORTAL_LIMIT_MS;
	u32 i, found = 0;

	while (!found) {
		CHECK(now_ms() < end);
		mortal_live(10);
		for (i = 0; i < WEFT_SWITCH_SLOTS; i++)
			found += rig_switch.slots[i].tag &&
				 weft_line_kind(rig_switch.slots[i].tag) == MARK_KIND;
	}
}

/* Return: whether nodes were asked to give back what they have, within so many milliseconds. */
static bool new_life(u64 limit)
{
	u64 begun = now_ms();
	u32 before = a->renewals;

	rig_memd_stop(WEFT_BLADE_MIN, SIGKILL);
	mortal_start(0);
	while (a->renewals == before && now_ms() - begun < limit)
		mortal_live(1);
	return a->renewals != before;
}

/* What node a had changed is what node b gets. */
static void changes(u8 value)
{
	CHECK(mortal_get(b, bl, WEFT_S) < MORTAL_LIMIT_MS);
	CHECK(fake_is_filled(bl, 4096, value));
	mortal_get(a, al, WEFT_M);
	fake_fill(a, al, value + 1);
}

/* Each line that is used moves into the switch by one ADD. */
static void one_add_each(u32 region)
{
	u64 again = fake_stat(a, WEFT_BLADE_MIN, "adds_again");
	u64 end = now_ms() + MORTAL_LIMIT_MS;
	u32 i;

	for (i = 1; i <= LINES; i++)
		fake_fill(a, fake_line(a, region, i), 1);
	while (fake_stat(a, WEFT_BLADE_MIN, "lines_in_switch") < LINES + 1) {
		CHECK(now_ms() < end);
		mortal_live(1);
	}
	CHECK_EQ(fake_stat(a, WEFT_BLADE_MIN, "adds_again"), again);
	CHECK_EQ(fake_stat(a, WEFT_BLADE_MIN, "adds_refused"), 0);
}

int main(void)
{
	u32 region, i;

	mortal_open(true, 1, "0", true, 2);
	for (i = 0; i < WEFT_SWITCH_SLOTS; i++)
		rig_switch.slots[i].gen = EPOCH;
	a = &fakes[1];
	b = &fakes[2];
	CHECK_EQ(fake_create(a, "lines", 64 * 4096, 4096, &region), 0);
	CHECK_EQ(fake_open(a, region, 4096), 0);
	CHECK_EQ(fake_open(b, region, 4096), 0);
	al = fake_line(a, region, 0);
	bl = fake_line(b, region, 0);
	fake_fill(a, al, 1);
	wait_for_mark();
	one_add_each(region);
	CHECK_EQ(fill(false), 1);
	CHECK(new_life(MORTAL_LIMIT_MS));
	changes(1);
	CHECK(new_life(MORTAL_LIMIT_MS));
	changes(2);

	/* as with a blade that has never found a place */
	CHECK_EQ(fill(true), 1);
	CHECK(!new_life(STUCK_MS));
	for (i = 0; i < WEFT_SWITCH_SLOTS; i++)
		if (rig_switch.slots[i].tag == foreign(i))
			rig_switch.slots[i].tag = 0;
	changes(3);
	CHECK(new_life(MORTAL_LIMIT_MS));
	changes(4);
	rig_close();
	return check_result();
}
