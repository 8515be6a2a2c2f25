// SPDX-License-Identifier: GPL-2.0-only
/* Codec of calls, see call.h. */
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
	if (memchr(call->name, '/', call->name_len) ||
	    memchr(call->name, 0, call->name_len))
		return -EBADMSG;
	memcpy(call->list, p + call->name_len, call->list_len);
	return 0;
}
