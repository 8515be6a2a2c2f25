// SPDX-License-Identifier: GPL-2.0-only
/* The wire codec: layout byte by byte, what is refused, what comes back. */
#include "tests/common/check.h"
#include "tools/common/random.h"
#include "wire.h"

static u16 sum(const u8 *b)
{
	u32 s = 0, i;

	for (i = 0; i < WEFT_WIRE_HDR_LEN; i += 2)
		s += (u32)b[i] << 8 | b[i + 1];
	while (s >> 16)
		s = (s & 0xFFFF) + (s >> 16);
	return (u16)s;
}

/* Give a changed header a right sum again. */
static void mend(u8 *b)
{
	u16 s;

	b[6] = 0;
	b[7] = 0;
	s = (u16)~sum(b);
	b[6] = (u8)(s >> 8);
	b[7] = (u8)s;
}

static bool same(const struct weft_msg *a, const struct weft_msg *b)
{
	return a->type == b->type && a->flags == b->flags && a->src == b->src &&
	       a->status == b->status && a->info == b->info && a->txn == b->txn &&
	       a->line == b->line && a->copyset == b->copyset &&
	       a->provider == b->provider && a->holder == b->holder &&
	       a->nonce == b->nonce && a->grant == b->grant &&
	       a->version == b->version && a->offset == b->offset &&
	       a->size == b->size && a->rack == b->rack && a->len == b->len &&
	       a->payload == b->payload;
}

/* Every field stands where wire.h says, big-endian. */
static void layout(void)
{
	const struct weft_msg msg = {
		.type = WEFT_MSG_GETS, .flags = 0x12, .src = 5, .status = WEFT_M,
		.info = 0x1314, .txn = 0x21222324, .line = 0x3132333435363738,
		.copyset = 0x41424344, .provider = 0x51525354,
		.holder = 0x61626364, .nonce = 0x71727374,
		.version = 0x8182838485868788, .offset = 64 * 0x9192,
		.size = 1 << 12, .grant = 0xA1A2A3A4, .rack = 0xC1C2C3C4,
	};
	const u8 want[WEFT_WIRE_HDR_LEN] = {
		0x57, 1, 1, 0x12, 0, 64, 0, 0, 0x21, 0x22, 0x23, 0x24,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 5, 2, 0x13, 0x14,
		0x41, 0x42, 0x43, 0x44, 0x51, 0x52, 0x53, 0x54,
		0x61, 0x62, 0x63, 0x64, 0x71, 0x72, 0x73, 0x74,
		0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x91, 0x92, 12, 0,
		0xA1, 0xA2, 0xA3, 0xA4, 0, 0, 0, 0, 0xC1, 0xC2, 0xC3, 0xC4,
	};
	u8 buf[WEFT_WIRE_HDR_LEN];
	struct weft_msg back;
	u32 i;

	weft_wire_pack_plain(&msg, buf);
	for (i = 0; i < sizeof(buf); i++)
		if (i != 6 && i != 7)
			CHECK_EQ(buf[i], want[i]);
	CHECK_EQ(sum(buf), 0xFFFF);
	CHECK_EQ(weft_wire_unpack(&back, buf, sizeof(buf), NULL), 0);
	CHECK(same(&back, &msg));
}

static struct weft_msg fragment(const u8 *payload)
{
	return (struct weft_msg){
		.type = WEFT_MSG_DATA, .src = 33, .txn = weft_txn(1, 1),
		.line = weft_line_key(1, 0, 0), .info = 1408, .offset = 2816,
		.size = 4096, .len = 1280, .payload = payload,
	};
}

static int through(const struct weft_msg *msg)
{
	u8 buf[WEFT_WIRE_HDR_LEN + 9000];
	struct weft_msg back;

	weft_wire_pack_plain(msg, buf);
	memcpy(buf + WEFT_WIRE_HDR_LEN, msg->payload, msg->len);
	return weft_wire_unpack(&back, buf, WEFT_WIRE_HDR_LEN + msg->len, NULL);
}

/* Parts of a block lie inside it, in steps of a full one. */
static void fragments(void)
{
	static u8 payload[9000];
	struct weft_msg m = fragment(payload);

	CHECK_EQ(through(&m), 0);
	m.type = WEFT_MSG_WB;
	CHECK_EQ(through(&m), 0);
#define BAD(change) do {						\
	m = fragment(payload);						\
	change;								\
	CHECK_EQ(through(&m), -EBADMSG);				\
} while (0)
	BAD(m.info = 0);
	BAD(m.info = 1400);
	BAD(m.len = 1216);
	BAD(m.len = 1344);
	BAD(m.len = 0);
	BAD(m.size = 0);
	BAD(m.size = 2048);
	BAD(m.offset = 64);
	BAD(m.offset = 4096);
	BAD(m.size = 1u << 22);
	BAD(m.src = 0);
	BAD(m.src = 49);
	BAD(m.status = 3);
