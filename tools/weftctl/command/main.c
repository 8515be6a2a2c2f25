// SPDX-License-Identifier: GPL-2.0-only
/* weftctl: set-up and statistics of a weft node. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "command/commands.h"
#include "kernel/kernel.h"
#include "weft_wire.h"

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
	fputs("  help     what a command takes, as --help behind it\n"
	      "\n"
	      "  -j, --json    print JSON\n"
	      "  -p, --pretty  print JSON with newlines\n"
	      "  --rack N      which rack, if this machine is in several; also after a command\n"
	      "  -V, --version\n"
	      "  -h, --help    also after a command\n\n"
	      "Names of commands may be shortened as long as it is clear which one is meant; things\n"
	      "may be named in the plural ('regions'), and 'list', 'show' and 'ls' are the same.\n"
	      "Exit status: 0, 1 if the command line makes no sense, 2 if the command failed,\n"
	      "3 if doctor has found something.\n",
	      out);
}

/* NULL after it has said that there is none. */
static const struct command *find(const char *text)
{
	const char *names[COMMANDS];
	size_t i;
	int at;

	for (i = 0; i < COMMANDS; i++) {
		names[i] = commands[i]->name;
		if (commands[i]->plural && !strcmp(text, commands[i]->plural))
			return commands[i];
	}
	at = argument_word(NULL, "command", text, names, COMMANDS);
	return at < 0 ? NULL : commands[at];
}

static bool is_help(const char *text)
{
	return !strcmp(text, "help");
}

/* "help [COMMAND]". */
static int run_help(int argc, char **argv)
{
	const struct command *c = argc > 1 && !is_help(argv[1]) ? find(argv[1]) : NULL;

	if (argc > 2)
		return misuse(NULL, "'%s' is too much here", argv[2]);
	if (c)
		return argument_help(c);
	if (argc > 1 && !is_help(argv[1]))
		return EXIT_USAGE;
	help(stdout);
	return 0;
}

static int run(int argc, char **argv)
{
	const struct command *c;

	if (is_help(argv[0]))
		return run_help(argc, argv);
	c = find(argv[0]);
	if (!c)
		return EXIT_USAGE;
	if (argc == 2 && is_help(argv[1]))
		return argument_help(c);
	/* 0: getopt_long() starts over. */
	optind = 0;
	return c->run(argc, argv);
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
