// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes die, and the rack goes on without them: what they had modified is what was last
 * written home, and said to be lost; their locks are free, and who has one next hears why;
 * nobody reads what only the dead knew of while another reads something else.  A node that
 * was only silent is let in again when it has dropped everything.
 *
 *	memd-death plain|switch 1|2
 */
#include <signal.h>

#include "mortal.h"

#define LEASE_MS	400
#define SLOW_MOST	3	/* times as long at most, on a machine that is slow */
#define LATEST_MS	((LEASE_MS + 600) * rig_scale())	/* from the last sign of life */
#define TRIES		3	/* to be in time */
/* until a node may join when nothing stands in the way */
#define BACK_MS		(5000 * rig_scale())

static u32 lease;	/* in milliseconds */

/* Its home has begun a new life, and has taken the block back. */
static void wait_given_back(const struct fake_line *fl)
{
	u64 end = now_ms() + MORTAL_LIMIT_MS;

	while (weft_line_perm(&fl->l) != WEFT_I) {
		CHECK(now_ms() < end);
		fake_step(1);
	}
}

/*
 * When this machine stands still, the blade begins the leases anew: what it does then comes
 * later than it should, and is tried again, as the @nth from 0.  A blade that is slow is so
 * each time.  @dies returns whether it was in time.
 */
static void in_time(bool (*dies)(u32 region, u32 nth), u32 region)
{
	u32 nth = 0;

	while (!dies(region, nth))
		CHECK(++nth < TRIES, "each was too late");
}

/* An owner dies: what it modified is as it was at home, for everybody. */
static bool owner_dies(u32 region, u32 nth)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *c = &fakes[3];
	struct fake_line *al = fake_line(a, region, 32 + nth), *bl = fake_line(b, region, 32 + nth),
			 *cl = fake_line(c, region, 32 + nth);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), took;

	mortal_modify(a, al, 1, 2);
	a->dead = true;
	took = mortal_get(b, bl, WEFT_S);
	printf("# an owner's block is there %llu ms after the last sign of it, with a lease of %u\n",
	       (unsigned long long)took, lease);
	CHECK(took >= lease / 2);
	CHECK(fake_is_filled(bl, 4096, 1));
	mortal_get(c, cl, WEFT_M);
	CHECK(fake_is_filled(cl, 4096, 1));
	mortal_wait_swept(b, fenced + 1);
	CHECK_EQ(fake_stat(b, WEFT_BLADE_MIN, "nodes"), 2);
	CHECK_EQ(mortal_lost(b, region, 0), 1);
	/* what it says now does not count: that it writes home, that it asks */
	a->dead = false;
	fake_clean(a, al);
	mortal_live(200);
	a->dead = true;
	CHECK(fake_evict(c, cl, false));
	mortal_live(100);
	mortal_get(b, bl, WEFT_M);
	CHECK(fake_is_filled(bl, 4096, 1));
	CHECK_EQ(mortal_lost(b, region, WEFT_LOST_ACCEPT), 1);
	CHECK_EQ(mortal_lost(b, region, 0), 0);
	mortal_come_back(a);
	mortal_get(a, al, WEFT_S);
	CHECK(fake_is_filled(al, 4096, 1));
	return took < LATEST_MS;
}

/* What is lost is listed before anybody asks for it. */
static void unasked(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u32 i;

	for (i = 8; i < 12; i++)
		mortal_modify(a, fake_line(a, region, i), 6, 7);
	mortal_get(a, fake_line(a, region, 12), WEFT_S);
	mortal_live(50);
	a->dead = true;
	mortal_wait_swept(b, fenced + 1);
	CHECK_EQ(mortal_lost(b, region, 0), 4);
	for (i = 8; i < 12; i++) {
		mortal_get(b, fake_line(b, region, i), WEFT_S);
		CHECK(fake_is_filled(fake_line(b, region, i), 4096, 6));
	}
	CHECK_EQ(mortal_lost(b, region, WEFT_LOST_ACCEPT), 4);
	mortal_come_back(a);
}

