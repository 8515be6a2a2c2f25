// SPDX-License-Identifier: GPL-2.0-only
/* The codec of calls: every field comes back, what does not fit is refused. */
#include "call.h"
#include "tests/common/check.h"

/* Where the two lengths stand: last of what is always there. */
#define NAME_LEN	(WEFT_CALL_FIXED_LEN - 4)
#define LIST_LEN	(WEFT_CALL_FIXED_LEN - 2)

static struct weft_call sample(u32 name_len, u32 list_len)
{
	struct weft_call c = {
		.op = WEFT_CALL_CREATE, .err = 0xFEDC, .node = 1, .valid = 2,
		.region = 3, .mode = 4, .uid = 5, .gid = 6, .block = 7,
		.members = 8, .addr = 9, .life = 10, .size = 1ull << 60 | 11,
		.used = 12, .mtime = 13, .cookie = 1ull << 61 | 14,
		.policy = 0xFFFE0000 | WEFT_POLICY_SYNC | WEFT_POLICY_BLOCK,
	};

	c.nodes = 0x80000003;
	c.homes = 0x8005;
	c.name_len = (u16)name_len;
	c.list_len = (u16)list_len;
	memset(c.name, 'n', name_len);
	memset(c.list, 0xAA, list_len);
	return c;
}

static bool same(const struct weft_call *a, const struct weft_call *b)
{
	return a->op == b->op && a->err == b->err && a->node == b->node &&
	       a->valid == b->valid && a->region == b->region &&
	       a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
	       a->block == b->block && a->members == b->members &&
	       a->addr == b->addr && a->life == b->life && a->size == b->size &&
	       a->used == b->used && a->mtime == b->mtime &&
	       a->cookie == b->cookie && a->policy == b->policy && a->nodes == b->nodes &&
	       a->homes == b->homes &&
	       a->name_len == b->name_len &&
	       a->list_len == b->list_len &&
	       !memcmp(a->name, b->name, sizeof(a->name)) &&
	       !memcmp(a->list, b->list, sizeof(a->list));
}

static void round_trips(void)
{
	static const u32 lens[] = { 0, 1, 2, 254, 255 };
	static const u32 lists[] = { 0, 1, 1023, 1024 };
	u8 buf[WEFT_CALL_LEN_MAX + 1];
	struct weft_call c, back;
	u32 i, j, len;

	for (i = 0; i < 5; i++)
		for (j = 0; j < 4; j++) {
			c = sample(lens[i], lists[j]);
			buf[WEFT_CALL_LEN_MAX] = 0x55;
			len = weft_call_pack(&c, buf);
			CHECK_EQ(len, WEFT_CALL_FIXED_LEN + lens[i] + lists[j]);
			CHECK_EQ(buf[WEFT_CALL_LEN_MAX], 0x55);
			memset(&back, 0xFF, sizeof(back));
			CHECK_EQ(weft_call_unpack(&back, buf, len), 0);
			CHECK(same(&back, &c));
			CHECK_EQ(back.name[lens[i]], 0);
		}
}

static void refused(void)
{
	struct weft_call c = sample(10, 20), back;
	u8 buf[WEFT_CALL_LEN_MAX + 64];
	u32 len = weft_call_pack(&c, buf), i;

	for (i = 0; i < sizeof(buf); i++)
		CHECK_EQ(weft_call_unpack(&back, buf, i),
			 i == len ? 0 : -EBADMSG);
	c.op = 0;
	CHECK_EQ(weft_call_unpack(&back, buf, weft_call_pack(&c, buf)), -EBADMSG);
	c.op = WEFT_CALL_MAX;
	CHECK_EQ(weft_call_unpack(&back, buf, weft_call_pack(&c, buf)), -EBADMSG);
	c.op = WEFT_CALL_MAX - 1;
	CHECK_EQ(weft_call_unpack(&back, buf, weft_call_pack(&c, buf)), 0);
	c.name[3] = '/';
	CHECK_EQ(weft_call_unpack(&back, buf, weft_call_pack(&c, buf)), -EBADMSG);
	c.name[3] = 0;
	CHECK_EQ(weft_call_unpack(&back, buf, weft_call_pack(&c, buf)), -EBADMSG);
	c.name[3] = '\n';
	CHECK_EQ(weft_call_unpack(&back, buf, weft_call_pack(&c, buf)), 0);
	/* lengths that lie: more than there is, more than may be */
	len = weft_call_pack(&c, buf);
	put_unaligned_be16(11, buf + NAME_LEN);
	CHECK_EQ(weft_call_unpack(&back, buf, len), -EBADMSG);
	put_unaligned_be16(9, buf + NAME_LEN);
	CHECK_EQ(weft_call_unpack(&back, buf, len), -EBADMSG);
	put_unaligned_be16(0xFFFF, buf + NAME_LEN);
	CHECK_EQ(weft_call_unpack(&back, buf, len), -EBADMSG);
	put_unaligned_be16(30, buf + NAME_LEN);
	put_unaligned_be16(0, buf + LIST_LEN);
	CHECK_EQ(weft_call_unpack(&back, buf, len), 0);
	put_unaligned_be16(256, buf + NAME_LEN);
	CHECK_EQ(weft_call_unpack(&back, buf, WEFT_CALL_FIXED_LEN + 256), -EBADMSG);
}

