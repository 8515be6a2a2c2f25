// SPDX-License-Identifier: GPL-2.0-only
/* weftctl: set-up and statistics of a weft node. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"
#include "fail.h"
#include "kernel.h"
#include "weft_wire.h"
#include "weftctl.h"

struct output output;

static const struct command * const commands[] = {
	&command_up, &command_down, &command_set, &command_status, &command_stats,
	&command_rack, &command_node, &command_blade, &command_region, &command_line, &command_lock, &command_dir,
	&command_monitor, &command_top, &command_trace, &command_doctor,
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	size_t i;

	fputs("usage: weftctl [-j] [-p] [--rack N] COMMAND ...\n\n", out);
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n"
	      "  -j, --json    print JSON\n"
	      "  -p, --pretty  print JSON with newlines\n"
	      "  --rack N      which rack, if this machine is in several; also after a command\n"
	      "  -V, --version\n"
	      "  -h, --help    also after a command\n\n"
	      "Names of commands may be shortened as long as it is clear which one is meant.\n"
	      "Exit status: 0, 1 if the command line makes no sense, 2 if the command failed,\n"
	      "3 if doctor has found something.\n",
	      out);
}

static int run(int argc, char **argv)
{
	const char *names[COMMANDS];
	size_t i;
	int at;

	for (i = 0; i < COMMANDS; i++)
		names[i] = commands[i]->name;
	at = argument_word(NULL, "command", argv[0], names, COMMANDS);
	if (at < 0)
		return EXIT_USAGE;
	/* 0: getopt_long() starts over. */
	optind = 0;
	return commands[at]->run(argc, argv);
}

/* What was printed must have got there: a full disk is a failure. */
static int finish(int rc)
{
	kernel_close();
	if ((fflush(stdout) || ferror(stdout)) && !rc)
		rc = fail("cannot write the output: %s", strerror(errno));
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "version", no_argument, NULL, 'V' },
		ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY, ARGUMENT_RACK,
		{ 0 }
	};
	const struct reading r = { NULL, argc, argv, options };
	int letter;

	while ((letter = argument_next(&r)) != -1) {
		switch (letter) {
		case 'V':
			printf("weftctl, netlink interface %d, messages of version %d\n",
			       WEFT_GENL_VERSION, WEFT_WIRE_VERSION);
			return finish(0);
		case 'h':
			help(stdout);
			return finish(0);
		default:
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		help(stderr);
		return EXIT_USAGE;
	}
	return finish(run(argc - optind, argv + optind));
}