/* @msg, a READ, is sent, and its home has served it, however busy this machine is. */
static void reads(struct fake *f, struct weft_msg *msg)
{
	u32 home = WEFT_BLADE_MIN + weft_line_home(msg->line, mortal_blades);
	u64 before = fake_stat(f, home, "reads"), end = now_ms() + MORTAL_LIMIT_MS;

	rig_send(f->at, home, msg);
	do {
		CHECK(now_ms() < end);
		mortal_live(10);
	} while (fake_stat(f, home, "reads") == before);
}

/* A block that was accepted is not lost again when a copy of the READ that found it lost comes. */
static void accepted_once(u32 region)
{
	struct fake *b = &fakes[2];
	struct weft_msg read = {
		.type = WEFT_MSG_READ, .src = (u8)b->id, .txn = weft_txn(b->id, ++b->seq),
		/* as the directory says of a block whose owner has died */
		.line = weft_line_key(region, WEFT_KIND_PAGE, 40), .status = WEFT_M,
		.flags = WEFT_F_BUSY,
	};
	u32 i;

	for (i = 0; i < 2; i++) {
		reads(b, &read);
		CHECK_EQ(mortal_lost(b, region, WEFT_LOST_ACCEPT), !i);
	}
	read.txn = weft_txn(b->id, ++b->seq);
	reads(b, &read);
	CHECK_EQ(mortal_lost(b, region, WEFT_LOST_ACCEPT), 1);
}

/* Only who was lent a block knows of that: what it has goes home before others read that. */
static void lender_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *c = &fakes[3];
	struct fake_line *al = fake_line(a, region, 1), *bl = fake_line(b, region, 1),
			 *cl = fake_line(c, region, 1);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u32 txn;

	mortal_modify(a, al, 3, 4);
	txn = fake_expect(b, bl, WEFT_S);
	CHECK(fake_pass(a, al, txn, false));
	mortal_live(100);
	CHECK_EQ(weft_line_perm(&bl->l), WEFT_S);
	CHECK(fake_is_filled(bl, 4096, 4));
	a->dead = true;
	mortal_get(c, cl, WEFT_S);
	CHECK(fake_is_filled(cl, 4096, 4));
	CHECK_EQ(weft_line_perm(&bl->l), WEFT_I);
	mortal_get(b, bl, WEFT_S);
	CHECK(fake_is_filled(bl, 4096, 4));
	mortal_wait_swept(b, fenced + 1);
	CHECK_EQ(mortal_lost(b, region, WEFT_LOST_ACCEPT), 0);
	mortal_come_back(a);
}

/* Who only reads leaves nothing behind, and nobody waits for it but for the lease. */
static void reader_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct fake_line *al = fake_line(a, region, 2), *bl = fake_line(b, region, 2);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");

	mortal_get(b, bl, WEFT_M);
	memset(bl->data, 5, WEFT_REGION_BLOCK_MAX);
	mortal_get(a, al, WEFT_S);
	mortal_live(100);
	a->dead = true;
	mortal_get(b, bl, WEFT_M);
	CHECK(fake_is_filled(bl, 4096, 5));
	mortal_wait_swept(b, fenced + 1);
	CHECK_EQ(mortal_lost(b, region, 0), 0);
	mortal_come_back(a);
}

/* A lock of a dead node is free; who has it next hears it, once. */
static bool holder_dies(u32 region, u32 nth)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), took;

	mortal_seat(weft_line_key(region, WEFT_KIND_LOCK, 64 + nth));
	mortal_get_lock(3, WEFT_S);
	CHECK(!mortal_seats[3].l.died);
	mortal_leave_lock(3);
	mortal_get_lock(1, WEFT_M);
	CHECK(!mortal_seats[1].l.died);
	mortal_live(100);
	a->dead = true;
	took = mortal_get_lock(2, WEFT_M);
	printf("# a holder's lock is there %llu ms after the last sign of it\n",
	       (unsigned long long)took);
	CHECK(mortal_seats[2].l.died);
	mortal_leave_lock(2);
	mortal_get_lock(3, WEFT_M);
	CHECK(!mortal_seats[3].l.died);
	mortal_leave_lock(3);
	mortal_wait_swept(b, fenced + 1);
	mortal_come_back(a);
	return took < LATEST_MS;
}