static void policies(void)
{
	const u32 last = 0xFFFFu << WEFT_POLICY_CHANGE_SHIFT;
	u32 p;

	CHECK(weft_policy_valid(0) && weft_policy_valid(WEFT_POLICY_SYNC));
	CHECK(weft_policy_valid(last | WEFT_POLICY_RELEASE | WEFT_POLICY_BLOCK | WEFT_POLICY_SIGBUS));
	CHECK(weft_policy_valid(WEFT_POLICY_MIRROR) && WEFT_POLICY_MIRROR == WEFT_POLICY_DURABILITY);
	CHECK(!weft_policy_valid(WEFT_POLICY_ALL + 1));
	CHECK(!weft_policy_valid(0x8000));
	/* the numbers of changes go round */
	CHECK(weft_policy_newer(WEFT_POLICY_CHANGE, 0));
	CHECK(!weft_policy_newer(0, WEFT_POLICY_CHANGE));
	CHECK(!weft_policy_newer(last, last) && !weft_policy_newer(WEFT_POLICY_SYNC, 0));
	CHECK(weft_policy_newer(0, last) && !weft_policy_newer(last, 0));
	/* each of them by itself */
	p = weft_policy_change(0, WEFT_POLICY_SYNC | WEFT_POLICY_BLOCK, WEFT_SET_DURABILITY);
	CHECK_EQ(p, WEFT_POLICY_CHANGE | WEFT_POLICY_SYNC);
	p = weft_policy_change(p, WEFT_POLICY_BLOCK | WEFT_POLICY_SIGBUS,
			       WEFT_SET_DEATH | WEFT_SET_LOSS);
	CHECK_EQ(p, 2 * WEFT_POLICY_CHANGE | WEFT_POLICY_SYNC | WEFT_POLICY_BLOCK |
		    WEFT_POLICY_SIGBUS);
	p = weft_policy_change(last | WEFT_POLICY_SYNC, WEFT_POLICY_RELEASE, WEFT_SET_DURABILITY);
	CHECK_EQ(p, WEFT_POLICY_RELEASE);
}

/* --- what a node is told ------------------------------------------------------------- */

static int reads(const struct weft_call *c, u8 type, u8 src)
{
	u8 buf[WEFT_CALL_LEN_MAX];
	struct weft_call back;
	struct weft_msg msg = {
		.type = type, .src = src, .payload = buf, .len = weft_call_pack(c, buf),
	};

	return weft_call_read(&back, &msg);
}

/* All that any operation needs. */
static struct weft_call told(u16 op)
{
	return (struct weft_call){
		.op = op, .node = WEFT_BLADE_MIN, .region = WEFT_REGION_MAX, .mode = 07777,
		.uid = ~0u - 1, .gid = ~0u - 1, .block = WEFT_REGION_BLOCK_MAX, .members = ~0u,
		.addr = 0xDFFFFFFF, .life = ~0u, .used = ~0ull, .mtime = ~0ull, .cookie = ~0ull,
		.policy = 0xFFFF0000 | WEFT_POLICY_ALL, .nodes = ~0u, .homes = 0xFFFF,
		/* what any of them may have */
		.size = WEFT_REGION_MAX,
	};
}

