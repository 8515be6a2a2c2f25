// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that read and write blocks of a real memory blade, with and without a
 * switch, on a network that loses, repeats and reorders: every read sees the
 * last write, and in the end so does the backing file.
 *
 *	memd-coherence switch|plain BLADES LOSS DUP REORDER STEPS [SEED [RESTARTS [MOVES]]]
 *
 * LOSS, DUP and REORDER in parts of 1000.  So many RESTARTS of a blade, killed, of all
 * blades at once, or of the switch, at any time: nodes stay up, and nothing may be lost.  So
 * many MOVES: a region's lines get other homes, in the midst of everything.
 */
#include <signal.h>

#include "fake.h"

#define NODES	4
#define LINES	24
#define REGIONS	2
#define APART		16	/* lines, where blades have several threads */

/* What a block says: how often it was written, then a pattern of that. */
static u32 last[REGIONS][LINES];
static u32 regions[REGIONS];
static long passes;
static bool down;		/* a blade is */
static long moves_left;
static const u32 blocks[REGIONS] = { 4096, 65536 };

static void write_block(u8 *data, u32 size, u32 value)
{
	u32 i;

	for (i = 0; i < size; i += 4)
		put_unaligned_be32(value * 2654435761u + (value ? i : 0), data + i);
}

static bool holds(const u8 *data, u32 size, u32 value)
{
	u32 i;

	for (i = 0; i < size; i += 4)
		if (get_unaligned_be32(data + i) !=
		    value * 2654435761u + (value ? i : 0))
			return false;
	return true;
}

static void check_writer(u32 region, u32 index, u32 writer)
{
	u32 n;

	for (n = 1; n <= NODES; n++)
		if (n != writer)
			CHECK(weft_line_perm(&fake_line(&fakes[n], region, index)->l) ==
			      WEFT_I);
}

/* What programs do with the permissions that their node has. */
static void use(struct fake *f, u32 r, u32 index)
{
	struct fake_line *fl = fake_line(f, regions[r], index);
	u8 perm = weft_line_perm(&fl->l);
	u32 value = last[r][index];

	if (perm == WEFT_I)
		return;
	if (!holds(fl->data, blocks[r], value))
		CHECK_FAIL("node %u reads %08x in block %u of region %u, not %08x",
			 f->id, get_unaligned_be32(fl->data), index, r,
			 value * 2654435761u);
	check_count++;
	if (perm != WEFT_M || rig_random(4))
		return;
	check_writer(regions[r], index, f->id);
	write_block(fl->data, blocks[r], ++last[r][index]);
}

/* From its owner to a node that has not asked, and mostly expects it. */
static void pass_on(struct fake *f, struct fake_line *fl, u32 r, u32 index)
{
	struct fake *to = &fakes[1 + rig_random(NODES)];
	struct fake_line *there = fake_line(to, regions[r], index);
	bool excl = rig_random(2);
	u32 txn;

	/* what is waited for here would not come */
	if (down)
		return;
	if (to == f || rig_random(4))
		return;
	CHECK(fake_get(f, fl, WEFT_M));
	use(f, r, index);
	while (fl->l.state == WEFT_M && !weft_line_idle(&fl->l))
		fake_step(1);
	if (fl->l.state != WEFT_M)
		return;
	txn = fake_expect(to, there, excl ? WEFT_M : WEFT_S);
	if (!txn)
		return;
	if (!rig_random(8))
		fake_unexpect(to, there);
	CHECK(fake_pass(f, fl, txn, excl));
	passes++;
}

static void step(void)
{
	struct fake *f = &fakes[1 + rig_random(NODES)];
	u32 r = rig_random(8) ? 0 : rig_random(REGIONS);
	u32 index = rig_random(LINES);
	struct fake_line *fl = fake_line(f, regions[r], index);

	switch (rig_random(16)) {
	case 0:
		fake_evict(f, fl, true);
		break;
	case 1:
		fake_evict(f, fl, false);
		break;
	case 2:
		fake_clean(f, fl);
		break;
	case 3:
		pass_on(f, fl, r, index);
		break;
	case 4: case 5: case 6: case 7: case 8:
		fake_want(f, fl, WEFT_S);
		break;
	default:
		fake_want(f, fl, WEFT_M);
		break;
	}
	use(f, r, index);
	fake_step(0);
	use(f, r, index);
}

/* Every block as a node reads it that had nothing to do with it before. */
static void read_all(struct fake *f)
{
	u32 r, i;

	for (r = 0; r < REGIONS; r++)
		for (i = 0; i < LINES; i++) {
			struct fake_line *fl = fake_line(f, regions[r], i);

			CHECK(fake_get(f, fl, WEFT_S));
			CHECK(holds(fl->data, blocks[r], last[r][i]));
		}
}

/*
 * A blade, the switch, or all blades at once, in the midst of everything.  Each has its turn before any has
 * another one: so many restarts have their share of blades, whatever the seed.
 */
