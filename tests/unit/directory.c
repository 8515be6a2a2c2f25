// SPDX-License-Identifier: GPL-2.0-only
/*
 * The directory engine: each transition by hand, then long random sequences
 * against what must always hold.
 */
#include "directory.h"
#include "tests/common/check.h"
#include "tests/stations.h"
#include "tools/common/random.h"

#define MEMBERS	0x0000000Fu	/* nodes 1 to 4 */

static struct weft_dir_entry e;
static struct weft_msg out;
static u32 targets;

static void entry(u32 status, u32 copyset)
{
	e = (struct weft_dir_entry){
		.grant = 100 | (status == WEFT_M ? WEFT_GRANT_OWNED : 0),
		.status = status, .copyset = copyset,
	};
}

/* A request of node @id; the answer is in @out. */
static enum weft_dir_dest ask(u8 type, u32 id, u32 seq, u8 flags)
{
	out = (struct weft_msg){
		.type = type, .flags = flags, .src = (u8)id,
		.txn = weft_txn(id, seq), .line = weft_line_key(1, 0, 2),
		.version = 5, .rack = 6,
	};
	return weft_dir_handle(&e, MEMBERS, &out, &targets);
}

static void expect_entry(u32 lock, u32 grant, u32 status, u32 copyset)
{
	CHECK_EQ(e.lock, lock);
	CHECK_EQ(e.grant, grant);
	CHECK_EQ(e.status, status);
	CHECK_EQ(e.copyset, copyset);
}

static void expect(u8 type, u8 flags, u8 status, u32 copyset, u32 grant)
{
	CHECK_EQ(out.type, type);
	CHECK_EQ(out.flags, flags);
	CHECK_EQ(out.status, status);
	CHECK_EQ(out.copyset, copyset);
	CHECK_EQ(out.grant, grant);
	/* what the directory never touches */
	CHECK_EQ(out.line, weft_line_key(1, 0, 2));
	CHECK_EQ(out.version, 5);
	CHECK_EQ(out.rack, 6);
}

static void read_misses(void)
{
	u32 seq, seen = 0;

	/* unshared: the home has it; no lock, no commit */
	entry(WEFT_I, 0);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 1, 0), WEFT_TO_HOME);
	expect(WEFT_MSG_READ, 0, WEFT_I, 0, 100);
	expect_entry(0, 100, WEFT_S, 1);
	/* again, as the answer was lost: the home once more */
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 1, 0), WEFT_TO_HOME);
	expect_entry(0, 100, WEFT_S, 1);
	/* shared: one of the sharers, never the requester; all have their turn */
	entry(WEFT_S, 7);
	for (seq = 0; seq < 64; seq++) {
		CHECK_EQ(ask(WEFT_MSG_GETS, 1, seq, 0), WEFT_TO_NODES);
		expect(WEFT_MSG_FWD, 0, WEFT_S, 7, 100);
		CHECK_EQ(out.provider, targets);
		CHECK(targets == 2 || targets == 4);
		seen |= targets;
	}
	CHECK_EQ(seen, 6);
	expect_entry(0, 100, WEFT_S, 7);
	/* a sharer that left is not asked */
	entry(WEFT_S, 0x80000000);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 1, 0), WEFT_TO_HOME);
	/* modified: the owner, under the lock */
	entry(WEFT_M, 4);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 9, 0), WEFT_TO_NODES);
	CHECK_EQ(targets, 4);
	CHECK_EQ(out.provider, 4);
	expect(WEFT_MSG_FWD, WEFT_F_BUSY, WEFT_M, 4, 103);
	expect_entry(weft_txn(1, 9), 103, WEFT_M, 4);
	/* the same request again: the same answer, the same grant */
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 9, 0), WEFT_TO_NODES);
	expect(WEFT_MSG_FWD, WEFT_F_BUSY, WEFT_M, 4, 103);
	/* an owner that left: what the home has */
	entry(WEFT_M, 0x80000000);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 9, 0), WEFT_TO_HOME);
	expect(WEFT_MSG_READ, WEFT_F_BUSY, WEFT_M, 0, 103);
}

