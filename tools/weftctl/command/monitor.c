// SPDX-License-Identifier: GPL-2.0-only
/* weftctl monitor: events of this node as they happen. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/live.h"
#include "base/output.h"
#include "base/rack.h"
#include "base/text.h"
#include "command/commands.h"
#include "kernel/kernel.h"
#include "kernel/regions.h"
#include "tools/common/clock.h"
#include "tools/common/json.h"
#include "weft_wire.h"

#define SECONDS_MS_MAX	86400000

static uint32_t count, limit_ms;

static const struct argument options[] = {
	{ "count", 'n', .u32 = &count, .min = 1, .max = UINT32_MAX },
	{ "seconds", 't', .ms = &limit_ms, .min = 1, .max = SECONDS_MS_MAX }, { 0 }
};

/* All that the command knows. */
struct monitor {
	uint64_t printed;	/* events so far */
	bool several;	/* this machine is in several racks */
	uint32_t rack;	/* of the last event, and of @known */
	struct regions known;	/* regions, as they were asked for last */
};

/* --- Names ----------------------------------------------------------------- */

/* Of the rack of the last event.  It may be going down meanwhile: then there are none. */
static void ask_regions(struct monitor *m)
{
	enum kernel_state state;
	uint32_t rack;
	bool chosen = rack_chosen(&rack);

	rack_choose(m->rack);
	if (!kernel_state(&state) && state == KERNEL_UP)
		regions_read(&m->known);
	if (!chosen)
		rack_choose_none();
}

/* Ask for the regions of the node when an event names one for the first time. */
static void find_name(struct monitor *m, struct event *e)
{
	const struct region *r = regions_by_id(&m->known, e->region);

	if (!r) {
		regions_free(&m->known);
		ask_regions(m);
		r = regions_by_id(&m->known, e->region);
	}
	if (r)
		strcpy(e->name, r->name);
}

/* "REGION:OFFSET", or only the region; what steers terminals is escaped. */
static const char *place_of(const struct event *e)
{
	const char *region = *e->name ? text_safe(e->name) : text_format("%" PRIu32, e->region);

	return e->has_offset ? text_format("%s:%" PRIu64, region, e->offset) : region;
}

/* The process of the event, " by COMM[PID]", or "". */
static const char *process_of(const struct event *e, const char *before)
{
	return e->pid ? text_format("%s%s[%" PRIu32 "]", before, text_safe(e->comm), e->pid) : "";
}

/* --- Text ------------------------------------------------------------------ */

static void print_words(const struct event *e)
{
	const char *place = place_of(e), *member = text_member(e->member);

	switch (e->kind) {
	case WEFT_EVENT_KIND_NODE_JOINED:
		printf("%s has joined\n", member);
		break;
	case WEFT_EVENT_KIND_NODE_LEFT:
		printf("%s has left\n", member);
		break;
	case WEFT_EVENT_KIND_NODE_DEAD:
		printf("%s is dead, says the first memory blade\n", member);
		break;
	case WEFT_EVENT_KIND_BLADE_MOVED:
		printf("%s goes on at %s: its twin there has taken over\n", member,
		       text_address(e->address));
		break;
	case WEFT_EVENT_KIND_MEMBER_SILENT:
		printf("%s does not answer\n", member);
		break;
	case WEFT_EVENT_KIND_MEMBER_HEARD:
		printf("%s answers again\n", member);
		break;
	case WEFT_EVENT_KIND_REGION_CREATED:
		printf("region %s created%s, number %" PRIu32 "\n", place,
		       process_of(e, " by "), e->region);
		break;
	case WEFT_EVENT_KIND_REGION_REMOVED:
		printf("region %s removed%s, number %" PRIu32 "\n", place,
		       e->pid ? process_of(e, " by ") : " by another node", e->region);
		break;
	case WEFT_EVENT_KIND_LOCK_ABANDONED:
		printf("lock %s abandoned%s, held %" PRIu64 " time%s\n", place,
		       process_of(e, " by "), e->count, e->count == 1 ? "" : "s");
		break;
	case WEFT_EVENT_KIND_BLOCKS_LOST:
		printf("%" PRIu64 " modified block%s of region %s lost: they did not get home\n",
		       e->count, e->count == 1 ? "" : "s", place);
		break;
	case WEFT_EVENT_KIND_ACCESS_FAILED:
		printf("access to %s failed%s: %s\n", place,
		       process_of(e, " for "), strerror((int)e->err));
		break;
	case WEFT_EVENT_KIND_UNANSWERED:
		printf("no answer about %s to %" PRIu64 " requests\n", place, e->count);
		break;
	case WEFT_EVENT_KIND_DIRECTORY:
		printf("directory: %s (%" PRIu64 " misses)\n",
		       e->by_switch ? "the switch answers" : "the memory blades answer",
		       e->count);
		break;
	case WEFT_EVENT_KIND_LOCK_OWNER_DIED:
		printf("lock %s: its owner died with it\n", place);
		break;
	default:
		printf("event %" PRIu32 ": weftctl is older than the module\n", e->kind);
	}
}

