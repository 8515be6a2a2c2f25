// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that wait for a line where it is: who is noted, who is told what, and how the queue
 * goes on with the line.  What else may happen meanwhile is the explorer's.
 */
#include "controller.h"
#include "directory.h"
#include "waiters.h"
#include "tests/common/check.h"

#define KEY	weft_line_key(1, WEFT_KIND_PAGE, 64)
#define MEMBERS	0xFFFFu
#define GRANT	(2 * WEFT_GRANT_STEP | WEFT_GRANT_OWNED)

static struct weft_out out;
static u32 seq = 100;

static u32 name(u32 node)
{
	return weft_txn(node, 7);
}

/* Node 1 owns the line, by its transaction name(1) that took the lock as GRANT. */
static struct weft_line owner(void)
{
	struct weft_line l;

	weft_line_init(&l, KEY, 1);
	l.state = WEFT_M;
	l.owned = GRANT;
	l.version = 3;
	return l;
}

static void recv(struct weft_line *l, struct weft_msg msg)
{
	msg.line = KEY;
	weft_line_recv(l, &msg, ++seq, &out);
	CHECK(out.n <= WEFT_OUT_MAX);
}

/* @node was refused because of @holder, which had the lock by @grant. */
static void chase(struct weft_line *l, u32 node, u32 holder, u32 grant)
{
	recv(l, (struct weft_msg){ .type = WEFT_MSG_CHASE, .flags = WEFT_F_EXCL,
				   .src = (u8)node, .txn = name(node), .holder = holder,
				   .grant = grant });
}

static void refuse(struct weft_line *l, u32 holder, u32 grant)
{
	recv(l, (struct weft_msg){ .type = WEFT_MSG_NACK, .info = WEFT_WHY_BUSY, .src = 33,
				   .txn = l->txn, .holder = holder, .grant = grant });
}

/* The message of this type, of which there is exactly one. */
static const struct weft_send *only(u8 type)
{
	const struct weft_send *found = NULL;
	u32 i;

	for (i = 0; i < out.n; i++) {
		if (out.send[i].msg.type != type)
			continue;
		CHECK(!found);
		found = &out.send[i];
	}
	CHECK(found);
	return found;
}

static bool sends(u8 type)
{
	u32 i;

	for (i = 0; i < out.n; i++)
		if (out.send[i].msg.type == type)
			return true;
	return false;
}

/* The node that was refused asks the one that was in the way, once, and can be patient. */
static void asks_at_once(void)
{
	struct weft_line l;
	const struct weft_send *s;

	weft_line_init(&l, KEY, 2);
	weft_line_want(&l, WEFT_M, ++seq, &out);
	refuse(&l, name(1), GRANT);
	s = only(WEFT_MSG_CHASE);
	CHECK_EQ(s->to, 1);
	CHECK_EQ(s->msg.flags, WEFT_F_EXCL);
	CHECK_EQ(s->msg.txn, l.txn);
	CHECK_EQ(s->msg.holder, name(1));
	CHECK_EQ(s->msg.grant, GRANT);
	CHECK(l.queued);
	CHECK(out.effects & WEFT_DO_BACKOFF);

	refuse(&l, name(1), GRANT);
	CHECK(!sends(WEFT_MSG_CHASE));
	CHECK(l.queued);
	/* another one is in the way now */
	refuse(&l, name(3), GRANT + WEFT_GRANT_STEP);
	CHECK_EQ(only(WEFT_MSG_CHASE)->to, 3);
	/* ... and does not have it any more */
	recv(&l, (struct weft_msg){ .type = WEFT_MSG_NACK, .info = WEFT_WHY_MOVING, .src = 3,
				    .txn = l.txn });
	CHECK(!l.queued);
	CHECK(out.effects & WEFT_DO_BACKOFF);
	CHECK_EQ(out.n, 0);

	/* it may have been lost: asked again after so many refusals */
	while (l.nacks < WEFT_CHASE_AFTER - 1)
		refuse(&l, name(3), GRANT + WEFT_GRANT_STEP);
	refuse(&l, name(3), GRANT + WEFT_GRANT_STEP);
	CHECK(sends(WEFT_MSG_CHASE));
}

