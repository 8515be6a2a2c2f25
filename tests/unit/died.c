// SPDX-License-Identifier: GPL-2.0-only
/*
 * The news that a writer died with a lock, from its home and from node to node, until
 * somebody mends what the lock guards: nodes and a home, joined directly, or the switch
 * between them.  Messages go by at once.
 */
#include "home.h"
#include "lock.h"
#include "lockdir.h"
#include "tests/common/check.h"

#define NODES	3
#define KEY	weft_line_key(1, WEFT_KIND_LOCK, 64)

static struct weft_home_line home;
static struct weft_lock node[NODES + 1];
static u32 members, seq;
static bool in_switch;		/* the directory that knows nothing of deaths */

static void deliver(const struct weft_msg *msg, u32 to);

/* Return: whom the directory tells what is in *@msg. */
static u32 ask_directory(struct weft_msg *msg, u32 from)
{
	struct weft_home_out out;
	u32 targets = 0;

	if (in_switch) {
		enum weft_dir_dest dest = weft_lockdir_handle(&home.e, members, msg, &targets);

		return dest == WEFT_TO_SENDER ? weft_node_bit((u8)from) : targets;
	}
	weft_home_recv(&home, members, false, msg, ++seq, &out);
	*msg = out.msg;
	return out.dest == WEFT_TO_SENDER ? weft_node_bit((u8)from) :
	       out.dest == WEFT_TO_NODES ? out.targets : 0;
}

static void carry_out(u32 n, const struct weft_lock_out *out)
{
	u32 i, to;

	for (i = 0; i < out->n; i++) {
		u8 list[WEFT_QUEUE_MAX * 4];
		struct weft_msg msg = out->send[i].msg;
		u32 targets;

		if (msg.len) {
			memcpy(list, msg.payload, msg.len);
			msg.payload = list;
		}
		if (out->send[i].to) {
			deliver(&msg, out->send[i].to);
			continue;
		}
		targets = ask_directory(&msg, n);
		for (to = 1; to <= NODES; to++)
			if (targets & members & weft_node_bit((u8)to))
				deliver(&msg, to);
	}
}

static void deliver(const struct weft_msg *msg, u32 to)
{
	struct weft_lock_out out;

	weft_lock_recv(&node[to], msg, ++seq, &out);
	carry_out(to, &out);
}

static void want(u32 n, u8 perm)
{
	struct weft_lock_out out;

	weft_lock_want(&node[n], perm, ++seq, &out);
	carry_out(n, &out);
}

/* All programs of the node have let go of it; @unmended: as its host knows it. */
static void let_go(u32 n, bool unmended)
{
	struct weft_lock_out out;

	node[n].unmended = unmended;
	weft_lock_revoked(&node[n], &out);
	carry_out(n, &out);
	CHECK(!node[n].unmended);
}

static void give_back(u32 n, bool unmended)
{
	struct weft_lock_out out;

	CHECK(weft_lock_evict(&node[n], &out));
	carry_out(n, &out);
	let_go(n, unmended);
}

/* Node 1 has it to write. */
static void begin(u32 epoch, bool to_switch)
{
	u32 n;

	members = 7;
	in_switch = to_switch;
	weft_home_init(&home, KEY, 33);
	home.e.grant = epoch;
	for (n = 1; n <= NODES; n++)
		weft_lock_init(&node[n], KEY, (u8)n);
	want(1, WEFT_M);
	CHECK_EQ(node[1].state, WEFT_M);
	CHECK(!node[1].died);
}

static void node_1_dies(void)
{
	struct weft_home_out out;

	members = 6;
	CHECK_EQ(weft_home_gone(&home, members, true, ++seq, &out), WEFT_GONE_FREE);
	weft_lock_init(&node[1], KEY, 1);
}

static void expect(u32 n, u8 state, bool died)
{
	CHECK_EQ(node[n].state, state);
	CHECK_EQ(node[n].died, died);
}

/* The next writer hears; the one after it, if it has not mended it, and so on. */
static void to_writers(u32 epoch, bool to_switch)
{
	begin(epoch, to_switch);
	if (to_switch) {
		/* a process of node 1 died with it */
		want(2, WEFT_M);
		let_go(1, true);
	} else {
		node_1_dies();
		want(2, WEFT_M);
	}
	expect(2, WEFT_M, true);
	want(3, WEFT_M);
	/* nobody at node 2 took it */
	let_go(2, true);
	expect(3, WEFT_M, true);
	want(2, WEFT_M);
	let_go(3, true);
	expect(2, WEFT_M, true);
	want(3, WEFT_M);
	/* mended */
	let_go(2, false);
	expect(3, WEFT_M, false);
	give_back(3, false);
	want(2, WEFT_M);
	expect(2, WEFT_M, false);
	CHECK(!home.died);
}

