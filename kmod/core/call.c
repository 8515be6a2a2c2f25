// SPDX-License-Identifier: GPL-2.0-only
/* Calls as bytes, and what a node accepts of a blade; see call.h. */
#include "call.h"

static_assert(WEFT_WIRE_HDR_LEN + WEFT_CALL_LEN_MAX <= 1500 - 28,
	      "a call fits one datagram at MTU 1500");

static u8 *put32(u8 *p, u32 v)
{
	put_unaligned_be32(v, p);
	return p + 4;
}

static u8 *put64(u8 *p, u64 v)
{
	put_unaligned_be64(v, p);
	return p + 8;
}

u32 weft_call_pack(const struct weft_call *call, void *buf)
{
	u8 *p = buf;

	p = put32(p, (u32)call->op << 16 | call->err);
	p = put32(p, call->node);
	p = put32(p, call->valid);
	p = put32(p, call->region);
	p = put32(p, call->mode);
	p = put32(p, call->uid);
	p = put32(p, call->gid);
	p = put32(p, call->block);
	p = put32(p, call->members);
	p = put32(p, call->addr);
	p = put32(p, call->life);
	p = put64(p, call->size);
	p = put64(p, call->used);
	p = put64(p, call->mtime);
	p = put64(p, call->cookie);
	p = put32(p, call->policy);
	p = put32(p, call->nodes);
	p = put32(p, call->homes);
	p = put32(p, (u32)call->name_len << 16 | call->list_len);
	memcpy(p, call->name, call->name_len);
	p += call->name_len;
	memcpy(p, call->list, call->list_len);
	p += call->list_len;
	return (u32)(p - (u8 *)buf);
}

int weft_call_unpack(struct weft_call *call, const void *buf, u32 len)
{
	const u8 *p = buf;
	u32 v;

	if (len < WEFT_CALL_FIXED_LEN || len > WEFT_CALL_LEN_MAX)
		return -EBADMSG;
	memset(call, 0, sizeof(*call));
	v = get_unaligned_be32(p);
	call->op = (u16)(v >> 16);
	call->err = (u16)v;
	call->node = get_unaligned_be32(p + 4);
	call->valid = get_unaligned_be32(p + 8);
	call->region = get_unaligned_be32(p + 12);
	call->mode = get_unaligned_be32(p + 16);
	call->uid = get_unaligned_be32(p + 20);
	call->gid = get_unaligned_be32(p + 24);
	call->block = get_unaligned_be32(p + 28);
	call->members = get_unaligned_be32(p + 32);
	call->addr = get_unaligned_be32(p + 36);
	call->life = get_unaligned_be32(p + 40);
	call->size = get_unaligned_be64(p + 44);
	call->used = get_unaligned_be64(p + 52);
	call->mtime = get_unaligned_be64(p + 60);
	call->cookie = get_unaligned_be64(p + 68);
	call->policy = get_unaligned_be32(p + 76);
	call->nodes = get_unaligned_be32(p + 80);
	call->homes = get_unaligned_be32(p + 84);
	v = get_unaligned_be32(p + 88);
	call->name_len = (u16)(v >> 16);
	call->list_len = (u16)v;
	if (!call->op || call->op >= WEFT_CALL_MAX ||
	    call->name_len > WEFT_NAME_MAX ||
	    call->list_len > WEFT_CALL_LIST_MAX ||
	    len != WEFT_CALL_FIXED_LEN + (u32)call->name_len + call->list_len)
		return -EBADMSG;
	p += WEFT_CALL_FIXED_LEN;
	memcpy(call->name, p, call->name_len);
	if (memchr(call->name, '/', call->name_len) || memchr(call->name, 0, call->name_len))
		return -EBADMSG;
	memcpy(call->list, p + call->name_len, call->list_len);
	return 0;
}

/* --- what a node is told ----------------------------------------------------------- */

#define ERR_MAX		4095	/* MAX_ERRNO of the kernel */
#define BLADES		(WEFT_BLADE_MAX - WEFT_BLADE_MIN + 1)

static bool is_region(u32 region)
{
	return region && region <= WEFT_REGION_MAX;
}

static bool is_block(u32 block)
{
	return block >= WEFT_BLOCK_MIN && block <= WEFT_REGION_BLOCK_MAX && !(block & (block - 1));
}

