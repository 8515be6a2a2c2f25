// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node dies at every moment of what it does: cut off when none, one, two and so on of the
 * datagrams have left it or come to it.  It is taken out by hand, or boots before anybody has
 * noticed, or a second one dies with it.  Whatever the moment is:
 *
 *	nobody waits in vain;
 *	what nodes that live had, they have; what only the dead one had is as it was at home,
 *	and is listed; all find the same, and a block is never of two contents;
 *	a lock that the dead one had to write tells of it, and no two have one at a time.
 *
 *	memd-moments plain|switch 1|2 hand|boot|two [NAME]
 */
#include "mortal.h"

#define WAITS_MAX	6	/* of one that waits until it dies */
#define QUIET		5	/* milliseconds without any: it is done */
#define OLD		1	/* at home before */
#define NOW		2	/* what the owner has, or the home if there is none */
#define NEW		3	/* what the node writes that dies */
#define LATER		4	/* what is written after that */

#define LOCK		1u
#define OWNS		2u
#define WRITES		4u
#define WAITS		8u

/**
 * struct moment - what a node is in the midst of
 * @name: of it
 * @prepare: how things are before
 * @begin: it begins
 * @flags: LOCK: of a lock, else of a block; OWNS: the node is the owner from the beginning;
 *	WRITES: it wants to write the block; WAITS: for what does not come
 */
struct moment {
	const char *name;
	void (*prepare)(void);
	void (*begin)(void);
	u32 flags;
};

static const struct moment *moment;
static enum { HAND, BOOT, TWO } how;
static const u32 victims[] = { 1, 5, 6, 7, 8 };
static u32 region, number, who;
static struct fake *a, *const b = &fakes[2], *const d = &fakes[4];
static struct fake_line *line[MORTALS + 1];
static bool at_it;		/* node @who is at what it dies in */
static bool wrote;		/* NEW, into the block */
static bool owned;		/* a node that dies has had the block to write */
static bool known;		/* ... and all have heard of that */
static bool told;		/* somebody who lives was told that a lock's owner died */
static u8 wants[MORTALS + 1];	/* until it has that */
static unsigned long tried, gone, unlisted;

static bool is_lock(void)
{
	return moment->flags & LOCK;
}

/* --- all nodes together ------------------------------------------------------------ */

static void check_alone(void)
{
	u32 n, readers = 0, writers = 0;

	for (n = 1; n <= MORTALS; n++) {
		u8 perm;

		if (fakes[n].dead)
			continue;
		perm = is_lock() ? mortal_seats[n].l.state : weft_line_perm(&line[n]->l);
		readers += perm == WEFT_S;
		writers += perm == WEFT_M;
	}
	CHECK(writers + !!readers <= 1);
}

/* Who waits goes on, who has what it wants uses it. */
static void step(void)
{
	u32 n;

	for (n = 1; n <= MORTALS; n++) {
		if (fakes[n].dead)
			continue;
		if (is_lock()) {
			mortal_mind(n);
			told |= mortal_seats[n].l.state && mortal_seats[n].l.died;
		} if (wants[n] && fake_want(&fakes[n], line[n], wants[n]))
			wants[n] = WEFT_I;
	}
	fake_step(1);
	if (at_it && !is_lock() && weft_line_perm(&line[who]->l) == WEFT_M) {
		owned = true;
		if (moment->flags & WRITES && !wrote)
			memset(line[who]->data, NEW, WEFT_REGION_BLOCK_MAX);
		wrote = moment->flags & WRITES;
	}
	check_alone();
}

static bool is_quiet(void)
{
	u32 n;

	for (n = 1; n <= MORTALS; n++) {
		if (fakes[n].dead)
			continue;
		if (is_lock() ? !weft_lock_idle(&mortal_seats[n].l) :
				   wants[n] || !weft_line_idle(&line[n]->l))
			return false;
	}
	return true;
}

/* Until nothing is under way among those that live, or, if @cut, node 1 is cut off. */
static void run(bool cut)
{
	u64 end = now_ms() + MORTAL_LIMIT_MS;
	u32 quiet = 0;

	while (quiet < QUIET && !(cut && rig_is_cut(who))) {
		CHECK(now_ms() < end);
		step();
		quiet = is_quiet() ? quiet + 1 : 0;
	}
}

static void settle(void)
{
	run(false);
}