/* Who only waits for a lock leaves its place, and whoever waits behind it has the lock. */
static void waiter_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), end = now_ms() + MORTAL_LIMIT_MS;

	mortal_seat(weft_line_key(region, WEFT_KIND_LOCK, 128));
	mortal_get_lock(3, WEFT_M);
	mortal_ask_lock(1, WEFT_M);
	mortal_live(100);
	CHECK_EQ(weft_lock_perm(&mortal_seats[1].l), WEFT_I);
	a->dead = true;
	mortal_ask_lock(2, WEFT_M);
	mortal_live(100);
	mortal_leave_lock(3);
	while (weft_lock_perm(&mortal_seats[2].l) < WEFT_M) {
		CHECK(now_ms() < end);
		mortal_step(2);
	}
	mortal_leave_lock(2);
	mortal_wait_swept(b, fenced + 1);
	mortal_get_lock(3, WEFT_M);
	mortal_leave_lock(3);
	mortal_come_back(a);
}

/* Node 1 has a lock, which is in the switch, and its home is killed.  Return: the home. */
static u32 lose_home_of_lock(u32 region, u64 index)
{
	u64 key = weft_line_key(region, WEFT_KIND_LOCK, index);
	u32 home = WEFT_BLADE_MIN + weft_line_home(key, mortal_blades);
	const struct weft_slot *slot = &rig_switch.slots[weft_line_slot(key)];
	u64 end = now_ms() + MORTAL_LIMIT_MS;

	mortal_seat(key);
	mortal_get_lock(1, WEFT_M);
	mortal_live(200);
	while (slot->entry.lock != weft_node_bit(1)) {
		CHECK(now_ms() < end);
		mortal_live(10);
	}
	rig_memd_stop(home, SIGKILL);
	return home;
}

/*
 * A lock is in the switch, and its home begins a new life, in which it knows nothing of that.
 * Then its holder dies.  All the same who asks for it has it, and hears why.
 */
static void holder_dies_unknown(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u32 home = lose_home_of_lock(region, 192);

	a->dead = true;
	mortal_start(home - WEFT_BLADE_MIN);
	mortal_live(300);
	mortal_get_lock(2, WEFT_M);
	CHECK(mortal_seats[2].l.died);
	mortal_leave_lock(2);
	if (home == WEFT_BLADE_MIN)
		fenced = 0;
	mortal_wait_swept(b, fenced + 1);
	mortal_get_lock(3, WEFT_M);
	CHECK(!mortal_seats[3].l.died);
	mortal_leave_lock(3);
	mortal_come_back(a);
}

/*
 * The same, but its holder claims it at the new life, then gives it to another node, of which
 * the switch knows and the home does not.  Then that one dies: nobody has to be asked for it.
 */
static bool holder_dies_after_claim(u32 region, u32 nth)
{
	struct fake *b = &fakes[2], *c = &fakes[3];
	u64 end = now_ms() + MORTAL_LIMIT_MS, claims, fenced, took;
	u32 home = lose_home_of_lock(region, 256 + nth);

	mortal_claim(true);
	mortal_start(home - WEFT_BLADE_MIN);
	do {
		CHECK(now_ms() < end);
		mortal_live(50);
		claims = fake_stat(c, home, "locks_claimed");
	} while (!claims || !fake_stat(c, home, "ready"));
	mortal_live(300);
	mortal_claim(false);
	CHECK_EQ(claims, 1);
	fenced = fake_stat(c, WEFT_BLADE_MIN, "nodes_fenced");
	mortal_seats[1].lets = true;
	mortal_ask_lock(2, WEFT_M);
	while (weft_lock_perm(&mortal_seats[2].l) < WEFT_M) {
		CHECK(now_ms() < end);
		mortal_step(1);
		mortal_mind(2);
	}
	mortal_live(100);
	b->dead = true;
	took = mortal_get_lock(3, WEFT_M);
	CHECK(mortal_seats[3].l.died);
	mortal_leave_lock(3);
	mortal_wait_swept(c, fenced + 1);
	mortal_come_back(b);
	return took < LATEST_MS;
}

/*
 * The home had asked the switch for the lock, and was killed before it had it: the switch gives
 * it to nobody, and takes it from nobody, until the home asks again, of which it knows nothing.
 * Once its holder lives and gives it up, once the holder has died.
 */
