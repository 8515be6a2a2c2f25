// SPDX-License-Identifier: GPL-2.0-only
/* Text for people, see text.h. */
#include "base/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/common/clock.h"
#include "weft_netlink.h"
#include "weft_wire.h"

/* Memory for a text. */
static char *room(void)
{
	static char rooms[16][TEXT_MAX];
	static unsigned int next;

	next = (next + 1) % 16;
	rooms[next][0] = 0;
	return rooms[next];
}

const char *text_format(const char *fmt, ...)
{
	char *text = room();
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, TEXT_MAX, fmt, args);
	va_end(args);
	return text;
}

const char *text_safe(const char *name)
{
	const unsigned char *c;
	char *text = room();
	size_t len = 0;

	for (c = (const unsigned char *)name; *c && len + 5 <= TEXT_MAX; c++) {
		/* Control characters, those beyond ASCII in UTF-8 too. */
		bool control = iscntrl(*c) || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);

		len += (size_t)snprintf(text + len, TEXT_MAX - len,
					control || *c == '\\' ? "\\%03o" : "%c", *c);
	}
	return text;
}

const char *text_duration(double ns)
{
	static const char * const units[] = { "ns", "us", "ms", "s" };
	size_t i = 0;

	while (ns >= 1000 && i < 3) {
		ns /= 1000;
		i++;
	}
	return text_format("%.*f %s", i && ns < 100 ? 1 : 0, ns, units[i]);
}

const char *text_member(uint32_t id)
{
	return id < WEFT_BLADE_MIN ? text_format("node %u", id) :
	       text_format("memory blade %u", id - WEFT_BLADE_MIN + 1);
}

const char *text_place(uint32_t id, struct in_addr address)
{
	return text_format("%s (%s)", text_member(id), text_address(address));
}

const char *text_address(struct in_addr a)
{
	return inet_ntop(AF_INET, &a, room(), TEXT_MAX);
}

const char *text_set(uint32_t set)
{
	char *text = room();
	size_t len = 0;
	uint32_t n;

	for (n = 1; set; n++, set >>= 1) {
		if (set & 1)
			len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s%u", len ? "," : "", n);
	}
	return text;
}

const char *text_clock(uint64_t usec)
{
	const time_t seconds = (time_t)(usec / 1000000);
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	return text_format("%02d:%02d:%02d.%06u", tm.tm_hour, tm.tm_min, tm.tm_sec,
			   (unsigned int)(usec % 1000000));
}

bool text_line(char *line, int len, const char *path, ...)
{
	char name[PATH_MAX];
	va_list args;
	FILE *f;

	va_start(args, path);
	vsnprintf(name, sizeof(name), path, args);
	va_end(args);
	line[0] = 0;
	f = fopen(name, "re");
	if (!f)
		return false;
	if (!fgets(line, len, f))
		line[0] = 0;
	fclose(f);
	line[strcspn(line, "\n")] = 0;
	return true;
}

uint64_t text_now(void)
{
	return clock_ns(CLOCK_REALTIME) / NS_IN_US;
}

static const char *name_of(const char * const *names, size_t n, uint32_t value)
{
	return value < n ? names[value] : "unknown";
}

const char *word_state(uint32_t state)
{
	static const char * const names[] = {
		[WEFT_STATE_NONE]	= "none",
		[WEFT_STATE_SHARED]	= "shared",
		[WEFT_STATE_MODIFIED]	= "modified",
	};

	return name_of(names, sizeof(names) / sizeof(names[0]), state);
}

const char *word_op(uint32_t op)
{
	static const char * const names[] = {
		[WEFT_LINE_OP_NONE]	= "none",
		[WEFT_LINE_OP_READ]	= "read",
		[WEFT_LINE_OP_WRITE]	= "write",
		[WEFT_LINE_OP_PUT]	= "put",
		[WEFT_LINE_OP_CLEAN]	= "clean",
		[WEFT_LINE_OP_COMMIT]	= "commit",
		[WEFT_LINE_OP_TAKE]	= "take",
	};

	return name_of(names, sizeof(names) / sizeof(names[0]), op);
}

const char *word_event(uint32_t kind)
{
	static const char * const names[] = {
		[WEFT_EVENT_KIND_NODE_JOINED]		= "node_joined",
		[WEFT_EVENT_KIND_NODE_LEFT]		= "node_left",
		[WEFT_EVENT_KIND_MEMBER_SILENT]		= "member_silent",
		[WEFT_EVENT_KIND_MEMBER_HEARD]		= "member_heard",
		[WEFT_EVENT_KIND_REGION_CREATED]	= "region_created",
		[WEFT_EVENT_KIND_REGION_REMOVED]	= "region_removed",
		[WEFT_EVENT_KIND_LOCK_ABANDONED]	= "lock_abandoned",
		[WEFT_EVENT_KIND_BLOCKS_LOST]		= "blocks_lost",
		[WEFT_EVENT_KIND_ACCESS_FAILED]		= "access_failed",
		[WEFT_EVENT_KIND_UNANSWERED]		= "unanswered",
		[WEFT_EVENT_KIND_DIRECTORY]		= "directory",
		[WEFT_EVENT_KIND_LOCK_OWNER_DIED]	= "lock_owner_died",
		[WEFT_EVENT_KIND_NODE_DEAD]		= "node_dead",
		[WEFT_EVENT_KIND_BLADE_MOVED]		= "blade_moved",
	};

	return name_of(names, sizeof(names) / sizeof(names[0]), kind);
}
