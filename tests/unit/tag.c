// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tags: the key's text, what a tag covers and what not, what is refused, and the
 * freshness of stamps.
 */
#include "call.h"
#include "directory.h"
#include "tests/common/check.h"
#include "tests/stations.h"
#include "tools/common/random.h"

static struct weft_key key, other;
static const struct weft_stamp now = { 0x11223344, 0x55667788 };

static void set_hsum(u8 *b)
{
	u32 s = 0, i;

	b[6] = 0;
	b[7] = 0;
	for (i = 0; i < WEFT_WIRE_HDR_LEN; i += 2)
		s += (u32)b[i] << 8 | b[i + 1];
	s = (s & 0xFFFF) + (s >> 16);
	s = ~((s & 0xFFFF) + (s >> 16));
	b[6] = (u8)(s >> 8);
	b[7] = (u8)s;
}

static void make_keys(void)
{
	u8 bytes[WEFT_KEY_LEN];
	u32 i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)i;
	weft_key_init(&key, bytes);
	bytes[0]++;
	weft_key_init(&other, bytes);
	CHECK(weft_key_set(&key) && !weft_key_set(NULL));
	CHECK(weft_key_fingerprint(&key) != weft_key_fingerprint(&other));
}

/* The published vectors of SipHash-2-4: key 00..0f, messages 00 01 02 ... */
static void vectors(void)
{
	u8 in[15];
	u32 i;

	for (i = 0; i < sizeof(in); i++)
		in[i] = (u8)i;
	CHECK_EQ(weft_key_header(&key, in, 0), 0x726fdb47dd0e0e31ull);
	CHECK_EQ(weft_key_header(&key, in, 15), 0xa129ca6149be45e5ull);
}

static void texts(void)
{
	static const char good[] =
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1D1E1F\n";
	const size_t len = sizeof(good) - 1;
	u8 bytes[WEFT_KEY_LEN];
	char bad[sizeof(good) + 1];
	struct weft_key k;

	CHECK_EQ(weft_key_parse(bytes, good, len), 0);
	weft_key_init(&k, bytes);
	CHECK(!memcmp(&k, &key, sizeof(k)));
	CHECK_EQ(weft_key_parse(bytes, good, len - 1), 0);
	CHECK_EQ(weft_key_parse(bytes, good, len - 2), -EINVAL);
	CHECK_EQ(weft_key_parse(bytes, good, 0), -EINVAL);
	memcpy(bad, good, sizeof(good));
	bad[len] = '\n';
	CHECK_EQ(weft_key_parse(bytes, bad, len + 1), -EINVAL);
	bad[10] = 'g';
	CHECK_EQ(weft_key_parse(bytes, bad, len), -EINVAL);
}

/* A message with every field set, tagged. */
static size_t sample(u8 type, u32 payload_len, u8 *buf)
{
	struct weft_msg m = {
		.type = type, .flags = 1, .src = 5, .status = 1, .info = 1376,
		.txn = weft_txn(5, 77), .line = weft_line_key(3, 0, 9),
		.copyset = 7, .provider = 2, .holder = 3, .nonce = 4, .grant = 6,
		.version = 99, .offset = 0, .size = 4096, .rack = 12,
		.len = payload_len, .payload = buf + WEFT_WIRE_HDR_LEN,
	};

	if (weft_msg_has_data(type)) {
		m.info = 1344;
		m.len = 1344;
	}
	memset(buf + WEFT_WIRE_HDR_LEN, 0x5A, m.len);
	return weft_wire_pack(&m, buf, &key, now);
}

static void round_trip(void)
{
	u8 buf[2048];
	struct weft_msg m;
	size_t n = sample(WEFT_MSG_DATA, 0, buf);

	CHECK_EQ(n, WEFT_WIRE_HDR_LEN + 1344 + WEFT_WIRE_TRAILER_LEN);
	CHECK_EQ(weft_wire_first(buf, sizeof(buf)), n);
	CHECK_EQ(weft_wire_unpack(&m, buf, n, &key), 0);
	CHECK(m.tagged && m.len == 1344 && m.stamp.epoch == now.epoch &&
	      m.stamp.tick == now.tick);
	CHECK_EQ(weft_wire_unpack(&m, buf, n, &other), -EKEYREJECTED);
	CHECK_EQ(weft_wire_unpack(&m, buf, n, NULL), -EKEYREJECTED);
	CHECK(m.tagged && m.len == 1344 && m.src == 5);
	n = sample(WEFT_MSG_WB_ACK, 0, buf);
	CHECK_EQ(weft_wire_unpack(&m, buf, n, &key), 0);
	CHECK(!m.payload && !m.len);
}

/*
 * A payload's hash that is known makes the same message as one that is made for it, with a
 * key and without; another payload's makes one that is refused.
 */