static void write_misses(void)
{
	entry(WEFT_I, 0);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, 0), WEFT_TO_HOME);
	expect(WEFT_MSG_READ, WEFT_F_BUSY | WEFT_F_EXCL, WEFT_I, 0, 102);
	expect_entry(weft_txn(2, 1), 102, WEFT_I, 0);
	/* shared: everybody else is asked, one of them for the data */
	entry(WEFT_S, 0xF);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, 0), WEFT_TO_NODES);
	expect(WEFT_MSG_INV, WEFT_F_BUSY, WEFT_S, 0xF, 102);
	CHECK_EQ(targets, 0xD);
	CHECK(out.provider && !(out.provider & (out.provider - 1)) &&
	      out.provider & 0xD);
	/* upgrade: nobody sends data */
	entry(WEFT_S, 0xF);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_HAVE), WEFT_TO_NODES);
	expect(WEFT_MSG_INV, WEFT_F_BUSY, WEFT_S, 0xF, 102);
	CHECK_EQ(targets, 0xD);
	CHECK_EQ(out.provider, 0);
	/* the copy it believes to have is not known: no upgrade */
	entry(WEFT_S, 0xD);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_HAVE), WEFT_TO_NODES);
	CHECK(out.provider & 0xD);
	/* the only sharer */
	entry(WEFT_S, 2);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_HAVE), WEFT_TO_SENDER);
	expect(WEFT_MSG_GRANT, WEFT_F_BUSY, WEFT_S, 2, 102);
	entry(WEFT_S, 2);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, 0), WEFT_TO_HOME);
	expect(WEFT_MSG_READ, WEFT_F_BUSY | WEFT_F_EXCL, WEFT_S, 2, 102);
	/* modified */
	entry(WEFT_M, 8);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_HAVE), WEFT_TO_NODES);
	expect(WEFT_MSG_INV, WEFT_F_BUSY, WEFT_M, 8, 103);
	CHECK_EQ(targets, 8);
	CHECK_EQ(out.provider, 8);
}

/* Who can read the home copy itself is not sent it, if it is all there is. */
static void direct_misses(void)
{
	/* the same entries, and the same transactions, as if the home was asked */
	entry(WEFT_I, 0);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 1, WEFT_F_DIRECT), WEFT_TO_SENDER);
	expect(WEFT_MSG_GRANT, 0, WEFT_I, 0, 100);
	expect_entry(0, 100, WEFT_S, 1);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 1, WEFT_F_DIRECT), WEFT_TO_SENDER);
	expect_entry(0, 100, WEFT_S, 1);
	entry(WEFT_S, 0x80000001);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 1, WEFT_F_DIRECT), WEFT_TO_SENDER);
	entry(WEFT_I, 0);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_DIRECT), WEFT_TO_SENDER);
	expect(WEFT_MSG_GRANT, WEFT_F_BUSY, WEFT_I, 0, 102);
	expect_entry(weft_txn(2, 1), 102, WEFT_I, 0);
	entry(WEFT_S, 2);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_DIRECT), WEFT_TO_SENDER);
	expect(WEFT_MSG_GRANT, WEFT_F_BUSY, WEFT_S, 2, 102);
	/* also if others read it, or have dropped it */
	entry(WEFT_S, 2);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 1, WEFT_F_DIRECT), WEFT_TO_SENDER);
	expect(WEFT_MSG_GRANT, 0, WEFT_S, 2, 100);
	expect_entry(0, 100, WEFT_S, 3);
	/* they have to give it up, or somebody owns it: as ever */
	entry(WEFT_S, 0xF);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_DIRECT), WEFT_TO_NODES);
	expect(WEFT_MSG_INV, WEFT_F_BUSY, WEFT_S, 0xF, 102);
	CHECK(out.provider & 0xD);
	entry(WEFT_M, 4);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 9, WEFT_F_DIRECT), WEFT_TO_NODES);
	expect(WEFT_MSG_FWD, WEFT_F_BUSY, WEFT_M, 4, 103);
	/* an owner that has left: the home says what became of its data */
	entry(WEFT_M, 0x80000000);
	CHECK_EQ(ask(WEFT_MSG_GETS, 1, 9, WEFT_F_DIRECT), WEFT_TO_HOME);
	expect(WEFT_MSG_READ, WEFT_F_BUSY, WEFT_M, 0, 103);
	entry(WEFT_M, 0x80000000);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_DIRECT), WEFT_TO_HOME);
	expect(WEFT_MSG_READ, WEFT_F_BUSY | WEFT_F_EXCL, WEFT_M, 0, 103);
	/* refused as others are */
	entry(WEFT_I, 0);
	e.lock = weft_txn(3, 3);
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 1, WEFT_F_DIRECT), WEFT_TO_SENDER);
	CHECK_EQ(out.type, WEFT_MSG_NACK);
}

