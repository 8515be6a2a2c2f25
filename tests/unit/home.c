// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line at its home and on its way to the switch and back: each case by hand,
 * then random ones with messages lost, repeated and reordered, against a switch
 * that is the real one.
 */
#include "home.h"
#include "tests/common/check.h"
#include "tests/stations.h"
#include "tools/common/random.h"

#define MEMBERS	0xFu

static struct weft_slot slots[WEFT_SWITCH_SLOTS];
static struct weft_switch sw = { .slots = slots, .members = MEMBERS };
static struct weft_home_line l;
static struct weft_home_out out;
static u32 fresh;
static u64 key;

static void begin(void)
{
	key = weft_line_key(1, WEFT_KIND_PAGE, 5);
	memset(slots, 0, sizeof(slots));
	weft_home_init(&l, key, 33);
	stations_by_id(&sw);
	fresh = 0;
}

static void request(u8 type, u32 id, u32 seq)
{
	struct weft_msg m = {
		.type = type, .src = (u8)id, .txn = weft_txn(id, seq), .line = key,
	};

	weft_home_recv(&l, MEMBERS, true, &m, ++fresh, &out);
}

/* What the switch answers to what the home sends it. */
static struct weft_msg switch_says(struct weft_msg m)
{
	u32 targets;

	CHECK_EQ(weft_switch_handle(&sw, m.src, &m, &targets),
		 m.type == WEFT_MSG_ABORT ? WEFT_TO_NOBODY : WEFT_TO_SENDER);
	return m;
}

static void hear(struct weft_msg m)
{
	weft_home_recv(&l, MEMBERS, true, &m, ++fresh, &out);
}

static struct weft_slot *slot(void)
{
	return &slots[weft_line_slot(key)];
}

static void there_and_back(void)
{
	struct weft_msg add, ack;

	begin();
	/* the first miss is served, and moves the line */
	request(WEFT_MSG_GETS, 1, 1);
	CHECK_EQ(out.dest, WEFT_TO_HOME);
	CHECK(out.msg.type == WEFT_MSG_READ && out.to_switch && out.timer &&
	      out.sw.type == WEFT_MSG_ADD && out.sw.copyset == 1);
	CHECK_EQ(l.place, WEFT_ADDING);
	add = out.sw;
	/* between the two nobody serves it */
	request(WEFT_MSG_GETM, 2, 1);
	CHECK(out.dest == WEFT_TO_SENDER && out.msg.type == WEFT_MSG_NACK &&
	      out.msg.info == WEFT_WHY_MOVING && !out.to_switch);
	request(WEFT_MSG_COMMIT, 2, 1);
	CHECK(out.dest == WEFT_TO_SENDER && out.msg.type == WEFT_MSG_COMMIT_ACK);
	request(WEFT_MSG_QUERY, 2, 1);
	CHECK_EQ(out.dest, WEFT_TO_NOBODY);
	/* not heard: the same ADD again */
	weft_home_timeout(&l, &out);
	CHECK(out.to_switch && out.timer && out.sw.type == add.type &&
	      out.sw.txn == add.txn && out.sw.nonce == add.nonce &&
	      out.sw.copyset == add.copyset && out.sw.grant == add.grant);
	hear(switch_says(add));
	CHECK(out.moved && !out.timer && l.place == WEFT_IN_SWITCH && !l.tries);
	/* the copy's answer says nothing new */
	hear(switch_says(add));
	CHECK(!out.moved && l.place == WEFT_IN_SWITCH);
	request(WEFT_MSG_GETS, 2, 9);
	CHECK(out.msg.info == WEFT_WHY_MOVING);
	/* back: what happened there is known here */
	slot()->entry.copyset = 7;
	CHECK(!weft_home_recall(&l, ++fresh, &out));
	CHECK(out.to_switch && out.sw.type == WEFT_MSG_REMOVE && out.timer);
	ack = switch_says(out.sw);
	hear(ack);
	CHECK(l.place == WEFT_DROPPING && out.sw.type == WEFT_MSG_DROP &&
	      out.to_switch && !out.moved);
	CHECK(l.e.copyset == 7 && l.e.status == WEFT_S && !l.e.lock);
	hear(switch_says(out.sw));
	CHECK(out.moved && !out.lost && l.place == WEFT_AT_HOME && !slot()->tag);
	CHECK(weft_home_recall(&l, ++fresh, &out) && !out.to_switch);
	/* the answer to the REMOVE once more */
	hear(ack);
	CHECK(!out.to_switch && !out.moved && l.place == WEFT_AT_HOME);
}

