// SPDX-License-Identifier: GPL-2.0-only
/* weftctl set: change how this node behaves while it runs. */
#include "base/argument.h"
#include "base/fail.h"
#include "command/commands.h"
#include "config/conf.h"
#include "kernel/kernel.h"

enum {
	LETTER_FILE = 256,
};

/* What the file says, or what holds unless told; the command line counts before. */
static int take_file(const char *name, struct config *c)
{
	struct conf conf;
	const struct config *of_file = &conf.settings.config;

	switch (conf_read(name, &conf)) {
	case CONF_GOOD:
		break;
	case CONF_ABSENT:
		return fail("there is no file %s: name one that there is, or write it, see weft.conf(5)",
			    name);
	case CONF_WRONG:
		fail("%s", conf.error);
		return EXIT_USAGE;
	case CONF_UNREADABLE:
		return fail("%s", conf.error);
	}
	if (!c->timeout_ms)
		c->timeout_ms = of_file->timeout_ms ? of_file->timeout_ms :
				WEFT_TIMEOUT_MS_DEFAULT;
	if (!c->hold_set)
		c->hold_us = of_file->hold_set ? of_file->hold_us :
			     WEFT_HOLD_US_DEFAULT;
	c->hold_set = true;
	c->rack = of_file->rack;
	return 0;
}

static int take_tunable(const struct reading *r, int letter, struct config *c)
{
	if (letter == 't')
		return argument_seconds(r, "--timeout", optarg, WEFT_TIMEOUT_MS_MIN,
					WEFT_TIMEOUT_MS_MAX, &c->timeout_ms);
	c->hold_set = true;
	return argument_u32(r, "--hold", optarg, 0, WEFT_HOLD_US_MAX, &c->hold_us);
}

static int set(int argc, char **argv)
{
	static const struct option options[] = {
		{ "file", required_argument, NULL, LETTER_FILE },
		{ "timeout", required_argument, NULL, 't' },
		{ "hold", required_argument, NULL, 'o' },
		ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY, ARGUMENT_RACK,
		{ 0 }
	};
	const struct reading r = { &command_set, argc, argv, options };
	struct config c = { 0 };
	const char *file = NULL;
	int letter, rc;

	while ((letter = argument_next(&r)) != -1) {
		if (letter == 'h' || letter == '?')
			return argument_stop(&r, letter);
		if (letter == LETTER_FILE) {
			file = optarg;
			continue;
		}
		rc = take_tunable(&r, letter, &c);
		if (rc)
			return rc;
	}
	rc = argument_none(&r);
	if (!rc && file)
		rc = take_file(file, &c);
	if (rc)
		return rc;
	if (!c.timeout_ms && !c.hold_set)
		return misuse("set", "nothing to change: give --timeout or --hold");
	rc = kernel_open(false);
	if (!rc && file)
		rc = kernel_choose_of(&c);
	return rc ? rc : kernel_tune(&c);
}

const struct command command_set = {
	.name = "set",
	.run = set,
	.summary = "change how this node behaves while it runs",
	.help = " [--file FILE] [--timeout SEC] [--hold USEC]\n\n"
		"  --file FILE      what this configuration file says of both, or else what\n"
		"                   holds unless told; of several racks it says which one,\n"
		"                   unless --rack does\n"
		"  --timeout SEC    how long a program waits for the network before its\n"
		"                   access fails\n"
		"  --hold USEC      how long a block stays after it came\n",
};