#undef BAD
}

/* One wrong bit anywhere is noticed. */
static void bits(void)
{
	u8 payload[100], buf[WEFT_WIRE_HDR_LEN + 100];
	struct weft_msg m = {
		.type = WEFT_MSG_CALL, .src = 1, .txn = weft_txn(1, 7),
		.len = sizeof(payload), .payload = payload,
	};
	struct weft_msg back;
	u32 i, psum;

	memset(payload, 0x5A, sizeof(payload));
	weft_wire_pack_plain(&m, buf);
	memcpy(buf + WEFT_WIRE_HDR_LEN, payload, sizeof(payload));
	CHECK_EQ(weft_wire_unpack(&back, buf, sizeof(buf), NULL), 0);
	CHECK(back.payload == buf + WEFT_WIRE_HDR_LEN);
	CHECK_EQ(weft_wire_unpack_header(&back, buf, sizeof(buf), &psum), 0);
	CHECK(!back.payload);
	CHECK_EQ(psum, weft_wire_psum(payload, sizeof(payload)));
	for (i = 0; i < 8 * sizeof(buf); i++) {
		int err;

		buf[i / 8] ^= (u8)(1 << i % 8);
		err = weft_wire_unpack(&back, buf, sizeof(buf), NULL);
		CHECK_EQ(err, i / 8 == 1 ? -EPROTONOSUPPORT :
			 i / 8 < WEFT_WIRE_HDR_LEN ? -EBADMSG : -EILSEQ);
		buf[i / 8] ^= (u8)(1 << i % 8);
	}
	for (i = 0; i < sizeof(buf); i++)
		CHECK_EQ(weft_wire_unpack(&back, buf, i, NULL), -EBADMSG);
	/* a version to come is told from damage, whatever else it says */
	buf[1] = 2;
	CHECK_EQ(weft_wire_unpack(&back, buf, sizeof(buf), NULL), -EPROTONOSUPPORT);
	buf[1] = 1;
	buf[2] = 200;
	mend(buf);
	CHECK_EQ(weft_wire_unpack(&back, buf, sizeof(buf), NULL), 0);
}

/* Any message comes back as it was; what is left over does not matter. */
static void round_trips(void)
{
	u64 state = 1;
	struct weft_msg m, back;
	u8 buf[WEFT_WIRE_HDR_LEN];
	u32 i, j;

	for (i = 0; i < 100000; i++) {
		u8 *p = (u8 *)&m;

		for (j = 0; j < sizeof(m); j++)
			p[j] = (u8)random_u32(&state);
		m.src = (u8)(1 + m.src % 48);
		m.status %= 3;
		m.type = (u8)(1 + m.type % 47);
		if (weft_msg_has_data(m.type))
			m.type++;
		m.offset = m.offset % 65536 * 64;
		m.size = 1u << (1 + m.size % 21);
		m.len = 0;
		m.payload = NULL;
		memset(buf, 0xFF, sizeof(buf));
		weft_wire_pack_plain(&m, buf);
		CHECK_EQ(weft_wire_unpack(&back, buf, sizeof(buf), NULL), 0);
		CHECK(same(&back, &m));
	}
}

/* Where one message ends and the next begins: DATA only, and only if it is sound. */
static void several(void)
{
	static u8 payload[1280], buf[3 * (WEFT_WIRE_HDR_LEN + sizeof(payload))];
	const size_t n = WEFT_WIRE_HDR_LEN + sizeof(payload);
	struct weft_msg m = fragment(payload), back;
	u32 i;

	for (i = 0; i < 3; i++) {
		m.txn = weft_txn(1, 10 + i);
		weft_wire_pack_plain(&m, buf + i * n);
		memcpy(buf + i * n + WEFT_WIRE_HDR_LEN, payload, sizeof(payload));
	}
	for (i = 0; i < 3; i++) {
		CHECK_EQ(weft_wire_first(buf + i * n, (3 - i) * n), n);
		CHECK_EQ(weft_wire_unpack(&back, buf + i * n, n, NULL), 0);
		CHECK_EQ(back.txn, weft_txn(1, 10 + i));
	}
	CHECK_EQ(weft_wire_first(buf, n), n);
	/* a part of a message, or nothing */
	CHECK_EQ(weft_wire_first(buf, n - 1), n - 1);
	CHECK_EQ(weft_wire_first(buf, WEFT_WIRE_HDR_LEN - 1), WEFT_WIRE_HDR_LEN - 1);
	CHECK_EQ(weft_wire_first(buf, 0), 0);
	/* a header that is damaged, wherever: what follows is not looked for */
	for (i = 0; i < 8 * WEFT_WIRE_HDR_LEN; i++) {
		buf[i / 8] ^= (u8)(1 << i % 8);
		CHECK_EQ(weft_wire_first(buf, 3 * n), 3 * n);
		buf[i / 8] ^= (u8)(1 << i % 8);
	}
	/* a length that ends within the header */
	buf[4] = 0;
	buf[5] = WEFT_WIRE_HDR_LEN - 1;
	mend(buf);
	CHECK_EQ(weft_wire_first(buf, 3 * n), 3 * n);
	/* what a switch may have to look at is alone */
	for (i = 0; i < 256; i++) {
		m.type = (u8)i;
		weft_wire_pack_plain(&m, buf);
		CHECK_EQ(weft_wire_first(buf, 3 * n), i == WEFT_MSG_DATA ? n : 3 * n);
	}
}

