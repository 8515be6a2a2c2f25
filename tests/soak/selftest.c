// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histories that are right, and the same with one thing wrong: the checker must tell them
 * apart.  Times are in seconds here; node 1 dies at 20, is taken out at 23, connected at 28 and back
 * at 30, unless a case says otherwise.
 */
#include <stdio.h>
#include <string.h>

#include "history.h"

#define CASE_LINES	12
#define BOUND		8

struct soak_case {
	const char *name;
	bool right;
	const char *line[CASE_LINES];
};

/* Processes 1 of node 1, 2 of node 2, 3 of node 3, all of which end well if they can. */
#define BEGUN	"b 1 1 0 1", "b 2 2 0 1", "b 3 3 0 1"
#define DEAD	"D 1 1 kill 20 21 23 28 30", "z 2 2 90", "z 3 3 90"
#define WELL	"z 1 1 90", "z 2 2 90", "z 3 3 90"

/* Kinds: 0 guarded, 2 release, 3 big, 4 word, 5 sync.  Tags: process and number. */
#define T11 "100000001"
#define T12 "100000002"
#define T13 "100000003"
#define T21 "200000001"
#define T22 "200000002"
#define T31 "300000001"

static const struct soak_case cases[] = {
	{ "writes one after the other", true, { BEGUN, WELL,
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 0 0 4 5 6 7 " T11 " 0 " T21 " -",
		"o 3 3 0 0 5 6 7 8 " T21 " " T11 " " T31 " -" } },
	{ "a write is lost, and nobody died", false, { BEGUN, WELL,
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 0 0 4 5 6 7 " T11 " 0 " T21 " -",
		"o 3 3 0 0 7 8 9 9 " T11 " 0 " T31 " -" } },
	{ "a read that is old", false, { BEGUN, WELL,
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 0 0 4 5 6 7 " T11 " 0 " T21 " -",
		"o 3 3 0 0 8 8 9 9 " T11 " 0 0 -" } },
	{ "a read from the future", false, { BEGUN, WELL,
		"o 1 1 4 0 8 8 9 9 0 0 " T11 " -",
		"o 2 2 4 0 4 4 6 6 " T11 " 0 0 -" } },
	{ "words are replaced while they are read", true, { BEGUN, WELL,
		"o 1 1 4 0 2 2 9 9 0 0 " T11 " -",
		"o 2 2 4 0 4 4 6 6 " T11 " 0 0 -",
		"o 3 3 4 0 3 3 8 8 0 0 0 -" } },
	{ "a chain that goes back in time", false, { BEGUN, WELL,
		"o 1 1 4 0 8 8 9 9 0 0 " T11 " -",
		"o 2 2 4 0 8 8 9 9 " T11 " 0 " T21 " -",
		"o 3 3 4 0 3 3 4 4 " T21 " 0 " T31 " -" } },
	{ "what nobody has written", false, { BEGUN, WELL,
		"o 2 2 0 0 4 5 6 7 " T11 " 0 " T21 " -" } },
	{ "two inside", false, { BEGUN, WELL,
		"o 1 1 0 0 2 3 6 7 0 0 " T11 " -",
		"o 2 2 0 0 4 5 8 9 " T11 " 0 " T21 " -" } },
	{ "a reader beside a writer", false, { BEGUN, WELL,
		"o 1 1 0 0 2 3 6 7 0 0 " T11 " -",
		"o 2 2 0 0 4 5 8 9 " T11 " 0 0 -" } },
	{ "two readers inside", true, { BEGUN, WELL,
		"o 1 1 0 0 2 3 6 7 0 0 0 -",
		"o 2 2 0 0 4 5 8 9 0 0 0 -" } },
	{ "contents of two", false, { BEGUN, WELL,
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " m" } },
	{ "somebody at work", false, { BEGUN, WELL,
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " i" } },
	{ "told of a death, and nobody died", false, { BEGUN, WELL,
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " t" } },
	{ "a process is killed in the midst of it", true, { BEGUN, "k 1 1 4", "z 2 2 90", "z 3 3 90",
		"o 1 1 0 0 1 1 2 3 0 0 " T11 " -",
		"o 2 2 0 0 4 5 6 7 " T12 " " T11 " " T21 " tm" } },
	{ "a word of a node that dies, seen by others, and not written down", true, { BEGUN, DEAD,
		"Y 1",
		"o 2 2 4 0 4 4 5 5 0 0 " T21 " -",
		"o 1 1 4 0 6 6 7 7 " T21 " 0 " T11 " -",
		"o 3 3 4 0 24 24 25 25 " T12 " 0 " T31 " -" } },
	{ "the same, and another one finds what was before", false, { BEGUN, DEAD,
		"Y 1",
		"o 2 2 4 0 4 4 5 5 0 0 " T21 " -",
		"o 1 1 4 0 6 6 7 7 " T21 " 0 " T11 " -",
		"o 3 3 4 0 24 24 25 25 " T12 " 0 " T31 " -",
		"o 2 2 4 0 26 26 27 27 " T21 " 0 0 -" } },
	{ "two writes of a killed process that it has not written down", false, {
		BEGUN, "k 1 1 4", "z 2 2 90", "z 3 3 90",
		"o 1 1 0 0 1 1 2 3 0 0 " T11 " -",
		"o 2 2 0 0 4 5 6 7 " T13 " " T11 " " T21 " t" } },
	{ "a killed process's half block, and nobody told", false, {
		BEGUN, "k 1 1 4", "z 2 2 90", "z 3 3 90",
		"o 1 1 0 0 1 1 2 3 0 0 " T11 " -",
		"o 2 2 0 0 4 5 6 7 " T12 " " T11 " " T21 " i" } },
	{ "lost with its node, and listed", true, { BEGUN, DEAD,
		"L 1 4096 4096 soak-guarded", "Y 1",
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 0 0 18 24 24 25 0 0 " T21 " t" } },
	{ "lost with its node, and not listed", false, { BEGUN, DEAD,
		"L 1 8192 4096 soak-guarded", "Y 1",
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 0 0 18 24 24 25 0 0 " T21 " t" } },
	{ "lost with its node, and a blade that has forgotten it", true, { BEGUN, DEAD,
		"B 22 23", "Y 1",
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 0 0 18 24 24 25 0 0 " T21 " t" } },
	{ "lost before its node died", false, { BEGUN, DEAD,
		"L 1 4096 4096 soak-guarded", "Y 1",
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 0 0 8 9 9 10 0 0 " T21 " -" } },
	{ "lost long after a node died", false, { BEGUN, DEAD,
		"L 1 4096 4096 soak-guarded", "Y 1",
		"o 2 2 0 0 40 41 42 43 0 0 " T21 " -",
		"o 3 3 0 0 44 45 45 46 0 0 " T31 " -" } },
	{ "what others wrote before is lost with the node that had it", true, { BEGUN, DEAD,
		"L 1 4096 4096 soak-guarded", "Y 1",
		"o 2 2 0 0 2 3 4 5 0 0 " T21 " -",
		"o 3 3 0 0 40 41 42 43 0 0 " T31 " t" } },
	{ "release: its own is lost", true, { BEGUN, DEAD,
		"o 1 1 2 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 2 0 18 24 24 25 0 0 " T21 " t" } },
	{ "release: what it had handed over is lost", false, { BEGUN, DEAD,
		"o 2 2 2 0 2 3 4 5 0 0 " T21 " -",
		"o 1 1 2 0 6 7 8 9 " T21 " 0 " T11 " -",
		"o 3 3 2 0 18 24 24 25 0 0 " T31 " t" } },
	{ "release: handed over while a blade was silent", true, { BEGUN, DEAD, "U 6 28",
		"o 2 2 2 0 2 3 4 5 0 0 " T21 " -",
		"o 1 1 2 0 6 7 8 9 " T21 " 0 " T11 " -",
		"o 3 3 2 0 18 24 24 25 0 0 " T31 " t" } },
	{ "what was lost is back", false, { BEGUN, DEAD,
		"o 1 1 0 0 2 3 4 5 0 0 " T11 " -",
		"o 2 2 0 0 18 24 24 25 0 0 " T21 " t",
		"o 3 3 0 0 40 41 41 42 " T11 " 0 0 -" } },
	{ "a node that was cut off reads what is old", true, { BEGUN, DEAD, "z 1 1 90",
		"o 2 2 0 0 22 22 23 23 0 0 " T21 " -",
		"o 1 1 0 0 25 25 26 26 0 0 0 -" } },
	{ "what others write when a node is dead is lost", false, { BEGUN, DEAD,
		"o 2 2 0 0 22 22 23 23 0 0 " T21 " -",
		"o 3 3 0 0 25 25 26 26 0 0 " T31 " -" } },
	{ "a node that is back reads what is old", false, { BEGUN, DEAD, "z 1 1 90",
		"o 2 2 0 0 22 22 23 23 0 0 " T21 " -",
		"o 1 1 0 0 35 35 36 36 0 0 0 -" } },
	{ "what a node that is cut off writes is heard", false, { BEGUN, DEAD, "z 1 1 90",
		"o 1 1 0 0 25 25 26 26 0 0 " T11 " -",
		"o 2 2 0 0 40 40 41 41 " T11 " 0 " T21 " -" } },
	{ "what it writes when it is there again is heard", true, { BEGUN, DEAD, "z 1 1 90",
		"o 1 1 0 0 28 29 29 29 0 0 " T11 " -",
		"o 2 2 0 0 40 40 41 41 " T11 " 0 " T21 " -" } },
	{ "... and what somebody else wrote before is gone", false, { BEGUN, DEAD, "z 1 1 90", "Y 1",
		"o 3 3 0 0 24 24 25 25 0 0 " T31 " -",
		"o 1 1 0 0 28 29 29 29 0 0 " T11 " -",
		"o 2 2 0 0 40 40 41 41 " T11 " 0 " T21 " -" } },
	{ "half a block after a death, of a lock that guards it", false, { BEGUN, DEAD,
		"L 1 4096 4096 soak-guarded", "Y 1",
		"o 2 2 0 0 40 40 41 41 0 0 " T21 " m" } },
	{ "half a block after a death, of one that does not", true, { BEGUN, DEAD,
		"L 1 196608 4096 soak-big", "Y 1",
		"o 2 2 3 0 40 40 41 41 0 0 " T21 " m" } },
	{ "... and that nobody has lost", false, { BEGUN, DEAD,
		"L 1 200704 4096 soak-big", "Y 1",
		"o 2 2 3 0 40 40 41 41 0 0 " T21 " m" } },
	{ "a record that was safe is there", true, { BEGUN, DEAD,
		"s 1 1 0 2 3 " T11, "o 2 2 5 0 40 40 41 41 " T11 " 0 0 -" } },
	{ "a record that was safe is gone", false, { BEGUN, DEAD,
		"s 1 1 0 2 3 " T12, "o 2 2 5 0 40 40 41 41 " T11 " 0 0 -" } },
	{ "a record is damaged in the end", false, { BEGUN, DEAD, "O 39",
		"s 1 1 0 2 3 " T11, "o 2 2 5 0 40 40 41 41 " T11 " 0 0 m" } },
	{ "an error of a node that was cut off", true, { BEGUN, DEAD, "e 1 1 0 0 24 25 5 SIGBUS" } },
	{ "an error of another one", false, { BEGUN, DEAD, "e 2 2 0 0 24 25 5 SIGBUS" } },
	{ "fsync() fails when a blade's machine has ended", true, { BEGUN, "k 1 1 26", "z 2 2 90",
		"z 3 3 90", "M 20 21", "e 1 1 5 0 24 25 5 fsync" } },
	{ "... before that", false, { BEGUN, "k 1 1 26", "z 2 2 90", "z 3 3 90", "M 30 31",
		"e 1 1 5 0 24 25 5 fsync" } },
	{ "... of a file that was opened after that", false, { "M 20 21",
		"b 1 1 5 9000000000", "k 1 1 9000000006", "e 1 1 5 0 9000000004 9000000005 5 fsync" } },
	{ "... with another error", false, { BEGUN, "k 1 1 26", "z 2 2 90", "z 3 3 90", "M 20 21",
		"e 1 1 5 0 24 25 110 fsync" } },
	{ "... of a region that is not to be synced", false, { BEGUN, "k 1 1 26", "z 2 2 90",
		"z 3 3 90", "M 20 21", "e 1 1 0 0 24 25 5 fsync" } },
	{ "a process that hangs", false, { BEGUN, "z 2 2 90", "z 3 3 90" } },
	{ "an operation that takes too long", false, { BEGUN, WELL,
		"o 1 1 0 0 2 13 14 15 0 0 " T11 " -" } },
	{ "... during a fault that explains it", true, { BEGUN, WELL, "F blade 0 5 9 1",
		"o 1 1 0 0 2 13 14 15 0 0 " T11 " -" } },
	{ "... after that", false, { BEGUN, WELL, "F blade 0 5 9 1",
		"o 1 1 0 0 12 23 24 25 0 0 " T11 " -" } },
	{ "... while the machine stood still", true, { BEGUN, WELL, "P 3 9 0",
		"o 1 1 0 0 2 13 14 15 0 0 " T11 " -" } },
	{ "... longer than that", false, { BEGUN, WELL, "P 3 6 0",
		"o 1 1 0 0 2 13 14 15 0 0 " T11 " -" } },
	{ "... with a death that began anew", true, { BEGUN, DEAD, "P 21 22 1",
		"o 2 2 0 0 18 28 29 29 0 0 " T21 " -" } },
	{ "... with no death", false, { BEGUN, WELL, "P 3 4 1",
		"o 1 1 0 0 2 13 14 15 0 0 " T11 " -" } },
	{ "... of a node that was cut off", true, { BEGUN, DEAD,
		"o 1 1 0 0 18 28 29 29 0 0 " T11 " -" } },
};

/* Lines that make no sense; a node's last one may be cut off. */
static bool nonsense(void)
{
	static const char *const line[] = {
		"", "x", "b 1 1 0", "o 1 1 0 99 2 3 4 5 0 0 0 -", "o 1 1 0 0 5 4 3 2 0 0 0 -",
		"o 1 1 0 0 2 3 4 5 0 0 0", "o 9 9 0 0 2 3 4 5 0 0 0 -", "Y 1", "B 3 2", "P 3 2 1",
	};
	struct soak_history h = { 0 };
	bool bad = soak_line(&h, "b 1 1 0 1", true);
	size_t i;

	/* they are told of on standard error, which is right and no use here */
	if (!freopen("/dev/null", "w", stderr))
		return true;
	for (i = 0; i < sizeof(line) / sizeof(*line); i++)
		if (!soak_line(&h, line[i], true)) {
			printf("not ok: this makes no sense, and is taken: '%s'\n", line[i]);
			bad = true;
		}
	bad |= soak_line(&h, "o 1 1 0 0 2 3", false) || h.cut != 1;
	soak_free(&h);
	return bad;
}

int soak_selftest(void)
{
	size_t i, k, bad = 0;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct soak_verdict v = { .quiet = true };
		struct soak_history h = { 0 };
		int error = 0;

		for (k = 0; k < CASE_LINES && cases[i].line[k]; k++)
			error |= soak_line(&h, cases[i].line[k], true);
		soak_judge(&h, BOUND, &v);
		soak_free(&h);
		if (!error && !v.wrong == cases[i].right)
			continue;
		printf("not ok: %s: %s\n", cases[i].name, error ? "cannot be read" :
		       v.wrong ? "wrong, says the checker" : "right, says the checker");
		bad++;
	}
	if (nonsense())
		bad++;
	if (!bad)
		printf("ok: %zu histories are judged as they should be\n", i);
	return bad ? 1 : 0;
}