static void hashed(void)
{
	static const u8 types[] = { WEFT_MSG_DATA, WEFT_MSG_WB, WEFT_MSG_PASS, WEFT_MSG_READ,
				    WEFT_MSG_CALL };
	struct weft_msg back, m = {
		.src = 33, .txn = weft_txn(5, 77), .line = weft_line_key(3, 0, 9),
		.version = 99, .size = 4096, .info = 1344, .len = 1344,
	};
	const struct weft_key *keys[] = { &key, NULL };
	u8 buf[2048], want[2048];
	u64 hash;
	u32 i, k;
	size_t n;

	m.payload = buf + WEFT_WIRE_HDR_LEN;
	for (i = 0; i < 2 * sizeof(types); i++) {
		const struct weft_key *with = keys[i % 2];

		m.type = types[i / 2];
		memset(buf, 0x5A + (int)i, sizeof(buf));
		n = weft_wire_pack(&m, buf, with, now);
		memcpy(want, buf, n);
		hash = weft_wire_hash(m.payload, m.len, with);
		/* neither header nor stamp counts: it is for any message */
		for (k = 0; k < 2; k++) {
			struct weft_stamp stamp = { now.epoch, now.tick + k };

			m.txn = weft_txn(5, 77 + k);
			CHECK_EQ(weft_wire_pack_hashed(&m, buf, buf + WEFT_WIRE_HDR_LEN + m.len,
						       with, stamp, hash), n);
			CHECK_EQ(!memcmp(buf, want, n), !k);
			CHECK_EQ(weft_wire_unpack(&back, buf, n, with), 0);
		}
		m.txn = weft_txn(5, 77);
		for (k = 0; k < 64; k++) {
			weft_wire_pack_hashed(&m, buf, buf + WEFT_WIRE_HDR_LEN + m.len, with,
					      now, hash ^ 1ull << k);
			/* without a key a message has 32 bits of it */
			CHECK_EQ(weft_wire_unpack(&back, buf, n, with),
				 with ? -EKEYREJECTED : k < 32 ? -EILSEQ : 0);
		}
	}
	CHECK_EQ(weft_wire_hash(NULL, 0, NULL), 0);
	CHECK_EQ(weft_wire_hash(NULL, 0, &key), key.nothing);
}

static void without(void)
{
	u8 buf[2048];
	struct weft_msg m = {
		.type = WEFT_MSG_CALL, .src = 1, .txn = weft_txn(1, 1),
		.len = 100, .payload = buf + WEFT_WIRE_HDR_LEN,
	}, back;
	size_t n;

	memset(buf, 1, sizeof(buf));
	n = weft_wire_pack_plain(&m, buf);
	CHECK_EQ(weft_wire_unpack(&back, buf, n, &key), -ENOKEY);
	CHECK(back.len == 100 && back.payload && !back.tagged);
	/* damage comes before anything about keys */
	buf[100] ^= 1;
	CHECK_EQ(weft_wire_unpack(&back, buf, n, &key), -EILSEQ);
	/* a key that is not set is none */
	buf[100] ^= 1;
	memset(&other, 0, sizeof(other));
	CHECK_EQ(weft_wire_unpack(&back, buf, n, &other), 0);
	make_keys();
	/* no room for the trailer that it says it has */
	m.len = 0;
	n = weft_wire_pack_plain(&m, buf);
	buf[51] = WEFT_WIRE_TAGGED;
	set_hsum(buf);
	CHECK_EQ(weft_wire_unpack(&back, buf, n, &key), -EBADMSG);
	CHECK_EQ(weft_wire_unpack(&back, buf, n, NULL), -EBADMSG);
	buf[51] = 2;
	set_hsum(buf);
	CHECK_EQ(weft_wire_unpack(&back, buf, n, NULL), -EBADMSG);
}

/* May a switch rewrite this byte of a message of class 1? */
static bool rewritten(u32 at)
{
	return at == 2 || at == 3 || at == 21 || (at >= 22 && at < 40) ||
	       (at >= 52 && at < 56);
}

/*
 * Each byte of each message changed, the header's sum mended: what a switch may
 * rewrite goes through in what it may rewrite, and all else is refused.
 */
static void covered(void)
{
	static const u8 types[] = {
		WEFT_MSG_GETS, WEFT_MSG_HAND, WEFT_MSG_PASS, WEFT_MSG_READ,
		WEFT_MSG_NACK, WEFT_MSG_PASSED, WEFT_MSG_HAND_ACK, WEFT_MSG_DATA,
		WEFT_MSG_INV_ACK, WEFT_MSG_WB, WEFT_MSG_CALL, WEFT_MSG_REPLY,
	};
	u8 buf[2048], copy[2048];
	struct weft_msg m;
	u32 i, at;

	for (i = 0; i < sizeof(types); i++) {
		size_t n = sample(types[i], types[i] >= WEFT_MSG_CALL ? 100 : 0, buf);
		bool direct = types[i] >= 48 && types[i] != WEFT_MSG_HAND_ACK;

		for (at = 0; at < n; at++) {
			int err;

			if (at == 6 || at == 7)
				continue;
			memcpy(copy, buf, n);
			copy[at] ^= 1;
			set_hsum(copy);
			err = weft_wire_unpack(&m, copy, n, &key);
			if (direct || !rewritten(at))
				CHECK(err);
			else if (!weft_msg_has_data(types[i]))
				/* another type may be one that carries data, or none */
				CHECK(!err || at == 2);
		}
	}
}

