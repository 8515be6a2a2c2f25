/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading of what stands on the command line.  Every function returns 0, or
 * EXIT_USAGE after it has said what is wrong with @text; @option is how the
 * sentence calls it.
 */
#ifndef WEFTCTL_ARGUMENT_H
#define WEFTCTL_ARGUMENT_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

struct command;

/**
 * struct reading - whose arguments are read
 * @command: subcommand, NULL before there is one
 * @argc: as its run() got it
 * @argv: likewise
 * @options: as for getopt_long(), with ARGUMENT_HELP and so on
 */
struct reading {
	const struct command *command;
	int argc;
	char **argv;
	const struct option *options;
};

/* Options of all subcommands. */
#define ARGUMENT_HELP	{ "help", no_argument, NULL, 'h' }
#define ARGUMENT_JSON	{ "json", no_argument, NULL, 'j' }
#define ARGUMENT_PRETTY	{ "pretty", no_argument, NULL, 'p' }

/* Of all but "up", which has it among its settings. */
#define ARGUMENT_LETTER_RACK	1000
#define ARGUMENT_RACK	{ "rack", required_argument, NULL, ARGUMENT_LETTER_RACK }

/**
 * argument_next() - the next option
 *
 * Takes -j, -p and --rack itself.  Options may stand before, between and after operands.
 *
 * Return: its letter; -1 at the end of the options, operands begin at optind;
 * '?' after it has said what is wrong.
 */
int argument_next(const struct reading *r);

/* The same with short options besides those of all commands, as for getopt(). */
int argument_next_of(const struct reading *r, const char *more);

/* Print what --help prints.  Return: 0. */
int argument_help(const struct command *command);

/* Ends a command at --help or after '?'.  Return: its exit status. */
int argument_stop(const struct reading *r, int letter);

/* There must be no operands. */
int argument_none(const struct reading *r);

/**
 * argument_word() - which of @names a word means
 * @command: subcommand that the sentence is about, or NULL
 * @kind: what the words are
 *
 * The word may be shortened as long as it is clear which one is meant.
 *
 * Return: its place, or -1 after it has said what is wrong.
 */
int argument_word(const struct command *command, const char *kind,
		  const char *text, const char * const *names, size_t n);

#define ARGUMENT_ACTIONS	4	/* of a command, at most */

/**
 * argument_action() - which of a command's actions a word means
 * @names: the first one lists what there is: "list", "show" and "ls" all mean it
 *
 * Return: as argument_word().
 */
int argument_action(const struct command *command, const char *text,
		    const char * const *names, size_t n);

int argument_u32(const struct reading *r, const char *option, const char *text,
		 uint32_t min, uint32_t max, uint32_t *value);

/* Seconds, with a fraction or without, to milliseconds. */
int argument_seconds(const struct reading *r, const char *option,
		     const char *text, uint32_t min_ms, uint32_t max_ms,
		     uint32_t *ms);

#endif /* WEFTCTL_ARGUMENT_H */
