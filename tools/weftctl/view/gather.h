/* SPDX-License-Identifier: GPL-2.0-only */
/* All that "weftctl stats" shows, gathered from the kernel. */
#ifndef WEFTCTL_GATHER_H
#define WEFTCTL_GATHER_H

#include "kernel/kernel.h"

/* Sources of counters; OF_ALL: sums over blades that answer; OF_BLADE + n: blade n, from 0. */
enum { OF_NODE, OF_ALL, OF_SWITCH, OF_BLADE };

/* All that the command shows. */
struct gathered {
	bool node;	/* is shown */
	bool memory;	/* is shown */
	bool sw;	/* is shown */
	bool latency;	/* is shown */
	uint32_t id;	/* of the node, 0 if it is down */
	unsigned int homes_len;	/* how many memory blades */
	struct in_addr homes[WEFT_HOMES_MAX];	/* their addresses */
	uint32_t drained;	/* bits of blades that no region uses, and that are not asked */
	uint32_t silent;	/* bits of blades that do not answer */
	struct hists hists;	/* how long things take at the node */
	struct counters of[OF_BLADE + WEFT_HOMES_MAX];	/* counters of each of those */
	bool no_switch;	/* there is none with a directory */
};

/**
 * gather() - ask for what is shown
 * @g: says what; all the rest of it is filled in
 *
 * That a blade does not answer is no failure, and not said: blades_silent() does.
 *
 * Return: 0, or an exit status after it has said what is wrong.
 */
int gather(struct gathered *g);

/**
 * gather_copy() - the same once more
 * @to: empty
 */
int gather_copy(struct gathered *to, const struct gathered *from);

/* @now becomes what was counted since @before; what there is of something stays. */
void gather_subtract(struct gathered *now, const struct gathered *before);

/* Not a counter but how much there is of something now; blades have such. */
bool gather_is_gauge(const char *name);

void gather_free(struct gathered *g);

#endif /* WEFTCTL_GATHER_H */
