// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block that its owner passes on: nodes, a directory and a home joined directly,
 * what one step leads to by hand.  What may happen in other orders is the
 * explorer's.
 */
#include "directory.h"
#include "controller.h"
#include "tests/common/check.h"

#define NODES	3
#define MEMBERS	0x7u
#define KEY	weft_line_key(1, WEFT_KIND_PAGE, 64)
#define BLOCK	4096u
#define TYPES	128

static struct weft_dir_entry e;
static struct weft_line node[NODES + 1];
static u32 data[NODES + 1], home_data, seq;
static u64 home_version;
static u32 sent[TYPES];		/* messages by type: there is one fragment */
static u8 lost;			/* type of the message that is lost next */
static struct weft_msg late;	/* ... and the message */
static bool lends;		/* owners lend what others ask to read */
static bool untold;		/* the next COMMIT_ACK does not reach who retains the data */
static u32 late_data;

static void deliver(const struct weft_msg *msg, u32 to, u32 value);
static void at_directory(struct weft_msg *msg, u32 value);

static void post(const struct weft_send *s, u32 value)
{
	struct weft_msg msg = s->msg, ack;

	if (s->with_data) {
		msg.info = BLOCK;
		msg.size = BLOCK;
		msg.len = BLOCK;
	}
	sent[msg.type]++;
	if (msg.type == lost) {
		lost = 0;
		late = msg;
		late_data = value;
		return;
	}
	if (s->to) {
		deliver(&msg, s->to, value);
	} else if (msg.type == WEFT_MSG_WB) {
		if (msg.version > home_version) {
			home_version = msg.version;
			home_data = value;
		}
		ack = msg;
		ack.type = WEFT_MSG_WB_ACK;
		ack.src = 33;
		sent[ack.type]++;
		deliver(&ack, weft_txn_member(msg.txn), 0);
	} else {
		at_directory(&msg, value);
	}
}

static void carry_out(u32 n, const struct weft_out *out, u32 value)
{
	u32 i, mine;

	CHECK(out->n <= WEFT_OUT_MAX);
	if (out->effects & WEFT_DO_INSTALL)
		data[n] = value;
	mine = data[n];
	if (out->effects & WEFT_DO_FREE)
		data[n] = 0;
	for (i = 0; i < out->n; i++) {
		CHECK_EQ(out->send[i].msg.src, n);
		post(&out->send[i], mine);
	}
	if (out->effects & (WEFT_DO_REVOKE | WEFT_DO_PROTECT)) {
		struct weft_out more;

		weft_line_revoked(&node[n], lends, ++seq, &more);
		carry_out(n, &more, 0);
	}
}

static void at_directory(struct weft_msg *msg, u32 value)
{
	u32 sender = msg->src, targets, to;

	switch (weft_dir_handle(&e, MEMBERS, msg, &targets)) {
	case WEFT_TO_SENDER:
		sent[msg->type]++;
		deliver(msg, sender, 0);
		break;
	case WEFT_TO_NODES:
		sent[msg->type]++;
		if (untold && msg->type == WEFT_MSG_COMMIT_ACK) {
			untold = false;
			targets = weft_node_bit(sender);
		}
		for (to = 1; to <= NODES; to++)
			if (targets & weft_node_bit(to))
				deliver(msg, to, value);
		break;
	case WEFT_TO_HOME:
		to = weft_txn_member(msg->txn);
		msg->type = WEFT_MSG_DATA;
		msg->src = 33;
		msg->version = home_version;
		msg->info = BLOCK;
		msg->size = BLOCK;
		msg->len = BLOCK;
		msg->nonce = 0;
		sent[msg->type]++;
		deliver(msg, to, home_data);
		break;
	default:
		break;
	}
}

static void deliver(const struct weft_msg *msg, u32 to, u32 value)
{
	struct weft_out out;

	weft_line_recv(&node[to], msg, ++seq, &out);
	carry_out(to, &out, value);
}

static void timeout(u32 n)
{
	struct weft_out out;

	weft_line_timeout(&node[n], &out);
	carry_out(n, &out, 0);
}

static void want(u32 n, u8 perm)
{
	struct weft_out out;

	weft_line_want(&node[n], perm, ++seq, &out);
	carry_out(n, &out, 0);
}

static void evict(u32 n)
{
	struct weft_out out;

	CHECK(weft_line_evict(&node[n], true, ++seq, &out));
	carry_out(n, &out, 0);
}

