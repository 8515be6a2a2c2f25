// SPDX-License-Identifier: GPL-2.0-only
/* What two members say as they connect their cards: bytes, tags, and what is refused. */
#include "hello.h"
#include "tests/common/check.h"

static const struct weft_hello said = {
	.from = 3, .to = 33, .rack = 0x01020304, .stamp = { 0x11223344, 0x55667788 },
	.n_rooms = 16, .rooms = { .addr = 0x0102030405060708, .key = 0x1A2B3C4D },
};
static struct weft_key key, other;
static u8 buf[WEFT_HELLO_LEN + 24];

static void make_keys(void)
{
	u8 bytes[WEFT_KEY_LEN];
	u32 i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (u8)i;
	weft_key_init(&key, bytes);
	bytes[0]++;
	weft_key_init(&other, bytes);
}

static int unpack(struct weft_hello *h, const struct weft_key *k)
{
	return weft_hello_unpack(h, buf, sizeof(buf), k);
}

static void without_a_key(void)
{
	static const u8 bytes[] = {
		'w', 'e', 'f', 't', 2, 0, 3, 33, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 16, 1, 2, 3, 4, 5, 6, 7, 8, 0x1A, 0x2B, 0x3C, 0x4D,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	};
	struct weft_hello h;
	size_t len;

	weft_hello_pack(&said, buf, NULL);
	CHECK(!memcmp(buf, bytes, sizeof(bytes)));
	CHECK_EQ(unpack(&h, NULL), 0);
	CHECK(h.from == said.from && h.to == said.to && h.rack == said.rack && !h.tagged);
	CHECK(h.n_rooms == said.n_rooms && h.rooms.addr == said.rooms.addr &&
	      h.rooms.key == said.rooms.key);
	CHECK_EQ(unpack(&h, &key), -ENOKEY);
	for (len = 0; len < WEFT_HELLO_LEN; len++)
		CHECK_EQ(weft_hello_unpack(&h, buf, len, NULL), -EBADMSG);
	CHECK_EQ(weft_hello_unpack(&h, buf, len, NULL), 0);
}

/* Each byte counts. */
static void with_a_key(void)
{
	struct weft_hello h;
	u32 i;

	weft_hello_pack(&said, buf, &key);
	CHECK_EQ(unpack(&h, &key), 0);
	CHECK(h.tagged && h.stamp.epoch == said.stamp.epoch && h.stamp.tick == said.stamp.tick);
	CHECK_EQ(unpack(&h, NULL), -EKEYREJECTED);
	CHECK_EQ(unpack(&h, &other), -EKEYREJECTED);
	for (i = 0; i < WEFT_HELLO_LEN; i++) {
		buf[i] ^= 1;
		CHECK(unpack(&h, &key) < 0);
		buf[i] ^= 1;
	}
	CHECK_EQ(unpack(&h, &key), 0);
}

static void nonsense(void)
{
	static const u8 bad[][2] = { { 0, 33 }, { 3, 0 }, { 49, 3 }, { 3, 49 }, { 3, 3 } };
	struct weft_hello h = said;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		h.from = bad[i][0];
		h.to = bad[i][1];
		weft_hello_pack(&h, buf, NULL);
		CHECK_EQ(unpack(&h, NULL), -EBADMSG);
	}
	h = said;
	h.n_rooms = WEFT_ROOMS_MAX + 1;
	weft_hello_pack(&h, buf, NULL);
	CHECK_EQ(unpack(&h, NULL), -EBADMSG);
	weft_hello_pack(&said, buf, NULL);
	buf[4]++;
	CHECK_EQ(unpack(&h, NULL), -EPROTONOSUPPORT);
}

int main(void)
{
	make_keys();
	without_a_key();
	with_a_key();
	nonsense();
	return check_result();
}
