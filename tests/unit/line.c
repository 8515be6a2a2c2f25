// SPDX-License-Identifier: GPL-2.0-only
/*
 * A write miss is over when the last of its answers comes, whichever that is: no
 * order of them costs a time-out or another round trip.  What is retained goes home, and the
 * holder of a lock that nobody gives back is asked whether it is alive.
 */
#include "controller.h"
#include "tests/common/check.h"

#define ME		5
#define KEY		weft_line_key(1, WEFT_KIND_PAGE, 5)
#define SHARERS		4
#define PROVIDER	2		/* the sharer that sends the data */
#define BLOCK		4096u
#define FRAGMENT	1408u
#define FRAGMENTS	((BLOCK + FRAGMENT - 1) / FRAGMENT)
#define ANSWERS_MAX	(SHARERS - 1 + FRAGMENTS)

static struct weft_line l;
static struct weft_out out;
static u32 fresh;

static struct weft_msg answer(u8 type, u32 from, u32 sharers)
{
	return (struct weft_msg){
		.type = type, .src = (u8)from, .txn = l.txn, .line = l.key,
		.flags = WEFT_F_BUSY | WEFT_F_SWITCH, .status = WEFT_S,
		.copyset = sharers, .provider = weft_node_bit(PROVIDER),
		.grant = 6,
	};
}

/* All answers that a miss with these sharers gets.  Returns how many. */
static u32 answers(struct weft_msg *m, u32 sharers, bool data)
{
	u32 id, i, n = 0;

	for (id = WEFT_NODE_MIN; id <= SHARERS; id++) {
		if (!(sharers & weft_node_bit(id)))
			continue;
		if (!data || id != PROVIDER) {
			m[n++] = answer(WEFT_MSG_INV_ACK, id, sharers);
			if (!data)
				m[n - 1].provider = 0;
			continue;
		}
		for (i = 0; i < FRAGMENTS; i++) {
			m[n] = answer(WEFT_MSG_DATA, id, sharers);
			m[n].info = FRAGMENT;
			m[n].offset = i * FRAGMENT;
			m[n].size = BLOCK;
			m[n].version = 7;
			n++;
		}
	}
	return n;
}

static void begin_miss(u8 state)
{
	weft_line_init(&l, KEY, ME);
	l.state = state;
	weft_line_want(&l, WEFT_M, ++fresh, &out);
	CHECK_EQ(out.n, 1);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_GETM);
}

/* The miss, with its answers in this order. */
static void serve(const struct weft_msg *m, const u32 *order, u32 n, u8 state)
{
	u32 i;

	begin_miss(state);
	for (i = 0; i < n; i++) {
		struct weft_msg one = m[order[i]];

		one.txn = l.txn;
		CHECK(l.state == state);
		weft_line_recv(&l, &one, ++fresh, &out);
		/* nothing is asked for again */
		CHECK_EQ(out.n, i == n - 1);
	}
	CHECK_EQ(l.state, WEFT_M);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_COMMIT);
	CHECK(out.effects & WEFT_DO_WAKE);
}

static u32 orders;

/* All orders of order[at..n-1]. */
static void permute(const struct weft_msg *m, u32 *order, u32 at, u32 n, u8 state)
{
	u32 i, other;

	if (at == n) {
		orders++;
		serve(m, order, n, state);
		return;
	}
	for (i = at; i < n; i++) {
		other = order[i];
		order[i] = order[at];
		order[at] = other;
		permute(m, order, at + 1, n, state);
		order[at] = order[i];
		order[i] = other;
	}
}

static void any_order(u32 sharers, bool data)
{
	struct weft_msg m[ANSWERS_MAX];
	u32 order[ANSWERS_MAX], n, i;

	n = answers(m, sharers, data);
	for (i = 0; i < n; i++)
		order[i] = i;
	permute(m, order, 0, n, data ? WEFT_I : WEFT_S);
}

/* With an older version first: it does not count. */
static void old_data(void)
{
	struct weft_msg m[ANSWERS_MAX], old;
	u32 n = answers(m, 1 << 0 | 1 << 1, true), i;

	begin_miss(WEFT_I);
	for (i = 0; i < n; i++) {
		old = m[i];
		old.txn = l.txn;
		old.version = 6;
		if (old.type != WEFT_MSG_DATA)
			continue;
		weft_line_recv(&l, &old, ++fresh, &out);
	}
	for (i = n; i--;) {
		m[i].txn = l.txn;
		CHECK_EQ(l.state, WEFT_I);
		weft_line_recv(&l, &m[i], ++fresh, &out);
	}
	CHECK_EQ(l.state, WEFT_M);
	CHECK_EQ(l.version, 7);
}

/* --- given back to a home that begins anew ----------------------------------- */

