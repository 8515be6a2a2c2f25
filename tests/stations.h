/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ports of a switch that is played by weft_switch_handle(): each member is behind
 * the port of its own number.
 */
#ifndef WEFT_TESTS_STATIONS_H
#define WEFT_TESTS_STATIONS_H

#include "directory.h"

static inline void stations_by_id(struct weft_switch *sw)
{
	u8 id;

	for (id = WEFT_NODE_MIN; id <= WEFT_BLADE_MAX; id++)
		sw->station[id] = id + 1;
}

#endif /* WEFT_TESTS_STATIONS_H */
