// SPDX-License-Identifier: GPL-2.0-only
/* weftctl trace: what happens to a block, event by event. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/live.h"
#include "base/output.h"
#include "base/text.h"
#include "command/commands.h"
#include "kernel/kernel.h"
#include "kernel/regions.h"
#include "kernel/tracefs.h"
#include "tools/common/clock.h"
#include "tools/common/json.h"
#include "tools/common/number.h"
#include "view/trace.h"
#include "weft_wire.h"

#define TARGETS_MAX	16
#define FILTER_MAX	4096
#define SECONDS_MS_MAX	86400000
#define QUIET_MS	50	/* nothing more comes of what was traced until then */

static bool summary, messages;
static uint32_t count, limit_ms;

static const struct argument options[] = {
	{ "summary", 's', .flag = &summary }, { "messages", 'm', .flag = &messages },
	{ "count", 'n', .u32 = &count, .min = 1, .max = UINT32_MAX },
	{ "seconds", 't', .ms = &limit_ms, .min = 1, .max = SECONDS_MS_MAX }, { 0 }
};

/* A place to trace. */
struct target {
	uint32_t region;	/* its number */
	bool whole;	/* all of it */
	uint64_t index;	/* else: this block of it */
	uint64_t lock_first;	/* and the locks from this offset */
	uint64_t lock_last;	/* to this one */
};

/* All that the command knows. */
struct following {
	struct target target[TARGETS_MAX];	/* what is traced */
	size_t targets;
	uint32_t self;	/* this node */
	struct regions known;
	struct tracefs fs;	/* where it is traced */
	uint64_t printed;	/* events so far */
	uint64_t lost;	/* events that were not read */
	uint64_t to_wall;	/* what makes a time of the trace one of the day, microseconds */
	struct users users;	/* who used the blocks */
	char line[1024];	/* what was read, up to its newline */
	size_t len;	/* bytes of it */
};

/* --- What is traced -------------------------------------------------------- */

/* A name of a line of the core: region, kind, index. */
static uint64_t key(uint32_t region, uint32_t what, uint64_t index)
{
	return (uint64_t)region << 40 | (uint64_t)what << 36 | index;
}

static int set_offset(struct target *t, const struct region *r, const char *text)
{
	uint64_t offset;

	if (number_u64(text, 0, UINT64_MAX, &offset))
		return misuse("trace", "'%s' is not an offset in bytes", text);
	if (offset >= r->size)
		return fail("offset %s is beyond the end of region '%s', which has %" PRIu64 " bytes",
			    text, region_name(r), r->size);
	t->whole = false;
	t->index = offset / r->block;
	t->lock_first = t->index * r->block;
	t->lock_last = t->lock_first + r->block - 1;
	return 0;
}

static const struct region *look_up(const struct regions *known, const char *name)
{
	if (regions_is_number(name))
		return regions_by_id(known, (uint32_t)strtoul(name, NULL, 10));
	return regions_by_name(known, name);
}

/* "REGION[:OFFSET]"; a name may have colons itself. */
static int read_target(struct following *f, const char *text)
{
	const char *colon = strrchr(text, ':'), *offset = NULL;
	const struct region *r = look_up(&f->known, text);
	char name[REGION_NAME_MAX];
	struct target *t;
	int rc = 0;

	if (f->targets == TARGETS_MAX)
		return misuse("trace", "%d places at most can be traced at a time", TARGETS_MAX);
	snprintf(name, sizeof(name), "%s", text);
	if (!r && colon) {
		offset = colon + 1;
		snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
		r = look_up(&f->known, name);
	}
	if (!r)
		return regions_unknown(name);
	t = &f->target[f->targets];
	*t = (struct target){ .region = r->id, .whole = true };
	if (offset)
		rc = set_offset(t, r, offset);
	if (!rc)
		f->targets++;
	return rc;
}

static void put_range(const struct target *t, uint32_t kind, uint64_t first, uint64_t last,
		      char text[FILTER_MAX])
{
	const size_t len = strlen(text);

	snprintf(text + len, FILTER_MAX - len, "%s(line >= %" PRIu64 " && line <= %" PRIu64 ")",
		 len ? " || " : "", key(t->region, kind, first),
		 key(t->region, kind, t->whole ? 0xFFFFFFFFFull : last));
}

