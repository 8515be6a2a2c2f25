// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: the codecs of messages and calls.  What they accept comes out of
 * packing again as it went in.
 */

#include "call.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void call(const u8 *data, size_t size)
{
	u8 buf[WEFT_CALL_LEN_MAX], second[WEFT_CALL_LEN_MAX];
	struct weft_call c, again;
	u32 len;

	struct weft_msg msg = { .src = WEFT_BLADE_MIN, .payload = data, .len = (u32)size };

	if (size > 0xFFFF || weft_call_unpack(&c, data, (u32)size))
		return;
	/* all of a list lies inside */
	msg.type = WEFT_MSG_REPLY;
	if (!weft_call_read(&again, &msg))
		CHECK(again.region <= WEFT_REGION_MAX && !(again.homes >> 16));
	msg.type = WEFT_MSG_CALL;
	if (!weft_call_read(&again, &msg))
		CHECK(again.region <= WEFT_REGION_MAX && !(again.homes >> 16));
	CHECK(c.op && c.op < WEFT_CALL_MAX && c.name_len <= WEFT_NAME_MAX &&
	     c.list_len <= WEFT_CALL_LIST_MAX && !c.name[c.name_len] &&
	     strlen(c.name) == c.name_len && !strchr(c.name, '/'));
	len = weft_call_pack(&c, buf);
	CHECK(len == size);
	CHECK(!weft_call_unpack(&again, buf, len));
	CHECK(weft_call_pack(&again, second) == len && !memcmp(buf, second, len));
}

static void message(const u8 *data, size_t size)
{
	u8 hdr[WEFT_WIRE_HDR_LEN], second[WEFT_WIRE_HDR_LEN];
	struct weft_msg m, linear;
	u32 psum;

	if (weft_wire_unpack(&m, data, size, NULL))
		return;
	CHECK(!weft_wire_unpack_header(&linear, data, size, &psum));
	CHECK(psum == weft_wire_psum(m.payload, m.len));
	CHECK(m.len == size - WEFT_WIRE_HDR_LEN && !m.len == !m.payload);
	if (weft_msg_has_data(m.type)) {
		CHECK(m.size <= WEFT_BLOCK_MAX && m.info && m.len <= m.info &&
		     m.offset + m.len <= m.size);
	}
	/* an odd log2 of a size is read as 0, so compare only what was packed */
	weft_wire_pack_plain(&m, hdr);
	CHECK(!weft_wire_unpack_header(&linear, hdr, size, &psum));
	linear.payload = m.payload;
	weft_wire_pack_plain(&linear, second);
	CHECK(!memcmp(hdr, second, sizeof(hdr)));
}

/* As a receiver takes a datagram apart: it ends, and stays inside. */
static void datagram(const u8 *data, size_t size)
{
	size_t at, n;

	for (at = 0; at < size; at += n) {
		n = weft_wire_first(data + at, size - at);
		CHECK(n && n <= size - at);
		message(data + at, n);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 buf[4096];
	struct weft_msg m;

	datagram(data, size);
	call(data, size);
	if (size < WEFT_WIRE_HDR_LEN || size > sizeof(buf))
		return 0;
	/* the same with right sums, or no input would ever get past them */
	memcpy(buf, data, size);
	buf[0] = WEFT_WIRE_MAGIC;
	buf[1] = WEFT_WIRE_VERSION;
	put_unaligned_be16((u16)size, buf + 4);
	put_unaligned_be32(weft_wire_psum(buf + WEFT_WIRE_HDR_LEN,
					  size - WEFT_WIRE_HDR_LEN), buf + 56);
	put_unaligned_be16(0, buf + 6);
	{
		u32 sum = 0, i;

		for (i = 0; i < WEFT_WIRE_HDR_LEN; i += 2)
			sum += get_unaligned_be16(buf + i);
		sum = (sum & 0xFFFF) + (sum >> 16);
		put_unaligned_be16((u16)~((sum & 0xFFFF) + (sum >> 16)), buf + 6);
	}
	datagram(buf, size);
	if (!weft_wire_unpack(&m, buf, size, NULL))
		call(m.payload, m.len);
	return 0;
}
