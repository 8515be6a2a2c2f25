// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the data of a miss may land: what is on the wire, which requests may offer it, and
 * what else comes while a card may write.
 */
#include "controller.h"
#include "home.h"
#include "tests/common/check.h"

#define ME	5
#define HOME	33
#define KEY	weft_line_key(1, WEFT_KIND_PAGE, 5)
#define BLOCK	4096u

static struct weft_line l;
static struct weft_out out;
static u32 fresh;

static struct weft_msg answer(u8 type, u8 from, u8 flags)
{
	return (struct weft_msg){
		.type = type, .src = from, .txn = l.txn, .line = KEY, .flags = flags,
		.status = WEFT_S, .size = BLOCK, .version = 7, .grant = 6,
	};
}

static void recv(const struct weft_msg *m)
{
	weft_line_recv(&l, m, ++fresh, &out);
}

/* A miss whose request offers a landing. */
static void begin(u8 perm)
{
	weft_line_init(&l, KEY, ME);
	weft_line_want(&l, perm, ++fresh, &out);
	CHECK_EQ(out.n, 1);
	CHECK(weft_line_may_land(&l, &out.send[0].msg));
	weft_line_landing_open(&l);
	CHECK(!weft_line_may_land(&l, &out.send[0].msg));
}

static void on_the_wire(void)
{
	struct weft_landing in = { .addr = 0x0123456789ABCDEFull, .key = 0x89ABCDEF }, back;
	u8 payload[WEFT_LANDING_LEN + 1] = { 0 };
	struct weft_msg m = { .type = WEFT_MSG_FWD, .payload = payload };

	weft_landing_pack(&in, payload);
	CHECK(payload[0] == 0x89 && payload[8] == 0x01 && payload[15] == 0xEF);
	for (m.len = 0; m.len <= sizeof(payload); m.len++)
		CHECK_EQ(weft_landing_unpack(&back, &m), m.len == WEFT_LANDING_LEN);
	m.len = WEFT_LANDING_LEN;
	CHECK(weft_landing_unpack(&back, &m));
	CHECK(back.addr == in.addr && back.key == in.key);
	/* what stands there has a meaning one day */
	payload[7] = 1;
	CHECK(!weft_landing_unpack(&back, &m));
	CHECK(!back.key && !back.addr);
	payload[7] = 0;
	memset(payload, 0, 4);
	CHECK(!weft_landing_unpack(&back, &m));
}

static void deeds(void)
{
	struct weft_deed in = {
		.block = { .addr = 0x0123456789ABCDEFull, .key = 0x89ABCDEF },
		.mark = { .addr = 0xFEDCBA9876543210ull, .key = 0x76543210 }, .number = 1,
	}, back;
	u8 payload[WEFT_DEED_LEN + 1] = { 0 };
	struct weft_msg m = { .type = WEFT_MSG_LANDED, .payload = payload };

	weft_deed_pack(&in, payload);
	CHECK(payload[0] == 0x01 && payload[8] == 0x89 && payload[12] == 0x76);
	CHECK(payload[16] == 0xFE && payload[31] == 1);
	for (m.len = 0; m.len <= sizeof(payload); m.len++) {
		CHECK_EQ(weft_deed_unpack(&back, &m), m.len == WEFT_DEED_LEN);
		CHECK_EQ(back.block.key, m.len == WEFT_DEED_LEN ? in.block.key : 0);
	}
	m.len = WEFT_DEED_LEN;
	CHECK(weft_deed_unpack(&back, &m));
	CHECK(back.block.addr == in.block.addr && back.mark.addr == in.mark.addr);
	CHECK(back.mark.key == in.mark.key && back.number == in.number);
	/* a number that stands where nothing does */
	payload[31] = 0;
	CHECK(!weft_deed_unpack(&back, &m));
}

