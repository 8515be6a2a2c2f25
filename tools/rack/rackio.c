// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-rackio: what weft-rack (a shell script) cannot do well itself.
 *
 *	keep	run a guest (or the switch) in the background, and pass commands to it
 *	stop	end what "keep" keeps
 *	agent	the other end of "keep" in a guest; its first process
 *	run	run one command in a guest
 *	scan	find complaints of the kernel in the log of a console
 *	tsc	measure this machine's time stamp counter
 *	apart	tell whether user-mode kernels can have their namespaces
 *
 * Not meant to be called by hand: weft-rack knows the files.
 */
#include "rackio.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} uses[] = {
	{ "keep", keep_main },
	{ "stop", stop_main },
	{ "agent", agent_main },
	{ "run", run_main },
	{ "scan", scan_main },
	{ "tsc", tsc_main },
	{ "apart", apart_main },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(uses) / sizeof(uses[0]); i++)
		if (!strcmp(argv[1], uses[i].name))
			return uses[i].main(argc - 1, argv + 1);

	fprintf(stderr, "usage: weft-rackio keep|stop|agent|run|scan|tsc|apart ...: called by weft-rack\n");
	return RACK_TROUBLE;
}
