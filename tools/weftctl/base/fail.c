// SPDX-License-Identifier: GPL-2.0-only
/* Error sentences, see fail.h. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>

void (*fail_before)(void);

static void say(const char *fmt, va_list args)
{
	if (fail_before)
		fail_before();
	/* Flush stdout first: a log of both streams keeps their order. */
	fflush(stdout);
	fputs("weftctl: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

int fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	return EXIT_FAILED;
}

int misuse(const char *command, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	fprintf(stderr, "weftctl: try 'weftctl %s%s--help'\n",
		command ? command : "", command ? " " : "");
	return EXIT_USAGE;
}