static void write_at(u32 n, u32 value)
{
	want(n, WEFT_M);
	CHECK_EQ(weft_line_perm(&node[n]), WEFT_M);
	data[n] = value;
}

static u32 expects(u32 n, u8 perm)
{
	struct weft_out out;
	u32 txn = weft_txn(n, ++seq);

	CHECK(weft_line_expect(&node[n], perm, txn, &out));
	CHECK(!out.n && out.effects & WEFT_DO_TIMER);
	CHECK(node[n].expecting && !weft_line_idle(&node[n]));
	/* once at a time */
	CHECK(!weft_line_expect(&node[n], perm, weft_txn(n, ++seq), &out));
	return txn;
}

static bool pass(u32 n, u32 txn)
{
	struct weft_out out;
	bool did = weft_line_pass(&node[n], txn, &out);

	CHECK_EQ(out.effects, did ? WEFT_DO_REVOKE : 0);
	carry_out(n, &out, 0);
	return did;
}

static bool lend(u32 n, u32 txn)
{
	bool writes = weft_line_perm(&node[n]) == WEFT_M;
	struct weft_out out;
	bool did = weft_line_lend(&node[n], txn, &out);

	CHECK_EQ(out.effects, did && writes ? WEFT_DO_PROTECT : 0);
	carry_out(n, &out, 0);
	return did;
}

static bool yield(u32 n, u32 txn)
{
	struct weft_out out;
	bool did = weft_line_yield(&node[n], txn, &out);

	CHECK_EQ(out.effects, did ? WEFT_DO_REVOKE : 0);
	carry_out(n, &out, 0);
	return did;
}

static void begin(void)
{
	u32 n;

	memset(&e, 0, sizeof(e));
	memset(data, 0, sizeof(data));
	home_data = 0;
	home_version = 0;
	for (n = 1; n <= NODES; n++)
		weft_line_init(&node[n], KEY, (u8)n);
	write_at(1, 11);
	memset(sent, 0, sizeof(sent));
}

/* Nobody has anything outstanding; one writer has it, or these readers. */
static void rests(u32 status, u32 copyset)
{
	u32 n;

	CHECK_EQ(e.lock, 0);
	CHECK_EQ(e.status, status);
	CHECK_EQ(e.copyset, copyset);
	for (n = 1; n <= NODES; n++) {
		CHECK(weft_line_idle(&node[n]));
		CHECK_EQ(node[n].state, copyset & weft_node_bit(n) ? status : WEFT_I);
	}
}

static u32 all_sent(void)
{
	u32 i, n = 0;

	for (i = 0; i < TYPES; i++)
		n += sent[i];
	return n;
}

static void exclusive(void)
{
	u32 txn;

	begin();
	txn = expects(2, WEFT_M);
	CHECK(!pass(2, weft_txn(3, 1)));
	CHECK(!pass(1, weft_txn(1, 1)));
	CHECK(!pass(1, weft_txn(33, 1)));
	CHECK(pass(1, txn));
	CHECK(!pass(1, txn));
	rests(WEFT_M, 1 << 1);
	CHECK_EQ(data[2], 11);
	/* forwarded by the directory it is one more */
	CHECK(sent[WEFT_MSG_PASS] == 1 && sent[WEFT_MSG_PASSED] == 1 &&
	      sent[WEFT_MSG_COMMIT] == 1 && sent[WEFT_MSG_COMMIT_ACK] == 1);
	CHECK_EQ(all_sent(), 4);
	/* and back */
	write_at(2, 12);
	CHECK(pass(2, expects(1, WEFT_M)));
	rests(WEFT_M, 1 << 0);
	CHECK_EQ(data[1], 12);
	CHECK_EQ(all_sent(), 8);
}