/* A late copy of a REMOVE locks the line in the switch for nobody. */
static void late_remove(void)
{
	struct weft_msg remove, ack, chase = { .type = WEFT_MSG_CHASE, .src = 2 };

	begin();
	request(WEFT_MSG_GETS, 1, 1);
	hear(switch_says(out.sw));
	weft_home_recall(&l, ++fresh, &out);
	remove = out.sw;
	hear(switch_says(remove));
	hear(switch_says(out.sw));
	CHECK_EQ(l.place, WEFT_AT_HOME);
	request(WEFT_MSG_GETS, 2, 1);
	hear(switch_says(out.sw));
	CHECK_EQ(l.place, WEFT_IN_SWITCH);
	ack = switch_says(remove);
	CHECK(ack.flags & WEFT_F_BUSY && slot()->entry.lock == remove.txn);
	/* its answer comes: given up at once */
	hear(ack);
	CHECK(out.to_switch && out.sw.type == WEFT_MSG_ABORT &&
	      out.sw.txn == remove.txn && out.sw.grant == ack.grant && !out.timer);
	switch_says(out.sw);
	CHECK(!slot()->entry.lock && l.place == WEFT_IN_SWITCH);
	/* its answer is lost: given up when a node complains */
	ack = switch_says(remove);
	chase.line = key;
	chase.txn = weft_txn(2, 9);
	chase.holder = remove.txn;
	chase.grant = ack.grant;
	hear(chase);
	CHECK(out.to_switch && out.sw.type == WEFT_MSG_ABORT);
	switch_says(out.sw);
	CHECK_EQ(slot()->entry.lock, 0);
	/* or when it is in the way of taking the line back */
	ack = switch_says(remove);
	weft_home_recall(&l, ++fresh, &out);
	remove = out.sw;
	hear(switch_says(remove));
	CHECK(out.to_switch && out.sw.type == WEFT_MSG_ABORT && out.timer &&
	      out.sw.txn == ack.txn && out.sw.grant == ack.grant);
	switch_says(out.sw);
	hear(switch_says(remove));
	hear(switch_says(out.sw));
	CHECK_EQ(l.place, WEFT_AT_HOME);
	request(WEFT_MSG_GETS, 2, 2);
	hear(switch_says(out.sw));
	/* but not one that is under way */
	weft_home_recall(&l, ++fresh, &out);
	ack = switch_says(out.sw);
	chase.holder = ack.txn;
	chase.grant = ack.grant;
	hear(chase);
	CHECK(!out.to_switch && slot()->entry.lock);
	hear(ack);
	CHECK_EQ(l.place, WEFT_DROPPING);
	hear(chase);
	CHECK(!out.to_switch && slot()->entry.lock);
}