static void locked(void)
{
	u8 type;

	entry(WEFT_S, 6);
	CHECK_EQ(ask(WEFT_MSG_GETM, 1, 7, 0), WEFT_TO_NODES);
	for (type = WEFT_MSG_GETS; type <= WEFT_MSG_PUT; type++) {
		CHECK_EQ(ask(type, 2, 1, 0), WEFT_TO_SENDER);
		expect(WEFT_MSG_NACK, 0, WEFT_S, 6, 102);
		CHECK_EQ(out.info, WEFT_WHY_BUSY);
		CHECK_EQ(out.holder, weft_txn(1, 7));
		expect_entry(weft_txn(1, 7), 102, WEFT_S, 6);
	}
	CHECK_EQ(ask(WEFT_MSG_QUERY, 2, 1, 0), WEFT_TO_SENDER);
	expect(WEFT_MSG_INFO, 0, WEFT_S, 6, 102);
	CHECK_EQ(out.holder, weft_txn(1, 7));
}

/* COMMIT or ABORT of transaction @seq of node 1 under @grant. */
static enum weft_dir_dest end(u8 type, u32 seq, u32 grant, u8 status, u32 copyset)
{
	out = (struct weft_msg){
		.type = type, .src = 1, .txn = weft_txn(1, seq),
		.grant = grant, .status = status, .copyset = copyset,
	};
	return weft_dir_handle(&e, MEMBERS, &out, &targets);
}

static void ends(void)
{
	entry(WEFT_S, 6);
	ask(WEFT_MSG_GETM, 1, 7, 0);
	/* another transaction, another taking of the lock: nothing happens */
	CHECK_EQ(end(WEFT_MSG_COMMIT, 6, 102, WEFT_M, 1), WEFT_TO_SENDER);
	CHECK_EQ(out.type, WEFT_MSG_COMMIT_ACK);
	CHECK_EQ(end(WEFT_MSG_COMMIT, 7, 100, WEFT_M, 1), WEFT_TO_SENDER);
	CHECK_EQ(end(WEFT_MSG_ABORT, 7, 100, 0, 0), WEFT_TO_NOBODY);
	CHECK_EQ(end(WEFT_MSG_ABORT, 6, 102, 0, 0), WEFT_TO_NOBODY);
	expect_entry(weft_txn(1, 7), 102, WEFT_S, 6);
	CHECK_EQ(end(WEFT_MSG_COMMIT, 7, 102, WEFT_M, 1), WEFT_TO_SENDER);
	CHECK_EQ(out.type, WEFT_MSG_COMMIT_ACK);
	expect_entry(0, 103, WEFT_M, 1);
	/* once more changes nothing, and is answered */
	CHECK_EQ(end(WEFT_MSG_COMMIT, 7, 102, WEFT_I, 0), WEFT_TO_SENDER);
	expect_entry(0, 103, WEFT_M, 1);
	/* who retains what the sender has hears of it, if it is another node, and a member */
	out.type = WEFT_MSG_COMMIT;
	out.provider = 1 | 2 | 1u << 31;
	CHECK_EQ(weft_dir_handle(&e, MEMBERS, &out, &targets), WEFT_TO_NODES);
	CHECK_EQ(targets, 1 | 2);
	CHECK_EQ(out.type, WEFT_MSG_COMMIT_ACK);
	expect_entry(0, 103, WEFT_M, 1);
	/* leaving */
	CHECK_EQ(ask(WEFT_MSG_PUT, 1, 8, 0), WEFT_TO_SENDER);
	expect(WEFT_MSG_GRANT, WEFT_F_BUSY, WEFT_M, 1, 105);
	CHECK_EQ(end(WEFT_MSG_COMMIT, 8, 105, WEFT_I, 0), WEFT_TO_SENDER);
	expect_entry(0, 104, WEFT_I, 0);
	/* a late copy of a request takes the lock; its node gives it back */
	ask(WEFT_MSG_GETM, 1, 7, 0);
	expect_entry(weft_txn(1, 7), 106, WEFT_I, 0);
	CHECK_EQ(end(WEFT_MSG_COMMIT, 7, 102, WEFT_M, 1), WEFT_TO_SENDER);
	expect_entry(weft_txn(1, 7), 106, WEFT_I, 0);
	CHECK_EQ(end(WEFT_MSG_ABORT, 7, 106, 0, 0), WEFT_TO_NOBODY);
	expect_entry(0, 106, WEFT_I, 0);
}