/* A unicast address. */
static bool is_address(u32 addr)
{
	return addr >> 24 && addr >> 28 < 14;
}

static bool is_name(const char *name, u32 len)
{
	if (memchr(name, '/', len) || memchr(name, 0, len))
		return false;
	return !(len == 1 && name[0] == '.') && !(len == 2 && name[0] == '.' && name[1] == '.');
}

/* Entries of lists.  Return: bytes of the entry at @p if it makes sense, else 0.  @left: bytes. */

static u32 peer_entry(const u8 *p, u32 left)
{
	return left >= WEFT_PEER_LEN && (weft_node_bit(p[0]) || weft_is_blade(p[0])) &&
	       p[1] <= WEFT_PEER_TWIN && is_address(get_unaligned_be32(p + 4)) ?
	       WEFT_PEER_LEN : 0;
}

static u32 name_entry(const u8 *p, u32 left)
{
	u32 len = left < WEFT_DIR_LEN ? 0 : p[WEFT_DIR_LEN - 1];

	return len && left >= WEFT_DIR_LEN + len && is_region(get_unaligned_be32(p)) &&
	       is_name((const char *)p + WEFT_DIR_LEN, len) ? WEFT_DIR_LEN + len : 0;
}

static u32 counter_entry(const u8 *p, u32 left)
{
	u32 len = left < WEFT_COUNTER_LEN ? 0 : p[WEFT_COUNTER_LEN - 1], i;

	if (!len || left < WEFT_COUNTER_LEN + len)
		return 0;
	/* the name goes to terminals */
	for (i = WEFT_COUNTER_LEN; i < WEFT_COUNTER_LEN + len; i++) {
		if (!(p[i] >= 'a' && p[i] <= 'z') && !(p[i] >= '0' && p[i] <= '9') && p[i] != '_')
			return 0;
	}
	return WEFT_COUNTER_LEN + len;
}

static u32 lost_entry(const u8 *p, u32 left)
{
	u64 first, many, most;

	if (left < WEFT_LOST_LEN || !is_region(get_unaligned_be32(p)) ||
	    !is_block(get_unaligned_be32(p + 4)))
		return 0;
	first = get_unaligned_be64(p + 8);
	many = get_unaligned_be64(p + 16);
	/* the limit of 4 KiB blocks, whatever their size */
	most = WEFT_REGION_SIZE_MAX / WEFT_BLOCK_MIN;
	return many && many <= most && first <= most - many ? WEFT_LOST_LEN : 0;
}

static u32 blade_entry(const u8 *p, u32 left)
{
	return left >= WEFT_BLADE_LEN && weft_is_blade(p[0]) ? WEFT_BLADE_LEN : 0;
}

enum { IS_REGION = 1, HAS_BLOCK = 2, IS_BLADE = 4, HAS_ADDR = 8, IS_KNOWN = 16, IS_FIRST = 32 };

/**
 * struct shape - what an operation may say to a node
 * @is: IS_KNOWN: nodes are told it; IS_FIRST: by the first blade alone; the other bits name fields
 *	that must not be 0
 * @valid: allowed bits of @valid
 * @size: limit of @size; 0: WEFT_REGION_SIZE_MAX
 * @entry: checks an entry of the list; NULL: it has no list
 */
struct shape {
	u32 is;
	u32 valid;
	u64 size;
	u32 (*entry)(const u8 *p, u32 left);
};

#define ATTRIBUTES	(IS_KNOWN | IS_REGION | HAS_BLOCK)

/* Calls of blades. */
static const struct shape calls[WEFT_CALL_MAX] = {
	[WEFT_CALL_RECALLED]	= { .is = IS_KNOWN | IS_REGION },
	[WEFT_CALL_RENEW]	= { .is = IS_KNOWN,
				    .valid = WEFT_RENEW_LATE | WEFT_RENEW_CRASHED },
	[WEFT_CALL_CHANGED]	= { .is = ATTRIBUTES },
	[WEFT_CALL_FENCE]	= { .is = IS_KNOWN | IS_FIRST },
	[WEFT_CALL_TWIN]	= { .is = IS_KNOWN | IS_BLADE | HAS_ADDR },
	[WEFT_CALL_MOVE]	= { .is = ATTRIBUTES | IS_FIRST },
};