static void stays(void)
{
	struct weft_msg m = {
		.type = WEFT_MSG_GETS, .src = 1, .txn = weft_txn(1, 1),
	};
	u32 i;

	/* without a switch, and while it is locked */
	begin();
	m.line = key;
	weft_home_recv(&l, MEMBERS, false, &m, ++fresh, &out);
	CHECK(!out.to_switch && l.place == WEFT_AT_HOME);
	request(WEFT_MSG_GETM, 2, 1);
	CHECK(out.dest == WEFT_TO_NODES && out.targets == 1 && !out.to_switch);
	request(WEFT_MSG_GETS, 3, 1);
	CHECK(out.msg.info == WEFT_WHY_BUSY && !out.to_switch);
	m = (struct weft_msg){
		.type = WEFT_MSG_COMMIT, .src = 2, .txn = weft_txn(2, 1),
		.line = key, .status = WEFT_M, .copyset = 2, .grant = l.e.grant,
	};
	hear(m);
	CHECK(out.msg.type == WEFT_MSG_COMMIT_ACK && out.to_switch &&
	      out.sw.type == WEFT_MSG_ADD && out.sw.status == WEFT_M);
	/* another line has the slot: it is tried again later, not at once */
	slot()->tag = key + 1;
	hear(switch_says(out.sw));
	CHECK(out.moved && l.place == WEFT_AT_HOME && !out.to_switch);
	for (i = 0; i < 1000 && !out.to_switch; i++)
		request(WEFT_MSG_QUERY, 1, i);
	CHECK(i > 10 && i < 1000);
	/* a generation that we did not know */
	begin();
	slot()->gen = 77;
	request(WEFT_MSG_GETS, 1, 1);
	hear(switch_says(out.sw));
	CHECK(l.place == WEFT_ADDING && out.to_switch && out.sw.nonce == 77);
	hear(switch_says(out.sw));
	CHECK(out.moved && l.place == WEFT_IN_SWITCH && slot()->gen == 78);
}

static void in_the_way(void)
{
	struct weft_msg getm = {
		.type = WEFT_MSG_GETM, .src = 2, .txn = weft_txn(2, 1),
	};
	u32 targets, i, chased = 0;

	begin();
	getm.line = key;
	request(WEFT_MSG_GETS, 1, 1);
	hear(switch_says(out.sw));
	CHECK_EQ(weft_switch_handle(&sw, getm.src, &getm, &targets), WEFT_TO_NODES);
	CHECK(!weft_home_recall(&l, ++fresh, &out));
	for (i = 0; i < 20; i++) {
		hear(switch_says(out.sw));
		CHECK(l.place == WEFT_REMOVING && out.timer && !out.to_switch);
		if (out.chase) {
			chased++;
			CHECK(out.chase == 2 &&
			      out.msg_chase.type == WEFT_MSG_CHASE &&
			      out.msg_chase.holder == weft_txn(2, 1) &&
			      out.msg_chase.grant == slot()->entry.grant);
		}
		weft_home_timeout(&l, &out);
		CHECK(out.to_switch && out.sw.type == WEFT_MSG_REMOVE);
	}
	CHECK(chased > 0 && chased < 10);
	/* that node's transaction ends */
	getm.type = WEFT_MSG_COMMIT;
	getm.status = WEFT_M;
	getm.copyset = 2;
	getm.grant = slot()->entry.grant;
	weft_switch_handle(&sw, getm.src, &getm, &targets);
	hear(switch_says(out.sw));
	hear(switch_says(out.sw));
	CHECK(l.place == WEFT_AT_HOME && l.e.status == WEFT_M && l.e.copyset == 2);
}

/* Node 2's transaction holds the line, and node 2 is no member any more. */
static void left_behind(bool in_switch)
{
	struct weft_msg chase = {
		.type = WEFT_MSG_CHASE, .src = 1, .txn = weft_txn(1, 9),
		.holder = weft_txn(2, 1),
	}, getm = { .type = WEFT_MSG_GETM, .src = 2, .txn = weft_txn(2, 1) };
	const struct weft_dir_entry *e = in_switch ? &slot()->entry : &l.e;
	u32 targets;

	begin();
	chase.line = getm.line = key;
	weft_home_recv(&l, MEMBERS, in_switch, &(struct weft_msg){ .type = WEFT_MSG_GETS,
		       .src = 1, .txn = weft_txn(1, 1), .line = key }, ++fresh, &out);
	if (in_switch) {
		hear(switch_says(out.sw));
		CHECK_EQ(weft_switch_handle(&sw, getm.src, &getm, &targets), WEFT_TO_NODES);
	} else {
		weft_home_recv(&l, MEMBERS, false, &getm, ++fresh, &out);
	}
	CHECK(e->lock == weft_txn(2, 1));
	chase.grant = e->grant;
	/* it is asked, as long as it is one */
	hear(chase);
	CHECK(!out.to_switch && e->lock == weft_txn(2, 1));
	/* an earlier time that the transaction had the lock is over */
	chase.grant -= WEFT_GRANT_STEP;
	weft_home_recv(&l, MEMBERS & ~2u, in_switch, &chase, ++fresh, &out);
	if (out.to_switch)
		switch_says(out.sw);
	CHECK(e->lock == weft_txn(2, 1));
	chase.grant += WEFT_GRANT_STEP;
	weft_home_recv(&l, MEMBERS & ~2u, in_switch, &chase, ++fresh, &out);
	CHECK(out.to_switch == in_switch && !out.timer);
	if (in_switch)
		switch_says(out.sw);
	CHECK(!e->lock && e->status == WEFT_S && e->copyset == 1);
}

