// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the counters.  By netlink, as weftctl does, but not by calling it: to
 * start a program takes longer than what is measured.
 */
#include "bench.h"
#include "tools/weftctl/kernel/kernel.h"
#include "weft_wire.h"

static void add_all(struct tally *c, const char *prefix, struct counters *from)
{
	size_t i;

	for (i = 0; i < from->len; i++)
		tally_one(c, prefix, from->list[i].name, from->list[i].value);
	counters_free(from);
	*from = (struct counters){ 0 };
}

/**
 * tally_read() - all that there are now
 * @c: filled; the first node adds those of the memory blades
 */
void tally_read(struct tally *c)
{
	static bool is_open;
	static struct config config;
	struct counters from = { 0 };
	unsigned int i;
	bool silent;

	c->len = 0;
	if (!is_open && (kernel_open(false) || kernel_config_get(&config)))
		node_die("cannot read the counters");
	is_open = true;
	if (kernel_stats(&from))
		node_die("cannot read the counters of the node");
	add_all(c, "", &from);
	for (i = 0; i < config.homes_len && node.number == 1; i++) {
		if (kernel_blade_stats(WEFT_BLADE_MIN + i, config.homes[i], &from, &silent) ||
		    silent)
			node_die("cannot read the counters of a memory blade");
		add_all(c, "home_", &from);
	}
}