/* Of each field what is just outside, or missing, and which operations mind that. */
static const struct {
	u32 at;
	u32 bytes;
	u64 value;
	u64 calls;
	u64 replies;
} outside[] = {
#define OP(name)	(1ull << WEFT_CALL_##name)
#define ALL		(~0ull)
#define WITH_REGION	(OP(LOOKUP) | OP(CREATE) | OP(GETATTR) | OP(SETATTR) | OP(OPEN))
#define BAD(name, v, c, r) { \
	offsetof(struct weft_call, name), sizeof(((struct weft_call *)NULL)->name), v, c, r }
	BAD(node, WEFT_BLADE_MAX + 1, ALL, ALL),
	BAD(node, WEFT_NODE_MAX, OP(TWIN), 0),
	BAD(region, WEFT_REGION_MAX + 1, ALL, ALL),
	BAD(region, 0, OP(RECALLED) | OP(CHANGED) | OP(MOVE), WITH_REGION | OP(UNLINK)),
	BAD(mode, 010000, ALL, ALL),
	BAD(uid, ~0u, ALL, ALL),
	BAD(gid, ~0u, ALL, ALL),
	BAD(block, 4095, ALL, ALL),
	BAD(block, 12288, ALL, ALL),
	BAD(block, 131072, ALL, ALL),
	BAD(block, 0, OP(CHANGED) | OP(MOVE), WITH_REGION),
	BAD(addr, 0x00FFFFFF, ALL, ALL),
	BAD(addr, 0xE0000000, ALL, ALL),
	BAD(addr, 0, OP(TWIN), 0),
	BAD(size, WEFT_REGION_SIZE_MAX + 1, ALL, ALL & ~OP(STATFS)),
	BAD(size, WEFT_REGION_MAX + 1, 0, OP(READDIR)),
	BAD(policy, 0x8000, ALL, ALL),
	BAD(homes, 0x10000, ALL, ALL),
	BAD(homes, 1u << 31, ALL, ALL),
	/* bits that nobody has given a meaning */
	BAD(valid, 1u << 31, ALL, ALL & ~(OP(JOIN) | OP(PEERS))),
	BAD(err, 4096, ALL, ALL),
	BAD(list_len, 1, ALL, ALL),
};

static void fields(u8 type)
{
	const u64 to_nodes = type == WEFT_MSG_REPLY ?
		WITH_REGION | OP(JOIN) | OP(LEAVE) | OP(PEERS) | OP(UNLINK) | OP(CLOSE) |
		OP(READDIR) | OP(STATFS) | OP(STATS) | OP(CLAIM) | OP(FENCE_NODE) | OP(LOST) |
		OP(SYNC) | OP(SPREAD) | OP(BLADE) :
		OP(RECALLED) | OP(RENEW) | OP(CHANGED) | OP(FENCE) | OP(TWIN) | OP(MOVE);
	const u64 of_first = type == WEFT_MSG_REPLY ? 0 : OP(FENCE) | OP(MOVE);
	struct weft_call c;
	u16 op;
	u32 i;

	for (op = 1; op < WEFT_CALL_MAX; op++) {
		c = told(op);
		CHECK_EQ(reads(&c, type, WEFT_BLADE_MIN), to_nodes & 1ull << op ? 0 : -EBADMSG);
		if (!(to_nodes & 1ull << op))
			continue;
		CHECK_EQ(reads(&c, type, WEFT_BLADE_MAX), of_first & 1ull << op ? -EBADMSG : 0);
		for (i = 0; i < ARRAY_SIZE(outside); i++) {
			u64 of = type == WEFT_MSG_REPLY ? outside[i].replies : outside[i].calls;

			c = told(op);
			memcpy((u8 *)&c + outside[i].at, &outside[i].value, outside[i].bytes);
			CHECK_EQ(reads(&c, type, WEFT_BLADE_MIN), of & 1ull << op ? -EBADMSG : 0);
		}
	}
	/* why it was refused needs no more; but even that is within bounds */
	c = (struct weft_call){ .op = WEFT_CALL_LOOKUP, .err = ENOENT };
	CHECK_EQ(reads(&c, WEFT_MSG_REPLY, WEFT_BLADE_MIN), 0);
	c.homes = 0x10000;
	CHECK_EQ(reads(&c, WEFT_MSG_REPLY, WEFT_BLADE_MIN), -EBADMSG);
}