/* Readers hear, and the writer after them, from the home as well as from them. */
static void to_readers(u32 epoch, bool to_switch)
{
	begin(epoch, to_switch);
	want(2, WEFT_S);
	want(3, WEFT_S);
	let_go(1, true);
	expect(2, WEFT_S, true);
	expect(3, WEFT_S, true);
	want(1, WEFT_M);
	/* one says so whose programs have heard it; if it is at home, that does */
	let_go(2, to_switch);
	let_go(3, false);
	if (node[1].state != WEFT_M)
		let_go(1, false); /* it was a reader, too */
	expect(1, WEFT_M, true);
	give_back(1, false);
	want(2, WEFT_M);
	expect(2, WEFT_M, false);
}

/* It reads on while others read. */
static void shared(u32 epoch, bool to_switch)
{
	struct weft_lock_out out;

	begin(epoch, to_switch);
	want(2, WEFT_S);
	node[1].unmended = true;
	CHECK(weft_lock_share(&node[1], &out));
	carry_out(1, &out);
	expect(1, WEFT_S, false); /* it knows */
	expect(2, WEFT_S, true);
	want(3, WEFT_M);
	let_go(1, true);
	let_go(2, true);
	expect(3, WEFT_M, true);
}

/* Given back, and nobody waited: the home keeps the news for who comes. */
static void kept_at_home(u32 epoch)
{
	begin(epoch, false);
	give_back(1, true);
	CHECK(home.died);
	want(2, WEFT_S);
	expect(2, WEFT_S, true);
	give_back(2, false);
	want(3, WEFT_M);
	let_go(2, false);
	expect(3, WEFT_M, true);
	give_back(3, false);
	want(2, WEFT_M);
	expect(2, WEFT_M, false);
	CHECK(!home.died);
}

/* A late copy of what made it the writer is no news once it has the lock. */
static void late_copy(u32 epoch)
{
	struct weft_msg msg;

	begin(epoch, false);
	node_1_dies();
	want(2, WEFT_M);
	expect(2, WEFT_M, true);
	msg = (struct weft_msg){
		.type = WEFT_MSG_GRANT, .src = 33, .txn = node[2].txn, .line = KEY,
		.status = WEFT_M, .grant = node[2].epoch, .flags = WEFT_F_DIED,
	};
	node[2].died = false; /* programs were told */
	deliver(&msg, 2);
	expect(2, WEFT_M, false);
}

/* A node that does not know that it is the holder hears as it asks. */
static void asks(u32 epoch)
{
	begin(epoch, false);
	node_1_dies();
	want(2, WEFT_M);
	weft_lock_init(&node[2], KEY, 2);
	want(3, WEFT_M);
	CHECK(node[2].tenured);
	expect(2, WEFT_M, true);
}

/* A reader's answer was lost: it tells the same when it is asked again. */
static void asked_again(u32 epoch)
{
	struct weft_lock_out out;

	begin(epoch, true);
	want(2, WEFT_S);
	want(3, WEFT_S);
	let_go(1, true);
	want(1, WEFT_M);
	let_go(3, false);
	node[2].unmended = true;
	weft_lock_revoked(&node[2], &out); /* lost */
	CHECK_EQ(node[1].state, WEFT_S);
	weft_lock_timeout(&node[1], &out);
	carry_out(1, &out);
	expect(1, WEFT_M, true);
}

int main(void)
{
	static const u32 epochs[] = { 0, 2, 0x7FFFFFFC, 0x80000000, 0u - 2, 0u - 4, 0u - 6 };
	u32 i;

	for (i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++) {
		to_writers(epochs[i], false);
		to_writers(epochs[i], true);
		to_readers(epochs[i], false);
		to_readers(epochs[i], true);
		shared(epochs[i], false);
		shared(epochs[i], true);
		kept_at_home(epochs[i]);
		late_copy(epochs[i]);
		asks(epochs[i]);
		asked_again(epochs[i]);
	}
	return check_result();
}