static void home_dies_fetching(u32 region, bool dies)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u64 end = now_ms() + MORTAL_LIMIT_MS;
	u32 home = lose_home_of_lock(region, 320 + dies);
	struct weft_slot *slot = &rig_switch.slots[weft_line_slot(mortal_seats[1].l.key)];

	CHECK(slot->entry.lock == weft_node_bit(1));
	slot->entry.grant |= WEFT_EPOCH_FROZEN;
	a->dead = dies;
	mortal_start(home - WEFT_BLADE_MIN);
	mortal_live(300);
	if (!dies)
		mortal_seats[1].lets = true;
	mortal_ask_lock(2, WEFT_M);
	while (weft_lock_perm(&mortal_seats[2].l) < WEFT_M) {
		CHECK(now_ms() < end);
		mortal_step(2);
		mortal_mind(1);
	}
	CHECK_EQ(mortal_seats[2].l.died, dies);
	mortal_leave_lock(2);
	if (!dies)
		return;
	if (home == WEFT_BLADE_MIN)
		fenced = 0;
	mortal_wait_swept(b, fenced + 1);
	mortal_come_back(a);
}

/* Node 1 modifies 8 blocks of the region.  Return: false if a node was taken out meanwhile. */
static bool modify_some(u32 region, u64 fenced)
{
	u32 i;

	for (i = 0; i < 8; i++)
		if (!mortal_try_modify(&fakes[1], fake_line(&fakes[1], region, i), 20, 21))
			return false;
	mortal_live(50);
	return fake_stat(&fakes[2], WEFT_BLADE_MIN, "nodes_fenced") == fenced;
}

/*
 * A node dies and boots at once, and one blade cannot yet find out what it had, as it does not
 * hear the switch: until then the node is not let in, or all that would be taken to be its new
 * life's, and lost without a word.  Nor is it a member for the switch: who asks for what it had
 * would wait for it, it for that blade, and the blade for who asked.
 */
static void boots_before_swept(void)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced, end;
	struct weft_call c;
	char name[] = "later0";
	struct fake_line *asked;
	u32 region = 0, tries = 5, i;
	u64 healed;

	/* whose lines have their homes at that blade */
	do {
		CHECK_EQ(fake_create(a, name, 64 * 4096, 4096, &region), 0);
		name[5]++;
	} while (weft_line_home(weft_line_key(region, WEFT_KIND_PAGE, 0), 2) != 1);
	for (i = 1; i <= 3; i++)
		CHECK_EQ(fake_open(&fakes[i], region, 4096), 0);
	/* a machine that stands still for a lease ends a life before its time */
	do {
		CHECK(tries--);
		fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
		mortal_come_back_all();
		mortal_lost(b, region, WEFT_LOST_ACCEPT);
	} while (!modify_some(region, fenced));
	asked = fake_line(&fakes[3], region, 3);
	rig_cut(WEFT_BLADE_MIN + 1, 0);
	a->dead = true;
	end = now_ms() + MORTAL_LIMIT_MS;
	while (fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced") <= fenced ||
	       rig_switch.members & weft_node_bit(a->id)) {
		CHECK(now_ms() < end);
		mortal_live(10);
	}
	/* the new life hears what it is answered, and obeys nobody */
	a->booting = true;
	a->dead = false;
	for (end = now_ms() + 1500; now_ms() < end; mortal_live(10)) {
		c = (struct weft_call){
			.op = WEFT_CALL_JOIN, .node = a->id, .life = a->life + 1000,
			.addr = rig_addr(a->id), .valid = WEFT_JOIN_ASKS_AGAIN,
		};
		CHECK(fake_call(a, WEFT_BLADE_MIN, &c, 50) != 0);
		CHECK(!(rig_switch.members & weft_node_bit(a->id)));
		if (weft_line_idle(&asked->l))
			fake_want(&fakes[3], asked, WEFT_S);
	}
	rig_heal(WEFT_BLADE_MIN + 1);
	healed = now_ms();
	mortal_boot(a);
	CHECK(now_ms() - healed < BACK_MS);
	CHECK(rig_switch.members & weft_node_bit(a->id));
	mortal_get(&fakes[3], asked, WEFT_S);
	CHECK(fake_is_filled(asked, 4096, 20));
	CHECK_EQ(mortal_lost(b, region, 0), 8);
	for (i = 0; i < 8; i++) {
		mortal_get(b, fake_line(b, region, i), WEFT_S);
		CHECK(fake_is_filled(fake_line(b, region, i), 4096, 20));
	}
	CHECK_EQ(mortal_lost(b, region, WEFT_LOST_ACCEPT), 8);
}

