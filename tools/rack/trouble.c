// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find what a kernel complains about in the log of its console.
 */
#include "rackio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line is a complaint if it has the first text and, behind it, the second. */
static const struct {
	const char *text;
	const char *then;
} complaints[] = {
	{ "WARNING: ", "" },
	{ "BUG: ", "" },			/* KASAN, soft lockups, bad pages */
	{ "kernel BUG at ", "" },
	{ "Oops: ", "" },
	{ "general protection fault", "" },
	{ "Unable to handle kernel", "" },
	{ "Kernel panic", "" },
	{ "INFO: task ", "blocked for more than" },
	{ "rcu: INFO: ", "stall" },
	{ "INFO: rcu_", "stall" },
	{ "INFO: trying to register non-static key", "" },
	{ "INFO: possible ", "" },		/* lockdep of older kernels */
	{ "possible recursive locking detected", "" },
	{ "possible circular locking dependency", "" },
	{ "inconsistent lock state", "" },
	{ "suspicious RCU usage", "" },
	{ "UBSAN: ", "" },
	{ "KCSAN: ", "" },
	{ "KFENCE: ", "" },
	{ "refcount_t: ", "" },
	{ "ODEBUG: ", "" },
	{ "DEBUG_LOCKS_WARN_ON", "" },
	{ "kmemleak: ", "new suspected" },
	{ "Out of memory: Killed process", "" },
	{ "watchdog: ", "hard LOCKUP" },
	{ "NETDEV WATCHDOG: ", "timed out" },	/* the guest is cut off */
	{ "scheduling while atomic", "" },
	{ "sleeping function called from invalid context", "" },
	{ "stack-protector: ", "" },
	{ "list_add corruption", "" },
	{ "list_del corruption", "" },
};

static bool is_complaint(const char *line)
{
	for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++) {
		const char *at = strstr(line, complaints[i].text);

		if (at && strstr(at, complaints[i].then))
			return true;
	}
	return false;
}

/**
 * trouble_scan() - report complaints of a kernel
 * @path: log of its console
 * @name: name of the guest, for the report on standard error; NULL: only count
 * @from: look from this byte on
 *
 * Return: the number of lines that are complaints; 0 if there is no such file.
 */
int trouble_scan(const char *path, const char *name, long long from)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int count = 0;

	if (!f)
		return 0;
	if (fseeko(f, from, SEEK_SET) != 0)
		rewind(f);
	while (getline(&line, &room, f) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!is_complaint(line))
			continue;
		count++;
		if (name && count <= 3)
			fprintf(stderr, "weft-rack: the kernel of %s complains: %s\n",
				name, line);
	}
	if (name && count > 3)
		fprintf(stderr, "weft-rack: the kernel of %s: %d such lines in all; see weft-rack log %s\n",
			name, count, name);
	free(line);
	fclose(f);
	return count;
}

/**
 * scan_main() - weft-rackio scan FILE [NAME]
 * @argc: number of arguments
 * @argv: arguments
 *
 * Return: 0 without complaints, 1 with, RACK_TROUBLE if it cannot tell.
 */
int scan_main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: weft-rackio scan FILE [NAME]\n");
		return RACK_TROUBLE;
	}
	if (access(argv[1], R_OK) != 0) {
		fprintf(stderr, "weft-rack: cannot read %s: %s\n", argv[1], strerror(errno));
		return RACK_TROUBLE;
	}
	return trouble_scan(argv[1], argc > 2 ? argv[2] : NULL, 0) ? 1 : 0;
}