/* The filter of an event: of blocks, locks, or both. */
static void put_filter(const struct following *f, bool blocks, bool locks, char text[FILTER_MAX])
{
	const struct target *t;

	text[0] = 0;
	for (t = f->target; t < f->target + f->targets; t++) {
		if (blocks)
			put_range(t, WEFT_KIND_PAGE, t->index, t->index, text);
		if (locks)
			put_range(t, WEFT_KIND_LOCK, t->lock_first, t->lock_last, text);
	}
}

/* Of messages, those that say what others want, or why it takes so long. */
static void put_wanted(const struct following *f, char text[FILTER_MAX])
{
	char filter[FILTER_MAX];

	put_filter(f, true, false, filter);
	snprintf(text, FILTER_MAX, "(type == %d || type == %d || type == %d) && (%.*s)",
		 WEFT_MSG_INV, WEFT_MSG_FWD, WEFT_MSG_NACK, FILTER_MAX - 128, filter);
}

static int begin(struct following *f)
{
	enum { ALWAYS, WITH_MESSAGES, WITHOUT };
	static const struct {
		const char *name;
		bool blocks;
		bool locks;
		int when;
	} events[] = {
		{ "weft_miss", true, false, ALWAYS }, { "weft_begin", true, false, ALWAYS },
		{ "weft_served", true, false, ALWAYS }, { "weft_retry", true, false, ALWAYS },
		{ "weft_revoked", true, false, ALWAYS }, { "weft_evict", true, false, ALWAYS },
		{ "weft_recv", true, false, WITHOUT },
		{ "weft_lock_granted", false, true, ALWAYS },
		{ "weft_lock_handed", false, true, ALWAYS },
		{ "weft_send", true, true, WITH_MESSAGES }, { "weft_recv", true, true, WITH_MESSAGES },
	};
	char filter[FILTER_MAX];
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(events) / sizeof(events[0]) && !rc; i++) {
		if (events[i].when == (messages ? WITHOUT : WITH_MESSAGES))
			continue;
		if (events[i].when == WITHOUT)
			put_wanted(f, filter);
		else
			put_filter(f, events[i].blocks, events[i].locks, filter);
		rc = tracefs_event(&f->fs, events[i].name, filter);
	}
	return rc ? rc : tracefs_start(&f->fs);
}

/* --- What is printed -------------------------------------------------------- */

static void print_json(const struct following *f, const struct traced *t)
{
	const struct region *r = regions_by_id(&f->known, t->region);
	struct json j;

	json_begin(&j, stdout, false);
	json_u64(&j, "time_us", t->usec + f->to_wall);
	json_string(&j, "event", t->event);
	json_u64(&j, "region", t->region);
	json_text(&j, "name", r ? r->name : "");
	json_u64(&j, "offset", trace_offset(&f->known, t->region, t->index, t->lock));
	json_bool(&j, "lock", t->lock);
	json_text(&j, "access", !t->access ? "" : t->access == 'w' ? "write" : "read");
	json_number(&j, "byte", t->has_at, t->at);
	json_number(&j, "node", t->node, t->node);
	json_number(&j, "took_ns", t->has_took, t->took);
	json_number(&j, "pid", t->by_process, (uint64_t)t->pid);
	/* a name may be empty, which is not the same as none */
	if (t->by_process)
		json_string(&j, "comm", t->comm);
	else
		json_null(&j, "comm");
	json_string(&j, "text", t->words);
	json_end(&j);
}

static void print_text(const struct following *f, const struct traced *t)
{
	const char *who = t->by_process ? text_format("%s[%" PRId32 "]", t->comm, t->pid) : "-";
	const char *place = trace_place(&f->known, t->region, t->index, t->lock);

	printf("%s %-24s %-22s %s\n", text_clock(t->usec + f->to_wall), text_safe(place),
	       text_safe(who), t->words);
}

static bool all_printed(const struct following *f)
{
	return count && f->printed >= count;
}

static void take_line(struct following *f)
{
	struct traced t;
	uint64_t lost;

	switch (traceline_read(f->line, f->self, &t, &lost)) {
	case TRACE_LOST:
		f->lost += lost;
		break;
	case TRACE_EVENT:
		/* Do not count events beyond --count. */
		if (all_printed(f))
			break;
		f->printed++;
		users_add(&f->users, &t);
		if (summary)
			break;
		if (output.json)
			print_json(f, &t);
		else
			print_text(f, &t);
		break;
	case TRACE_OTHER:
		break;
	}
}

