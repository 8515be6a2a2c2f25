// SPDX-License-Identifier: GPL-2.0-only
/* weftctl node: what is to be done about another node. */
#include <getopt.h>
#include <stdint.h>

#include "argument.h"
#include "dead.h"
#include "fail.h"
#include "kernel.h"
#include "weft_wire.h"
#include "weftctl.h"

static int node(int argc, char **argv)
{
	static const struct option options[] = {
		ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY, ARGUMENT_RACK, { 0 }
	};
	static const char * const actions[] = { "fence" };
	const struct reading r = { &command_node, argc, argv, options };
	uint32_t id = 0;
	int letter, rc;

	letter = argument_next(&r);
	if (letter != -1)
		return argument_stop(&r, letter);
	if (optind + 1 >= argc)
		return misuse(command_node.name, "say what is to be done, and with which node, as in 'node fence 3'");
	if (argument_word(&command_node, "action", argv[optind++], actions, 1) < 0)
		return EXIT_USAGE;
	rc = argument_u32(&r, "NODE", argv[optind++], WEFT_NODE_MIN, WEFT_NODE_MAX, &id);
	if (!rc)
		rc = argument_none(&r);
	if (!rc)
		rc = kernel_open(false);
	return rc ? rc : dead_fence(id);
}

const struct command command_node = {
	.name = "node",
	.run = node,
	.summary = "take another node out of the rack as if it had died",
	.help = " fence NODE\n\n"
		"  NODE  its number, 1 to 32 ('weftctl status' lists them)\n\n"
		"The memory blades and all other nodes listen to it no more; its locks pass on, and\n"
		"what only it had modified is lost ('weftctl line lost'), as if it had been silent for\n"
		"the lease.  If it lives it drops all that it has, and joins anew.  For root.\n",
};
