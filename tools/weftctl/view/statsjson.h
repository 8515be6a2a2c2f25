/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl stats" shows, as JSON. */
#ifndef WEFTCTL_STATSJSON_H
#define WEFTCTL_STATSJSON_H

#include "tools/common/json.h"
#include "view/gather.h"

/**
 * stats_json() - a document on stdout, as the user wants JSON to be
 * @g: what was gathered
 * @seconds: in which it was counted, for rates; 0: since ever, for sums
 */
void stats_json(const struct gathered *g, double seconds);

/* "answers" of a blade, from 0: true, false, or null if it was not asked, as no region uses it. */
void json_answers(struct json *j, const struct gathered *g, unsigned int blade);

#endif /* WEFTCTL_STATSJSON_H */