/* --- blocks ------------------------------------------------------------------------- */

static void get(u32 n, u8 perm)
{
	wants[n] = perm;
	settle();
}

static void fill(u32 n, u8 value)
{
	get(n, WEFT_M);
	memset(line[n]->data, value, WEFT_REGION_BLOCK_MAX);
}

/* The home has NOW, and nobody else has anything. */
static void at_home(void)
{
	fill(2, NOW);
	CHECK(fake_evict(b, line[2], false));
	settle();
}

/* The home has OLD, and node @n owns the block with NOW. */
static void owned_by(u32 n)
{
	fill(n, OLD);
	CHECK(fake_clean(&fakes[n], line[n]));
	settle();
	memset(line[n]->data, NOW, WEFT_REGION_BLOCK_MAX);
}

static void shared(void)
{
	at_home();
	get(2, WEFT_S);
	get(3, WEFT_S);
}

static void shared_with_it(void)
{
	shared();
	get(1, WEFT_S);
}

static void owned_elsewhere(void)
{
	owned_by(2);
}

static void owned_here(void)
{
	owned_by(who);
}

static void lent(void)
{
	u32 txn;

	owned_by(who);
	txn = fake_expect(b, line[2], WEFT_S);
	CHECK(fake_pass(a, line[who], txn, false));
	settle();
	CHECK_EQ(weft_line_perm(&line[2]->l), WEFT_S);
}

static void read_it(void)
{
	wants[who] = WEFT_S;
}

static void write_it(void)
{
	wants[who] = WEFT_M;
}

/* Another one wants it, too, to write. */
static void both_write(void)
{
	wants[who] = WEFT_M;
	wants[2] = WEFT_M;
}

static void evict_it(void)
{
	CHECK(fake_evict(a, line[who], false));
}

static void clean_it(void)
{
	CHECK(fake_clean(a, line[who]));
}

static void give_to_read(void)
{
	wants[2] = WEFT_S;
}

static void give_to_write(void)
{
	wants[2] = WEFT_M;
}

static void give_to_two(void)
{
	wants[2] = WEFT_M;
	wants[3] = WEFT_S;
}

static void pass_on(void)
{
	u32 txn = fake_expect(b, line[2], WEFT_M);

	wants[2] = WEFT_M;
	CHECK(fake_pass(a, line[who], txn, true));
}

static void lend(void)
{
	u32 txn = fake_expect(b, line[2], WEFT_S);

	wants[2] = WEFT_S;
	CHECK(fake_pass(a, line[who], txn, false));
}

/* --- locks -------------------------------------------------------------------------- */

static void lock_free(void)
{
}

static void lock_here(void)
{
	mortal_ask_lock(who, WEFT_M);
	settle();
	CHECK_EQ(weft_lock_perm(&mortal_seats[who].l), WEFT_M);
}

static void lock_elsewhere(void)
{
	mortal_ask_lock(2, WEFT_M);
	settle();
	CHECK_EQ(weft_lock_perm(&mortal_seats[2].l), WEFT_M);
}

static void lock_read(void)
{
	mortal_ask_lock(2, WEFT_S);
	settle();
	mortal_ask_lock(3, WEFT_S);
	settle();
	mortal_seats[2].lets = true;
	mortal_seats[3].lets = true;
}

static void ask_to_read(void)
{
	mortal_ask_lock(who, WEFT_S);
}

static void ask_to_write(void)
{
	mortal_ask_lock(who, WEFT_M);
}

/* It waits, then it is its turn. */
static void wait_and_get(void)
{
	mortal_ask_lock(who, WEFT_M);
	mortal_seats[2].lets = true;
}

static void wait_with_another(void)
{
	mortal_ask_lock(who, WEFT_M);
	mortal_ask_lock(3, WEFT_M);
	mortal_seats[2].lets = true;
	mortal_seats[who].lets = true;
}

static void read_with_another(void)
{
	mortal_ask_lock(who, WEFT_S);
	mortal_ask_lock(3, WEFT_S);
	mortal_seats[2].lets = true;
}

/* Another one waits, and it lets go. */
static void hand_over(void)
{
	mortal_seats[who].lets = true;
	mortal_ask_lock(2, WEFT_M);
}

static void hand_to_readers(void)
{
	mortal_seats[who].lets = true;
	mortal_ask_lock(2, WEFT_S);
	mortal_ask_lock(3, WEFT_S);
}

