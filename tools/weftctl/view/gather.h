/* SPDX-License-Identifier: GPL-2.0-only */
/* All that "weftctl stats" shows, gathered from the kernel. */
#ifndef WEFTCTL_GATHER_H
#define WEFTCTL_GATHER_H

#include "kernel/kernel.h"

/**
 * struct gathered - all that the command shows
 * @node: is shown
 * @memory: is shown
 * @sw: is shown
 * @latency: is shown
 * @id: of the node, 0 if it is down
 * @homes_len: how many memory blades
 * @homes: their addresses
 * @drained: bits of blades that no region uses, and that are not asked
 * @silent: bits of blades that do not answer
 * @of_node: counters
 * @hists: how long things take at the node
 * @of_blade: counters of each
 * @of_all: their sums, of those that answer
 * @of_switch: counters
 * @no_switch: there is none with a directory
 */
struct gathered {
	bool node;
	bool memory;
	bool sw;
	bool latency;
	uint32_t id;
	unsigned int homes_len;
	struct in_addr homes[WEFT_HOMES_MAX];
	uint32_t drained;
	uint32_t silent;
	struct counters of_node;
	struct hists hists;
	struct counters of_blade[WEFT_HOMES_MAX];
	struct counters of_all;
	struct counters of_switch;
	bool no_switch;
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

void gather_free(struct gathered *g);

#endif /* WEFTCTL_GATHER_H */
