/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters and histograms for people and as JSON: what follows from them, and tables of them. */
#ifndef WEFTCTL_REPORT_H
#define WEFTCTL_REPORT_H

#include <stdbool.h>

#include "kernel/kernel.h"
#include "tools/common/json.h"
#include "view/gather.h"

/* Misses of a node, from its counters. */
struct misses {
	uint64_t served;	/* all that were, of whatever kind */
	uint64_t round_trips;	/* that they took together */
	uint64_t nsec;	/* that they waited together */
	uint64_t by_switch;	/* answered by the directory in the switch */
	uint64_t by_home;	/* answered by the directory at the home */
	uint64_t by_readers;	/* by who gave back what this node had lent them */
	/* about lines that the node sent and received, for misses of others, too */
	uint64_t messages;
};

void report_misses(const struct counters *c, struct misses *m);

/* Lookups in the switch's directory, from its counters. */
struct lookups {
	uint64_t requests;	/* that it looked at */
	uint64_t hits;	/* that it answered; the others went on to the home */
};

void report_lookups(const struct counters *c, struct lookups *l);

/*
 * Print all that was gathered; @seconds: in which it was counted, for rates; 0: since ever, for
 * sums.
 */
void report_print(const struct gathered *g, double seconds);
void report_json(const struct gathered *g, double seconds);

/* "answers" of a blade, from 0: true, false, or null if it was not asked, as no region uses it. */
void report_answers(struct json *j, const struct gathered *g, unsigned int blade);

#endif /* WEFTCTL_REPORT_H */
