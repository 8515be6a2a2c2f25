/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of counters, for the answer to WEFT_CALL_STATS; front/calls.c asks for it. */
#ifndef WEFT_MEMD_STATS_H
#define WEFT_MEMD_STATS_H

#include "types.h"

struct memd;
struct weft_call;

/**
 * stats_list() - a page of the list of counters
 * @reply: list and cookie are filled in
 * @from: cookie of the question: number of the first
 */
void stats_list(struct memd *m, struct weft_call *reply, u64 from);

#endif /* WEFT_MEMD_STATS_H */