/* Node 1 passes a fragment to transaction @seq of node @to. */
static enum weft_dir_dest pass(u32 to, u32 seq, u32 grant)
{
	out = (struct weft_msg){
		.type = WEFT_MSG_PASS, .src = 1, .holder = 0x80000004,
		.txn = weft_txn(to, seq), .line = weft_line_key(1, 0, 2),
		.grant = grant, .nonce = 9, .version = 5, .rack = 6,
	};
	return weft_dir_handle(&e, MEMBERS, &out, &targets);
}

static void passes(void)
{
	entry(WEFT_M, 1);
	/* from before the line was taken by somebody, or from after */
	CHECK_EQ(pass(2, 7, 99), WEFT_TO_NOBODY);
	CHECK_EQ(pass(2, 7, 103), WEFT_TO_NOBODY);
	/* to nobody of the rack */
	CHECK_EQ(pass(5, 7, 101), WEFT_TO_NOBODY);
	CHECK_EQ(pass(33, 7, 101), WEFT_TO_NOBODY);
	expect_entry(0, 101, WEFT_M, 1);
	CHECK_EQ(pass(2, 7, 101), WEFT_TO_NODES);
	CHECK_EQ(targets, 2);
	expect(WEFT_MSG_PASSED, WEFT_F_BUSY, WEFT_M, 1, 103);
	CHECK(out.src == 1 && out.nonce == 9 && out.txn == weft_txn(2, 7));
	/* to whom it is lent, as far as they are in the rack */
	CHECK_EQ(out.holder, 4);
	expect_entry(weft_txn(2, 7), 103, WEFT_M, 1);
	/* the next fragment, but not another transaction's */
	CHECK_EQ(pass(2, 7, 101), WEFT_TO_NODES);
	expect(WEFT_MSG_PASSED, WEFT_F_BUSY, WEFT_M, 1, 103);
	CHECK_EQ(pass(3, 7, 101), WEFT_TO_NOBODY);
	CHECK_EQ(pass(2, 8, 101), WEFT_TO_NOBODY);
	CHECK_EQ(pass(3, 7, 103), WEFT_TO_NOBODY);
	expect_entry(weft_txn(2, 7), 103, WEFT_M, 1);
	/* who asks after all gets the same from the owner */
	CHECK_EQ(ask(WEFT_MSG_GETM, 2, 7, 0), WEFT_TO_NODES);
	expect(WEFT_MSG_INV, WEFT_F_BUSY, WEFT_M, 1, 103);
	CHECK_EQ(targets, 1);
	/* ... and if that was the first, the pass is one more answer */
	entry(WEFT_M, 1);
	ask(WEFT_MSG_GETM, 2, 7, 0);
	CHECK_EQ(pass(2, 7, 101), WEFT_TO_NODES);
	/* aborted: it does not take the lock again */
	e.lock = 0;
	CHECK_EQ(pass(2, 7, 101), WEFT_TO_NOBODY);
	expect_entry(0, 103, WEFT_M, 1);
	/* a stranger's */
	out.src = 5;
	out.grant = 103;
	CHECK_EQ(weft_dir_handle(&e, MEMBERS, &out, &targets), WEFT_TO_SENDER);
	CHECK_EQ(out.info, WEFT_WHY_NOT_MEMBER);
	expect_entry(0, 103, WEFT_M, 1);
}

