// SPDX-License-Identifier: GPL-2.0-only
/* Log lines, see log.h. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "tools/common/clock.h"

#define BURST		20	/* lines at once */
#define PER_SECOND	4	/* lines in the long run */

bool log_verbose;
bool log_silent;

/* Of the counts below: more than one thread may have something to say. */
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

/* Lines in a file need the time of day; a journal adds its own. */
static bool wants_times(void)
{
	struct stat st;

	return !fstat(fileno(stderr), &st) && S_ISREG(st.st_mode);
}

static void put(const char *line)
{
	char stamp[sizeof("2026-11-25 13:45:01")] = "";
	const struct timespec now = clock_timespec(clock_ns(CLOCK_REALTIME));
	struct tm tm;

	if (wants_times() && localtime_r(&now.tv_sec, &tm) &&
	    strftime(stamp, sizeof(stamp), "%F %T", &tm))
		fprintf(stderr, "%s.%03ld weft-memd: %s\n", stamp, now.tv_nsec / 1000000, line);
	else
		fprintf(stderr, "weft-memd: %s\n", line);
}

static void print(const char *fmt, va_list args)
{
	char line[512];

	if (log_silent)
		return;
	vsnprintf(line, sizeof(line), fmt, args);
	put(line);
}

void log_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print(fmt, args);
	va_end(args);
}

void log_note(const char *fmt, ...)
{
	va_list args;

	if (!log_verbose)
		return;
	va_start(args, fmt);
	print(fmt, args);
	va_end(args);
}

/* May another line be said now?  @dropped: those that were not, since the last that was. */
static bool may_say(unsigned int *dropped)
{
	static unsigned int tokens = BURST, left_out;
	static uint64_t last;
	uint64_t now = now_ms() / 1000;

	if (now > last) {
		uint64_t more = (now - last) * PER_SECOND;

		tokens = more > BURST || tokens + more > BURST ?
			BURST : tokens + (unsigned int)more;
		last = now;
	}
	if (!tokens) {
		left_out++;
		return false;
	}
	tokens--;
	*dropped = left_out;
	left_out = 0;
	return true;
}

void log_warn(const char *fmt, ...)
{
	unsigned int dropped = 0;
	va_list args;
	bool may;

	if (log_silent)
		return;
	pthread_mutex_lock(&counting);
	may = may_say(&dropped);
	pthread_mutex_unlock(&counting);
	if (!may)
		return;
	if (dropped)
		log_say("(%u more lines like these)", dropped);
	va_start(args, fmt);
	print(fmt, args);
	va_end(args);
}

const char *log_addr(unsigned int addr)
{
	static _Thread_local char text[4][16];
	static _Thread_local unsigned int next;
	char *p = text[next++ % 4];

	snprintf(p, sizeof(text[0]), "%u.%u.%u.%u", addr >> 24, addr >> 16 & 255,
		 addr >> 8 & 255, addr & 255);
	return p;
}