static void names_of_lines(void)
{
	u64 key = weft_line_key(0xABCDEF, WEFT_KIND_LOCK, 0xF12345678ull);
	u32 i, count[3] = { 0 };
	u8 seen[WEFT_SWITCH_SLOTS] = { 0 };

	CHECK_EQ(key, 0xABCDEF1F12345678ull);
	CHECK_EQ(weft_line_region(key), 0xABCDEF);
	CHECK_EQ(weft_line_kind(key), WEFT_KIND_LOCK);
	CHECK_EQ(weft_line_index(key), 0xF12345678ull);
	CHECK_EQ(weft_txn_member(weft_txn(48, ~0u)), 48);
	CHECK_EQ(weft_txn(1, 0x04000001), weft_txn(1, 1));
	CHECK_EQ(weft_node_bit(0), 0);
	CHECK_EQ(weft_node_bit(1), 1);
	CHECK_EQ(weft_node_bit(32), 0x80000000);
	CHECK_EQ(weft_node_bit(33), 0);
	CHECK(!weft_is_blade(32) && weft_is_blade(33) && weft_is_blade(48) &&
	      !weft_is_blade(49));
	/* runs stay together, homes are all used; one blade has everything */
	for (i = 0; i < 6400; i++) {
		u64 k = weft_line_key(5, WEFT_KIND_PAGE, i);

		CHECK_EQ(weft_line_home(k, 3),
			 weft_line_home(weft_line_key(5, 0, i / 64 * 64), 3));
		count[weft_line_home(k, 3)]++;
		CHECK_EQ(weft_line_home(k, 1), 0);
	}
	CHECK(count[0] >= 2112 && count[1] >= 2112 && count[2] >= 2112);
	/* as many consecutive lines as there are slots: no collision */
	for (i = 0; i < WEFT_SWITCH_SLOTS; i++) {
		u32 slot = weft_line_slot(weft_line_key(9, WEFT_KIND_PAGE, i));

		CHECK(!seen[slot]);
		seen[slot] = 1;
	}
}

/* Regions of one program do not push each other's lines out of the switch. */
static void slots_of_regions(void)
{
	u32 region, close = 0;

	for (region = 1; region <= 4096; region++) {
		u32 apart = weft_line_slot(weft_line_key(region, WEFT_KIND_PAGE, 0)) ^
			    weft_line_slot(weft_line_key(region + 1, WEFT_KIND_PAGE, 0));

		/* runs of that many lines, from line 0 on, share no slot */
		CHECK(apart >= 4096);
		close += apart < 16384;
	}
	CHECK(close <= 4096 / 100);
}

static void names_of_messages(void)
{
	/* the types that there are, see uapi/weft_wire.h */
	static const u8 last[][2] = {
		{ WEFT_MSG_GETS, WEFT_MSG_PASS }, { WEFT_MSG_INV, WEFT_MSG_PASSED },
		{ WEFT_MSG_DATA, WEFT_MSG_WB_ACK }, { WEFT_MSG_CHASE, WEFT_MSG_LANDED },
		{ WEFT_MSG_CALL, WEFT_MSG_REPLY },
	};
	u32 type, other, r;

	for (type = 0; type < 256; type++) {
		bool known = false;

		for (r = 0; r < ARRAY_SIZE(last); r++)
			known |= type >= last[r][0] && type <= last[r][1];
		CHECK_EQ(known, !!strcmp(weft_msg_name((u8)type), "?"));
		for (other = 0; known && other < type; other++)
			CHECK(strcmp(weft_msg_name((u8)type),
				     weft_msg_name((u8)other)) != 0);
	}
	CHECK(!strcmp(weft_msg_name(WEFT_MSG_GETS), "GETS"));
	CHECK(!strcmp(weft_msg_name(WEFT_MSG_COUNT_ACK), "COUNT_ACK"));
	CHECK(!strcmp(weft_msg_name(WEFT_MSG_PASSED), "PASSED"));
	CHECK(!strcmp(weft_msg_name(WEFT_MSG_REPLY), "REPLY"));
}

int main(void)
{
	layout();
	fragments();
	bits();
	round_trips();
	several();
	names_of_lines();
	slots_of_regions();
	names_of_messages();
	return check_result();
}