static void leave(void)
{
	mortal_let_lock(who);
}

static const struct moment moments[] = {
	{ "reads_home", at_home, read_it, 0 },
	{ "reads_shared", shared, read_it, 0 },
	{ "reads_owned", owned_elsewhere, read_it, 0 },
	{ "writes_home", at_home, write_it, WRITES },
	{ "writes_shared", shared, write_it, WRITES },
	{ "writes_owned", owned_elsewhere, write_it, WRITES },
	{ "upgrades", shared_with_it, write_it, WRITES },
	{ "writes_with_another", owned_elsewhere, both_write, WRITES },
	{ "takes_back", lent, write_it, OWNS | WRITES },
	{ "evicts", owned_here, evict_it, OWNS },
	{ "cleans", owned_here, clean_it, OWNS },
	{ "gives_to_read", owned_here, give_to_read, OWNS },
	{ "gives_to_write", owned_here, give_to_write, OWNS },
	{ "gives_to_two", owned_here, give_to_two, OWNS },
	{ "gives_what_is_lent", lent, give_to_write, OWNS },
	{ "passes_on", owned_here, pass_on, OWNS },
	{ "lends", owned_here, lend, OWNS },
	{ "lock_free", lock_free, ask_to_write, LOCK },
	{ "lock_to_read", lock_read, ask_to_read, LOCK },
	{ "lock_from_readers", lock_read, ask_to_write, LOCK },
	{ "lock_queued", lock_elsewhere, ask_to_write, LOCK | WAITS },
	{ "lock_comes", lock_elsewhere, wait_and_get, LOCK },
	{ "lock_for_two", lock_elsewhere, wait_with_another, LOCK },
	{ "lock_for_readers", lock_elsewhere, read_with_another, LOCK },
	{ "lock_goes", lock_here, hand_over, LOCK | OWNS },
	{ "lock_goes_to_readers", lock_here, hand_to_readers, LOCK | OWNS },
	{ "lock_left", lock_here, leave, LOCK | OWNS },
};

/* --- one death ---------------------------------------------------------------------- */

static void prepare(void)
{
	u32 n;

	number++;
	wrote = false;
	for (n = 1; n <= MORTALS; n++) {
		wants[n] = WEFT_I;
		line[n] = fake_line(&fakes[n], region, number % FAKE_LINES);
	}
	/* on both sides of a block's border, and where the blades take turns */
	mortal_seat(weft_line_key(region, WEFT_KIND_LOCK, (u64)number * 64));
	moment->prepare();
	settle();
}

static void take_out(struct fake *f)
{
	struct weft_call call = {
		.op = WEFT_CALL_FENCE_NODE, .members = weft_node_bit(f->id),
	};

	CHECK_EQ(fake_call(d, WEFT_BLADE_MIN, &call, MORTAL_LIMIT_MS), 0);
}

static void boot(struct fake *f)
{
	rig_heal(f->id);
	mortal_boot(f);
	line[f->id] = fake_line(f, region, number % FAKE_LINES);
}

static u8 content(u32 n)
{
	u8 value = line[n]->data[0];

	CHECK(fake_is_filled(line[n], 4096, value));
	return value;
}

/* What there is, and what there may be; @had by those that died, @other by node 2, if it lives. */
static void check_block(bool had, u8 other)
{
	bool older = moment->prepare == owned_elsewhere || moment->prepare == owned_here ||
		     moment->prepare == lent;
	u64 lost = mortal_lost(d, region, 0);
	u8 value;

	get(3, WEFT_M);
	value = content(3);
	CHECK(value == NOW || (value == OLD && older) || (value == NEW && wrote));
	if (other)
		CHECK_EQ(value, other);
	/* only what a dead node may have had alone */
	CHECK(value != OLD || (had && lost));
	CHECK(!lost || had);
	gone += value == OLD;
	/* the directory had heard that it owned the block */
	CHECK(value == NEW || lost || !wrote || !known);
	unlisted += wrote && value != NEW && !lost;
	memset(line[3]->data, LATER, WEFT_REGION_BLOCK_MAX);
	get(4, WEFT_S);
	CHECK_EQ(content(4), LATER);
	if (!b->dead) {
		get(2, WEFT_M);
		CHECK_EQ(content(2), LATER);
	}
	(void)mortal_lost(d, region, WEFT_LOST_ACCEPT);
	CHECK_EQ(mortal_lost(d, region, 0), 0);
}