static void restart_something(u32 n_blades)
{
	static u32 turns;	/* bits of those whose turn is still to come */
	u32 kinds = n_blades + rig_p4 + (n_blades > 1), which, i;
	bool all;

	if (!turns)
		turns = (1u << kinds) - 1;
	do
		which = rig_random(kinds);
	while (!(turns & 1u << which));
	turns &= ~(1u << which);
	if (rig_p4 && which == n_blades) {
		rig_switch_restart();
		return;
	}
	all = which >= n_blades;
	for (i = 0; i < n_blades; i++)
		if (all || i == which)
			rig_memd_stop(WEFT_BLADE_MIN + i, SIGKILL);
	down = true;
	while (rig_random(8))
		step();
	down = false;
	for (i = 0; i < n_blades; i++)
		if (all || i == which)
			rig_blade_start(n_blades, i);
}

/* A region, to any of the blades. */
static void move_something(u32 n_blades)
{
	u32 homes = 1 + rig_random((1u << n_blades) - 1);

	CHECK_EQ(fake_spread(&fakes[1], regions[rig_random(REGIONS)], homes), 0);
}

/* Look for a new rack of new nodes: what is left is in the files. */
static void restart(u32 n_blades)
{
	u32 r;

	rig_blades_stop(n_blades, SIGKILL);
	rig_switch_restart();
	rig_blades_start(n_blades);
	fake_init(n_blades);
	CHECK_EQ(fake_join(&fakes[6]), 0);
	for (r = 0; r < REGIONS; r++)
		CHECK_EQ(fake_open(&fakes[6], regions[r], blocks[r]), 0);
	read_all(&fakes[6]);
}

int main(int argc, char **argv)
{
	static const char * const names[] = { "small", "large" };
	struct rig_job job;
	u32 n_blades, r, n, renewals = 0;
	u64 hits = 0;
	long steps, i, restarts, left, moves;

	job = rig_begin(argc, argv);
	n_blades = job.blades;
	steps = (long)job.times;
	left = restarts = job.restarts;
	moves_left = moves = job.moves;
	fake_init(n_blades);
	if (getenv("WEFT_RIG_THREADS"))
		fake_apart = APART;
	rig_faults = job.faults;
	for (n = 1; n <= NODES; n++)
		CHECK_EQ(fake_join(&fakes[n]), 0);
	for (r = 0; r < REGIONS; r++) {
		CHECK_EQ(fake_create(&fakes[1], names[r], (u64)LINES * fake_apart * blocks[r],
				     blocks[r], &regions[r]), 0);
		for (n = 1; n <= NODES; n++)
			CHECK_EQ(fake_open(&fakes[n], regions[r], blocks[r]), 0);
	}
	for (i = 0; i < steps; i++) {
		step();
		/* as many as were asked for, at any time */
		if (rig_random((u32)(steps - i)) < (u32)left) {
			left--;
			restart_something(n_blades);
		}
		if (rig_random((u32)(steps - i)) < (u32)moves_left) {
			moves_left--;
			move_something(n_blades);
		}
	}
	CHECK(!left && !moves_left);
	/* one that is certain to come to its end */
	for (r = 0; moves && r < REGIONS; r++) {
		CHECK_EQ(fake_spread(&fakes[1], regions[r], 1u << (n_blades - 1)), 0);
		CHECK(fake_moved(regions[r], 1u << (n_blades - 1)));
	}
	fake_settle();
	for (n = 1; n <= NODES; n++)
		renewals += fakes[n].renewals;
	CHECK(renewals >= (u32)restarts);
	CHECK(!moves || fakes[1].moves >= REGIONS);
	CHECK_EQ(fake_stat(&fakes[1], WEFT_BLADE_MIN, "switch"), rig_p4);
	for (i = 0; i < (long)n_blades; i++)
		hits += fake_stat(&fakes[1], WEFT_BLADE_MIN + (u32)i, "lines_in_switch");
	/* a blade does not know what its former life has put there */
	CHECK(rig_p4 ? restarts || moves || hits > LINES / 2 : !hits);
	CHECK(passes > steps / 1000);
	if (rig_p4)
		CHECK(restarts || (rig_switch.count[WEFT_COUNT_INV] > 0 &&
		      rig_switch.count[WEFT_COUNT_PASSED] > 0));
	fake_evict_all();
	CHECK_EQ(fake_join(&fakes[5]), 0);
	for (r = 0; r < REGIONS; r++)
		CHECK_EQ(fake_open(&fakes[5], regions[r], blocks[r]), 0);
	read_all(&fakes[5]);
	fake_evict_all();
	rig_faults = (struct rig_faults){ 0 };
	restart(n_blades);
	rig_blades_stop(n_blades, SIGTERM);
	rig_close();
	return check_result();
}