static void own(void)
{
	weft_line_init(&l, KEY, ME);
	l.state = WEFT_M;
	l.version = 7;
}

/* What else is sent with the write-back, to the home or to another node: one message at most. */
static void with(u8 to, u8 type)
{
	CHECK_EQ(out.n, type ? 2 : 1);
	if (!type)
		return;
	CHECK_EQ(out.send[1].msg.type, type);
	CHECK_EQ(out.send[1].to, to);
	CHECK_EQ(out.send[1].msg.txn, l.txn);
}

/* What goes home, once and again, until the home has it; @to, @type: and what else. */
static void returns(u64 version, u8 to, u8 type)
{
	struct weft_msg m = { .type = WEFT_MSG_INV, .src = 2, .line = KEY };
	u32 i;

	CHECK(weft_line_return(&l, ++fresh, &out));
	for (i = 0; i < 3; i++) {
		CHECK(weft_line_returning(&l));
		CHECK_EQ(weft_line_perm(&l), WEFT_I);
		CHECK(!(out.effects & WEFT_DO_FREE));
		CHECK_EQ(out.send[0].msg.type, WEFT_MSG_WB);
		CHECK(out.send[0].with_data && !out.send[0].to);
		CHECK_EQ(out.send[0].msg.version, version);
		with(to, type);
		weft_line_timeout(&l, &out);
	}
	/* it is under way */
	CHECK(weft_line_return(&l, ++fresh, &out));
	CHECK(!out.n && !out.effects);
	/* others find that we have nothing */
	m.txn = weft_txn(2, 99);
	m.status = WEFT_M;
	m.copyset = weft_node_bit(ME);
	weft_line_recv(&l, &m, ++fresh, &out);
	CHECK_EQ(out.n, 1);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_INV_ACK);
	CHECK(!(out.effects & WEFT_DO_FREE));
	weft_line_want(&l, WEFT_S, ++fresh, &out);
	CHECK(!out.n && weft_line_returning(&l));
	m.type = WEFT_MSG_WB_ACK;
	m.src = WEFT_BLADE_MIN;
	m.txn = l.txn;
	m.version = version - 1;
	weft_line_recv(&l, &m, ++fresh, &out);
	CHECK(weft_line_returning(&l));
	m.version = version;
	weft_line_recv(&l, &m, ++fresh, &out);
	if (type) {
		CHECK(weft_line_returning(&l));
		weft_line_timeout(&l, &out);
		CHECK_EQ(out.n, 1);
		CHECK_EQ(out.send[0].msg.type, type);
		m.type = type == WEFT_MSG_INV ? WEFT_MSG_INV_ACK : WEFT_MSG_COMMIT_ACK;
		m.flags = type == WEFT_MSG_INV ? WEFT_F_BUSY : 0;
		m.src = type == WEFT_MSG_INV ? to : ME;
		weft_line_recv(&l, &m, ++fresh, &out);
	}
	CHECK(weft_line_idle(&l) && l.state == WEFT_I && !l.lent);
	CHECK((out.effects & (WEFT_DO_FREE | WEFT_DO_WAKE)) ==
	      (WEFT_DO_FREE | WEFT_DO_WAKE));
}

/* A node that it is lent to is dead, and nobody says so: it goes home without that one. */
static void not_for_ever(void)
{
	struct weft_msg m = { .type = WEFT_MSG_WB_ACK, .line = KEY, .version = 7 };
	u32 i;

	own();
	l.lent = weft_node_bit(2);
	CHECK(weft_line_return(&l, ++fresh, &out));
	m.txn = l.txn;
	weft_line_recv(&l, &m, ++fresh, &out);
	for (i = 0; weft_line_returning(&l) && i < 100; i++)
		weft_line_timeout(&l, &out);
	CHECK_EQ(i, WEFT_RETURN_TRIES);
	CHECK(!l.lent && out.effects & WEFT_DO_FREE);
	/* or somebody does */
	own();
	l.lent = weft_node_bit(2);
	CHECK(weft_line_return(&l, ++fresh, &out));
	m.txn = l.txn;
	weft_line_recv(&l, &m, ++fresh, &out);
	CHECK(weft_line_returning(&l));
	CHECK(weft_line_gone(&l, weft_node_bit(2), &out));
	CHECK(weft_line_idle(&l) && out.effects & WEFT_DO_FREE);
}

