// SPDX-License-Identifier: GPL-2.0-only
/* weftctl set: change how this node behaves while it runs. */
#include "argument.h"
#include "fail.h"
#include "kernel.h"
#include "weftctl.h"

static int set(int argc, char **argv)
{
	static const struct option options[] = {
		ARGUMENT_TIMEOUT, ARGUMENT_HOLD,
		ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY,
		{ 0 }
	};
	const struct reading r = { &command_set, argc, argv, options };
	struct config c = { 0 };
	int letter, rc;

	while ((letter = argument_next(&r)) != -1) {
		if (letter == 'h' || letter == '?')
			return argument_stop(&r, letter);
		rc = argument_tunable(&r, letter, optarg, &c);
		if (rc)
			return rc;
	}
	rc = argument_none(&r);
	if (rc)
		return rc;
	if (!c.timeout_ms && !c.hold_set)
		return misuse("set", "nothing to change: give --timeout or --hold");
	rc = kernel_open(false);
	return rc ? rc : kernel_tune(&c);
}

const struct command command_set = {
	.name = "set",
	.run = set,
	.summary = "change how this node behaves while it runs",
	.help = " [--timeout SEC] [--hold USEC]\n\n"
		"  --timeout SEC    how long a program waits for the network before its\n"
		"                   access fails\n"
		"  --hold USEC      how long a block stays after it came\n",
};