/* Read and print the events that have come.  Return: 0; 1: nothing; or an exit status. */
static int take_some(struct following *f)
{
	char buf[4096];
	ssize_t n, i;

	n = read(f->fs.fd, buf, sizeof(buf));
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return fail("cannot read the trace: %s", strerror(errno));
	if (n <= 0)
		return 1;
	for (i = 0; i < n; i++) {
		if (buf[i] != '\n') {
			/* A line that is too long is none of ours. */
			if (f->len < sizeof(f->line) - 1)
				f->line[f->len++] = buf[i];
			continue;
		}
		f->line[f->len] = 0;
		f->len = 0;
		take_line(f);
	}
	return 0;
}

static int follow(struct following *f)
{
	uint64_t end = now_us() + (uint64_t)limit_ms * 1000;
	int64_t wait = 0;
	int rc = 0;

	while (!rc && !stop_asked() && !all_printed(f) && (!limit_ms || now_us() < end)) {
		/* The kernel wakes who reads when much has come: look now and then. */
		stop_wait(f->fs.fd, wait);
		rc = take_some(f);
		wait = rc == 1 ? QUIET_MS : 0;
		if (rc == 1)
			rc = 0;
		if (wait && fflush(stdout))
			rc = fail("cannot write the output: %s", strerror(errno));
	}
	/* Print the events that happened until now, too. */
	if (!rc)
		rc = tracefs_stop(&f->fs);
	while (!rc)
		rc = take_some(f);
	return rc == 1 ? 0 : rc;
}

static void print_summary(struct following *f, double seconds)
{
	struct json j;

	if (output.json && summary) {
		output_json(&j);
		json_fixed(&j, "seconds", seconds);
		json_u64(&j, "events", f->printed);
		json_u64(&j, "lost", f->lost);
		users_json(&j, &f->users, &f->known);
		json_end(&j);
	} else if (!output.json) {
		if (f->printed && !summary)
			putchar('\n');
		users_print(&f->users, &f->known);
	}
	if (f->lost)
		fprintf(stderr, "weftctl: %" PRIu64 " events were lost: they came faster than they were read\n",
			f->lost);
}

static int run(struct following *f)
{
	uint64_t began = now_us();
	int rc;

	f->to_wall = text_now() - began;
	stop_prepare();
	rc = tracefs_open(&f->fs);
	if (rc)
		return rc;
	rc = begin(f);
	if (!rc)
		rc = follow(f);
	tracefs_close(&f->fs);
	if (!rc)
		print_summary(f, (double)(now_us() - began) / 1e6);
	return rc;
}

/* --- The command ------------------------------------------------------------ */

static int trace(const struct reading *r)
{
	static struct following f;
	const char *text = argument_operand(r);
	struct config c;
	int rc;

	if (!text)
		return misuse("trace", "what to trace is missing: REGION or REGION:OFFSET ('weftctl top' names the hot ones)");
	rc = kernel_open(false);
	if (!rc)
		rc = kernel_config_get(&c);
	f.self = rc ? 0 : c.id;
	if (!rc)
		rc = regions_read(&f.known);
	for (; !rc && text; text = argument_operand(r))
		rc = read_target(&f, text);
	if (!rc)
		rc = run(&f);
	regions_free(&f.known);
	return rc;
}

const struct command command_trace = {
	.name = "trace",
	.options = options,
	.run = trace,
	.summary = "follow what happens to blocks, event by event",
	.help = " REGION[:OFFSET] ... [-s] [-m] [-n COUNT] [-t SECONDS] [-j]\n\n"
		"  REGION         number or name\n"
		"  OFFSET         bytes: of the block with this byte only, and its locks\n"
		"  -s, --summary  print only, at the end, who used the blocks\n"
		"  -m, --messages each message as well\n"
		"  -n, --count N  end after so many events\n"
		"  -t, --seconds SECONDS\n"
		"                 end after this time\n\n"
		"Each line has the time, the block, the process if one did it, and what it is:\n"
		"a program has to wait for a byte, the node asks, gets, another node wants,\n"
		"and so on; at the end, who used the blocks.  Ends at SIGINT.  Needs root.\n",
};
