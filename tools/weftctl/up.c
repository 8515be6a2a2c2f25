// SPDX-License-Identifier: GPL-2.0-only
/* weftctl up: make this machine a node of a rack. */
#include "argument.h"
#include "fail.h"
#include "kernel.h"
#include "weft_wire.h"
#include "weftctl.h"

static const struct option up_options[] = {
	{ "node", required_argument, NULL, 'n' },
	{ "interface", required_argument, NULL, 'i' },
	{ "homes", required_argument, NULL, 'H' },
	{ "rack", required_argument, NULL, 'r' },
	{ "address", required_argument, NULL, 'a' },
	{ "mtu", required_argument, NULL, 'm' },
	ARGUMENT_TIMEOUT, ARGUMENT_HOLD,
	ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY,
	{ 0 }
};

static int read_up_option(const struct reading *r, int letter, struct config *c)
{
	switch (letter) {
	case 'n':
		return argument_u32(r, "--node", optarg, WEFT_NODE_MIN,
				    WEFT_NODE_MAX, &c->id);
	case 'i':
		return argument_interface(r, "--interface", optarg, c->ifname);
	case 'H':
		return argument_addresses(r, "--homes", optarg, c->homes,
					  WEFT_HOMES_MAX, &c->homes_len);
	case 'r':
		return argument_u32(r, "--rack", optarg, 0, UINT32_MAX, &c->rack);
	case 'a':
		return argument_address(r, "--address", optarg, &c->address);
	case 'm':
		return argument_u32(r, "--mtu", optarg, WEFT_MTU_MIN, WEFT_MTU_MAX,
				    &c->mtu);
	default:
		return argument_tunable(r, letter, optarg, c);
	}
}

static int up(int argc, char **argv)
{
	const struct reading r = { &command_up, argc, argv, up_options };
	struct config c = { 0 };
	int letter, rc;

	while ((letter = argument_next(&r)) != -1) {
		if (letter == 'h' || letter == '?')
			return argument_stop(&r, letter);
		rc = read_up_option(&r, letter, &c);
		if (rc)
			return rc;
	}
	rc = argument_none(&r);
	if (rc)
		return rc;
	if (!c.id)
		return misuse("up", "--node is missing: the number of this node, 1 to 32, which no other node of the rack has");
	if (!c.ifname[0])
		return misuse("up", "--interface is missing: the one that leads to the rack ('ip link' lists them)");
	if (!c.homes_len)
		return misuse("up", "--homes is missing: the addresses of the memory blades, blade 33 first");
	rc = kernel_open(true);
	return rc ? rc : kernel_config_set(&c);
}

const struct command command_up = {
	.name = "up",
	.run = up,
	.summary = "make this machine a node of a rack",
	.help = " --node ID --interface IF --homes ADDRESS[,ADDRESS...] [OPTION...]\n\n"
		"Loads the module if it is not loaded, and sets the node up.  Then:\n"
		"mount -t weft -o cache=SIZE none /weft\n\n"
		"  --node ID        number of this node, 1 to 32, each a different one\n"
		"  --interface IF   interface that leads to the rack\n"
		"  --homes A[,A...] IPv4 addresses of the memory blades, in the order of\n"
		"                   their ids: blade 33 first; the same on all nodes\n"
		"  --rack N         number of the rack, the same on all members (0)\n"
		"  --address A      own IPv4 address (the interface's first)\n"
		"  --mtu BYTES      longest datagram, 1500 to 9000 (the interface's)\n"
		"  --timeout SEC    how long a program waits for the network before its\n"
		"                   access fails (30)\n"
		"  --hold USEC      how long a block stays after it came (100)\n",
};