/* What was said by a directory, or to one, does not count as said by a member. */
static void classes(void)
{
	u8 buf[2048];
	struct weft_msg m;
	size_t n = sample(WEFT_MSG_GETS, 100, buf);

	buf[2] = WEFT_MSG_NACK;
	set_hsum(buf);
	CHECK_EQ(weft_wire_unpack(&m, buf, n, &key), 0);
	buf[2] = WEFT_MSG_CALL;
	set_hsum(buf);
	CHECK_EQ(weft_wire_unpack(&m, buf, n, &key), -EKEYREJECTED);
	n = sample(WEFT_MSG_CALL, 100, buf);
	buf[2] = WEFT_MSG_REPLY;
	set_hsum(buf);
	CHECK_EQ(weft_wire_unpack(&m, buf, n, &key), -EKEYREJECTED);
	buf[2] = WEFT_MSG_GETS;
	set_hsum(buf);
	CHECK_EQ(weft_wire_unpack(&m, buf, n, &key), -EKEYREJECTED);
}

/* Whatever the directory engine makes of a message keeps its tag right. */
static void through_directory(void)
{
	static struct weft_slot slots[WEFT_SWITCH_SLOTS];
	struct weft_switch sw = { .members = 0xFF, .slots = slots };
	u64 state = 1;
	u32 i, seen = 0;

	stations_by_id(&sw);
	for (i = 0; i < 200000; i++) {
		u8 in[2048], out[2048];
		struct weft_msg m = {
			.type = (u8)(1 + random_u32(&state) % 14),
			.flags = (u8)random_u32(&state),
			.src = (u8)(1 + random_u32(&state) % 8),
			.line = weft_line_key(1, random_u32(&state) % 2,
					      random_u32(&state) % 4),
			.status = (u8)(random_u32(&state) % 3),
			.copyset = random_u32(&state) & 0xFF,
			.holder = random_u32(&state) & 0xFF,
			.grant = random_u32(&state) % 16,
			.nonce = random_u32(&state) % 4, .size = 4096, .info = 1344,
		}, back;
		u32 targets;
		size_t n;
		u8 was;

		if (m.type >= WEFT_MSG_ADD && m.type <= WEFT_MSG_DROP)
			m.src = 33;
		if (m.type == WEFT_MSG_PASS) {
			m.len = 1344;
			m.payload = in + WEFT_WIRE_HDR_LEN;
		}
		m.txn = weft_txn(random_u32(&state) % 4 ? m.src : 1 + m.grant % 8,
				 random_u32(&state) % 8);
		memset(in, 7, sizeof(in));
		n = weft_wire_pack(&m, in, &key, now);
		was = m.type;
		CHECK_EQ(weft_wire_unpack(&m, in, n, &key), 0);
		if (weft_switch_handle(&sw, m.src, &m, &targets) == WEFT_TO_NOBODY ||
		    m.type == was)
			continue;
		/* the trailer as it was, the header as the switch writes it */
		CHECK_EQ(weft_wire_pack(&m, out, &other, now), n);
		memcpy(out + WEFT_WIRE_HDR_LEN, in + WEFT_WIRE_HDR_LEN,
		       n - WEFT_WIRE_HDR_LEN);
		CHECK_EQ(weft_wire_unpack(&back, out, n, &key), 0);
		seen++;
	}
	CHECK(seen > 50000);
}

static void stamps(void)
{
	struct weft_stamp a = { 5, 0xFFFFFFF0 }, b = a;

	CHECK(weft_stamp_fresh(a, b));
	b.tick += WEFT_TICKS_FRESH;	/* wraps */
	CHECK(weft_stamp_fresh(a, b) && weft_stamp_fresh(b, a));
	b.tick++;
	CHECK(!weft_stamp_fresh(a, b) && !weft_stamp_fresh(b, a));
	b.tick = a.tick + 0x80000000;
	CHECK(!weft_stamp_fresh(a, b));
	b = a;
	b.epoch++;
	CHECK(!weft_stamp_fresh(a, b));
	a.epoch = 0;
	b = a;
	CHECK(!weft_stamp_fresh(a, b));
}

int main(void)
{
	make_keys();
	vectors();
	texts();
	round_trip();
	hashed();
	without();
	covered();
	classes();
	through_directory();
	stamps();
	return check_result();
}