/* The home was restarted, and does not know that the switch has the line. */
static void left_behind_unknown(void)
{
	struct weft_msg chase = {
		.type = WEFT_MSG_CHASE, .src = 1, .txn = weft_txn(1, 9),
		.holder = weft_txn(2, 1),
	}, getm = { .type = WEFT_MSG_GETM, .src = 2, .txn = weft_txn(2, 1) };
	u32 targets;

	begin();
	chase.line = getm.line = key;
	request(WEFT_MSG_GETS, 1, 1);
	hear(switch_says(out.sw));
	CHECK_EQ(weft_switch_handle(&sw, getm.src, &getm, &targets), WEFT_TO_NODES);
	chase.grant = slot()->entry.grant;
	weft_home_init(&l, key, 33);
	hear(chase);
	CHECK(!out.to_switch);
	weft_home_recv(&l, MEMBERS & ~2u, true, &chase, ++fresh, &out);
	CHECK(out.to_switch && !out.timer && l.place == WEFT_AT_HOME);
	switch_says(out.sw);
	CHECK(!slot()->entry.lock && slot()->tag == key);
}

/*
 * A lock in the switch whose home was restarted, and whose holder has died then; another node
 * had it when the home was restarted, and has claimed it.
 */
static void fetched(bool there, bool claimed)
{
	struct weft_msg acquire = {
		.type = WEFT_MSG_ACQUIRE, .src = 1, .txn = weft_txn(1, 1),
		.flags = WEFT_F_EXCL,
	};
	u32 grant;

	begin();
	key = weft_line_key(1, WEFT_KIND_LOCK, 64);
	acquire.line = key;
	weft_home_init(&l, key, 33);
	hear(acquire);
	hear(switch_says(out.sw));
	CHECK(l.place == WEFT_IN_SWITCH && slot()->entry.lock == 1);
	/* what is known is not asked for */
	CHECK(weft_home_fetch(&l, ++fresh, &out));
	CHECK(!out.to_switch);
	grant = slot()->entry.grant;
	weft_home_init(&l, key, 33);
	l.e.grant = 4096;
	/* by who had it before that one */
	l.e.lock = claimed ? 4 : 0;
	if (!there)
		memset(slots, 0, sizeof(slots));
	CHECK(!weft_home_fetch(&l, ++fresh, &out));
	CHECK(l.place == WEFT_REMOVING);
	/* nobody is served meanwhile */
	acquire.src = 2;
	acquire.txn = weft_txn(2, 1);
	hear(acquire);
	CHECK(out.msg.type == WEFT_MSG_NACK && out.msg.info == WEFT_WHY_MOVING);
	weft_home_timeout(&l, &out);
	while (l.place != WEFT_AT_HOME)
		hear(switch_says(out.sw));
	CHECK(!out.lost);
	if (!there) {
		/* as it was */
		CHECK(l.e.lock == (claimed ? 4u : 0) && l.e.grant == 4096);
		return;
	}
	CHECK(l.e.lock == 1 && l.e.grant == grant && !slot()->tag);
	weft_home_recv(&l, MEMBERS & ~1u, false, &acquire, ++fresh, &out);
	CHECK(out.msg.type == WEFT_MSG_GRANT && out.msg.flags & WEFT_F_DIED && l.e.lock == 2);
}