/* Readers, then a writer: what a lock does that goes round among them. */
static void lent(void)
{
	u32 reader, other, writer;

	begin();
	reader = expects(2, WEFT_S);
	CHECK(!lend(2, weft_txn(3, 1)));
	CHECK(!lend(1, weft_txn(1, 1)) && !lend(1, weft_txn(33, 1)));
	CHECK(lend(1, reader));
	/* one message, and nobody else knows */
	CHECK(sent[WEFT_MSG_DATA] == 1 && all_sent() == 1);
	CHECK(data[2] == 11 && weft_line_perm(&node[2]) == WEFT_S);
	CHECK(node[1].state == WEFT_M && weft_line_perm(&node[1]) == WEFT_S);
	CHECK(e.status == WEFT_M && e.copyset == 1 && !e.lock);
	CHECK(!lend(1, reader));
	/* one more, who asks: it does not cost the others their copies */
	want(3, WEFT_S);
	CHECK(sent[WEFT_MSG_GETS] == 1 && sent[WEFT_MSG_FWD] == 1 &&
	      sent[WEFT_MSG_DATA] == 2 && sent[WEFT_MSG_COMMIT] == 1 &&
	      sent[WEFT_MSG_COMMIT_ACK] == 1 && all_sent() == 6);
	CHECK(data[3] == 11 && node[1].lent == 6 && e.copyset == 1);
	/* the next writer is one of them: the other one gives its copy back */
	writer = expects(3, WEFT_M);
	CHECK(!yield(1, writer) && !yield(2, weft_txn(2, 1)));
	CHECK(yield(2, writer));
	CHECK_EQ(weft_line_perm(&node[2]), WEFT_I);
	CHECK(pass(1, writer));
	rests(WEFT_M, 1 << 2);
	CHECK(sent[WEFT_MSG_INV_ACK] == 1 && !sent[WEFT_MSG_INV] &&
	      !sent[WEFT_MSG_GETM] && all_sent() == 11);
	/* it has nothing to give back now */
	CHECK(!yield(2, writer) && !node[1].lent);
	/* passed on while somebody reads still: to write he has to be through */
	write_at(3, 12);
	reader = expects(2, WEFT_S);
	CHECK(lend(3, reader));
	other = expects(1, WEFT_M);
	CHECK(pass(3, other));
	CHECK(node[1].expecting && weft_line_perm(&node[1]) == WEFT_I);
	CHECK(yield(2, other));
	rests(WEFT_M, 1 << 0);
	CHECK(data[1] == 12 && !sent[WEFT_MSG_INV]);
}

/* Who was lent the line, and does not give it back, is told to. */
static void dunned(void)
{
	u32 writer;

	/* by the next owner, who is tired of waiting */
	begin();
	CHECK(lend(1, expects(2, WEFT_S)));
	writer = expects(3, WEFT_M);
	CHECK(pass(1, writer));
	timeout(3);
	rests(WEFT_M, 1 << 2);
	CHECK(sent[WEFT_MSG_INV] == 1 && sent[WEFT_MSG_INV_ACK] == 1);
	/* by an owner that nobody told of the loan in advance */
	begin();
	CHECK(lend(1, expects(2, WEFT_S)));
	write_at(3, 22);
	rests(WEFT_M, 1 << 2);
	/* to that owner, and to the reader, who still had a copy */
	CHECK_EQ(sent[WEFT_MSG_INV], 2);
	/* by the lender: it needs the lock, so that nobody else takes it meanwhile */
	begin();
	CHECK(lend(1, expects(2, WEFT_S)));
	lost = WEFT_MSG_INV;
	want(1, WEFT_M);
	CHECK_EQ(weft_line_perm(&node[1]), WEFT_S);
	timeout(1);
	rests(WEFT_M, 1 << 0);
	CHECK(sent[WEFT_MSG_PUT] == 1 && sent[WEFT_MSG_INV] == 2);
	/* and may lend it again */
	write_at(1, 33);
	CHECK(lend(1, expects(2, WEFT_S)));
	CHECK_EQ(data[2], 33);
	/* who has left the rack since is not waited for */
	lost = WEFT_MSG_INV;
	want(1, WEFT_M);
	timeout(1);
	CHECK_EQ(weft_line_perm(&node[1]), WEFT_M);
	begin();
	CHECK(lend(1, expects(2, WEFT_S)));
	writer = expects(3, WEFT_M);
	CHECK(pass(1, writer));
	lost = WEFT_MSG_INV;
	timeout(3);
	CHECK_EQ(weft_line_perm(&node[3]), WEFT_I);
	weft_line_init(&node[2], KEY, 2);
	weft_line_members(&node[3], 0x5);
	timeout(3);
	rests(WEFT_M, 1 << 2);
	begin();
	CHECK(lend(1, expects(2, WEFT_S)));
	lost = WEFT_MSG_INV;
	want(1, WEFT_M);
	weft_line_init(&node[2], KEY, 2);
	weft_line_members(&node[1], 0x5);
	timeout(1);
	rests(WEFT_M, 1 << 0);
	/* a line that is evicted leaves its readers where they are */
	write_at(1, 33);
	CHECK(lend(1, expects(2, WEFT_S)));
	evict(1);
	rests(WEFT_S, 1 << 1);
	CHECK_EQ(home_data, 33);
}