/* Who wants to read is not passed the line; a blade has none to pass. */
static void others_do_not(void)
{
	struct weft_line l;

	weft_line_init(&l, KEY, 2);
	weft_line_want(&l, WEFT_S, ++seq, &out);
	refuse(&l, name(1), GRANT);
	CHECK(!sends(WEFT_MSG_CHASE));
	CHECK(!l.queued);

	weft_line_init(&l, KEY, 2);
	weft_line_want(&l, WEFT_M, ++seq, &out);
	refuse(&l, weft_txn(WEFT_BLADE_MIN, 5), GRANT);
	CHECK(!sends(WEFT_MSG_CHASE));
	CHECK(!l.queued);
}

/* Noted by the owner since that grant, and by the node that is about to own the line. */
static void notes(void)
{
	struct weft_line l = owner();

	chase(&l, 2, name(1), GRANT);
	CHECK_EQ(out.n, 0);
	CHECK_EQ(l.waiters[0], name(2));

	weft_line_init(&l, KEY, 1);
	weft_line_want(&l, WEFT_M, ++seq, &out);
	chase(&l, 2, l.txn, GRANT);
	chase(&l, 3, l.txn, GRANT);
	CHECK_EQ(out.n, 0);
	CHECK_EQ(l.waiters[0], name(2));
	CHECK_EQ(l.waiters[1], name(3));
	CHECK_EQ(l.waiters[2], 0);
}

/* By nobody else: it says so, and ends a transaction that is none of its own. */
static void does_not_note(void)
{
	struct weft_line l = owner();
	const struct weft_send *s;

	/* a late copy of its request took the lock once more */
	chase(&l, 2, name(1), GRANT + WEFT_GRANT_STEP);
	s = only(WEFT_MSG_NACK);
	CHECK_EQ(s->to, 2);
	CHECK_EQ(s->msg.info, WEFT_WHY_MOVING);
	CHECK_EQ(s->msg.txn, name(2));
	CHECK_EQ(only(WEFT_MSG_ABORT)->msg.grant, GRANT + WEFT_GRANT_STEP);
	CHECK_EQ(l.waiters[0], 0);

	/* it reads */
	weft_line_init(&l, KEY, 1);
	weft_line_want(&l, WEFT_S, ++seq, &out);
	chase(&l, 2, l.txn, GRANT);
	CHECK_EQ(only(WEFT_MSG_NACK)->msg.info, WEFT_WHY_MOVING);
	CHECK(!sends(WEFT_MSG_ABORT));
	CHECK_EQ(l.waiters[0], 0);

	/* it leaves */
	l = owner();
	CHECK(weft_line_evict(&l, false, ++seq, &out));
	chase(&l, 2, name(1), GRANT);
	CHECK_EQ(only(WEFT_MSG_NACK)->msg.info, WEFT_WHY_MOVING);
	CHECK_EQ(l.waiters[0], 0);

	/* not meant for this node, and of no node */
	l = owner();
	chase(&l, 2, name(3), GRANT);
	CHECK_EQ(out.n, 0);
	recv(&l, (struct weft_msg){ .type = WEFT_MSG_CHASE, .flags = WEFT_F_EXCL, .src = 2,
				    .txn = weft_txn(WEFT_BLADE_MIN, 1), .holder = name(1),
				    .grant = GRANT });
	recv(&l, (struct weft_msg){ .type = WEFT_MSG_CHASE, .flags = WEFT_F_EXCL, .src = 2,
				    .txn = weft_txn(1, 1), .holder = name(1), .grant = GRANT });
	CHECK_EQ(out.n, 0);
	CHECK_EQ(l.waiters[0], 0);
}

