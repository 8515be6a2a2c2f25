// SPDX-License-Identifier: GPL-2.0-only
/* weftctl set: change how this node behaves while it runs. */
#include "base/fail.h"
#include "command/commands.h"
#include "config/conf.h"
#include "kernel/kernel.h"

#define NO_HOLD	UINT32_MAX

static const char *file;
static uint32_t timeout_ms, hold_us = NO_HOLD;

static const struct argument options[] = {
	{ "file", .text = &file },
	{ "timeout", .ms = &timeout_ms, .min = WEFT_TIMEOUT_MS_MIN, .max = WEFT_TIMEOUT_MS_MAX },
	{ "hold", .u32 = &hold_us, .max = WEFT_HOLD_US_MAX }, { 0 }
};

/* Take the values of the file, else the defaults, for options that are not given. */
static int take_file(struct config *c)
{
	struct conf conf;
	const struct config *of_file = &conf.settings.config;
	int rc = conf_need(file, "name one that there is, or write it, see weft.conf(5)", &conf,
			   NULL);

	if (rc)
		return rc;
	if (!c->timeout_ms)
		c->timeout_ms = of_file->timeout_ms ? of_file->timeout_ms :
				WEFT_TIMEOUT_MS_DEFAULT;
	if (!c->hold_set)
		c->hold_us = of_file->hold_set ? of_file->hold_us : WEFT_HOLD_US_DEFAULT;
	c->hold_set = true;
	c->rack = of_file->rack;
	return 0;
}

static int set(const struct reading *r)
{
	struct config c = { 0 };
	int rc = argument_none(r);

	c.timeout_ms = timeout_ms;
	c.hold_set = hold_us != NO_HOLD;
	c.hold_us = hold_us;
	if (!rc && file)
		rc = take_file(&c);
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
	.options = options,
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
