// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's log, see kernellog.h. */
#include "doctor/kernellog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syslog.h>
#include <unistd.h>

#include "tools/common/clock.h"

#define RECORD_MAX	8192
#define AGE_MAX		3600	/* seconds */

/* Warnings of the kernel that mention weft, but for its taint. */
static bool is_warning(unsigned long facility_level, const char *text)
{
	return LOG_FAC(facility_level) == LOG_FAC(LOG_KERN) &&
	       LOG_PRI(facility_level) <= LOG_WARNING && strstr(text, "weft") &&
	       !strstr(text, "taint");
}

static void add(struct warnings *w, const char *text, uint64_t age)
{
	struct warning *one;

	if (w->len == WARNINGS_MAX) {
		memmove(w->list, w->list + 1, sizeof(w->list[0]) * (WARNINGS_MAX - 1));
		w->len--;
	}
	one = &w->list[w->len++];
	snprintf(one->text, sizeof(one->text), "%.*s", (int)strcspn(text, "\n"), text);
	one->age = age;
	w->all++;
}

/* A record is "LEVEL,NUMBER,MICROSECONDS,...;TEXT\n", then lines with more of it. */
static void take_record(struct warnings *w, const char *record, uint64_t now)
{
	const char *text = strchr(record, ';');
	unsigned long level;
	uint64_t at, age;
	char *end;

	level = strtoul(record, &end, 10);
	if (!text || *end != ',')
		return;
	strtoull(end + 1, &end, 10);
	if (*end != ',')
		return;
	at = strtoull(end + 1, &end, 10);
	age = now > at ? (now - at) / 1000000 : 0;
	if (age <= AGE_MAX && is_warning(level, text + 1))
		add(w, text + 1, age);
}

int kernellog_read(struct warnings *w)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* The log's clock stands still while the machine sleeps, as this one. */
	uint64_t now = now_us();
	char record[RECORD_MAX];
	ssize_t n;

	memset(w, 0, sizeof(*w));
	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	/* Behind what "dmesg -C" has put away; without it, all. */
	(void)lseek(fd, 0, SEEK_DATA);
	for (;;) {
		n = read(fd, record, sizeof(record) - 1);
		/* EPIPE: records were overwritten meanwhile; it goes on behind them. */
		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n <= 0)
			break;
		record[n] = 0;
		take_record(w, record, now);
	}
	close(fd);
	return 0;
}
