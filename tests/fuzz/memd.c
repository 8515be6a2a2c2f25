// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: a whole memory blade without sockets: catalog, membership,
 * directory, contents.  The input is a list of messages with right sums, most of
 * them such as members and the switch would send, in any order; time passes in
 * between.
 */
#include <stdlib.h>

#include "tools/memd/base/blade.h"
#include "tools/memd/base/log.h"
#include "tools/memd/catalog/follow.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/p4.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/udp.h"

#define NODE_ADDR	0x0A570000u
#define BLADE_ADDR	0x0A570065u

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct memd m;
static u8 buf[WEFT_WIRE_HDR_LEN + 8192];
static struct weft_key key;	/* of the rack, if it has one */
static u8 spoil;	/* what is wrong with the tag of the next message */

/* Bytes of the input, 0 when it has come to its end. */
struct input {
	const u8 *p;
	size_t n;
};

static u8 u8_of(struct input *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->p++;
}

static u32 u32_of(struct input *in)
{
	u32 v = 0, i;

	for (i = 0; i < 4; i++)
		v = v << 8 | u8_of(in);
	return v;
}

/* Mostly small numbers, for they mean something; sometimes any. */
static u64 number(struct input *in)
{
	u8 kind = u8_of(in);

	switch (kind & 3) {
	case 0:
		return u8_of(in);
	case 1:
		return (u64)u8_of(in) << (kind >> 2);
	case 2:
		return u32_of(in);
	default:
		return (u64)u32_of(in) << 32 | u32_of(in);
	}
}

static struct region *any_region(struct input *in)
{
	u8 which = u8_of(in);

	return m.b->regions->n ? m.b->regions->by_id[which % m.b->regions->n] : NULL;
}

static u32 region_id(struct input *in)
{
	const struct region *r = any_region(in);

	return r && u8_of(in) < 250 ? r->id : u32_of(in) & WEFT_REGION_MAX;
}

static u64 line(struct input *in)
{
	u32 id = region_id(in);
	u8 index = u8_of(in);

	if (index == 255)
		return weft_line_key(id, u8_of(in) & 1, number(in));
	return weft_line_key(id, WEFT_KIND_PAGE, index & 0x7F);
}

static void deliver(struct weft_msg *msg, u32 from)
{
	msg->payload = msg->len ? buf + WEFT_WIRE_HDR_LEN : NULL;
	struct weft_stamp stamp = memd_time(&m);
	size_t len;

	stamp.epoch ^= spoil == 1;
	stamp.tick += spoil == 2 ? 161u : spoil == 3 ? -161u : 0;
	len = weft_wire_pack(msg, buf, spoil == 4 ? NULL : &key, stamp);
	if (spoil >= 5)
		buf[len - 1 - spoil % 16] ^= 1;
	spoil = 0;
	memd_receive(&m, buf, len, from, m.udp->port);
}

/* --- calls ------------------------------------------------------------------ */

static u32 addr_of(u8 id)
{
	return weft_is_blade(id) ? BLADE_ADDR + id - WEFT_BLADE_MIN : NODE_ADDR + id;
}

static struct weft_call call(struct input *in, u8 src)
{
	struct weft_call c = {
		.op = (u16)(1 + u8_of(in) % (WEFT_CALL_MAX - 1)),
		.node = src,
		.valid = u8_of(in) & 0x9F,
		.region = region_id(in),
		.mode = u8_of(in),
		.members = u8_of(in) & 7,
		.life = 1u + (u8_of(in) > 240),
		.addr = addr_of(src),
	};
	u32 i;

	if (u8_of(in) & 1)
		c.block = 1u << (u8_of(in) % 8 + 11);
	c.size = u8_of(in) & 0xE0 ? u8_of(in) * 4096u : number(in);
	c.cookie = u8_of(in) & 3 ? 0 : number(in);
	c.name_len = u8_of(in) > 240 ? WEFT_NAME_MAX : u8_of(in) % 3;
	c.list_len = u8_of(in) > 240 ? (u16)(u8_of(in) * 4) : 0;
	for (i = 0; i < c.name_len; i++)
		c.name[i] = (char)('a' + (i < 2 ? u8_of(in) % 4 : 0));
	for (i = 0; i < c.list_len; i++)
		c.list[i] = u8_of(in);
	return c;
}

static void make_call(u8 type, u8 src, u32 txn, const struct weft_call *c, u32 from)
{
	struct weft_msg msg = {
		.type = type, .src = src, .txn = txn, .nonce = 77,
		.len = weft_call_pack(c, buf + WEFT_WIRE_HDR_LEN),
	};

	deliver(&msg, from);
}