/* The same of a block: it is lost, and listed. */
static void owner_dies_unknown(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct fake_line *al = fake_line(a, region, 24), *bl = fake_line(b, region, 24);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u32 home = WEFT_BLADE_MIN + weft_line_home(al->l.key, mortal_blades);

	mortal_modify(a, al, 10, 11);
	rig_memd_stop(home, SIGKILL);
	mortal_start(home - WEFT_BLADE_MIN);
	wait_given_back(al);
	/* the switch still has the line, and its home does not know */
	mortal_get(a, al, WEFT_M);
	CHECK(fake_is_filled(al, 4096, 11));
	memset(al->data, 12, WEFT_REGION_BLOCK_MAX);
	mortal_live(100);
	a->dead = true;
	if (home == WEFT_BLADE_MIN)
		fenced = 0;
	mortal_wait_swept(b, fenced + 1);
	CHECK_EQ(mortal_lost(b, region, WEFT_LOST_ACCEPT), 1);
	mortal_get(b, bl, WEFT_S);
	CHECK(fake_is_filled(bl, 4096, 11));
	mortal_come_back(a);
}

/* Who dies while it writes home what it drops: its home has that, or what it had, all of it. */
static void leaver_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct fake_line *al, *bl;
	u64 fenced;
	u32 i, k;

	for (i = 16; i < 20; i++) {
		fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
		al = fake_line(a, region, i);
		bl = fake_line(b, region, i);
		mortal_modify(a, al, 8, 9);
		(void)fake_evict(a, al, false);
		for (k = i % 4; k; k--)
			fake_step(1);
		a->dead = true;
		mortal_get(b, bl, WEFT_S);
		CHECK(fake_is_filled(bl, 4096, 8) || fake_is_filled(bl, 4096, 9));
		mortal_wait_swept(b, fenced + 1);
		mortal_come_back(a);
	}
	(void)mortal_lost(b, region, WEFT_LOST_ACCEPT);
}

/*
 * The first blade is cut off for longer than the lease, while a node has a modified block, which
 * another one asks for, and a lock, for which another one waits: it is all as before when the
 * blade is heard again.  Who died meanwhile is dead a moment after that.
 */
static bool blade_cut_off(u32 region, u32 nth)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *c = &fakes[3];
	struct fake_line *al = fake_line(a, region, 28 + nth), *bl = fake_line(b, region, 28 + nth),
			 *cl = fake_line(c, region, 28 + nth);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), end, took;

	mortal_modify(a, al, 13, 14);
	mortal_seat(weft_line_key(region, WEFT_KIND_LOCK, 256 + nth));
	mortal_get_lock(3, WEFT_M);
	rig_cut(WEFT_BLADE_MIN, 0);
	fake_want(b, bl, WEFT_M);
	mortal_ask_lock(1, WEFT_M);
	for (end = now_ms() + 4 * lease; now_ms() < end; mortal_mind(3))
		mortal_step(1);
	rig_heal(WEFT_BLADE_MIN);
	mortal_get(b, bl, WEFT_M);
	CHECK(fake_is_filled(bl, 4096, 14));
	mortal_let_lock(3);
	for (end = now_ms() + 2 * lease; now_ms() < end; mortal_mind(3))
		mortal_step(1);
	for (end = now_ms() + MORTAL_LIMIT_MS; weft_lock_perm(&mortal_seats[1].l) != WEFT_M;) {
		CHECK(now_ms() < end);
		mortal_step(1);
		mortal_mind(3);
	}
	CHECK(!mortal_seats[1].l.died);
	mortal_leave_lock(1);
	CHECK_EQ(fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), fenced);
	CHECK_EQ(fake_stat(b, WEFT_BLADE_MIN, "nodes"), 3);
	CHECK_EQ(mortal_lost(b, region, 0), 0);

	rig_cut(WEFT_BLADE_MIN, 0);
	b->dead = true;
	mortal_live(4 * lease);
	rig_heal(WEFT_BLADE_MIN);
	took = mortal_get(c, cl, WEFT_M);
	mortal_wait_swept(c, fenced + 1);
	CHECK_EQ(fake_stat(c, WEFT_BLADE_MIN, "nodes_fenced"), fenced + 1);
	(void)mortal_lost(c, region, WEFT_LOST_ACCEPT);
	CHECK(fake_evict(c, cl, false));
	mortal_settle(cl);
	mortal_come_back(b);
	return took < LATEST_MS;
}

