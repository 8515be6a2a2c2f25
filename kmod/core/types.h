/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the protocol core takes from its surroundings, and names: bits of members, transactions,
 * lines, their homes and slots.  All of the core includes it: kernel, blade, switch, tests,
 * explorer.  The core has no I/O, threads, clocks or allocation.
 */
#ifndef WEFT_CORE_TYPES_H
#define WEFT_CORE_TYPES_H

#ifdef __KERNEL__
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/version.h>
#include <linux/xxhash.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
#else
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* get_unaligned_be16(p), put_unaligned_be16(v, p) and so on, as in the kernel. */
#define WEFT_UNALIGNED(bits)						\
static inline u##bits get_unaligned_be##bits(const void *p)		\
{									\
	u##bits v;							\
									\
	memcpy(&v, p, sizeof(v));					\
	return be##bits##toh(v);					\
}									\
									\
static inline void put_unaligned_be##bits(u##bits v, void *p)		\
{									\
	v = htobe##bits(v);						\
	memcpy(p, &v, sizeof(v));					\
}
WEFT_UNALIGNED(16)
WEFT_UNALIGNED(32)
WEFT_UNALIGNED(64)
#endif /* !__KERNEL__ */

#include "weft_wire.h"

/* Bit of a node in a copyset; 0 if @id is not a node. */
static inline u32 weft_node_bit(u32 id)
{
	return id >= WEFT_NODE_MIN && id <= WEFT_NODE_MAX ? 1u << (id - 1) : 0;
}

static inline bool weft_is_blade(u32 id)
{
	return id >= WEFT_BLADE_MIN && id <= WEFT_BLADE_MAX;
}

/* A transaction; @seq wraps inside its field. */
static inline u32 weft_txn(u32 member, u32 seq)
{
	return member << WEFT_TXN_SEQ_BITS | (seq & WEFT_TXN_SEQ_MASK);
}

static inline u32 weft_txn_member(u32 txn)
{
	return txn >> WEFT_TXN_SEQ_BITS;
}

/* The name of a line, as line_hi:line_lo of the header. */
static inline u64 weft_line_key(u32 region, u32 kind, u64 index)
{
	return (u64)region << 40 | (u64)(kind & WEFT_LINE_KIND_MASK) << 36 |
	       (index & 0xFFFFFFFFFull);
}

static inline u32 weft_line_region(u64 key)
{
	return (u32)(key >> 40);
}

static inline u32 weft_line_kind(u64 key)
{
	return (u32)(key >> 36) & WEFT_LINE_KIND_MASK;
}

static inline u64 weft_line_index(u64 key)
{
	return key & 0xFFFFFFFFFull;
}

/*
 * The home of a line: the number, from 0, of a blade in the bit set @homes; 0 if that is empty.
 * Runs of 64 lines have one home, so that sequential accesses batch well.
 */
static inline u32 weft_line_blade(u64 key, u32 homes)
{
	u32 left, n = 0;

	for (left = homes; left; left &= left - 1)
		n++;
	if (n > 1)
		n = (weft_line_region(key) + (u32)(weft_line_index(key) >> 6)) % n;
	else
		n = 0;
	while (n--)
		homes &= homes - 1;
	return homes ? (u32)__builtin_ctz(homes) : 0;
}

/* The bit set of the first @blades blades, 31 at most. */
static inline u32 weft_first_homes(u32 blades)
{
	return (1u << blades) - 1;
}

/* The home of a line among the first @blades blades. */
static inline u32 weft_line_home(u64 key, u32 blades)
{
	return weft_line_blade(key, weft_first_homes(blades));
}

/*
 * The slot of a line in the switch.  Consecutive lines never collide, and regions with consecutive
 * numbers begin 4,096 slots or more from each other, nearly always 16,384.  A switch does shifts
 * and exclusive or in few stages.
 */
static inline u32 weft_line_slot(u64 key)
{
	return (u32)(key ^ key >> 16 ^ key >> 25 ^ key >> 27 ^ key >> 34) &
	       WEFT_SWITCH_SLOT_MASK;
}

#endif /* WEFT_CORE_TYPES_H */