static void strangers(void)
{
	u8 type;

	for (type = WEFT_MSG_GETS; type <= WEFT_MSG_QUERY; type++) {
		entry(WEFT_S, 3);
		CHECK_EQ(ask(type, 5, 1, 0), type == WEFT_MSG_ABORT ?
			 WEFT_TO_NOBODY : WEFT_TO_SENDER);
		if (type != WEFT_MSG_ABORT) {
			CHECK_EQ(out.type, WEFT_MSG_NACK);
			CHECK_EQ(out.info, WEFT_WHY_NOT_MEMBER);
		}
		expect_entry(0, 100, WEFT_S, 3);
		/* in the name of another */
		out.type = type;
		out.src = 2;
		out.txn = weft_txn(1, 1);
		CHECK_EQ(weft_dir_handle(&e, MEMBERS, &out, &targets),
			 WEFT_TO_NOBODY);
		expect_entry(0, 100, WEFT_S, 3);
	}
}

/* Random requests: what holds whatever comes. */
static void random_requests(void)
{
	u64 state = 7;
	u32 i;

	entry(WEFT_I, 0);
	for (i = 0; i < 300000; i++) {
		struct weft_dir_entry was = e;
		u32 r = random_u32(&state), members = 0x1Fu ^ (1u << r % 5);
		u32 id = 1 + (r >> 8) % 5, seq = 1 + (r >> 12) % 6;
		enum weft_dir_dest dest;
		u8 type;

		out = (struct weft_msg){
			.type = (r >> 16) % 7 == 6 ? WEFT_MSG_PASS :
				(u8)(WEFT_MSG_GETS + (r >> 16) % 7),
			.flags = r >> 20 & 1 ? WEFT_F_HAVE : 0,
			.src = (u8)id, .txn = weft_txn(id, seq),
			.grant = r >> 21 & 3 ? e.grant : e.grant - 2,
			.status = (u8)((r >> 24) % 3), .copyset = r >> 27,
		};
		if (r >> 23 & 1 && e.lock) {
			out.txn = e.lock;
			out.src = (u8)weft_txn_member(e.lock);
		}
		type = out.type;
		/* the owner, if there is one, to somebody */
		if (type == WEFT_MSG_PASS && r >> 22 & 1)
			out.src = (u8)(1 + __builtin_ctz(e.copyset | 1u << 4));
		dest = weft_dir_handle(&e, members, &out, &targets);

		CHECK_EQ(e.grant & WEFT_GRANT_OWNED, e.status == WEFT_M);
		CHECK(!(targets & ~members));
		CHECK(!(targets & weft_node_bit(type == WEFT_MSG_PASS ? 0 : out.src)));
		CHECK_EQ(!targets, dest != WEFT_TO_NODES);
		/* a lock is taken with a new grant, given up by its holder only */
		if (e.lock != was.lock && e.lock)
			CHECK(!was.lock && e.grant == was.grant + WEFT_GRANT_STEP);
		if (e.lock != was.lock && !e.lock)
			CHECK((type == WEFT_MSG_COMMIT || type == WEFT_MSG_ABORT) &&
			      out.txn == was.lock);
		if (e.lock == was.lock && type != WEFT_MSG_COMMIT)
			CHECK_EQ(e.grant, was.grant);
		/* the status changes by a commit, or a first reader */
		if (type != WEFT_MSG_COMMIT && type != WEFT_MSG_GETS)
			CHECK(e.status == was.status && e.copyset == was.copyset);
		if (type == WEFT_MSG_GETS)
			CHECK((e.copyset & was.copyset) == was.copyset &&
			      (e.status == was.status ||
			       (was.status == WEFT_I && e.status == WEFT_S)));
		/* who is told that it has the lock has it */
		if (out.flags & WEFT_F_BUSY)
			CHECK(e.lock == out.txn && out.grant == e.grant);
	}
}

/* --- the switch ------------------------------------------------------------- */

static struct weft_slot slots[WEFT_SWITCH_SLOTS];
static struct weft_switch sw = { .slots = slots };

static enum weft_dir_dest to_switch(struct weft_msg m)
{
	out = m;
	return weft_switch_handle(&sw, out.src, &out, &targets);
}

