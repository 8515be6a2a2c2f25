/* SPDX-License-Identifier: GPL-2.0-only */
/* Statistics of an interval: what happened between two looks at the counters. */
#ifndef WEFTCTL_RATES_H
#define WEFTCTL_RATES_H

#include "view/gather.h"

/**
 * rates_run() - show what happens, again and again
 * @what: says what is shown
 * @interval_ms: how long one look takes
 * @count: how many; 0: until the program is ended
 *
 * Return: 0, or an exit status after it has said what is wrong.
 */
int rates_run(const struct gathered *what, uint32_t interval_ms, uint32_t count);

/* @now becomes what was counted since @before; what there is of something stays. */
void rates_subtract(struct gathered *now, const struct gathered *before);

#endif /* WEFTCTL_RATES_H */