/* The directory grants to read what only the home has: it is fetched, once. */
static void it_is_granted(void)
{
	struct weft_msg m, block;

	begin(WEFT_S);
	m = answer(WEFT_MSG_GRANT, HOME, WEFT_F_SWITCH);
	recv(&m);
	CHECK_EQ(out.n, 1);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_READ);
	CHECK_EQ(out.send[0].msg.flags, 0);
	CHECK(!out.send[0].to && out.effects & WEFT_DO_TIMER && l.landing);
	/* a copy of the request was granted, too */
	recv(&m);
	CHECK_EQ(out.n, 0);
	/* it is asked for again where it is */
	weft_line_timeout(&l, &out);
	CHECK_EQ(out.n, 1);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_READ);
	block = answer(WEFT_MSG_LANDED, HOME, WEFT_F_SWITCH);
	recv(&block);
	CHECK(l.state == WEFT_S && l.op == WEFT_OP_NONE);
	recv(&m);
	CHECK_EQ(out.n, 0);

	/* an invalidation comes before: what was read may be from before a write */
	begin(WEFT_S);
	m = answer(WEFT_MSG_GRANT, HOME, WEFT_F_SWITCH);
	recv(&m);
	block = answer(WEFT_MSG_LANDED, HOME, WEFT_F_SWITCH);
	m = answer(WEFT_MSG_INV, HOME, WEFT_F_SWITCH | WEFT_F_BUSY);
	m.txn = weft_txn(2, 1);
	recv(&m);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_INV_ACK);
	recv(&block);
	CHECK_EQ(l.state, WEFT_I);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_GETS);
	CHECK(out.send[0].msg.txn != block.txn);

	/* another copy of the request has got the lock: the directory is asked again */
	begin(WEFT_S);
	m = answer(WEFT_MSG_GRANT, HOME, WEFT_F_SWITCH);
	recv(&m);
	m = answer(WEFT_MSG_DATA, 2, WEFT_F_BUSY);
	m.status = WEFT_M;
	m.copyset = weft_node_bit(2);
	m.info = m.len = BLOCK / 2;
	weft_line_landing_closed(&l);
	recv(&m);
	CHECK_EQ(l.state, WEFT_I);
	weft_line_timeout(&l, &out);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_GETS);
}

static void which_requests(void)
{
	struct weft_msg m;

	/* one that is repeated does not */
	begin(WEFT_S);
	weft_line_landing_closed(&l);
	weft_line_timeout(&l, &out);
	CHECK_EQ(out.n, 1);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_GETS);
	CHECK(!weft_line_may_land(&l, &out.send[0].msg));

	/* an upgrade does not: programs read */
	weft_line_init(&l, KEY, ME);
	l.state = WEFT_S;
	weft_line_want(&l, WEFT_M, ++fresh, &out);
	CHECK_EQ(out.send[0].msg.flags, WEFT_F_HAVE);
	CHECK(!weft_line_may_land(&l, &out.send[0].msg));

	/* nobody has data but the home: the node asks it itself */
	begin(WEFT_M);
	weft_line_landing_closed(&l);
	l.landed = false;
	m = answer(WEFT_MSG_GRANT, HOME, WEFT_F_BUSY);
	recv(&m);
	CHECK_EQ(out.n, 1);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_READ);
	CHECK(weft_line_may_land(&l, &out.send[0].msg));
	out.send[0].msg.flags |= WEFT_F_RELAY;
	CHECK(!weft_line_may_land(&l, &out.send[0].msg));

	/* nothing that is no request does */
	begin(WEFT_S);
	weft_line_landing_closed(&l);
	l.landed = false;
	m = answer(WEFT_MSG_PUT, ME, 0);
	CHECK(!weft_line_may_land(&l, &m));
	m.type = WEFT_MSG_GETS;
	CHECK(weft_line_may_land(&l, &m));
	m.txn++;
	CHECK(!weft_line_may_land(&l, &m));
}

static void it_lands(void)
{
	struct weft_msg m;

	begin(WEFT_S);
	m = answer(WEFT_MSG_LANDED, HOME, 0);
	recv(&m);
	CHECK(!(out.effects & (WEFT_DO_INSTALL | WEFT_DO_CLOSE)));
	CHECK(out.effects & WEFT_DO_WAKE);
	CHECK(l.state == WEFT_S && !l.landing && l.version == 7);
	CHECK_EQ(out.miss, WEFT_MISS_READ_UNSHARED);
}

