// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that die, by hand: what is left of them at other nodes and at the home.  In which
 * orders it may all happen is the explorer's.
 */
#include "controller.h"
#include "home.h"
#include "lock.h"
#include "tests/common/check.h"

#define ME		1
#define OTHER		2
#define DEAD		3
#define BLADE		WEFT_BLADE_MIN
#define PAGE		weft_line_key(1, WEFT_KIND_PAGE, 5)
#define LOCK		weft_line_key(1, WEFT_KIND_LOCK, 64)
#define MEMBERS		0x7u
#define LIVING		0x3u

static struct weft_line l;
static struct weft_out out;
static struct weft_lock lock;
static struct weft_lock_out lock_out;
static struct weft_home_line home;
static struct weft_home_out home_out;
static u32 fresh;

static void begin(u8 state, u64 version)
{
	weft_line_init(&l, PAGE, ME);
	l.state = state;
	l.version = version;
}

/* A fragment of two of the owner's, or all of the home's, for our transaction. */
static void data(u32 from, u64 version, u32 copyset, u8 flags)
{
	struct weft_msg m = {
		.type = WEFT_MSG_DATA, .src = (u8)from, .txn = l.txn, .line = l.key,
		.flags = flags, .status = WEFT_M, .copyset = copyset, .grant = 5,
		.version = version, .info = 4096, .size = from == BLADE ? 4096 : 8192,
		.nonce = from == BLADE ? 0 : 77,
	};

	weft_line_recv(&l, &m, ++fresh, &out);
	if (from == BLADE || !(flags & WEFT_F_BUSY))
		return;
	m.offset = 4096;
	weft_line_recv(&l, &m, ++fresh, &out);
}

static void answer(u8 type, u64 version)
{
	struct weft_msg m = {
		.type = type, .src = BLADE, .txn = l.txn, .line = l.key, .version = version,
	};

	weft_line_recv(&l, &m, ++fresh, &out);
}

static bool gone(void)
{
	return weft_line_gone(&l, weft_node_bit(DEAD), &out);
}

static void sends(u32 i, u8 type)
{
	CHECK(out.n > i);
	CHECK_EQ(out.send[i].msg.type, type);
}

/* The owner died with what it wrote: versions of that do not count any more. */
static void lost(void)
{
	u64 version = 7 + WEFT_VERSIONS_LOST;

	begin(WEFT_I, 0);
	weft_line_want(&l, WEFT_M, ++fresh, &out);
	data(BLADE, 7, 0, WEFT_F_BUSY);
	CHECK(l.state == WEFT_M && l.version == version);
	sends(0, WEFT_MSG_COMMIT);

	begin(WEFT_I, 0);
	weft_line_want(&l, WEFT_S, ++fresh, &out);
	data(BLADE, 7, 0, WEFT_F_BUSY);
	CHECK(l.state == WEFT_S && l.version == version && out.n == 1);
	sends(0, WEFT_MSG_WB);
	CHECK_EQ(out.send[0].msg.version, version);
	weft_line_timeout(&l, &out);
	CHECK_EQ(out.n, 1);
	sends(0, WEFT_MSG_WB);
	answer(WEFT_MSG_WB_ACK, 7);
	CHECK_EQ(out.n, 0);
	answer(WEFT_MSG_WB_ACK, version);
	sends(0, WEFT_MSG_COMMIT);
	CHECK_EQ(out.send[0].msg.status, WEFT_S);
}

/* The owner died when it had sent us what it wrote, and perhaps not the home. */
static void adopted(bool invalidated)
{
	begin(WEFT_I, 0);
	weft_line_want(&l, WEFT_S, ++fresh, &out);
	data(DEAD, 8, weft_node_bit(DEAD), WEFT_F_BUSY);
	CHECK(l.state == WEFT_S && l.wb_wanted);
	if (invalidated) {
		l.state = WEFT_I;
		l.poisoned = true;
	}
	CHECK(gone());
	CHECK_EQ(out.n, 1);
	sends(0, WEFT_MSG_WB);
	CHECK_EQ(out.send[0].msg.version, 8);
	answer(WEFT_MSG_WB_ACK, 8);
	sends(0, WEFT_MSG_COMMIT);
}

/* Of what has come in part nothing counts but what comes with the entry's lock. */
static void begun(void)
{
	u32 txn;

	begin(WEFT_I, 0);
	weft_line_want(&l, WEFT_S, ++fresh, &out);
	txn = l.txn;
	weft_line_landing_open(&l);
	CHECK(gone());
	CHECK(out.effects & WEFT_DO_CLOSE);
	weft_line_landing_closed(&l);
	data(OTHER, 6, 0, WEFT_F_LENT);
	CHECK(l.op == WEFT_OP_GETS && l.txn != txn && !l.in_frags);
	sends(0, WEFT_MSG_GETS);
}

