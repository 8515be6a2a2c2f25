/* SPDX-License-Identifier: GPL-2.0-only */
/* What a subcommand of weftctl is, and what all of them share. */
#ifndef WEFTCTL_COMMAND_H
#define WEFTCTL_COMMAND_H

#include <stdbool.h>

/**
 * struct command - a subcommand
 * @name: what people type
 * @plural: what they may type as well; NULL: it is not a thing
 * @run: with its own name as argv[0]; returns the exit status
 * @help: what --help prints after "usage: weftctl NAME"; its first line are
 *	the arguments
 * @summary: one line
 */
struct command {
	const char *name;
	const char *plural;
	int (*run)(int argc, char **argv);
	const char *help;
	const char *summary;
};

/**
 * struct output - how to print, for all subcommands
 * @json: JSON instead of text (-j)
 * @pretty: JSON with newlines and indentation (-p)
 */
struct output {
	bool json;
	bool pretty;
};

extern struct output output;

#endif /* WEFTCTL_COMMAND_H */