/* What a node asks to read is lent to it, and called back by the owner, without the directory. */
static void asked_for(void)
{
	struct weft_out out;

	begin();
	lends = true;
	want(2, WEFT_S);
	CHECK(sent[WEFT_MSG_GETS] == 1 && sent[WEFT_MSG_FWD] == 1 && sent[WEFT_MSG_DATA] == 1 &&
	      sent[WEFT_MSG_COMMIT] == 1 && sent[WEFT_MSG_COMMIT_ACK] == 1 && all_sent() == 5);
	CHECK(data[2] == 11 && weft_line_perm(&node[2]) == WEFT_S && node[2].loaned);
	CHECK(node[1].state == WEFT_M && weft_line_perm(&node[1]) == WEFT_S);
	CHECK(e.status == WEFT_M && e.copyset == 1 && !e.lock && !home_version);
	/* its own */
	write_at(1, 12);
	CHECK(sent[WEFT_MSG_INV] == 1 && sent[WEFT_MSG_INV_ACK] == 1 && all_sent() == 7);
	rests(WEFT_M, 1 << 0);
	CHECK(!node[1].lent);
	/* who has dropped it cannot say that it was this version: then by the directory */
	want(2, WEFT_S);
	CHECK_EQ(data[2], 12);
	evict(2);
	weft_line_init(&node[2], KEY, 2);
	memset(sent, 0, sizeof(sent));
	write_at(1, 13);
	CHECK(sent[WEFT_MSG_PUT] == 1 && sent[WEFT_MSG_GRANT] == 1 && sent[WEFT_MSG_INV] == 2);
	rests(WEFT_M, 1 << 0);
	/* nor if the answer is lost */
	want(2, WEFT_S);
	lost = WEFT_MSG_INV_ACK;
	want(1, WEFT_M);
	CHECK_EQ(weft_line_perm(&node[1]), WEFT_S);
	timeout(1);
	rests(WEFT_M, 1 << 0);
	/* the next one to write asks who has it, when it hears of them */
	want(2, WEFT_S);
	memset(sent, 0, sizeof(sent));
	write_at(3, 14);
	CHECK(sent[WEFT_MSG_GETM] == 1 && sent[WEFT_MSG_INV] == 2 && sent[WEFT_MSG_INV_ACK] == 1 &&
	      !sent[WEFT_MSG_WB]);
	rests(WEFT_M, 1 << 2);
	/* a program that writes has the right taken away meanwhile: it goes */
	want(2, WEFT_S);
	lost = WEFT_MSG_INV;
	want(3, WEFT_M);
	CHECK(node[3].op == WEFT_OP_TAKE && node[3].calling);
	want(1, WEFT_M);
	rests(WEFT_M, 1 << 0);
	CHECK_EQ(data[1], 14);
	/* one that reads again what it has given back has it at home, too */
	want(2, WEFT_S);
	evict(2);
	want(2, WEFT_S);
	rests(WEFT_S, 3);
	CHECK_EQ(home_data, 14);
	/* nobody is lent what is to be at home */
	begin();
	lends = false;
	want(2, WEFT_S);
	rests(WEFT_S, 3);
	CHECK_EQ(home_data, 11);
	/* nor a third reader what two have asked for */
	begin();
	lends = true;
	node[1].lent = 0xC0000000;
	node[1].version++;
	want(2, WEFT_S);
	CHECK(e.status == WEFT_S && e.copyset == 0xC0000003 && home_data == 11);
	/* unless they read under a lock */
	begin();
	lends = true;
	CHECK(lend(1, expects(2, WEFT_S)));
	node[1].lent |= 0xC0000000;
	want(3, WEFT_S);
	CHECK(e.status == WEFT_M && node[1].lent == 0xC0000006 && !home_version);
	/* more readers than fit into what follows from an event: by the directory */
	weft_line_forget(&node[1], &out);
	node[1].state = WEFT_M;
	node[1].lent = 0x3E;
	weft_line_want(&node[1], WEFT_M, ++seq, &out);
	CHECK(out.n == 1 && out.send[0].msg.type == WEFT_MSG_PUT && !node[1].calling);
	weft_line_forget(&node[1], &out);
	node[1].state = WEFT_M;
	node[1].lent = 0x1E;
	weft_line_want(&node[1], WEFT_M, ++seq, &out);
	CHECK(out.n == 4 && out.send[3].msg.type == WEFT_MSG_INV && node[1].calling);
	weft_line_forget(&node[1], &out);
	lends = false;
}

