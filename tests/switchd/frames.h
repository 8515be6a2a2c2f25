/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of the switch share: frames, and that checks do not end a test.
 */
#ifndef WEFT_TESTS_SWITCHD_FRAMES_H
#define WEFT_TESTS_SWITCHD_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/common/check.h"

/* One run shows all that is wrong. */
__attribute__((constructor))
static void check_all(void)
{
	check_goes_on = true;
}

/* An Ethernet frame between stations 02:00:00:00:00:XX; to 0xff: to all. */
static inline size_t make_frame(uint8_t *f, unsigned int to, unsigned int from,
				size_t len, uint32_t tag)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 0 };
	size_t i;

	memset(f, 0, len);
	memcpy(f, mac, 6);
	memcpy(f + 6, mac, 6);
	f[5] = (uint8_t)to;
	f[11] = (uint8_t)from;
	if (to == 0xff)
		memset(f, 0xff, 6);
	f[12] = 0x88;
	f[13] = 0xb5;
	for (i = 18; i < len; i++)
		f[i] = (uint8_t)(i * 7 + tag);
	memcpy(f + 14, &tag, len >= 18 ? 4 : 0);
	return len;
}

/* The @tag of a frame of 18 bytes or more. */
static inline uint32_t frame_tag(const uint8_t *f)
{
	uint32_t tag;

	memcpy(&tag, f + 14, sizeof(tag));
	return tag;
}

#endif /* WEFT_TESTS_SWITCHD_FRAMES_H */
