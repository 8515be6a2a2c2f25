// SPDX-License-Identifier: GPL-2.0-only
/* What may be left on the disk, see image.h. */
#include "image.h"

#include "blade.h"
#include "chance.h"
#include "compare.h"
#include "disk.h"
#include "machine.h"
#include "mutant.h"
#include "node.h"
#include "tools/common/random.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/front/memd.h"
#include "words.h"

#define WRITES_MAX	64u	/* that are known one by one */

struct image_counts image_counts;
bool image_may_end;

static struct disk image;
static u32 budget;	/* of sets of writes */

void image_set_up(void)
{
	disk_make(&image);
}

void image_begin(u32 sets)
{
	budget = sets;
}

/* --- which writes arrive, of each sector --------------------------------------- */

static u64 take_time, take_set;
static u64 writes_uncertain[WRITES_MAX];
static u32 n_uncertain, take_one, take_nth;

static u32 take_none(const struct sector *s, u32 n)
{
	(void)s;
	(void)n;
	return 0;
}

static u32 take_all(const struct sector *s, u32 n)
{
	(void)s;
	return n;
}

/* In the order of time. */
static u32 take_until(const struct sector *s, u32 n)
{
	const struct content *c;
	u32 k = 0;

	(void)n;
	for (c = s->since; c && c->time <= take_time; c = c->next)
		k++;
	return k;
}

/* All but one sector, or only that. */
static u32 take_but_one(const struct sector *s, u32 n)
{
	(void)s;
	return take_nth++ == take_one ? chance_below(n) : n;
}

static u32 take_only_one(const struct sector *s, u32 n)
{
	(void)s;
	return take_nth++ == take_one ? 1 + chance_below(n) : 0;
}

static u32 take_any(const struct sector *s, u32 n)
{
	(void)s;
	return chance_below(n + 1);
}

/* Those writes of which there is a bit in @take_set. */
static u32 take_writes(const struct sector *s, u32 n)
{
	const struct content *c;
	u32 k = 0, taken = 0, i;

	(void)n;
	for (c = s->since; c; c = c->next) {
		k++;
		for (i = 0; i < n_uncertain; i++)
			if (writes_uncertain[i] == c->time && take_set >> i & 1)
				taken = k;
	}
	return taken;
}

/* Whole writes at random, @take_set says which. */
static u32 take_random_writes(const struct sector *s, u32 n)
{
	const struct content *c;
	u32 k = 0, taken = 0;

	(void)n;
	for (c = s->since; c; c = c->next) {
		k++;
		if (random_mix(c->time ^ take_set) & 1)
			taken = k;
	}
	return taken;
}

static void count_uncertain(void)
{
	const struct content *c;
	u32 i, k;

	n_uncertain = 0;
	take_one = 0;
	for (i = 0; i < machine_disk->n; i++) {
		take_one += !!machine_disk->sector[i]->since;
		for (c = machine_disk->sector[i]->since; c; c = c->next) {
			for (k = 0; k < n_uncertain && writes_uncertain[k] != c->time; k++)
				;
			if (k == n_uncertain && k < WRITES_MAX)
				writes_uncertain[n_uncertain++] = c->time;
		}
	}
	take_one = chance_below(take_one);
	take_nth = 0;
}

/* --- blades that start from it ------------------------------------------------- */

static void try(void)
{
	struct disk *was = disk_recorded;
	static struct memd probe;

	image_counts.images++;
	image_counts.synced += node_syncs_of_life > 0;
	mutant_mend_sums(&image);
	disk_recorded = NULL;
	machine_show_next_boot(true);
	words_begin_apart();
	blade_start(&probe, image.path);
	compare_blade(&probe, true, false);
	memd_exit(&probe);
	words_end_apart();
	machine_show_next_boot(false);
	disk_recorded = was;
}

static void choose_end(void)
{
	image_counts.ends_synced += node_syncs_of_life > 0;
	machine_choose_end(&image);
}

static void make(u32 how)
{
	static u32 (*const takes[])(const struct sector *s, u32 n) = {
		take_none, take_all, take_until, take_but_one, take_only_one, take_any,
		take_random_writes, take_random_writes, take_until, take_any,
	};

	count_uncertain();
	disk_longer = chance_below(2);
	take_time = disk_time - chance_below(24);
	take_set = chance_bits();
	disk_image(machine_disk, &image, takes[how % 10]);
}

void image_look(u32 times)
{
	u64 sets;
	u32 i;

	for (i = 0; i < times; i++) {
		make(i < 2 ? i : 2 + chance_below(8));
		/* before a blade starts from it, for that changes it */
		if (image_may_end && !machine_ends && !chance_below(blade_starting ? 12 : 60))
			choose_end();
		try();
	}
	count_uncertain();
	if (n_uncertain > 12 || n_uncertain < 3)
		return;
	sets = 1ull << n_uncertain;
	if (sets > budget)
		return;
	budget -= (u32)sets;
	image_counts.full_sets++;
	for (take_set = 0; take_set < sets; take_set++) {
		u64 set = take_set;

		disk_image(machine_disk, &image, take_writes);
		try();
		take_set = set;
	}
}

void image_disk_waited(void)
{
	/* an end while another one is looked at is no end of this one */
	if (disk_recorded != machine_disk || disk_dead)
		return;
	image_look(blade_starting ? 4 : 2);
}

void image_end_certain(void)
{
	disk_longer = false;
	disk_image(machine_disk, &image, take_none);
	choose_end();
}