static int lists(u16 op, const void *list, u32 len)
{
	struct weft_call c = told(op);

	memcpy(c.list, list, len);
	c.list_len = (u16)len;
	return reads(&c, WEFT_MSG_REPLY, WEFT_BLADE_MIN);
}

/*
 * An entry that makes sense, alone and twice; each of @n byte values that do not, at their
 * places; and cut.
 */
static void entries(u16 op, const u8 *good, u32 len, const u8 (*bad)[2], u32 n)
{
	u8 twice[128];
	u32 i;

	memcpy(twice, good, len);
	memcpy(twice + len, good, len);
	CHECK_EQ(lists(op, twice, 0), 0);
	CHECK_EQ(lists(op, twice, len), 0);
	CHECK_EQ(lists(op, twice, 2 * len), 0);
	for (i = 1; i < len; i++)
		CHECK_EQ(lists(op, twice, len + i), -EBADMSG);
	for (i = 0; i < n; i++) {
		memcpy(twice + len, good, len);
		twice[len + bad[i][0]] = bad[i][1];
		CHECK_EQ(lists(op, twice, 2 * len), -EBADMSG);
	}
}

static void all_lists(void)
{
	static const u8 peer[] = { 48, 1, 0, 0, 10, 0, 0, 1 };
	static const u8 bad_peer[][2] = { { 0, 0 }, { 0, 49 }, { 1, 2 }, { 4, 0 }, { 4, 224 } };
	static const u8 dir[] = { 0, 0, 0, 1, 0, 0, 1, 0xA4, 3, 'a', '.', 'b' };
	static const u8 bad_dir[][2] = { { 0, 1 }, { 3, 0 }, { 8, 0 }, { 8, 4 }, { 9, '/' }, { 10, 0 } };
	static const u8 dots[] = { 0, 0, 0, 1, 0, 0, 1, 0xA4, 2, '.', '.' };
	static const u8 counter[] = { 0, 0, 0, 0, 0, 0, 0, 1, 3, 'a', '_', '9' };
	static const u8 bad_counter[][2] = { { 8, 0 }, { 8, 4 }, { 9, 'A' }, { 10, 27 }, { 11, ' ' } };
	static const u8 lost[] = {
		0, 0xFF, 0xFF, 0xFF, 0, 1, 0, 0, 0, 0, 0, 0xF, 0xFF, 0xFF, 0xFF, 0xFF,
		0, 0, 0, 0, 0, 0, 0, 1,
	};
	static const u8 bad_lost[][2] = {
		{ 0, 1 }, { 5, 2 }, { 6, 1 }, { 5, 0 }, { 11, 0x10 }, { 23, 0 }, { 23, 2 }, { 16, 0x80 },
	};
	static const u8 blade[WEFT_BLADE_LEN] = { 33, 3 };
	static const u8 bad_blade[][2] = { { 0, 32 }, { 0, 49 } };

	entries(WEFT_CALL_JOIN, peer, sizeof(peer), bad_peer, ARRAY_SIZE(bad_peer));
	entries(WEFT_CALL_PEERS, peer, sizeof(peer), bad_peer, ARRAY_SIZE(bad_peer));
	entries(WEFT_CALL_READDIR, dir, sizeof(dir), bad_dir, ARRAY_SIZE(bad_dir));
	CHECK_EQ(lists(WEFT_CALL_READDIR, dots, sizeof(dots)), -EBADMSG);
	entries(WEFT_CALL_STATS, counter, sizeof(counter), bad_counter, ARRAY_SIZE(bad_counter));
	entries(WEFT_CALL_LOST, lost, sizeof(lost), bad_lost, ARRAY_SIZE(bad_lost));
	entries(WEFT_CALL_BLADE, blade, sizeof(blade), bad_blade, ARRAY_SIZE(bad_blade));
}

int main(void)
{
	fields(WEFT_MSG_CALL);
	fields(WEFT_MSG_REPLY);
	all_lists();
	policies();
	round_trips();
	refused();
	return check_result();
}