/* The first is passed the line, and is told of the others, in one message. */
static void passes_on(void)
{
	struct weft_line l = owner();
	const struct weft_send *s;
	u32 i;

	for (i = 2; i <= 4; i++)
		chase(&l, i, name(1), GRANT);
	CHECK(weft_line_pass_next(&l, &out));
	CHECK_EQ(out.effects, WEFT_DO_REVOKE);
	CHECK_EQ(out.n, 0);
	weft_line_revoked(&l, ++seq, &out);
	CHECK_EQ(l.state, WEFT_I);
	CHECK_EQ(out.n, 2);
	s = only(WEFT_MSG_PASS);
	CHECK_EQ(s->to, 0);
	CHECK_EQ(s->msg.txn, name(2));
	CHECK_EQ(s->msg.grant, GRANT);
	CHECK(s->with_data);
	s = only(WEFT_MSG_CHASE);
	CHECK_EQ(s->to, 2);
	CHECK_EQ(s->msg.txn, name(3));
	CHECK_EQ(s->msg.holder, name(2));
	CHECK_EQ(s->msg.grant, GRANT + WEFT_GRANT_STEP);
	CHECK_EQ(s->msg.flags, WEFT_F_EXCL);
	CHECK_EQ(s->msg.len, 4);
	CHECK_EQ(get_unaligned_be32(s->msg.payload), name(4));
	CHECK_EQ(l.waiters[0], 0);
}

/* ... and notes them: the queue goes on with the line. */
static void queue_goes_on(void)
{
	struct weft_msg told, passed;
	struct weft_dir_entry e = { .status = WEFT_M, .copyset = 1, .grant = GRANT };
	struct weft_line l = owner(), next;
	u32 targets;
	u8 list[WEFT_WAITERS_MAX * 4];

	weft_line_init(&next, KEY, 2);
	weft_line_want(&next, WEFT_M, 7, &out);
	CHECK_EQ(next.txn, name(2));
	chase(&l, 2, name(1), GRANT);
	chase(&l, 3, name(1), GRANT);
	chase(&l, 4, name(1), GRANT);
	CHECK(weft_line_pass_next(&l, &out));
	weft_line_revoked(&l, ++seq, &out);
	told = only(WEFT_MSG_CHASE)->msg;
	memcpy(list, told.payload, told.len);
	told.payload = list;
	passed = only(WEFT_MSG_PASS)->msg;
	passed.info = passed.size = passed.len = 4096;
	CHECK_EQ(weft_dir_handle(&e, MEMBERS, &passed, &targets), WEFT_TO_NODES);
	CHECK_EQ(passed.type, WEFT_MSG_PASSED);
	CHECK_EQ(targets, weft_node_bit(2));

	recv(&next, passed);
	CHECK_EQ(next.state, WEFT_M);
	CHECK_EQ(next.op, WEFT_OP_COMMIT);
	recv(&next, told);
	CHECK_EQ(out.n, 0);
	CHECK_EQ(next.waiters[0], name(3));
	CHECK_EQ(next.waiters[1], name(4));
	CHECK(!weft_line_pass_next(&next, &out));
	recv(&next, (struct weft_msg){ .type = WEFT_MSG_COMMIT_ACK, .src = 33,
				       .txn = next.txn });
	CHECK(weft_line_pass_next(&next, &out));
	CHECK_EQ(next.rq.txn, name(3));
}

static struct weft_msg order(u8 type, u32 node, u32 grant)
{
	return (struct weft_msg){ .type = type, .flags = WEFT_F_BUSY, .src = (u8)node,
				  .status = WEFT_M, .txn = name(node), .copyset = 1,
				  .grant = grant };
}