/* All nodes die at once: the first one that boots is let in as soon as a mount waits for. */
static bool all_die(u32 region, u32 nth)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *c = &fakes[3];
	struct fake_line *al = fake_line(a, region, 36 + nth), *bl = fake_line(b, region, 36 + nth);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), begun, took;
	u32 told = mortal_told_not_yet;

	mortal_modify(b, bl, 15, 16);
	a->dead = b->dead = c->dead = true;
	mortal_live(4 * lease);
	begun = now_ms();
	mortal_boot(a);
	took = now_ms() - begun;
	/* while others are taken out, and what it had itself */
	CHECK(mortal_told_not_yet > told);
	CHECK_EQ(fake_stat(a, WEFT_BLADE_MIN, "nodes_fenced"), fenced + 3);
	mortal_get(a, al, WEFT_S);
	CHECK(fake_is_filled(al, 4096, 15));
	CHECK_EQ(mortal_lost(a, region, WEFT_LOST_ACCEPT), 1);
	mortal_come_back(b);
	mortal_come_back(c);
	return took < LATEST_MS;
}

/* An administrator need not wait; nor does a node that comes again as another life. */
static bool by_hand_and_again(u32 region, u32 nth)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct weft_call c = { .op = WEFT_CALL_FENCE_NODE, .members = weft_node_bit(2) };
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), took;

	CHECK_EQ(fake_call(b, WEFT_BLADE_MIN, &c, MORTAL_LIMIT_MS), EINVAL);
	c = (struct weft_call){ .op = WEFT_CALL_FENCE_NODE, .members = weft_node_bit(7) };
	CHECK_EQ(fake_call(b, WEFT_BLADE_MIN, &c, MORTAL_LIMIT_MS), ENOENT);
	mortal_get(a, fake_line(a, region, 3 + nth), WEFT_M);
	c = (struct weft_call){ .op = WEFT_CALL_FENCE_NODE, .members = weft_node_bit(1) };
	CHECK_EQ(fake_call(b, WEFT_BLADE_MIN, &c, MORTAL_LIMIT_MS), 0);
	a->dead = true;
	took = mortal_get(b, fake_line(b, region, 3 + nth), WEFT_M);
	mortal_wait_swept(b, fenced + 1);
	mortal_come_back(a);
	CHECK(fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced") == fenced + 1);
	return took < lease;
}

int main(int argc, char **argv)
{
	char lease_text[16];
	u32 region, i;

	if (argc != 3)
		CHECK_FAIL("usage: memd-death plain|switch 1|2");
	lease = LEASE_MS * (rig_scale() < SLOW_MOST ? rig_scale() : SLOW_MOST);
	snprintf(lease_text, sizeof(lease_text), "%u", lease);
	mortal_open(!strcmp(argv[1], "switch"), !strcmp(argv[2], "2") ? 2 : 1, lease_text, true, 3);
	CHECK_EQ(fake_create(&fakes[1], "lines", 256 * 4096, 4096, &region), 0);
	for (i = 1; i <= 3; i++)
		CHECK_EQ(fake_open(&fakes[i], region, 4096), 0);
	in_time(owner_dies, region);
	unasked(region);
	accepted_once(region);
	lender_dies(region);
	reader_dies(region);
	in_time(holder_dies, region);
	waiter_dies(region);
	if (rig_p4) {
		holder_dies_unknown(region);
		in_time(holder_dies_after_claim, region);
		home_dies_fetching(region, false);
		home_dies_fetching(region, true);
		owner_dies_unknown(region);
	}
	if (rig_p4 && mortal_blades == 2)
		boots_before_swept();
	leaver_dies(region);
	in_time(blade_cut_off, region);
	in_time(all_die, region);
	in_time(by_hand_and_again, region);
	rig_close();
	return check_result();
}
