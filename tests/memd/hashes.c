// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hashes of contents that a memory blade keeps: what it sends is what a receiver takes,
 * byte by byte, whatever was in the same frames before.  A blade without a network.
 *
 *	memd-hashes [READS]
 */
#include "rig.h"
#include "tests/common/argument.h"
#include "tools/common/random.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/base/log.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/blocks.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/udp.h"
#include "tools/memd/store/backing.h"
#include "tools/memd/store/frames.h"

#define ADDR	0x0A570001u
#define BLOCKS	4u
#define LONGEST	(64u << 10)

static struct memd m;
static struct weft_key key;
static struct region *r;
static u64 state = 1;

static void start(bool with_key, u32 mtu, u32 block)
{
	struct options o = {
		.id = WEFT_BLADE_MIN, .memory = 1 << 20, .blades = 1,
		.peers = { ADDR + 100 },
	};
	static const u8 digits[WEFT_KEY_LEN] = { 1, 2, 3 };
	char err[ERR_MAX];

	memset(&key, 0, sizeof(key));
	if (with_key)
		weft_key_init(&key, digits);
	if (memd_init(&m, &o, &key, err) || udp_open_none(m.udp))
		CHECK_FAIL("%s", err);
	m.udp->longest = mtu - 28;
	m.udp->fragment = weft_wire_fragment(mtu - 28, &key);
	m.udp->addr = ADDR + 100;
	memd_start(&m);
	r = region_add(m.b->regions, 1, block, "r", 1);
	CHECK(r && region_prepare(r, (u64)BLOCKS * block));
	r->size = (u64)BLOCKS * block;
	r->opens = weft_node_bit(1);
	region_account(m.b->regions, r, 0, r->size);
	m.b->members->by_id[1].addr = ADDR;
	m.b->members->by_id[1].in = true;
	m.b->members->mask = weft_node_bit(1);
}

/* What version @version of a block has: nothing like it was there before. */
static void fill(u8 *data, u32 index, u64 version)
{
	u64 seed = version * BLOCKS + index + 1;
	u32 i;

	for (i = 0; i < r->block; i++)
		data[i] = (u8)random_u32(&seed);
}

static void write_home(u32 index, u64 version)
{
	static u8 data[LONGEST];
	u32 full = m.udp->fragment < r->block ? m.udp->fragment : r->block;
	u64 before = m.stats.count[STAT_WRITE];
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = 1, .txn = weft_txn(1, 1),
		.line = weft_line_key(1, WEFT_KIND_PAGE, index),
		.version = version, .info = (u16)full, .size = r->block,
	};

	fill(data, index, version);
	for (; msg.offset < r->block; msg.offset += full) {
		msg.payload = data + msg.offset;
		msg.len = r->block - msg.offset < full ? r->block - msg.offset : full;
		blocks_write(&m, &msg);
	}
	CHECK_EQ(m.stats.count[STAT_WRITE], before + 1);
}

/*
 * Read a block and take what is sent for it.  Return: how many messages a receiver
 * refuses; in the others it must find @data.
 */
static u32 take(u32 index, u64 version, const u8 *data)
{
	struct weft_msg read = {
		.type = WEFT_MSG_READ, .src = 1, .txn = weft_txn(1, (u32)version),
		.line = weft_line_key(1, WEFT_KIND_PAGE, index),
	}, msg;
	u32 got = 0, refused = 0;
	const u8 *buf;
	int err;

	udp_flush(m.udp);
	buf = udp_buffer(m.udp);
	blocks_read(&m, &read);
	CHECK(m.udp->messages);
	for (; got < r->block && !check_failures; buf += WEFT_MTU_MAX) {
		err = weft_wire_unpack(&msg, buf, get_unaligned_be16(buf + 4), &key);
		if (err) {
			CHECK_EQ(err, key.set ? -EKEYREJECTED : -EILSEQ);
			refused++;
		}
		CHECK_EQ(msg.type, WEFT_MSG_DATA);
		CHECK_EQ(msg.txn, read.txn);
		CHECK_EQ(msg.version, version);
		CHECK_EQ(msg.offset, got);
		CHECK(err || !memcmp(msg.payload, data + got, msg.len));
		got += msg.len;
	}
	CHECK_EQ(got, r->block);
	return refused;
}

static void reads(u32 index, u64 version)
{
	static u8 data[LONGEST];
	u32 i;

	if (version)
		fill(data, index, version);
	else
		memset(data, 0, sizeof(data));
	/* the second time, hashes are those that were kept the first time */
	for (i = 0; i < 2; i++)
		CHECK_EQ(take(index, version, data), 0);
}

/* Blocks written and read at random: frames go from one version to the next, and to others. */
static void frames_in_turns(u32 n)
{
	u64 version[BLOCKS] = { 0 };
	u32 i, index;

	for (i = 0; i < n; i++) {
		index = random_u32(&state) % BLOCKS;
		if (random_u32(&state) % 2)
			write_home(index, ++version[index]);
		reads(index, version[index]);
	}
}

/* Blocks that go give their frames to others. */
static void frames_of_others(void)
{
	struct block *b;
	u32 i;

	for (i = 0; i < BLOCKS; i++) {
		write_home(i, 1000);
		reads(i, 1000);
	}
	for (i = 0; i < BLOCKS; i++) {
		b = region_block(m.b->regions, r, i, false);
		CHECK(b);
		blocks_clear(&m, r, b);
		frames_give_back(m.b->frames);
		reads(i, 0);
	}
	for (i = BLOCKS; i--; ) {
		write_home(i, 2000);
		reads(i, 2000);
	}
}

/* A bit that falls over in memory is not sent under a hash of its own. */
static void damage(void)
{
	static u8 data[LONGEST];
	struct block *b;
	u32 frame;

	write_home(0, 3000);
	reads(0, 3000);
	b = region_block(m.b->regions, r, 0, false);
	frame = b->frame;
	CHECK(*frames_hash(m.b->frames, frame, 0));
	m.b->frames->mem[(size_t)(frame - 1) * FRAME_SIZE] ^= 1;
	fill(data, 0, 3000);
	CHECK_EQ(take(0, 3000, data), 1);
	m.b->frames->mem[(size_t)(frame - 1) * FRAME_SIZE] ^= 1;
	CHECK_EQ(take(0, 3000, data), 0);
}

int main(int argc, char **argv)
{
	static const u32 mtus[] = { WEFT_MTU_MIN, 4000, WEFT_MTU_MAX };
	static const u32 sizes[] = { 4096, 16384, 65536 };
	u32 n = argc > 1 ? (u32)argument(argv[1], 1, UINT32_MAX) : 200, i, k;

	log_silent = true;
	for (i = 0; i < ARRAY_SIZE(mtus) * ARRAY_SIZE(sizes); i++) {
		for (k = 0; k < 2; k++) {
			start(k, mtus[i / ARRAY_SIZE(sizes)], sizes[i % ARRAY_SIZE(sizes)]);
			frames_in_turns(n);
			frames_of_others();
			damage();
			memd_exit(&m);
		}
	}
	return check_result();
}
