// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks: the steps of the protocol by hand, at the directory and at the nodes,
 * joined directly.  What may happen in other orders is the explorer's.
 */
#include "lock.h"
#include "lockdir.h"
#include "tests/common/check.h"

#define NODES	3
#define MEMBERS	0x7u
#define KEY	weft_line_key(1, WEFT_KIND_LOCK, 64)

static struct weft_dir_entry e;
static struct weft_lock node[NODES + 1];
static u32 members = MEMBERS, messages, seq, woken, revokes;

static void deliver(const struct weft_msg *msg, u32 to);

/* Messages go by at once; programs let go when they are told to, by the test. */
static void carry_out(u32 n, const struct weft_lock_out *out)
{
	u32 i;

	woken |= out->effects & WEFT_DO_WAKE ? 1u << n : 0;
	revokes |= out->effects & WEFT_DO_REVOKE ? 1u << n : 0;
	CHECK(out->n <= WEFT_LOCK_OUT_MAX);
	for (i = 0; i < out->n; i++) {
		const struct weft_send *s = &out->send[i];
		u8 list[WEFT_QUEUE_MAX * 4];
		struct weft_msg msg = s->msg;
		u32 targets, to;

		CHECK_EQ(msg.src, n);
		if (msg.len) {
			memcpy(list, msg.payload, msg.len);
			msg.payload = list;
		}
		messages++;
		if (s->to) {
			deliver(&msg, s->to);
			continue;
		}
		switch (weft_dir_handle(&e, members, &msg, &targets)) {
		case WEFT_TO_SENDER:
			messages++;
			deliver(&msg, n);
			break;
		case WEFT_TO_NODES:
			for (to = 1; to <= NODES; to++)
				if (targets & weft_node_bit(to)) {
					messages++;
					deliver(&msg, to);
				}
			break;
		default:
			CHECK(false);
		}
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

static void let_go(u32 n)
{
	struct weft_lock_out out;

	CHECK(revokes & 1u << n);
	revokes &= ~(1u << n);
	weft_lock_revoked(&node[n], &out);
	carry_out(n, &out);
}

static void begin(u32 epoch)
{
	u32 n;

	e = (struct weft_dir_entry){ .grant = epoch };
	for (n = 1; n <= NODES; n++)
		weft_lock_init(&node[n], KEY, (u8)n);
	messages = 0;
	woken = 0;
	revokes = 0;
}

/* What the nodes have, since the last look: woken, messages. */
static void expect_at(int line, u8 a, u8 b, u8 c, u32 who, u32 count)
{
	if (messages != count || woken != who)
		printf("at line %d:\n", line);
	CHECK_EQ(node[1].state, a);
	CHECK_EQ(node[2].state, b);
	CHECK_EQ(node[3].state, c);
	CHECK_EQ(woken, who);
	CHECK_EQ(messages, count);
	woken = 0;
	messages = 0;
}

#define expect(...) expect_at(__LINE__, __VA_ARGS__)

/* Who has the lock next after node @n: these readers, then this writer (0: none). */
static void expect_successors(u32 n, u32 readers, u32 writer)
{
	u32 i, count, found = 0, next;

	count = weft_lock_successors(&node[n], &next);
	for (i = 0; i < count; i++)
		found |= weft_node_bit(weft_txn_member(node[n].handed.txn[i]));
	CHECK_EQ(found, readers);
	CHECK_EQ(weft_txn_member(next), writer);
}

/* Free, and then cached: no message. */
static void cached(u32 epoch)
{
	begin(epoch);
	want(1, WEFT_S);
	expect(WEFT_S, WEFT_I, WEFT_I, 1 << 1, 2);
	want(1, WEFT_S);
	expect(WEFT_S, WEFT_I, WEFT_I, 0, 0);
	want(2, WEFT_S);
	expect(WEFT_S, WEFT_S, WEFT_I, 1 << 2, 2);
	CHECK_EQ(e.copyset, 3);
	CHECK_EQ(e.lock, 0);
	begin(epoch);
	want(3, WEFT_M);
	expect(WEFT_I, WEFT_I, WEFT_M, 1 << 3, 2);
	want(3, WEFT_S);
	want(3, WEFT_M);
	expect(WEFT_I, WEFT_I, WEFT_M, 0, 0);
	CHECK_EQ(e.lock, 4);
}

/* From writer to writer: one message to the switch and on, one to confirm. */
static void hand_over(u32 epoch)
{
	begin(epoch);
	want(1, WEFT_M);
	expect(WEFT_M, WEFT_I, WEFT_I, 1 << 1, 2);
	want(2, WEFT_M);
	want(3, WEFT_M);
	/* each: ACQUIRE, ENQUEUE */
	expect(WEFT_M, WEFT_I, WEFT_I, 0, 4);
	CHECK_EQ(weft_lock_perm(&node[1]), WEFT_I);
	let_go(1);
	/* HAND, HANDED, HAND_ACK; and the queue has come along */
	expect(WEFT_I, WEFT_M, WEFT_I, 1 << 2, 3);
	expect_successors(1, 0, 2);
	CHECK_EQ(node[1].handed.txn[0], node[2].txn);
	CHECK_EQ(e.grant, epoch + 2 * WEFT_EPOCH_STEP);
	CHECK_EQ(node[2].queue.n, 1);
	let_go(2);
	expect(WEFT_I, WEFT_I, WEFT_M, 1 << 3, 3);
	CHECK(weft_lock_idle(&node[1]) && weft_lock_idle(&node[2]));
	CHECK_EQ(revokes, 0);
}

/* A writer waits for two readers, each of whom tells it. */
static void readers_then_writer(u32 epoch)
{
	begin(epoch);
	want(1, WEFT_S);
	want(2, WEFT_S);
	expect(WEFT_S, WEFT_S, WEFT_I, 1 << 1 | 1 << 2, 4);
	want(3, WEFT_M);
	expect(WEFT_S, WEFT_S, WEFT_I, 0, 3);
	/* who comes now comes after the writer */
	let_go(1);
	want(1, WEFT_S);
	expect(WEFT_I, WEFT_S, WEFT_I, 0, 3);
	let_go(2);
	expect(WEFT_I, WEFT_I, WEFT_M, 1 << 3, 1);
	/* readers only: the queue ends, and the writer reads on */
	let_go(3);
	expect(WEFT_S, WEFT_I, WEFT_S, 1 << 1, 3);
	expect_successors(3, 1 << 0, 0);
	CHECK_EQ(e.lock, 0);
	CHECK_EQ(e.copyset, 5);
}

/* Who has it to write, but only reads, lets others read without letting go. */
static void share(u32 epoch)
{
	struct weft_lock_out out;

	begin(epoch);
	want(1, WEFT_M);
	want(2, WEFT_S);
	want(3, WEFT_M);
	expect(WEFT_M, WEFT_I, WEFT_I, 1 << 1, 6);
	/* not past a writer */
	CHECK(!weft_lock_share(&node[1], &out));
	begin(epoch);
	want(1, WEFT_M);
	CHECK(!weft_lock_share(&node[1], &out));
	want(2, WEFT_S);
	want(3, WEFT_S);
	expect(WEFT_M, WEFT_I, WEFT_I, 1 << 1, 6);
	CHECK(weft_lock_share(&node[1], &out));
	CHECK_EQ(node[1].state, WEFT_S);
	revokes = 0;
	carry_out(1, &out);
	expect(WEFT_S, WEFT_S, WEFT_S, 1 << 2 | 1 << 3, 4);
	CHECK(weft_lock_idle(&node[1]));
	CHECK_EQ(e.lock, 0);
	CHECK_EQ(e.copyset, 7);
	/* a writer waits for all three */
	want(2, WEFT_M);
	expect(WEFT_S, WEFT_S, WEFT_S, 0, 3);
	let_go(1);
	expect(WEFT_I, WEFT_S, WEFT_S, 0, 1);
	let_go(3);
	expect(WEFT_I, WEFT_M, WEFT_I, 1 << 2, 1);
}

/* Those who wait have left the rack: then it is read here only. */
static void share_with_nobody(u32 epoch)
{
	struct weft_lock_out out;

	begin(epoch);
	want(1, WEFT_M);
	want(3, WEFT_S);
	CHECK(weft_lock_share(&node[1], &out));
	members = 0x3;
	messages = woken = revokes = 0;
	carry_out(1, &out);
	/* HAND, NACK, HAND, HANDED */
	expect(WEFT_S, WEFT_I, WEFT_I, 0, 4);
	members = MEMBERS;
	CHECK_EQ(e.lock, 0);
	CHECK_EQ(e.copyset, 1);
	want(2, WEFT_M);
	expect(WEFT_S, WEFT_I, WEFT_I, 0, 2);
	let_go(1);
	expect(WEFT_I, WEFT_M, WEFT_I, 1 << 2, 1);
}

/* Soul's third case: readers between two writers. */
static void readers_between(u32 epoch)
{
	begin(epoch);
	want(1, WEFT_M);
	want(2, WEFT_S);
	want(3, WEFT_M);
	expect(WEFT_M, WEFT_I, WEFT_I, 1 << 1, 6);
	let_go(1);
	/* HAND, HANDED to both, HAND_ACK; the reader is in, and asked to hurry */
	expect(WEFT_I, WEFT_S, WEFT_I, 1 << 2, 4);
	expect_successors(1, 1 << 1, 3);
	CHECK(node[3].tenured);
	CHECK_EQ(node[3].waiting_on, 2);
	/* what the lock guards goes to that transaction of the writer */
	CHECK_EQ(weft_lock_next_writer(&node[2]), node[3].txn);
	let_go(2);
	expect(WEFT_I, WEFT_I, WEFT_M, 1 << 3, 1);
}

/* A node that reads and wants to write keeps its copy until it may. */
static void upgrade(u32 epoch)
{
	begin(epoch);
	want(1, WEFT_S);
	want(1, WEFT_M);
	expect(WEFT_M, WEFT_I, WEFT_I, 1 << 1, 4);
	begin(epoch);
	want(1, WEFT_S);
	want(2, WEFT_S);
	want(1, WEFT_M);
	expect(WEFT_S, WEFT_S, WEFT_I, 1 << 1 | 1 << 2, 6);
	let_go(2);
	expect(WEFT_M, WEFT_I, WEFT_I, 1 << 1, 1);
}

/* Given back without being asked; what is not wanted is passed on. */
static void give_back(u32 epoch)
{
	struct weft_lock_out out;

	begin(epoch);
	want(1, WEFT_M);
	expect(WEFT_M, WEFT_I, WEFT_I, 1 << 1, 2);
	CHECK(weft_lock_evict(&node[1], &out));
	carry_out(1, &out);
	let_go(1);
	expect(WEFT_I, WEFT_I, WEFT_I, 0, 2);
	expect_successors(1, 0, 0);
	CHECK_EQ(e.lock, 0);
	CHECK(!weft_lock_evict(&node[1], &out));
	want(2, WEFT_S);
	expect(WEFT_I, WEFT_S, WEFT_I, 1 << 2, 2);
	CHECK(weft_lock_evict(&node[2], &out));
	carry_out(2, &out);
	let_go(2);
	/* a copyset may name too many: without a message */
	expect(WEFT_I, WEFT_I, WEFT_I, 0, 0);
	CHECK_EQ(e.copyset, 2);
}

/* A holder that forgot that it is one, and somebody asks. */
static void ghost(u32 epoch)
{
	begin(epoch);
	want(1, WEFT_M);
	expect(WEFT_M, WEFT_I, WEFT_I, 1 << 1, 2);
	weft_lock_init(&node[1], KEY, 1);
	want(2, WEFT_M);
	/* ACQUIRE, ENQUEUE, QUERY, INFO: in office, and the next one asks again */
	expect(WEFT_M, WEFT_I, WEFT_I, 0, 4);
	CHECK(node[1].tenured);
	{
		struct weft_lock_out out;

		weft_lock_timeout(&node[2], &out);
		carry_out(2, &out);
	}
	CHECK_EQ(messages, 2);
	let_go(1);
	expect(WEFT_I, WEFT_M, WEFT_I, 1 << 2, 5);
}

/* Lists from the network: too long, of nobody, twice the same. */
static void nonsense(void)
{
	u8 list[4 * (WEFT_QUEUE_MAX + 8)];
	struct weft_lock_out out;
	struct weft_msg msg = {
		.type = WEFT_MSG_HANDED, .src = 2, .line = KEY, .holder = 1,
		.nonce = ~0u, .payload = list, .len = sizeof(list),
	};
	u32 i, n;

	for (n = 0; n < 100000; n++) {
		struct weft_lock *l = &node[1];

		weft_lock_init(l, KEY, 1);
		weft_lock_want(l, n & 1 ? WEFT_S : WEFT_M, ++seq, &out);
		for (i = 0; i < sizeof(list); i++)
			list[i] = (u8)(n * 31 + i * i * (n >> 3) + (n >> 7));
		put_unaligned_be32(l->txn, list + n % 8 * 4);
		msg.grant = n * 77;
		msg.copyset = n % 5 ? n : 1;
		msg.holder = n % 3 ? 1 : n % 7;
		weft_lock_recv(l, &msg, ++seq, &out);
		CHECK(out.n <= WEFT_LOCK_OUT_MAX);
		CHECK(l->queue.n <= WEFT_QUEUE_MAX);
		for (i = 0; i < l->queue.n; i++)
			CHECK(weft_node_bit(weft_txn_member(l->queue.txn[i])));
		if (l->state == WEFT_M && l->queue.n)
			weft_lock_revoked(l, &out);
		CHECK(out.n <= WEFT_LOCK_OUT_MAX);
	}
}

int main(void)
{
	/* epochs begin anywhere, and go round */
	static const u32 epochs[] = { 0, 2, 0x7FFFFFFC, 0x80000000, 0u - 2, 0u - 4 };
	u32 i;

	for (i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++) {
		cached(epochs[i]);
		hand_over(epochs[i]);
		readers_then_writer(epochs[i]);
		readers_between(epochs[i]);
		share(epochs[i]);
		share_with_nobody(epochs[i]);
		upgrade(epochs[i]);
		give_back(epochs[i]);
		ghost(epochs[i]);
	}
	nonsense();
	return check_result();
}
