// SPDX-License-Identifier: GPL-2.0-only
/* Every kind of event, with the attributes that it has. */
#include "family.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/clock.h"

#define PER_SECOND	20	/* events of each kind are told */

/* What a kind of event has besides KIND, TIME and RACK, and what it may have. */
#define MEMBER	BIT(WEFT_A_EVENT_MEMBER)
#define OF	BIT(WEFT_A_EVENT_REGION)
#define NAME	BIT(WEFT_A_EVENT_NAME)
#define AT	(OF | BIT(WEFT_A_EVENT_OFFSET))
#define COUNT	BIT(WEFT_A_EVENT_COUNT)
#define BY	(BIT(WEFT_A_EVENT_PID) | BIT(WEFT_A_EVENT_COMM))

static const struct { uint32_t has, may; } kinds[__WEFT_EVENT_KIND_MAX] = {
	[WEFT_EVENT_KIND_NODE_JOINED]	 = { MEMBER, 0 },
	[WEFT_EVENT_KIND_NODE_LEFT]	 = { MEMBER, 0 },
	[WEFT_EVENT_KIND_MEMBER_SILENT]	 = { MEMBER, 0 },
	[WEFT_EVENT_KIND_MEMBER_HEARD]	 = { MEMBER, 0 },
	[WEFT_EVENT_KIND_REGION_CREATED] = { OF | NAME | BY, 0 },
	[WEFT_EVENT_KIND_REGION_REMOVED] = { OF | NAME, BY },
	[WEFT_EVENT_KIND_LOCK_ABANDONED] = { AT | COUNT, BY },
	[WEFT_EVENT_KIND_BLOCKS_LOST]	 = { OF | COUNT, 0 },
	[WEFT_EVENT_KIND_ACCESS_FAILED]	 = { AT | BIT(WEFT_A_EVENT_ERRNO) | BY, 0 },
	[WEFT_EVENT_KIND_UNANSWERED]	 = { AT | COUNT, 0 },
	[WEFT_EVENT_KIND_NODE_DEAD]	 = { MEMBER, 0 },
	[WEFT_EVENT_KIND_BLADE_MOVED]	 = { MEMBER | BIT(WEFT_A_EVENT_ADDRESS), 0 },
	[WEFT_EVENT_KIND_DIRECTORY]	 = { COUNT, BIT(WEFT_A_EVENT_SWITCH) },
	[WEFT_EVENT_KIND_LOCK_OWNER_DIED] = { AT, 0 },
};

static uint32_t told[__WEFT_EVENT_KIND_MAX];
static uint64_t missed;

static void take(const struct object *o, void *data)
{
	const uint32_t always = BIT(WEFT_A_EVENT_KIND) | BIT(WEFT_A_EVENT_TIME) |
				BIT(WEFT_A_EVENT_RACK);
	const uint64_t kind = number(o, WEFT_A_EVENT_KIND);
	const int64_t age = (int64_t)time(NULL) -
			    (int64_t)(number(o, WEFT_A_EVENT_TIME) / 1000000000);

	(void)data;
	if (kind >= __WEFT_EVENT_KIND_MAX) {
		wrong("an event of kind %" PRIu64, kind);
		return;
	}
	told[kind]++;
	missed += number(o, WEFT_A_EVENT_MISSED);
	MUST((o->has & (always | kinds[kind].has)) == (always | kinds[kind].has) &&
	     !(o->has & ~(always | kinds[kind].has | kinds[kind].may |
			  BIT(WEFT_A_EVENT_MISSED))),
	     "an event of kind %" PRIu64 " has the attributes %#x", kind, o->has);
	MUST(number(o, WEFT_A_EVENT_RACK) == 0, "an event of rack %" PRIu64,
	     number(o, WEFT_A_EVENT_RACK));
	MUST(age >= -30 && age <= 30, "an event from %" PRId64 " s ago", age);
	MUST(!(o->has & BIT(WEFT_A_EVENT_PID)) ||
	     number(o, WEFT_A_EVENT_PID) == (uint64_t)getpid(), "an event of process %" PRIu64,
	     number(o, WEFT_A_EVENT_PID));
	MUST(!(o->has & BIT(WEFT_A_EVENT_COMM)) || *text(o, WEFT_A_EVENT_COMM),
	     "an event of a process without a name");
	MUST(kind != WEFT_EVENT_KIND_ACCESS_FAILED || number(o, WEFT_A_EVENT_ERRNO) == ETIMEDOUT,
	     "ACCESS_FAILED with error %" PRIu64, number(o, WEFT_A_EVENT_ERRNO));
	MUST(kind != WEFT_EVENT_KIND_BLOCKS_LOST || number(o, WEFT_A_EVENT_COUNT) == UINT64_MAX,
	     "BLOCKS_LOST with a count of %" PRIu64, number(o, WEFT_A_EVENT_COUNT));
}

/* Have the module of tests/ctl/fakes/node tell something; hear all of it. */
static uint32_t provoke(int what)
{
	FILE *f = fopen("/sys/module/weft_fakenode/parameters/event", "w");
	uint32_t n = 0;

	if (!f || fprintf(f, "%d", what) < 0 || fclose(f)) {
		perror("# cannot make events: is tests/ctl/fakes/node loaded?");
		exit(1);
	}
	while (family_event(1000, take, NULL))
		n++;
	return n;
}

void hear(void)
{
	uint32_t n, kind, seconds;
	uint64_t begun;

	family_listen();
	n = provoke(1);
	MUST(n == 16, "%u events instead of 16", n);
	/* Of a flood some are told; the next one of the kind says how many were not. */
	sleep(2);
	told[WEFT_EVENT_KIND_ACCESS_FAILED] = 0;
	begun = now_ns();
	provoke(2);
	seconds = (uint32_t)((now_ns() - begun) / NS_IN_S);
	sleep(2);
	provoke(1);
	n = told[WEFT_EVENT_KIND_ACCESS_FAILED];
	/* as many as may be in a second of the clock, however long that flood took */
	MUST(n + missed == 1001 && n >= PER_SECOND && n <= PER_SECOND * (seconds + 2) + 2,
	     "of 1001 events in %u s %u came and %" PRIu64 " are said to be missed", seconds, n,
	     missed);
	/* The directory is in the switch, then it is not. */
	provoke(3);
	sleep(3);
	provoke(4);
	provoke(5);
	provoke(5);
	sleep(3);
	provoke(6);
	for (kind = 0; kind < __WEFT_EVENT_KIND_MAX; kind++)
		MUST(told[kind], "there was no event of kind %u", kind);
	check_seen(EVENT, EVENT);
}
