/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a region is at home: weftctl region move, region spread. */
#ifndef WEFTCTL_PLACE_H
#define WEFTCTL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/argument.h"

/* "move REGION BLADE,..."; @wait_ms: until it is there, 0: not. */
int place_move(const struct reading *r, uint32_t wait_ms);

/* "spread REGION", or of all. */
int place_spread(const struct reading *r, bool all, uint32_t wait_ms);

#endif /* WEFTCTL_PLACE_H */
