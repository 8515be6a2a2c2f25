// SPDX-License-Identifier: GPL-2.0-only
/* weftctl down: take this node out of its rack. */
#include "argument.h"
#include "kernel.h"
#include "weftctl.h"

static int down(int argc, char **argv)
{
	static const struct option options[] = {
		ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY, { 0 }
	};
	const struct reading r = { &command_down, argc, argv, options };
	int letter, rc;

	letter = argument_next(&r);
	if (letter != -1)
		return argument_stop(&r, letter);
	rc = argument_none(&r);
	if (!rc)
		rc = kernel_open(false);
	return rc ? rc : kernel_config_clear();
}

const struct command command_down = {
	.name = "down",
	.run = down,
	.summary = "take this node out of its rack",
	.help = "\n\nFails while weft is mounted.  The module stays loaded.\n",
};