/* What blades answer. */
static const struct shape replies[WEFT_CALL_MAX] = {
	[WEFT_CALL_JOIN]	= { .is = IS_KNOWN, .valid = ~0u, .entry = peer_entry },
	[WEFT_CALL_LEAVE]	= { .is = IS_KNOWN },
	[WEFT_CALL_PEERS]	= { .is = IS_KNOWN, .valid = ~0u, .entry = peer_entry },
	[WEFT_CALL_LOOKUP]	= { .is = ATTRIBUTES },
	[WEFT_CALL_CREATE]	= { .is = ATTRIBUTES, .valid = WEFT_CREATE_NEW },
	[WEFT_CALL_GETATTR]	= { .is = ATTRIBUTES, .valid = WEFT_REGION_FROZEN },
	[WEFT_CALL_SETATTR]	= { .is = ATTRIBUTES },
	[WEFT_CALL_UNLINK]	= { .is = IS_KNOWN | IS_REGION },
	[WEFT_CALL_OPEN]	= { .is = ATTRIBUTES },
	[WEFT_CALL_CLOSE]	= { .is = IS_KNOWN },
	[WEFT_CALL_READDIR]	= { .is = IS_KNOWN, .size = WEFT_REGION_MAX, .entry = name_entry },
	[WEFT_CALL_STATFS]	= { .is = IS_KNOWN, .size = ~0ull },
	[WEFT_CALL_STATS]	= { .is = IS_KNOWN, .entry = counter_entry },
	[WEFT_CALL_CLAIM]	= { .is = IS_KNOWN },
	[WEFT_CALL_FENCE_NODE]	= { .is = IS_KNOWN },
	[WEFT_CALL_LOST]	= { .is = IS_KNOWN, .entry = lost_entry },
	[WEFT_CALL_SYNC]	= { .is = IS_KNOWN },
	[WEFT_CALL_SPREAD]	= { .is = IS_KNOWN },
	[WEFT_CALL_BLADE]	= { .is = IS_KNOWN, .entry = blade_entry },
};

/* Bounds for all operations: a field that is not used is 0. */
static bool fields_fit(const struct weft_call *c, const struct shape *s)
{
	return c->err <= ERR_MAX && c->node <= WEFT_BLADE_MAX && !(c->valid & ~s->valid) &&
	       c->region <= WEFT_REGION_MAX && c->mode <= 07777 &&
	       c->uid != ~0u && c->gid != ~0u && (!c->block || is_block(c->block)) &&
	       (!c->addr || is_address(c->addr)) &&
	       c->size <= (s->size ? s->size : WEFT_REGION_SIZE_MAX) &&
	       weft_policy_valid(c->policy) && !(c->homes >> BLADES);
	/* any value of the others makes sense: bits of nodes, times, positions, amounts */
}

static bool is_whole(const struct weft_call *c, u32 is)
{
	return !(is & IS_REGION && !c->region) && !(is & HAS_BLOCK && !c->block) &&
	       !(is & IS_BLADE && !weft_is_blade(c->node)) && !(is & HAS_ADDR && !c->addr);
}

static bool list_fits(const struct weft_call *c, const struct shape *s)
{
	u32 at = 0, n;

	if (!s->entry)
		return !c->list_len;
	for (; at < c->list_len; at += n) {
		n = s->entry(c->list + at, c->list_len - at);
		if (!n)
			return false;
	}
	return true;
}

int weft_call_read(struct weft_call *call, const struct weft_msg *msg)
{
	bool reply = msg->type == WEFT_MSG_REPLY;
	const struct shape *s;

	if (weft_call_unpack(call, msg->payload, msg->len))
		return -EBADMSG;
	s = reply ? &replies[call->op] : &calls[call->op];
	if (!(s->is & IS_KNOWN) || (s->is & IS_FIRST && msg->src != WEFT_BLADE_MIN) ||
	    !fields_fit(call, s))
		return -EBADMSG;
	/* a refusal says why, and nothing else */
	if (reply && call->err)
		return 0;
	return is_whole(call, s->is) && list_fits(call, s) ? 0 : -EBADMSG;
}