static void node_calls(struct input *in)
{
	u8 id = 1 + u8_of(in) % 3;
	struct weft_call c = call(in, id);

	make_call(WEFT_MSG_CALL, id, weft_txn(id, u8_of(in)), &c, NODE_ADDR + id);
}

static void blade_calls(struct input *in)
{
	u8 id = WEFT_BLADE_MIN + (u8_of(in) & 1);
	struct weft_call c = call(in, id);
	u8 how = u8_of(in);

	if (m.b->opt.id != WEFT_BLADE_MIN && how & 0xF0) {
		static const u16 ops[] = {
			WEFT_CALL_REGION, WEFT_CALL_REGION, WEFT_CALL_FORGET,
			WEFT_CALL_MEMBERS,
		};

		id = WEFT_BLADE_MIN;
		c.op = ops[how & 3];
		c.life = m.b->life;
		c.cookie = m.b->follow->seq + (how >> 2 & 3);
	}
	make_call(WEFT_MSG_CALL, id, weft_txn(id, u8_of(in)), &c,
		  BLADE_ADDR + id - WEFT_BLADE_MIN);
}

/* Answers to what the blade called: its numbers are the last ones used. */
static void replies(struct input *in)
{
	u8 who = u8_of(in) & 3;
	u8 id = who ? who : (u8)(m.b->opt.id ^ 3);	/* 33 <-> 34 */
	struct weft_call c = call(in, id);
	u32 back;

	c.err = u8_of(in) & 0xF0 ? 0 : ENOTCONN;
	for (back = 0; back < 16; back++)
		make_call(WEFT_MSG_REPLY, id, weft_txn(m.b->opt.id, m.seq - back), &c,
			  who ? NODE_ADDR + id : BLADE_ADDR + id - WEFT_BLADE_MIN);
}

/* --- lines ------------------------------------------------------------------ */

static struct block *block_at(u64 key)
{
	struct region *r = region_find(m.b->regions, weft_line_region(key));

	return r ? region_block(m.b->regions, r, weft_line_index(key), false) : NULL;
}

static void requests(struct input *in)
{
	u8 id = 1 + u8_of(in) % 3, how = u8_of(in);
	struct weft_msg msg = {
		.type = (u8)(WEFT_MSG_GETS + u8_of(in) % 6),
		.flags = how & WEFT_F_HAVE,
		.src = id,
		.status = how % 3,
		.copyset = 1u << (how >> 4 & 3),
		.txn = weft_txn(id, u8_of(in)),
		.line = line(in),
	};
	const struct block *b = block_at(msg.line);

	if (b && how & 4) {
		msg.grant = b->line.e.grant;
		if (b->line.e.lock && how & 8) {
			msg.txn = b->line.e.lock;
			msg.src = (u8)weft_txn_member(msg.txn);
		}
	}
	if (how & 0x80 && how & 0x40)
		msg.type = how & 1 ? WEFT_MSG_READ : WEFT_MSG_CHASE;
	msg.holder = weft_txn(m.b->opt.id, m.seq - (how & 7));
	deliver(&msg, NODE_ADDR + msg.src);
}

static void write_backs(struct input *in)
{
	u8 id = 1 + u8_of(in) % 3, how = u8_of(in);
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = id, .line = line(in),
		.txn = weft_txn(1 + how % 4, u8_of(in)),
	};
	const struct region *r = region_find(m.b->regions, weft_line_region(msg.line));
	u32 n, i;

	msg.version = (u64)(r ? r->epoch : 0) << 32 | u8_of(in);
	msg.size = r && how & 0xE0 ? r->block : 4096;
	msg.info = how & 0x10 ? 1408 : 4096;
	n = (msg.size + msg.info - 1) / msg.info;
	memset(buf + WEFT_WIRE_HDR_LEN, how, 4096);
	/* all of it, or one part */
	for (i = 0; i < n; i++) {
		msg.offset = (how & 0xC ? i : u8_of(in) % n) * msg.info;
		msg.len = msg.size - msg.offset < msg.info ?
			  msg.size - msg.offset : msg.info;
		deliver(&msg, NODE_ADDR + id);
		if (!(how & 0xC))
			break;
	}
}

