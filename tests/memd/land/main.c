// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node whose network card connects to a memory blade's, played: blocks land where it
 * says, each key once, and whatever goes wrong costs the connection and nothing else.
 * For a guest of a rack with RDMA, on which nothing else has the rack's port.
 *
 *	memd-land FIRST OWN KEY BLADES TEST...
 *
 * Addresses of the first blade, which the others' follow, and of the node, whose last byte is
 * its number; KEY: a file, "none"; how many blades there are: the last one has the blocks.
 *
 * TEST: "lands": everything but the others.
 *	"udp": a blade without a card answers a request with a landing by UDP
 *	"unlocked": one that may lock little memory, and not its frames, does as well
 *	"deeds": what the node's card reads by itself, and what it may not
 *	"no-deeds": a blade that lets no node read
 *	"removed": says "connected" and waits until somebody takes the blade's card away, then
 *	says "gone" and waits until it is there again
 *	"dead": blocks land all the time; says "connected", when some have "landed", and when no
 *	more come and the blade does not answer "cut off"; waits until /run/land-healed is there,
 *	and the blade has taken the node out meanwhile: it joins anew, and what landed for its
 *	former life does not change any more
 *	"silent": lands one block, says "connected" and nothing more until /run/land-healed is there:
 *	its connection is whole, and no sign of life; then it joins anew
 *	"anew": the same, but joins anew when /run/land-cut is there: the last blade is cut off
 *	"stays": a member, without a card, until /run/land-healed is there
 */
#include "cases.h"
#include "deeds.h"
#include "link.h"
#include "lives.h"
#include "tests/common/argument.h"
#include "tests/common/check.h"

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "lands", case_lands }, { "udp", case_udp }, { "unlocked", case_unlocked },
	{ "deeds", case_deeds }, { "no-deeds", case_no_deeds }, { "removed", case_removed }, { "dead", case_dead }, { "silent", case_silent },
	{ "anew", case_anew }, { "stays", case_stays },
};

static void run(const char *name)
{
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, name)) {
			cases[i].run();
			return;
		}
	CHECK_FAIL("what is %s?", name);
}

int main(int argc, char **argv)
{
	u32 i;

	if (argc < 6) {
		fputs("usage: memd-land FIRST OWN KEY|none BLADES TEST...: lands deeds no-deeds udp unlocked removed dead silent anew stays\n", stderr);
		return 2;
	}
	alarm(PLAYER_LIMIT_S);
	player_begin(argv[1], argv[2], argv[3], (u32)argument(argv[4], 1, WEFT_BLADE_MAX - WEFT_BLADE_MIN + 1));
	player_join();
	player_create();
	player_open();
	for (i = 0; i < WRITTEN; i++)
		written[i] = player_write(i);
	for (i = 5; i < (u32)argc; i++)
		run(argv[i]);
	player_leave();
	return check_result();
}
