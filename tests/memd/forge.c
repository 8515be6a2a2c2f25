// SPDX-License-Identifier: GPL-2.0-only
/* Forged messages, see forge.h. */
#include "forge.h"

#define LOCKS		128
#define NAMES		8	/* names of regions: "a" and so on */

/* Give a changed header right sums again. */
static void mend(u8 *b, size_t len)
{
	u32 sum = 0, i;

	put_unaligned_be16((u16)len, b + 4);
	put_unaligned_be32(weft_wire_psum(b + WEFT_WIRE_HDR_LEN,
					  len - WEFT_WIRE_HDR_LEN), b + 56);
	put_unaligned_be16(0, b + 6);
	for (i = 0; i < WEFT_WIRE_HDR_LEN; i += 2)
		sum += get_unaligned_be16(b + i);
	sum = (sum & 0xFFFF) + (sum >> 16);
	put_unaligned_be16((u16)~((sum & 0xFFFF) + (sum >> 16)), b + 6);
}

void forge_random(struct forged *f)
{
	u8 *b = f->buf;
	u32 i;

	f->len = rig_random(4) ? rig_random(200) : rig_random(FORGE_MAX);
	for (i = 0; i < f->len; i++)
		b[i] = (u8)rig_random(256);
	if (f->len < WEFT_WIRE_HDR_LEN || !rig_random(2))
		return;
	b[0] = WEFT_WIRE_MAGIC;
	b[1] = WEFT_WIRE_VERSION;
	b[2] = (u8)rig_random(70);
	if (rig_random(2))
		mend(b, f->len);
}

static bool is_about_lock(u8 type)
{
	return type == WEFT_MSG_ACQUIRE || type == WEFT_MSG_HAND;
}

static u64 any_line(const struct forge *about, u8 type)
{
	bool lock = rig_random(16) ? is_about_lock(type) : rig_random(2);

	/* and now and then one that there is not */
	if (!rig_random(16))
		return weft_line_key(about->victim, rig_random(16), rig_random(1 << 20));
	return weft_line_key(about->victim, lock ? WEFT_KIND_LOCK : WEFT_KIND_PAGE,
			     lock ? 64 * rig_random(LOCKS) : rig_random(about->lines));
}

static u16 any_op(void)
{
	u16 op;

	/* who joins, with which life, and who is taken for dead, is up to the test */
	do
		op = (u16)(1 + rig_random(WEFT_CALL_MAX - 1));
	while (op == WEFT_CALL_JOIN || op == WEFT_CALL_FENCE_NODE);
	return op;
}

static u32 any_call(const struct forge *about, u8 src, u8 *payload)
{
	struct weft_call c = {
		.op = any_op(),
		.err = (u16)(rig_random(2) ? 0 : rig_random(200)),
		.node = rig_random(8) ? src : 1 + rig_random(WEFT_BLADE_MAX),
		.valid = rig_random(32), .mode = rig_random(01000),
		.region = rig_random(4) ? about->victim : rig_random(1 << 16),
		.block = rig_random(2) ? 0 : 4096u << rig_random(5),
		.members = rig_random(256), .life = 1 + rig_random(2000),
		/* or even one that the victim may get */
		.size = rig_random(4) ? about->lines * 4096ull : rig_random(100000),
		.cookie = rig_random(2) ? 0 : rig_random(1000),
		.name_len = 1, .name = { (char)('a' + rig_random(NAMES)) },
	};

	/* the sender's own life; but who leaves is no member any more */
	if (c.op != WEFT_CALL_LEAVE && rig_random(2))
		c.life = about->life[src & 63];
	return weft_call_pack(&c, payload);
}

static void pack(const struct forge *about, struct forged *f, struct weft_msg *m)
{
	u8 payload[FORGE_PAYLOAD];

	/* the sum of what stands behind the header */
	memcpy(payload, f->buf + WEFT_WIRE_HDR_LEN, m->len);
	m->payload = m->len ? payload : NULL;
	f->len = weft_wire_pack(m, f->buf, about->key, about->stamp);
}

void forge_node(const struct forge *about, u8 type, u8 src, struct forged *f)
{
	struct weft_msg m = {
		.type = type, .flags = (u8)rig_random(256), .src = src,
		.status = (u8)rig_random(3), .info = rig_fragment(),
		.line = any_line(about, type),
		.copyset = rig_random(256), .provider = rig_random(256),
		.grant = rig_random(64), .version = rig_random(100), .size = 4096,
		.txn = weft_txn(rig_random(8) ? src : 1 + rig_random(WEFT_BLADE_MAX),
				rig_random(1000)),
		.holder = weft_txn(1 + rig_random(WEFT_BLADE_MAX), rig_random(1000)),
		.nonce = rig_random(100),
	};
	u32 at = rig_random(3);

	if (weft_msg_has_data(type)) {
		m.offset = at * rig_fragment();
		m.len = at < 2 ? rig_fragment() : 4096 - 2 * rig_fragment();
		memset(f->buf + WEFT_WIRE_HDR_LEN, (int)rig_random(256), m.len);
	} else if (type >= WEFT_MSG_CALL) {
		m.len = any_call(about, src, f->buf + WEFT_WIRE_HDR_LEN);
	}
	pack(about, f, &m);
}

void forge_switch(const struct forge *about, const struct weft_msg *asked,
		  struct forged *f)
{
	static const u8 types[] = {
		WEFT_MSG_ADD_ACK, WEFT_MSG_REMOVE_ACK, WEFT_MSG_DROP_ACK,
		WEFT_MSG_NACK, WEFT_MSG_MEMBERS_ACK,
	};
	struct weft_msg m = {
		.type = types[rig_random(sizeof(types))],
		.flags = (u8)(WEFT_F_SWITCH | rig_random(256)),
		.src = (u8)about->blade, .status = (u8)rig_random(3),
		.info = (u16)rig_random(9), .line = any_line(about, WEFT_MSG_ADD),
		.txn = weft_txn(about->blade, rig_random(1 << 26)),
		.holder = weft_txn(1 + rig_random(8), rig_random(1000)),
		.copyset = rig_random(256), .grant = rig_random(64),
		.nonce = rig_random(2) ? rig_random(100) : (u32)asked->nonce + rig_random(3),
	};

	/* right in all but what it says */
	if (weft_line_region(asked->line) == about->victim && !rig_random(64)) {
		m.txn = asked->txn;
		m.line = asked->line;
	}
	pack(about, f, &m);
}

void forge_mutate(struct forged *f)
{
	u32 n = rig_random(4);

	while (n--)
		f->buf[rig_random((u32)f->len)] ^= (u8)(1 << rig_random(8));
	if (!rig_random(8))
		f->len = rig_random((u32)f->len + 1);
	if (f->len >= WEFT_WIRE_HDR_LEN && rig_random(4))
		mend(f->buf, f->len);
}

bool forge_spares(const struct forge *about, const struct forged *f)
{
	struct weft_msg m;
	struct weft_call c;

	if (weft_wire_unpack(&m, f->buf, f->len, about->key))
		return false;
	if (weft_line_region(m.line) == about->spared)
		return true;
	if (m.type != WEFT_MSG_CALL || weft_call_unpack(&c, m.payload, m.len))
		return false;
	return c.region == about->spared || c.op == WEFT_CALL_JOIN ||
	       c.op == WEFT_CALL_FENCE_NODE ||
	       (c.name_len == strlen(about->spared_name) &&
		!memcmp(c.name, about->spared_name, c.name_len));
}