static void other_data_comes(void)
{
	struct weft_msg m;

	begin(WEFT_S);
	m = answer(WEFT_MSG_DATA, HOME, 0);
	m.info = m.len = BLOCK;
	recv(&m);
	CHECK_EQ(out.effects, WEFT_DO_CLOSE | WEFT_DO_AGAIN);
	CHECK(l.state == WEFT_I && !l.in_frags);
	weft_line_landing_closed(&l);
	recv(&m);
	CHECK(out.effects & WEFT_DO_INSTALL);
	CHECK(l.state == WEFT_S);

	/* a refusal leaves it open, the end of the transaction does not */
	begin(WEFT_S);
	m = answer(WEFT_MSG_NACK, HOME, 0);
	m.info = WEFT_WHY_BUSY;
	recv(&m);
	CHECK(l.landing && !(out.effects & WEFT_DO_CLOSE));
	m.info = WEFT_WHY_NO_LINE;
	recv(&m);
	CHECK(out.effects & WEFT_DO_CLOSE);
	CHECK(l.landing);
	/* the next one offers none before it is closed */
	weft_line_want(&l, WEFT_S, ++fresh, &out);
	CHECK_EQ(out.n, 1);
	CHECK(!weft_line_may_land(&l, &out.send[0].msg));

	begin(WEFT_S);
	weft_line_forget(&l, &out);
	CHECK(l.landing && out.effects & WEFT_DO_CLOSE);
}

/* Two copies of a request, answered by two providers, of two versions. */
static void it_may_be_mixed(void)
{
	struct weft_msg m;

	begin(WEFT_S);
	m = answer(WEFT_MSG_INV, 2, WEFT_F_BUSY);
	m.txn = weft_txn(2, 1);
	recv(&m);
	CHECK(l.poisoned);
	m = answer(WEFT_MSG_LANDED, 2, WEFT_F_BUSY);
	m.status = WEFT_M;
	recv(&m);
	CHECK_EQ(l.state, WEFT_I);
	CHECK_EQ(out.n, 1);
	CHECK_EQ(out.send[0].msg.type, WEFT_MSG_GETS);
	CHECK_EQ(out.send[0].msg.txn, m.txn);
	CHECK(!weft_line_may_land(&l, &out.send[0].msg));
	/* the first one's data is too old now */
	m = answer(WEFT_MSG_DATA, HOME, 0);
	m.info = m.len = BLOCK;
	m.version = 6;
	recv(&m);
	CHECK(!(out.effects & WEFT_DO_INSTALL) && l.state == WEFT_I);
	m.version = 7;
	m.src = 2;
	m.flags = WEFT_F_BUSY;
	m.status = WEFT_M;
	recv(&m);
	CHECK(out.effects & WEFT_DO_INSTALL);
	CHECK_EQ(l.state, WEFT_S);
}

/* Who is to send the data hears where to: from the directory, and when it obeys later. */
static void it_is_passed_on(void)
{
	struct weft_landing there = { .addr = 0x1000, .key = 9 }, seen;
	u8 payload[WEFT_LANDING_LEN];
	static struct weft_home_line home;
	struct weft_home_out home_out;
	struct weft_msg m = {
		.type = WEFT_MSG_GETM, .src = ME, .txn = weft_txn(ME, 1), .line = KEY,
		.len = WEFT_LANDING_LEN, .payload = payload,
	};

	weft_landing_pack(&there, payload);
	weft_home_init(&home, KEY, HOME);
	home.e.status = WEFT_M;
	home.e.copyset = weft_node_bit(2);
	home.e.grant = WEFT_GRANT_OWNED;
	weft_home_recv(&home, weft_node_bit(ME) | weft_node_bit(2), false, &m, 1, &home_out);
	CHECK_EQ(home_out.dest, WEFT_TO_NODES);
	CHECK_EQ(home_out.msg.type, WEFT_MSG_INV);
	CHECK(weft_landing_unpack(&seen, &home_out.msg));
	CHECK(seen.addr == there.addr && seen.key == there.key);

	weft_line_init(&l, KEY, 2);
	l.state = WEFT_M;
	recv(&home_out.msg);
	CHECK(out.effects & WEFT_DO_REVOKE);
	memset(payload, 0, sizeof(payload));
	weft_line_revoked(&l, false, ++fresh, &out);
	CHECK_EQ(out.n, 1);
	CHECK(out.send[0].with_data);
	CHECK(out.send[0].landing.addr == there.addr && out.send[0].landing.key == there.key);

	/* anything else behind a request is nothing that anybody is told */
	m.len = WEFT_LANDING_LEN - 1;
	weft_home_recv(&home, weft_node_bit(ME) | weft_node_bit(2), false, &m, 2, &home_out);
	CHECK_EQ(home_out.msg.len, 0);
}

int main(void)
{
	on_the_wire();
	deeds();
	which_requests();
	it_lands();
	other_data_comes();
	it_may_be_mixed();
	it_is_passed_on();
	it_is_granted();
	return check_result();
}
