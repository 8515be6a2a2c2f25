// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports for a suite in shell, claim_ports() of tests/tap.sh: prints the first, and has them
 * until nobody listens any more to what it prints.
 *
 *	runner-ports [BLOCK]	which is tried first
 */
#include <poll.h>

#include "tests/common/argument.h"
#include "tests/common/ports.h"

int main(int argc, char **argv)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	printf("%u\n", argc > 1 ? ports_claim_from(argument_u32(argv[1])) : ports_claim());
	if (fflush(stdout))
		return 1;
	while (poll(&out, 1, -1) < 0 && errno == EINTR)
		;
	return 0;
}
