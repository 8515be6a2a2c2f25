// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of the netlink family on libmnl.  It knows what uapi/weft_netlink.h says and
 * shares no code with weftctl, whose library is another one, nor with the client in
 * Python, which reads uapi/weft.yaml.
 *
 *	netlink drive	every command, every attribute that it takes or answers
 *	netlink hear	every kind of event, every attribute of events
 *
 * "drive" wants the module of tests/ctl/fakes/node, down, and the right to change it; it
 * leaves it down.  "hear" wants it up.  Each attribute of the header must have been seen
 * at the end: a new one makes this fail until it is used here.
 *
 * Prints a line for what is wrong; exit status 1 then.
 */
#include "family.h"

int main(int argc, char **argv)
{
	const bool drives = argc == 2 && !strcmp(argv[1], "drive");

	if (!drives && (argc != 2 || strcmp(argv[1], "hear"))) {
		fputs("usage: netlink drive | hear\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	family_find();
	if (drives)
		drive();
	else
		hear();
	return bad;
}