/* A node that asked the directory meanwhile was faster: it gets the line and the queue. */
static void overtaken(void)
{
	struct weft_line l = owner();
	const struct weft_send *s;

	chase(&l, 2, name(1), GRANT);
	chase(&l, 3, name(1), GRANT);
	CHECK(weft_line_pass_next(&l, &out));
	/* an order from before is not it */
	recv(&l, order(WEFT_MSG_INV, 4, GRANT - WEFT_GRANT_STEP));
	CHECK_EQ(l.rq.type, WEFT_MSG_PASS);
	recv(&l, order(WEFT_MSG_INV, 5, GRANT + WEFT_GRANT_STEP));
	weft_line_revoked(&l, ++seq, &out);
	s = only(WEFT_MSG_DATA);
	CHECK_EQ(s->to, 5);
	s = only(WEFT_MSG_CHASE);
	CHECK_EQ(s->to, 5);
	CHECK_EQ(s->msg.holder, name(5));
	CHECK_EQ(s->msg.grant, GRANT + WEFT_GRANT_STEP);
	CHECK_EQ(s->msg.txn, name(2));
	CHECK_EQ(get_unaligned_be32(s->msg.payload), name(3));
	CHECK_EQ(out.n, 2);

	/* it may be one of those that wait, which then waits no more */
	l = owner();
	chase(&l, 2, name(1), GRANT);
	chase(&l, 3, name(1), GRANT);
	CHECK(weft_line_pass_next(&l, &out));
	recv(&l, order(WEFT_MSG_INV, 3, GRANT + WEFT_GRANT_STEP));
	weft_line_revoked(&l, ++seq, &out);
	s = only(WEFT_MSG_CHASE);
	CHECK_EQ(s->to, 3);
	CHECK_EQ(s->msg.txn, name(2));
	CHECK_EQ(s->msg.len, 0);
}

/* A reader does not pass it on: those that wait ask again. */
static void void_with_readers(void)
{
	struct weft_line l = owner();

	chase(&l, 2, name(1), GRANT);
	recv(&l, order(WEFT_MSG_FWD, 3, GRANT + WEFT_GRANT_STEP));
	weft_line_revoked(&l, ++seq, &out);
	CHECK_EQ(l.state, WEFT_S);
	CHECK(!sends(WEFT_MSG_CHASE));
	CHECK_EQ(l.waiters[0], 0);
}

static void bounded(void)
{
	struct weft_line l = owner();
	u8 list[4 * (WEFT_WAITERS_MAX + 4)];
	struct weft_msg msg = { .type = WEFT_MSG_CHASE, .flags = WEFT_F_EXCL, .src = 2,
				.txn = name(2), .holder = name(1), .grant = GRANT,
				.payload = list, .len = sizeof(list) };
	u32 i;

	/* nonsense in the list is nobody */
	memset(list, 0xFF, sizeof(list));
	put_unaligned_be32(name(1), list);
	put_unaligned_be32(0, list + 4);
	recv(&l, msg);
	CHECK_EQ(l.waiters[0], name(2));
	CHECK_EQ(l.waiters[1], 0);

	for (i = 3; i < 3 + WEFT_WAITERS_MAX; i++)
		chase(&l, i, name(1), GRANT);
	CHECK_EQ(l.waiters[WEFT_WAITERS_MAX - 1], name(WEFT_WAITERS_MAX + 1));
	/* a node waits once, where it was, under its last name */
	recv(&l, (struct weft_msg){ .type = WEFT_MSG_CHASE, .flags = WEFT_F_EXCL, .src = 3,
				    .txn = weft_txn(3, 8), .holder = name(1), .grant = GRANT });
	CHECK_EQ(l.waiters[1], weft_txn(3, 8));
	CHECK_EQ(l.waiters[2], name(4));
	/* all of them fit into a message */
	CHECK(weft_line_pass_next(&l, &out));
	weft_line_revoked(&l, ++seq, &out);
	CHECK_EQ(only(WEFT_MSG_CHASE)->msg.len, 4 * (WEFT_WAITERS_MAX - 2));

	/* who was to get it is the first again, however many wait */
	l = owner();
	for (i = 2; i < 2 + WEFT_WAITERS_MAX; i++)
		chase(&l, i, name(1), GRANT);
	weft_waiters_first(&l, name(15));
	CHECK_EQ(l.waiters[0], name(15));
	CHECK_EQ(l.waiters[1], name(2));
	CHECK_EQ(l.waiters[WEFT_WAITERS_MAX - 1], name(WEFT_WAITERS_MAX));
}

int main(void)
{
	asks_at_once();
	others_do_not();
	notes();
	does_not_note();
	passes_on();
	queue_goes_on();
	overtaken();
	void_with_readers();
	bounded();
	return check_result();
}
