/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands of weftctl, each in the file of its name; region.c has line and lock, too. */
#ifndef WEFTCTL_COMMANDS_H
#define WEFTCTL_COMMANDS_H

#include "base/argument.h"
#include "kernel/kernel.h"

extern const struct command command_up;
extern const struct command command_down;
extern const struct command command_set;
extern const struct command command_status;
extern const struct command command_stats;
extern const struct command command_rack;
extern const struct command command_node;
extern const struct command command_blade;
extern const struct command command_region;
extern const struct command command_line;
extern const struct command command_lock;
extern const struct command command_dir;
extern const struct command command_monitor;
extern const struct command command_top;
extern const struct command command_trace;
extern const struct command command_doctor;

/* There are no more operands, and the module is there. */
static inline int command_begin(const struct reading *r)
{
	const int rc = argument_none(r);

	return rc ? rc : kernel_open(false);
}

#endif /* WEFTCTL_COMMANDS_H */