static void members_of_switch(void)
{
	struct weft_msg m = {
		.type = WEFT_MSG_MEMBERS, .src = 33, .txn = weft_txn(33, 1),
		.nonce = 1000, .copyset = 3,
	};
	u32 i;

	stations_by_id(&sw);
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK_EQ(out.type, WEFT_MSG_MEMBERS_ACK);
	CHECK(out.nonce == 1000 && out.copyset == 3 && sw.members == 3);
	/* older ones change nothing */
	m.nonce = 999;
	m.copyset = 0xFF;
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(out.nonce == 1000 && out.copyset == 3 && sw.members == 3);
	m.nonce = 1001;
	m.src = 1;
	CHECK_EQ(to_switch(m), WEFT_TO_NOBODY);
	CHECK_EQ(sw.members, 3);
	/* whatever came before, there is a newer version: they go round */
	m.src = 33;
	for (m.nonce = 1000, i = 0; i < 9; i++) {
		m.nonce += WEFT_NEWER_MAX - i;
		m.copyset = i + 1;
		CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
		CHECK(out.nonce == m.nonce && sw.members == i + 1);
		m.nonce--;
		m.copyset = 0;
		CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
		CHECK(out.nonce == m.nonce + 1 && sw.members == i + 1);
		m.nonce++;
	}
	m.nonce++;
	m.copyset = 3;
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK_EQ(sw.members, 3);
}

/* Each type counts only in this rack and at the port of the member that it names. */
static void who_is_heard(void)
{
	u32 before, counted = sw.count[WEFT_COUNT_FORGED];
	struct weft_msg m;
	u8 type;

	for (type = 1; type <= WEFT_MSG_SWITCH_MAX; type++) {
		m = (struct weft_msg){
			.type = type, .src = 33, .txn = weft_txn(33, type), .nonce = 0x90000000,
			.line = weft_line_key(3, WEFT_KIND_PAGE, 17), .copyset = 0xFFFF,
		};
		before = sw.members;
		out = m;
		CHECK_EQ(weft_switch_handle(&sw, 1, &out, &targets), WEFT_TO_NOBODY);
		out = m;
		out.src = 49;
		CHECK_EQ(weft_switch_handle(&sw, 49, &out, &targets), WEFT_TO_NOBODY);
		counted += 2;
		CHECK_EQ(sw.count[WEFT_COUNT_FORGED], counted);
		/* another rack's goes on as it is */
		m.rack = 1;
		CHECK_EQ(to_switch(m), WEFT_TO_HOME);
		CHECK_EQ(out.type, type);
		CHECK(sw.members == before && !slots[weft_line_slot(m.line)].tag);
	}
	CHECK_EQ(sw.count[WEFT_COUNT_FORGED], counted);
}

static void moves(void)
{
	u64 key = weft_line_key(3, WEFT_KIND_PAGE, 17);
	u64 rival = key + 1;
	struct weft_slot *slot = &slots[weft_line_slot(key)];
	struct weft_msg m = {
		.type = WEFT_MSG_ADD, .src = 33, .txn = weft_txn(33, 2),
		.line = key, .status = WEFT_S, .copyset = 2, .grant = 40,
	};
	struct weft_msg gets = {
		.type = WEFT_MSG_GETS, .src = 1, .txn = weft_txn(1, 1), .line = key,
	};

	while (weft_line_slot(rival) != weft_line_slot(key))
		rival++;
	/* not installed: on to the home, as it is */
	CHECK_EQ(to_switch(gets), WEFT_TO_HOME);
	CHECK_EQ(out.type, WEFT_MSG_GETS);
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(out.type == WEFT_MSG_ADD_ACK && out.flags == WEFT_F_INSTALLED &&
	      out.nonce == 1 && slot->tag == key);
	/* a copy of that ADD: refused by its generation, the line stays */
	m.copyset = 0;
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(out.flags == WEFT_F_INSTALLED && out.info == WEFT_WHY_GEN &&
	      slot->entry.copyset == 2);
	/* a line that wants the same slot */
	m.line = rival;
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(!out.flags && out.info == WEFT_WHY_GEN && out.nonce == 1);
	m.nonce = 1;
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(!out.flags && out.info == WEFT_WHY_FULL && out.nonce == 2);
	/* served there now */
	CHECK_EQ(to_switch(gets), WEFT_TO_NODES);
	CHECK(out.type == WEFT_MSG_FWD && out.flags == WEFT_F_SWITCH &&
	      targets == 2 && slot->entry.copyset == 3);
	/* back: locked for the home, then dropped */
	m = (struct weft_msg){
		.type = WEFT_MSG_REMOVE, .src = 33, .txn = weft_txn(33, 3), .line = key,
	};
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(out.type == WEFT_MSG_REMOVE_ACK && out.copyset == 3 &&
	      out.status == WEFT_S && out.grant == 42 && out.nonce == 2 &&
	      out.flags == (WEFT_F_INSTALLED | WEFT_F_BUSY));
	gets.txn = weft_txn(1, 2);
	CHECK_EQ(to_switch(gets), WEFT_TO_SENDER);
	CHECK(out.type == WEFT_MSG_NACK && out.holder == weft_txn(33, 3));
	m.type = WEFT_MSG_DROP;
	m.nonce = 1;
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(out.type == WEFT_MSG_DROP_ACK && out.flags == WEFT_F_INSTALLED &&
	      out.nonce == 2 && slot->tag == key);
	m.nonce = 2;
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(!out.flags && out.nonce == 3 && !slot->tag);
	CHECK_EQ(to_switch(gets), WEFT_TO_HOME);
	m.type = WEFT_MSG_REMOVE;
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(out.type == WEFT_MSG_REMOVE_ACK && !out.flags);
	/* nodes do not move lines, and no line has no name */
	m.src = 1;
	CHECK_EQ(to_switch(m), WEFT_TO_NOBODY);
	m.src = 33;
	m.line = 0;
	CHECK_EQ(to_switch(m), WEFT_TO_NOBODY);
}