static void given_back(void)
{
	struct weft_msg m = { .type = WEFT_MSG_DATA, .line = KEY };

	/* an unmodified copy is dropped */
	weft_line_init(&l, KEY, ME);
	l.state = WEFT_S;
	CHECK(!weft_line_return(&l, ++fresh, &out));
	CHECK(!out.n && l.state == WEFT_I && out.effects & WEFT_DO_FREE);
	/* what is modified goes home as newer than all before */
	own();
	returns(8, 0, 0);
	/*
	 * What is lent is under that version with others, who may have become owners in a switch
	 * that lives on, and have written: it must not be as new as what they give back.  They are
	 * to give it back first: nobody else knows of them.
	 */
	own();
	l.lent = weft_node_bit(2);
	returns(7, 2, WEFT_MSG_INV);
	own();
	l.lent = l.back = weft_node_bit(2);
	l.lent |= weft_node_bit(3);
	returns(7, 3, WEFT_MSG_INV);
	/* so does what is retained, as new as what the other one has */
	own();
	l.state = WEFT_S;
	l.held = WEFT_HELD_PINNED;
	returns(7, 0, 0);
	own();
	l.state = WEFT_I;
	l.held = WEFT_HELD_GIVEN;
	returns(7, 0, 0);
	/* a switch that lives on must hear who had it: the owner of before may retain it still */
	own();
	weft_transaction_begin(&l, WEFT_OP_GETM, ++fresh);
	weft_transaction_commit(&l, WEFT_M, weft_node_bit(ME), &out);
	returns(8, 0, WEFT_MSG_COMMIT);
	not_for_ever();

	/* a reader whose provider has given back what it retained for it */
	weft_line_init(&l, KEY, ME);
	weft_line_want(&l, WEFT_S, ++fresh, &out);
	m.txn = l.txn;
	m.flags = WEFT_F_BUSY;
	m.status = WEFT_M;
	m.copyset = weft_node_bit(2);
	m.grant = 5;
	m.src = 2;
	m.version = 7;
	m.nonce = 1;
	m.info = 4096;
	m.size = 4096;
	m.len = 4096;
	weft_line_recv(&l, &m, ++fresh, &out);
	CHECK_EQ(l.state, WEFT_S);
	CHECK_EQ(l.op, WEFT_OP_GETS);
	m.src = WEFT_BLADE_MIN;
	m.nonce = 0;
	m.version = 6;
	weft_line_recv(&l, &m, ++fresh, &out);
	CHECK_EQ(l.op, WEFT_OP_GETS);
	m.version = 7;
	weft_line_recv(&l, &m, ++fresh, &out);
	CHECK_EQ(l.op, WEFT_OP_COMMIT);
}

/* --- a transaction that has what was ours, and is not there any more ------------ */

/* The directory says so, again and again: its member is asked at once, by turns the home. */
static void is_chased(u32 txn, u32 grant)
{
	struct weft_msg m = {
		.type = WEFT_MSG_INFO, .src = ME, .line = KEY, .status = WEFT_M,
		.copyset = weft_node_bit(ME), .holder = txn, .grant = grant,
	};
	u32 i;

	for (i = 0; i < 4; i++) {
		weft_line_timeout(&l, &out);
		CHECK_EQ(out.n, 1);
		CHECK_EQ(out.send[0].msg.type, WEFT_MSG_QUERY);
		m.txn = m.nonce = out.send[0].msg.nonce;
		weft_line_recv(&l, &m, ++fresh, &out);
		CHECK_EQ(out.n, 1);
		CHECK_EQ(out.send[0].msg.type, WEFT_MSG_CHASE);
		CHECK_EQ(out.send[0].to, i % 2 ? 0 : weft_txn_member(txn));
		CHECK_EQ(out.send[0].msg.holder, txn);
		CHECK_EQ(out.send[0].msg.grant, grant);
		CHECK(l.held && l.state == WEFT_S);
	}
	m.holder = 0;
	weft_line_recv(&l, &m, ++fresh, &out);
	CHECK(!l.held && l.state == WEFT_M && weft_line_idle(&l));
}

static void abandoned(bool expected)
{
	struct weft_msg m = {
		.type = WEFT_MSG_FWD, .src = 2, .line = KEY, .txn = weft_txn(2, 99),
		.flags = WEFT_F_BUSY, .status = WEFT_M, .copyset = weft_node_bit(ME), .grant = 9,
	};

	own();
	l.owned = 7;
	weft_line_recv(&l, &m, ++fresh, &out);
	weft_line_revoked(&l, false, ++fresh, &out);
	CHECK(l.held == WEFT_HELD_PINNED && l.state == WEFT_S);
	if (expected)
		CHECK(weft_line_expect(&l, WEFT_M, weft_txn(ME, ++fresh), &out));
	is_chased(m.txn, m.grant);
}

int main(void)
{
	u32 all = 0xF, mask;

	for (mask = 1; mask <= all; mask++) {
		if (mask & weft_node_bit(PROVIDER))
			any_order(mask, true);
		any_order(mask, false);
	}
	CHECK(orders > 720);
	old_data();
	given_back();
	abandoned(false);
	abandoned(true);
	return check_result();
}