static void switch_restarts(void)
{
	begin();
	request(WEFT_MSG_GETS, 1, 1);
	hear(switch_says(out.sw));
	memset(slots, 0, sizeof(slots));
	CHECK(!weft_home_recall(&l, ++fresh, &out));
	hear(switch_says(out.sw));
	CHECK(out.moved && out.lost && l.place == WEFT_AT_HOME);
}

/* What is not meant for it, or makes no sense, changes nothing. */
static void nonsense(void)
{
	struct weft_home_line was;
	u64 state = 3;
	u32 i;

	begin();
	request(WEFT_MSG_GETS, 1, 1);
	hear(switch_says(out.sw));
	was = l;
	for (i = 0; i < 100000; i++) {
		u32 r = random_u32(&state);
		struct weft_msg m = {
			.type = (u8)(WEFT_MSG_READ + r % 34), .src = 33,
			.flags = (u8)(r >> 8), .txn = weft_txn(33 + (r >> 16 & 1), r >> 17),
			.line = key, .nonce = r, .status = (u8)(r % 3),
		};

		if (m.txn == l.txn)
			continue;
		hear(m);
		CHECK(l.place == was.place && l.txn == was.txn && l.gen == was.gen &&
		      l.full == was.full && l.e.lock == was.e.lock &&
		      l.e.grant == was.e.grant && l.e.status == was.e.status &&
		      l.e.copyset == was.e.copyset);
	}
}

/* --- random ----------------------------------------------------------------- */

#define FLIGHTS	16

static struct weft_msg flight[FLIGHTS];
static u32 flights;

static void put(const struct weft_msg *m)
{
	/* lost if there is no room */
	if (flights < FLIGHTS)
		flight[flights++] = *m;
}

/*
 * Whether both, or neither, would serve a request: the line is locked in the
 * switch while the home has it.
 */
static void check_one_place(void)
{
	bool there = slot()->tag == key;

	if (l.place == WEFT_IN_SWITCH)
		CHECK(there);
	if (l.place == WEFT_AT_HOME)
		CHECK(!there);
	if (l.place == WEFT_DROPPING && there)
		CHECK(weft_txn_member(slot()->entry.lock) == 33);
}

static void random_moves(void)
{
	u64 state = 11;
	u32 i, moved = 0, back = 0;

	begin();
	flights = 0;
	for (i = 0; i < 400000; i++) {
		u32 r = random_u32(&state), pick = flights ? (r >> 8) % flights : 0;
		struct weft_msg m;

		memset(&out, 0, sizeof(out));
		switch (r % 8) {
		case 0:
			request(WEFT_MSG_GETS, 1 + (r >> 8) % 4, i);
			break;
		case 1:
			if (l.place == WEFT_IN_SWITCH)
				weft_home_recall(&l, ++fresh, &out);
			break;
		case 2:
			weft_home_timeout(&l, &out);
			break;
		default:
			if (!flights)
				continue;
			m = flight[pick];
			if (r >> 20 & 3)
				flight[pick] = flight[--flights];
			if (!(r >> 22 & 7))
				continue;
			if (m.type <= WEFT_MSG_QUERY ||
			    (m.type >= WEFT_MSG_ADD && m.type <= WEFT_MSG_DROP)) {
				u32 targets;

				if (weft_switch_handle(&sw, m.src, &m, &targets) == WEFT_TO_SENDER)
					put(&m);
				check_one_place();
				continue;
			}
			hear(m);
			break;
		}
		if (out.to_switch)
			put(&out.sw);
		moved += out.moved && l.place == WEFT_IN_SWITCH;
		back += out.moved && l.place == WEFT_AT_HOME;
		CHECK(!out.lost);
		check_one_place();
	}
	CHECK(moved > 1000 && back > 1000);
}

int main(void)
{
	there_and_back();
	late_remove();
	stays();
	in_the_way();
	left_behind(false);
	left_behind(true);
	left_behind_unknown();
	fetched(true, false);
	fetched(true, true);
	fetched(false, false);
	fetched(false, true);
	switch_restarts();
	nonsense();
	random_moves();
	return check_result();
}
