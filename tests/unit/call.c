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

int main(void)
{
	policies();
	round_trips();
	refused();
	return check_result();
}