/* What this node may have borrowed of a dead owner goes home, before the home serves others. */
static void borrowed(void)
{
	u32 i;

	begin(WEFT_S, 4);
	l.loaned = true;
	l.lender = OTHER;
	CHECK(!gone());
	CHECK_EQ(out.effects, WEFT_DO_REVOKE);
	weft_line_revoked(&l, false, ++fresh, &out);
	CHECK(l.state == WEFT_I && !out.n);
	CHECK(gone());

	begin(WEFT_S, 4);
	l.loaned = true;
	l.lender = DEAD;
	CHECK(!gone());
	CHECK_EQ(out.effects, WEFT_DO_REVOKE);
	weft_line_revoked(&l, false, ++fresh, &out);
	CHECK(l.state == WEFT_I && out.n == 1 && !(out.effects & WEFT_DO_FREE));
	sends(0, WEFT_MSG_WB);
	CHECK(out.send[0].msg.version == 4 && out.send[0].msg.flags == WEFT_F_LENT);
	CHECK(!gone());
	weft_line_timeout(&l, &out);
	sends(0, WEFT_MSG_WB);
	answer(WEFT_MSG_WB_ACK, 4);
	CHECK(out.effects & WEFT_DO_FREE && weft_line_idle(&l));
	CHECK(gone());

	/* a home that does not answer is not waited for longer than others can wait */
	begin(WEFT_S, 4);
	l.loaned = true;
	l.lender = DEAD;
	CHECK(!gone());
	weft_line_revoked(&l, false, ++fresh, &out);
	for (i = 0; i < WEFT_RETURN_TRIES; i++) {
		CHECK(!gone());
		weft_line_timeout(&l, &out);
	}
	CHECK(gone() && weft_line_idle(&l));

	begin(WEFT_M, 4);
	l.lent = weft_node_bit(DEAD) | weft_node_bit(OTHER);
	CHECK(gone());
	CHECK(l.lent == weft_node_bit(OTHER) && weft_line_perm(&l) == WEFT_S);
	begin(WEFT_M, 4);
	l.lent = weft_node_bit(DEAD);
	CHECK(gone());
	CHECK(!l.lent && weft_line_perm(&l) == WEFT_M && out.effects & WEFT_DO_WAKE);
}

/* --- at the home -------------------------------------------------------------------- */

static void ask(u64 key, u8 type, u32 id, u8 flags)
{
	struct weft_msg m = {
		.type = type, .src = (u8)id, .txn = weft_txn(id, ++fresh), .line = key,
		.flags = flags,
	};

	weft_home_recv(&home, LIVING, true, &m, ++fresh, &home_out);
}

static enum weft_gone home_gone(void)
{
	return weft_home_gone(&home, LIVING, true, ++fresh, &home_out);
}

/* A block stays owned, by nobody: so that who asks for it has the entry's lock. */
static void block(void)
{
	weft_home_init(&home, PAGE, BLADE);
	home.e = (struct weft_dir_entry){
		.status = WEFT_M, .copyset = weft_node_bit(DEAD), .grant = 3,
	};
	CHECK_EQ(home_gone(), WEFT_GONE_LOST);
	CHECK_EQ(home_gone(), WEFT_GONE_NOTHING);
	ask(PAGE, WEFT_MSG_GETS, ME, 0);
	CHECK(home_out.dest == WEFT_TO_HOME && home_out.msg.type == WEFT_MSG_READ);
	CHECK(home_out.msg.flags & WEFT_F_BUSY && home_out.msg.status == WEFT_M &&
	      !home_out.msg.copyset);

	/* a transaction of the dead one is over, and what it wanted is where it was */
	home.e = (struct weft_dir_entry){
		.lock = weft_txn(DEAD, 1), .status = WEFT_M, .copyset = weft_node_bit(ME),
		.grant = 3,
	};
	CHECK_EQ(home_gone(), WEFT_GONE_NOTHING);
	CHECK(!home.e.lock && home.e.status == WEFT_M && home.e.copyset == weft_node_bit(ME));

	/* one of the living may have heard from it */
	home.e = (struct weft_dir_entry){
		.lock = weft_txn(ME, 1), .status = WEFT_M, .copyset = weft_node_bit(DEAD),
		.grant = 3,
	};
	CHECK_EQ(home_gone(), WEFT_GONE_LATER);
	CHECK_EQ(home.e.lock, weft_txn(ME, 1));
	/* it dies, too: lost, as it was before, and as nobody has been told since */
	CHECK_EQ(weft_home_gone(&home, weft_node_bit(OTHER), true, ++fresh, &home_out),
		 WEFT_GONE_LOST);
	CHECK_EQ(home_gone(), WEFT_GONE_NOTHING);
}

