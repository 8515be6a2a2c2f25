/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shares: a hash says which of a blade's threads has a line, here and as a program for the kernel,
 * by which net/udp.c has a datagram put into the socket of that thread.
 */
#ifndef WEFT_MEMD_SHARE_H
#define WEFT_MEMD_SHARE_H

#include <linux/filter.h>

#include "types.h"

/*
 * A run of lines has one home and is one allocation; it belongs to one thread.  The hash has
 * nothing to do with the one that chooses the home: each blade's lines fall into all shares.  It
 * is made of 32-bit steps that classic BPF has, too, so that the kernel can put a datagram into
 * the socket of the thread that has the line.
 */

#define SHARE_PROGRAM	28	/* instructions */

/* Odd numbers without a pattern. */
#define SHARE_MIX_1	0x9E3779B1u
#define SHARE_MIX_2	0x85EBCA77u

static inline u32 share_of(u64 line, u32 threads)
{
	u32 hi = (u32)(line >> 32), lo = (u32)line;
	u32 run = (hi << 26 | lo >> 6) ^ (hi >> 8) * SHARE_MIX_2;

	run *= SHARE_MIX_1;
	run = (run ^ run >> 15) * SHARE_MIX_2;
	return threads > 1 ? (run >> 16) % threads : 0;
}

/**
 * share_program() - the same for SO_ATTACH_REUSEPORT_CBPF, which sees the UDP payload
 * @code: filled in
 *
 * What is about no line (calls, members) goes to the first thread, and so does what ends
 * before its line.
 */
void share_program(struct sock_filter code[SHARE_PROGRAM], u32 threads);

#endif /* WEFT_MEMD_SHARE_H */