/* @had by those that died, to write, and they had not let go of it. */
static void check_lock(bool had)
{
	mortal_ask_lock(3, WEFT_M);
	settle();
	CHECK(told || !had);
	CHECK_EQ(weft_lock_perm(&mortal_seats[3].l), WEFT_M);
	mortal_ask_lock(4, WEFT_M);
	settle();
	CHECK_EQ(weft_lock_perm(&mortal_seats[4].l), WEFT_M);
	/* who had it before has mended what there was */
	CHECK(!mortal_seats[4].l.died);
}

static bool has_lock(u32 n)
{
	return mortal_seats[n].l.state == WEFT_M;
}

/* What its programs wanted nobody wants any more. */
static void die(u32 n)
{
	rig_cut(n, 0);
	fakes[n].dead = true;
	wants[n] = WEFT_I;
}

static void come_back(u32 n)
{
	rig_heal(n);
	mortal_come_back(&fakes[n]);
}

/*
 * It dies next who died longest ago, so nobody waits until it may join.  What it finds is
 * what there is.
 */
static void begin_with(u32 n)
{
	const struct fake_line *was = line[n];

	who = n;
	a = &fakes[n];
	if (a->dead)
		come_back(n);
	if (!was || is_lock())
		return;
	get(n, WEFT_S);
	CHECK_EQ(content(n), LATER);
}

/* After @moments datagrams.  Return: false if all was over before. */
static bool dies_after(u32 many)
{
	u64 fenced = fake_stat(d, WEFT_BLADE_MIN, "nodes_fenced");
	bool had, over, two = how == TWO;
	u8 other = 0;
	u32 n;

	begin_with(victims[number % (sizeof(victims) / sizeof(*victims))]);
	prepare();
	owned = moment->flags & OWNS;
	told = false;
	at_it = true;
	rig_cut(who, many);
	moment->begin();
	run(true);
	over = !rig_is_cut(who);
	at_it = false;
	known = weft_line_idle(&line[who]->l);
	die(who);
	if (two)
		die(2);
	had = is_lock() ? has_lock(who) || (two && has_lock(2)) :
	      owned || (two && (moment->prepare == owned_elsewhere ||
				weft_line_perm(&line[2]->l) == WEFT_M));
	if (!is_lock() && !two && weft_line_perm(&line[2]->l) == WEFT_M)
		other = content(2);
	for (n = 1; n <= MORTALS; n++)
		mortal_seats[n].lets = true;
	mortal_live(rig_random(20));
	if (how == BOOT) {
		boot(a);
	} else {
		take_out(a);
		if (two)
			take_out(b);
	}
	mortal_wait_swept(d, fenced + 1 + two);
	settle();
	if (is_lock())
		check_lock(had);
	else
		check_block(had, other);
	if (two)
		come_back(2);
	tried++;
	return !over;
}

int main(int argc, char **argv)
{
	static const char *const hows[] = { "hand", "boot", "two" };
	u32 many, i;

	if (argc < 4)
		CHECK_FAIL("usage: memd-moments plain|switch 1|2 hand|boot|two [NAME]");
	for (i = 0; i < 3; i++)
		if (!strcmp(argv[3], hows[i]))
			how = i;
	fake_apart = 64;
	mortal_open(!strcmp(argv[1], "switch"), !strcmp(argv[2], "2") ? 2 : 1, "0", false, MORTALS);
	CHECK_EQ(fake_create(d, "lines", (u64)FAKE_LINES * fake_apart * 4096, 4096, &region), 0);
	for (i = 1; i <= MORTALS; i++)
		CHECK_EQ(fake_open(&fakes[i], region, 4096), 0);
	for (i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
		moment = &moments[i];
		if (argc > 4 && strcmp(argv[4], moment->name))
			continue;
		for (many = 0; dies_after(many); many++)
			if (moment->flags & WAITS && many == WAITS_MAX)
				break;
		printf("# %s: %u moments\n", moment->name, many + 1);
		fflush(stdout);
	}
	printf("# %lu deaths: %lu times a block was as before, %lu writes of the last moment not listed\n",
	       tried, gone, unlisted);
	CHECK(argc > 4 || gone);
	rig_close();
	return check_result();
}