static void commit(u32 status, u32 copyset)
{
	struct weft_msg m = {
		.type = WEFT_MSG_COMMIT, .src = ME, .txn = home.e.lock, .line = PAGE,
		.grant = home.e.grant, .status = (u8)status, .copyset = copyset,
	};

	weft_home_recv(&home, LIVING, true, &m, ++fresh, &home_out);
	CHECK(!home.e.lock && home.e.copyset == copyset);
}

/* A reader has written home what it was lent: nothing is lost, until it is modified again. */
static void saved(void)
{
	weft_home_init(&home, PAGE, BLADE);
	home.e = (struct weft_dir_entry){
		.status = WEFT_M, .copyset = weft_node_bit(DEAD), .grant = 3,
	};
	weft_home_saved(&home);
	CHECK_EQ(home_gone(), WEFT_GONE_NOTHING);
	CHECK_EQ(home_gone(), WEFT_GONE_NOTHING);
	ask(PAGE, WEFT_MSG_QUERY, ME, 0);
	CHECK(!home_out.to_switch);
	ask(PAGE, WEFT_MSG_GETM, ME, 0);
	CHECK(home_out.dest == WEFT_TO_HOME && home_out.msg.type == WEFT_MSG_READ);
	CHECK(!weft_home_reads_lost(&home, LIVING, &home_out.msg));
	CHECK(weft_home_reads_lost(NULL, LIVING, &home_out.msg));
	commit(WEFT_M, weft_node_bit(ME));
	CHECK(home_out.to_switch && home_out.sw.type == WEFT_MSG_ADD);
	home.place = WEFT_AT_HOME;
	CHECK_EQ(weft_home_gone(&home, weft_node_bit(OTHER), true, ++fresh, &home_out),
		 WEFT_GONE_LOST);

	/* of a line that the dead one did not own it says nothing about the next owner */
	weft_home_init(&home, PAGE, BLADE);
	home.e = (struct weft_dir_entry){ .status = WEFT_S, .copyset = weft_node_bit(ME), };
	weft_home_saved(&home);
	CHECK_EQ(home_gone(), WEFT_GONE_NOTHING);
	CHECK(!home.saved);
}

/* Who has a lock next is told, whatever it learns it from; it does not move before. */
static void told(void)
{
	weft_home_init(&home, LOCK, BLADE);
	home.e = (struct weft_dir_entry){ .lock = weft_node_bit(DEAD), .grant = 4 };
	CHECK_EQ(home_gone(), WEFT_GONE_FREE);
	CHECK(!home.e.lock && home.e.grant == 6);
	ask(LOCK, WEFT_MSG_ACQUIRE, ME, WEFT_F_EXCL);
	CHECK(home_out.msg.type == WEFT_MSG_GRANT && home_out.msg.flags & WEFT_F_DIED);
	CHECK(!home_out.to_switch);
	ask(LOCK, WEFT_MSG_QUERY, ME, 0);
	CHECK(home_out.msg.type == WEFT_MSG_INFO && home_out.msg.flags & WEFT_F_DIED);

	weft_lock_init(&lock, LOCK, ME);
	lock.query = 5;
	home_out.msg.nonce = 5;
	weft_lock_recv(&lock, &home_out.msg, ++fresh, &lock_out);
	CHECK(lock.state == WEFT_M && lock.died);
}

/* A writer waits for the readers that the directory names, while it names them. */
static void readers(void)
{
	struct weft_msg m = {
		.type = WEFT_MSG_INV_ACK, .src = OTHER, .line = LOCK, .grant = 8,
		.copyset = weft_node_bit(OTHER) | weft_node_bit(DEAD),
	};

	weft_lock_init(&lock, LOCK, ME);
	weft_lock_want(&lock, WEFT_M, ++fresh, &lock_out);
	m.txn = lock.txn;
	weft_lock_recv(&lock, &m, ++fresh, &lock_out);
	CHECK(lock.tenured && lock.state == WEFT_I);
	weft_lock_gone(&lock, weft_node_bit(DEAD), &lock_out);
	CHECK_EQ(lock.state, WEFT_M);

	/* it heard who is dead before it heard that this one reads */
	weft_lock_init(&lock, LOCK, ME);
	weft_lock_want(&lock, WEFT_M, ++fresh, &lock_out);
	m.txn = lock.txn;
	weft_lock_gone(&lock, weft_node_bit(DEAD), &lock_out);
	weft_lock_recv(&lock, &m, ++fresh, &lock_out);
	CHECK_EQ(lock.state, WEFT_I);
	m.copyset = weft_node_bit(OTHER);
	weft_lock_recv(&lock, &m, ++fresh, &lock_out);
	CHECK_EQ(lock.state, WEFT_M);
}

int main(void)
{
	lost();
	adopted(false);
	adopted(true);
	begun();
	borrowed();
	block();
	saved();
	told();
	readers();
	return check_result();
}