/* Who does not expect it says so; it comes back without another transaction. */
static void not_expected(void)
{
	struct weft_out out;
	u32 txn;

	begin();
	txn = expects(2, WEFT_M);
	CHECK(weft_line_unexpect(&node[2], &out));
	CHECK(out.effects & WEFT_DO_WAKE && weft_line_idle(&node[2]));
	CHECK(!weft_line_unexpect(&node[2], &out));
	CHECK(pass(1, txn));
	CHECK_EQ(sent[WEFT_MSG_ABORT], 1);
	CHECK_EQ(node[1].held, WEFT_HELD_GIVEN);
	CHECK_EQ(weft_line_perm(&node[1]), WEFT_I);
	timeout(1);
	rests(WEFT_M, 1 << 0);
	CHECK_EQ(data[1], 11);
	CHECK(sent[WEFT_MSG_QUERY] == 1 && !sent[WEFT_MSG_PUT]);
	/* with the grant of now */
	CHECK(pass(1, expects(3, WEFT_M)));
	rests(WEFT_M, 1 << 2);
}

/* A pass that is late must find that its owner has been at work again. */
static void late_pass(void)
{
	u32 txn;

	begin();
	txn = expects(2, WEFT_M);
	lost = WEFT_MSG_PASS;
	CHECK(pass(1, txn));
	timeout(1);
	CHECK_EQ(sent[WEFT_MSG_PUT], 1);
	CHECK_EQ(node[1].state, WEFT_M);
	write_at(1, 22);
	at_directory(&late, late_data);
	CHECK_EQ(sent[WEFT_MSG_PASSED], 0);
	CHECK(node[2].expecting);
	/* then it asks */
	timeout(2);
	rests(WEFT_M, 1 << 1);
	CHECK_EQ(data[2], 22);
	CHECK_EQ(sent[WEFT_MSG_GETM], 1);
	/* asked while the pass is on its way: it is answered from what is kept */
	begin();
	txn = expects(2, WEFT_M);
	lost = WEFT_MSG_PASS;
	CHECK(pass(1, txn));
	timeout(2);
	rests(WEFT_M, 1 << 1);
	CHECK_EQ(data[2], 11);
	at_directory(&late, late_data);
	rests(WEFT_M, 1 << 1);
}

/* Passed on to who expects to read, lent to who expects to write: both have to ask. */
static void mistaken(void)
{
	begin();
	CHECK(pass(1, expects(2, WEFT_S)));
	CHECK(node[2].expecting);
	timeout(2);
	CHECK_EQ(e.status, WEFT_S);
	CHECK(data[2] == 11 && home_data == 11 && node[2].state == WEFT_S);
	begin();
	CHECK(lend(1, expects(2, WEFT_M)));
	CHECK(node[2].expecting && weft_line_perm(&node[2]) == WEFT_I);
	timeout(2);
	rests(WEFT_M, 1 << 1);
	CHECK_EQ(data[2], 11);
}

/* It comes round to who does not know yet that it was taken. */
static void round_trip(void)
{
	u32 txn;

	begin();
	txn = expects(2, WEFT_M);
	untold = true;
	CHECK(pass(1, txn));
	CHECK_EQ(node[1].held, WEFT_HELD_GIVEN);
	txn = expects(1, WEFT_M);
	write_at(2, 22);
	CHECK(pass(2, txn));
	rests(WEFT_M, 1 << 0);
	CHECK_EQ(data[1], 22);
	/* who expects, and finds that it is still the owner */
	txn = expects(2, WEFT_M);
	lost = WEFT_MSG_PASS;
	CHECK(pass(1, txn));
	expects(1, WEFT_M);
	timeout(1);
	CHECK(node[1].state == WEFT_M && !node[1].held);
	timeout(2);
	rests(WEFT_M, 1 << 1);
	CHECK_EQ(data[2], 22);
	/* ... or that it is not */
	txn = expects(1, WEFT_M);
	untold = true;
	CHECK(pass(2, txn));
	expects(2, WEFT_M);
	timeout(2);
	CHECK(node[2].expecting && !node[2].held);
	timeout(2);
	rests(WEFT_M, 1 << 1);
}

int main(void)
{
	exclusive();
	lent();
	asked_for();
	dunned();
	not_expected();
	late_pass();
	mistaken();
	round_trip();
	return check_result();
}