/* What the switch may answer to what a line waits for. */
static void switch_answers(struct input *in)
{
	static const u8 answer[] = {
		[WEFT_ADDING] = WEFT_MSG_ADD_ACK,
		[WEFT_REMOVING] = WEFT_MSG_REMOVE_ACK,
		[WEFT_DROPPING] = WEFT_MSG_DROP_ACK,
	};
	u8 how = u8_of(in);
	struct weft_msg msg = {
		.type = WEFT_MSG_MEMBERS_ACK, .src = m.b->opt.id,
		.txn = weft_txn(m.b->opt.id, m.seq), .line = line(in),
		.nonce = m.b->members->version + (how > 250),
		.status = how % 3, .copyset = how >> 4, .grant = how,
	};
	const struct block *b = block_at(msg.line);

	if (b && (b->line.place == WEFT_ADDING || b->line.place >= WEFT_REMOVING)) {
		msg.type = answer[b->line.place];
		msg.txn = b->line.txn;
		msg.nonce = how & 3;
		msg.info = how & 4 ? WEFT_WHY_FULL : WEFT_WHY_GEN;
		msg.flags = how & 8 ? WEFT_F_INSTALLED | WEFT_F_BUSY : 0;
		msg.holder = weft_txn(1 + (how >> 4 & 3), 5);
		if (!(how & 0x70))
			msg.type = WEFT_MSG_NACK;
	}
	deliver(&msg, weft_switch_addr(m.udp->addr));
}

/* The next message has a wrong tag or time, or none; or the other way round. */
static void spoil_next(struct input *in)
{
	spoil = 1 + u8_of(in) % 21;
}

/* Anything. */
static void any_message(struct input *in)
{
	struct weft_msg msg = {
		.type = u8_of(in), .flags = u8_of(in),
		.src = (u8)(1 + u8_of(in) % WEFT_BLADE_MAX),
		.status = u8_of(in) % 3, .info = 64,
		.copyset = u32_of(in), .holder = u32_of(in),
		.nonce = u32_of(in), .grant = u32_of(in), .line = line(in),
		.version = number(in), .size = 4096, .len = u8_of(in) & 0x40,
		.txn = u32_of(in),
	};

	deliver(&msg, u8_of(in) & 1 ? NODE_ADDR + msg.src : WEFT_WIRE_GROUP);
}

/* --- time, and all of it ---------------------------------------------------- */

/* Everything that is due within @ms, without waiting for it. */
static void pass_time(u32 ms)
{
	while (ms--) {
		m.timers.now++;
		timers_run(&m.timers, &m);
	}
}

/* Three nodes and two regions, or what a blade hears of them. */
static void set_up(void)
{
	struct weft_call c = { .life = 1 };
	u8 id, n;

	for (id = 1; id <= 3; id++) {
		c.op = WEFT_CALL_JOIN;
		c.node = id;
		c.addr = addr_of(id);
		make_call(WEFT_MSG_CALL, id, weft_txn(id, 200), &c, NODE_ADDR + id);
	}
	pass_time(1200);
	for (n = 0; n < 2; n++) {
		c.op = WEFT_CALL_CREATE;
		c.size = 100 * 4096;
		c.block = n ? 16384 : 4096;
		c.name_len = 1;
		c.name[0] = (char)('a' + n);
		make_call(WEFT_MSG_CALL, 1, weft_txn(1, 201u + n), &c, NODE_ADDR + 1);
	}
}

static void begin(struct input *in)
{
	struct options o = {
		.id = WEFT_BLADE_MIN, .memory = 4 << 20, .blades = 1,
		.peers = { BLADE_ADDR, BLADE_ADDR + 1 },
	};
	u8 how = u8_of(in);
	char err[ERR_MAX];

	if (how & 1) {
		o.blades = 2;
		o.id = (u8)(WEFT_BLADE_MIN + (how >> 1 & 1));
	}
	o.use_switch = how & 4;
	memset(&key, 0, sizeof(key));
	if (how & 8)
		weft_key_init(&key, (const u8 *)"0123456789abcdef0123456789ABCDEF");
	if (memd_init(&m, &o, &key, err) || udp_open_none(m.udp))
		abort();
	m.udp->fragment = 1408;
	m.udp->addr = BLADE_ADDR + options_blade(&o);
	memd_start(&m);
	m.b->p4->in_use = o.use_switch;
	if (o.blades == 2 && o.id == WEFT_BLADE_MIN) {
		struct weft_call c = {
			.op = WEFT_CALL_JOIN, .node = 34, .life = 9, .size = 4 << 20,
			.addr = addr_of(34),
		};

		make_call(WEFT_MSG_CALL, 34, weft_txn(34, 1), &c, BLADE_ADDR + 1);
	}
	set_up();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (* const actions[])(struct input *in) = {
		node_calls, node_calls, blade_calls, replies, requests, requests,
		write_backs, switch_answers, switch_answers, any_message, spoil_next,
	};
	struct input in = { data, size };

	log_silent = true;
	begin(&in);
	while (in.n) {
		u8 what = u8_of(&in);

		if (what < 32)
			pass_time(u8_of(&in) * 8u);
		else
			actions[what % (sizeof(actions) / sizeof(actions[0]))](&in);
		udp_flush(m.udp);
	}
	memd_exit(&m);
	return 0;
}
