// SPDX-License-Identifier: GPL-2.0-only
/* weftctl: set-up and statistics of a weft node. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "command/commands.h"
#include "kernel/kernel.h"
#include "weft_wire.h"

static const struct command * const commands[] = {
	&command_up, &command_down, &command_set, &command_status, &command_stats,
	&command_rack, &command_node, &command_blade, &command_region, &command_line,
	&command_lock, &command_dir,
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
	      "3 if doctor has found something.\n", out);
}

static int act_help(const struct reading *r)
{
	(void)r;
	help(stdout);
	return ARGUMENT_ENDS;
}

static int act_version(const struct reading *r)
{
	(void)r;
	printf("weftctl, netlink interface %d, messages of version %d\n",
	       WEFT_GENL_VERSION, WEFT_WIRE_VERSION);
	return ARGUMENT_ENDS;
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
	struct reading r = { 0 };

	if (argc > 1 && !is_help(argv[1]))
		r.command = find(argv[1]);
	if (argc > 2)
		return misuse(NULL, "'%s' is too much here", argv[2]);
	if (r.command)
		return argument_help(&r);
	return argc > 1 && !is_help(argv[1]) ? EXIT_USAGE : act_help(&r);
}

static int run(int argc, char **argv)
{
	struct reading r = { NULL, argc, argv };
	int rc;

	if (is_help(argv[0]))
		return run_help(argc, argv);
	r.command = find(argv[0]);
	if (!r.command)
		return EXIT_USAGE;
	if (argc == 2 && is_help(argv[1]))
		return argument_help(&r);
	rc = argument_read(&r, r.command->options);
	return rc ? rc : r.command->run(&r);
}

/* Fail if the output could not be written: a full disk. */
static int finish(int rc)
{
	if (rc == ARGUMENT_ENDS)
		rc = 0;
	kernel_close();
	if ((fflush(stdout) || ferror(stdout)) && !rc)
		rc = fail("cannot write the output: %s", strerror(errno));
	return rc;
}

int main(int argc, char **argv)
{
	static const struct argument options[] = {
		{ "version", 'V', .act = act_version }, { "help", 'h', .act = act_help }, { 0 }
	};
	const struct reading r = { NULL, argc, argv };
	int rc = argument_read(&r, options);

	if (!rc && optind == argc) {
		help(stderr);
		rc = EXIT_USAGE;
	}
	return finish(rc ? rc : run(argc - optind, argv + optind));
}
