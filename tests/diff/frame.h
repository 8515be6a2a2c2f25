/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes of frames for the differential test: where the fields stand, and the two
 * sums.  On purpose not shared with kmod/core/wire.c: the switch handles headers
 * that no member would accept.
 */
#ifndef WEFT_TESTS_DIFF_FRAME_H
#define WEFT_TESTS_DIFF_FRAME_H

#include "wire.h"

/* A P4 parser reads zeros behind the end of a short frame, up to here. */
#define FRAME_PAD	128
#define FRAME_ROOM	9216

enum {
	AT_ETH_DST = 0, AT_ETH_SRC = 6, AT_ETH_TYPE = 12,
	AT_IP = 14,
	AT_IP_VIHL = AT_IP, AT_IP_LEN = AT_IP + 2, AT_IP_ID = AT_IP + 4,
	AT_IP_FRAG = AT_IP + 6, AT_IP_TTL = AT_IP + 8, AT_IP_PROTO = AT_IP + 9,
	AT_IP_SUM = AT_IP + 10, AT_IP_SRC = AT_IP + 12, AT_IP_DST = AT_IP + 16,
	AT_UDP = 34,
	AT_UDP_SRC = AT_UDP, AT_UDP_DST = AT_UDP + 2, AT_UDP_LEN = AT_UDP + 4,
	AT_UDP_SUM = AT_UDP + 6,
	AT_WEFT = 42,
	AT_MAGIC = AT_WEFT, AT_VERSION = AT_WEFT + 1, AT_TYPE = AT_WEFT + 2,
	AT_FLAGS = AT_WEFT + 3, AT_LENGTH = AT_WEFT + 4, AT_HSUM = AT_WEFT + 6,
	AT_TXN = AT_WEFT + 8, AT_LINE = AT_WEFT + 12, AT_SRC = AT_WEFT + 20,
	AT_STATUS = AT_WEFT + 21, AT_INFO = AT_WEFT + 22,
	AT_COPYSET = AT_WEFT + 24, AT_PROVIDER = AT_WEFT + 28,
	AT_HOLDER = AT_WEFT + 32, AT_NONCE = AT_WEFT + 36,
	AT_DATA_VERSION = AT_WEFT + 40, AT_GRANT = AT_WEFT + 52,
	AT_RACK = AT_WEFT + 60,
	AT_PAYLOAD = AT_WEFT + WEFT_WIRE_HDR_LEN,
};

static inline u16 get16(const u8 *f, int at)
{
	return get_unaligned_be16(f + at);
}

static inline u32 get32(const u8 *f, int at)
{
	return get_unaligned_be32(f + at);
}

static inline u64 get64(const u8 *f, int at)
{
	return get_unaligned_be64(f + at);
}

static inline u64 get_mac(const u8 *f, int at)
{
	return (u64)get16(f, at) << 32 | get32(f, at + 2);
}

static inline void put16(u8 *f, int at, u16 v)
{
	put_unaligned_be16(v, f + at);
}

static inline void put32(u8 *f, int at, u32 v)
{
	put_unaligned_be32(v, f + at);
}

static inline void put64(u8 *f, int at, u64 v)
{
	put_unaligned_be64(v, f + at);
}

static inline void put_mac(u8 *f, int at, u64 mac)
{
	put16(f, at, (u16)(mac >> 32));
	put32(f, at + 2, (u32)mac);
}

/* Ones' complement sum of @len bytes (even), folded. */
static inline u16 sum_of(const u8 *f, int at, int len)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < len; i += 2)
		sum += get16(f, at + i);
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return (u16)sum;
}

static inline u16 weft_sum(const u8 *f)
{
	return sum_of(f, AT_WEFT, WEFT_WIRE_HDR_LEN);
}

static inline void weft_sum_mend(u8 *f)
{
	put16(f, AT_HSUM, 0);
	put16(f, AT_HSUM, (u16)~weft_sum(f));
}

#endif /* WEFT_TESTS_DIFF_FRAME_H */
