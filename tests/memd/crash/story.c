// SPDX-License-Identifier: GPL-2.0-only
/* One disk from its beginning, see story.h. */
#include "story.h"

#include "blade.h"
#include "chance.h"
#include "compare.h"
#include "disk.h"
#include "image.h"
#include "machine.h"
#include "node.h"
#include "promise.h"
#include "step.h"
#include "tools/memd/front/memd.h"
#include "words.h"

#define LIVES		6u
#define STEPS		100u	/* of a life */
#define SETS		3000u	/* of writes, of which all are looked at */

u32 story_ended[ENDINGS], story_ended_early;

/* Return: how it ended. */
static enum ending live(enum ending before)
{
	u32 n, end = chance_below(10);

	words_begin();
	node_begin();
	blade_starting = true;
	image_may_end = !chance_below(3);
	blade_start(&blade, machine_disk->path);
	blade_starting = false;
	if (!machine_ends)
		compare_blade(&blade, before == POWER, true);
	promised.marked = 1;
	if (machine_ends) {
		blade_kill(&blade);
		story_ended_early++;
		return POWER;
	}
	node_join();
	for (n = 0; n < STEPS; n++) {
		image_may_end = n > STEPS / 4 && end < 7;
		step_take();
		if (n % 5 == 0)
			image_look(4);
		if (machine_ends)
			break;
	}
	image_may_end = false;
	if (machine_ends) {
		blade_kill(&blade);
		return POWER;
	}
	if (end == 9) {
		/* all is answered before it ends */
		for (n = 0; n < PROMISE_REGIONS * 20; n++)
			node_wait(10);
		promised.marked = -1;
		memd_exit(&blade);
		return STOPPED;
	}
	blade_kill(&blade);
	return KILLED;
}

static void tell(void)
{
	enum ending how = STOPPED;
	u32 n;

	machine_begin();
	promise_begin();
	image_begin(SETS);
	for (n = 0; n < LIVES; n++) {
		machine_disk_speed = 1u << chance_below(10);
		how = live(how);
		story_ended[how]++;
		if (how == POWER)
			machine_end();
	}
	machine_finish();
}

void story_tell(u32 seed, u32 n)
{
	u32 i;

	disk_waited = image_disk_waited;
	disk_synced = promise_disk_synced;
	for (i = 0; i < n; i++) {
		chance_begin(seed, i);
		tell();
	}
}