static void print_text(const struct monitor *m, const struct event *e)
{
	const char *clock = text_clock(e->usec);

	if (e->missed)
		printf("%s %" PRIu32 " more like the next were not told\n", clock, e->missed);
	printf("%s ", clock);
	if (m->several)
		printf("rack %" PRIu32 ": ", e->rack);
	print_words(e);
}

/* --- The command ------------------------------------------------------------ */

static int take(void *row, void *arg)
{
	struct monitor *m = arg;
	struct event *e = row;
	struct json j;

	if (count && m->printed >= count)
		return 0;
	if (m->printed++ && e->rack != m->rack) {
		m->several = true;
		regions_free(&m->known);
	}
	m->rack = e->rack;
	if (e->region && !*e->name)
		find_name(m, e);
	if (!output.json) {
		print_text(m, e);
		return 0;
	}
	json_begin(&j, stdout, false);
	columns_json(event_columns, e, &j);
	json_end(&j);
	return 0;
}

static int listen_on(struct monitor *m, int fd)
{
	uint64_t end = now_ms() + limit_ms, now;
	bool lost;
	int rc = 0;

	while (!rc && !stop_asked() && !(count && m->printed >= count)) {
		now = now_ms();
		if (limit_ms && now >= end)
			break;
		if (!stop_wait(fd, limit_ms ? (int64_t)(end - now) : -1))
			continue;
		rc = kernel_events_take(take, m, &lost);
		if (!rc && lost)
			fputs("weftctl: events were lost: they came faster than they were read\n",
			      stderr);
		if (!rc && fflush(stdout))
			rc = fail("cannot write the output: %s", strerror(errno));
	}
	return rc;
}

static int monitor(const struct reading *r)
{
	struct racks racks = { .len = 0 };
	struct monitor m = { 0 };
	int rc = command_begin(r), fd;

	if (!rc)
		rc = kernel_racks(&racks);
	m.several = racks.len > 1;
	if (!rc)
		rc = kernel_events_begin(&fd);
	if (!rc) {
		stop_prepare();
		rc = listen_on(&m, fd);
	}
	regions_free(&m.known);
	return rc;
}

const struct command command_monitor = {
	.name = "monitor",
	.options = options,
	.run = monitor,
	.summary = "events of this node as they happen",
	.help = " [-n COUNT] [-t SECONDS] [-j]\n\n"
		"  -n, --count COUNT      end after so many events\n"
		"  -t, --seconds SECONDS  end after this time\n\n"
		"Nodes that join, leave and die, members that do not answer, memory blades whose twins\n"
		"take over, regions that are made and removed, locks whose holder died, blocks that\n"
		"are lost, accesses that fail, requests without an answer, where the directory is.\n"
		"With -j an object a line.\n"
		"Ends at SIGINT, with status 0.\n",
};