static void counters(void)
{
	struct weft_msg m = {
		.type = WEFT_MSG_COUNT, .src = 1, .nonce = WEFT_COUNT_ADD,
	};

	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK(out.type == WEFT_MSG_COUNT_ACK);
	CHECK_EQ(out.holder, 2);
	CHECK_EQ(sw.count[WEFT_COUNT_ADD_REFUSED], 2);
	CHECK_EQ(sw.count[WEFT_COUNT_FWD], 1);
	CHECK_EQ(sw.count[WEFT_COUNT_MISS], 2);
	CHECK_EQ(sw.count[WEFT_COUNT_BUSY], 1);
	CHECK_EQ(sw.count[WEFT_COUNT_REMOVE], 2);
	CHECK_EQ(sw.count[WEFT_COUNT_DROP], 2);
	CHECK_EQ(sw.count[WEFT_COUNT_MEMBERS], 2 + 2 * 9 + 1);
	/* of a block that is passed on the switch has an opinion */
	m = (struct weft_msg){
		.type = WEFT_MSG_ADD, .src = 33, .txn = weft_txn(33, 9), .nonce = 3,
		.line = weft_line_key(3, WEFT_KIND_PAGE, 17), .status = WEFT_M,
		.copyset = 1, .grant = 50,
	};
	CHECK_EQ(to_switch(m), WEFT_TO_SENDER);
	CHECK_EQ(out.flags, WEFT_F_INSTALLED);
	m = (struct weft_msg){
		.type = WEFT_MSG_PASS, .src = 1, .txn = weft_txn(2, 9),
		.line = m.line, .grant = 49,
	};
	CHECK_EQ(to_switch(m), WEFT_TO_NOBODY);
	m.grant = 51;
	CHECK_EQ(to_switch(m), WEFT_TO_NODES);
	CHECK(out.type == WEFT_MSG_PASSED && targets == 2 &&
	      out.flags == (WEFT_F_BUSY | WEFT_F_SWITCH));
	CHECK_EQ(sw.count[WEFT_COUNT_PASSED], 1);
	CHECK_EQ(sw.count[WEFT_COUNT_NOT_PASSED], 1);
	/* what passes by unseen is not counted */
	m.type = WEFT_MSG_DATA;
	CHECK_EQ(to_switch(m), WEFT_TO_HOME);
	CHECK_EQ(sw.count[WEFT_COUNT_MISS], 2);
}

int main(void)
{
	read_misses();
	write_misses();
	direct_misses();
	locked();
	ends();
	passes();
	strangers();
	random_requests();
	members_of_switch();
	who_is_heard();
	moves();
	counters();
	return check_result();
}
