// SPDX-License-Identifier: GPL-2.0-only
/* weftctl node: the nodes of the rack, and what is to be done about another one. */
#include <stdint.h>

#include "base/fail.h"
#include "base/output.h"
#include "command/commands.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "weft_wire.h"

static int list(void)
{
	struct peers peers;
	struct table t;
	size_t i;
	int rc = kernel_peers(&peers);

	if (rc)
		return rc;
	table_begin(&t, "nodes", peer_columns);
	table_head(&t);
	for (i = 0; i < peers.len; i++) {
		if (peers.list[i].id <= WEFT_NODE_MAX)
			table_row(&t, &peers.list[i]);
	}
	table_end(&t);
	return 0;
}

static int fence(const struct reading *r)
{
	const char *text = argument_operand(r);
	uint32_t id = 0;
	int rc;

	if (!text)
		return misuse(r->command->name, "say with which node, as in 'node fence 3'");
	rc = argument_u32(r, "NODE", text, WEFT_NODE_MIN, WEFT_NODE_MAX, &id);
	if (!rc)
		rc = command_begin(r);
	return rc ? rc : kernel_fence(id);
}

static int node(const struct reading *r)
{
	static const char * const actions[] = { "show", "fence", NULL };
	int action = argument_action(r, actions), rc;

	if (action < 0)
		return EXIT_USAGE;
	if (action)
		return fence(r);
	rc = command_begin(r);
	return rc ? rc : list();
}

const struct command command_node = {
	.name = "node",
	.plural = "nodes",
	.run = node,
	.summary = "nodes of the rack; take another one out as if it had died",
	.help = " [show] [-j] [-p]\n"
		"       weftctl node fence NODE\n\n"
		"  NODE  its number, 1 to 32\n\n"
		"Number, address, whether it has joined, how data comes from it.\n"
		"Fence: memory blades and all other nodes listen to it no more; its locks pass on, and\n"
		"what only it had modified is lost ('weftctl line lost'), as if it had been silent for\n"
		"the lease.  If it lives it drops all that it has, and joins anew.  For root.\n",
};
