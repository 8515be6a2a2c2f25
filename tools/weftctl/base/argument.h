/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: what a subcommand is, its options and operands.  Every function returns 0,
 * or EXIT_USAGE after it has said what is wrong, unless told.
 */
#ifndef WEFTCTL_ARGUMENT_H
#define WEFTCTL_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;

/**
 * struct reading - whose arguments are read
 * @command: subcommand, NULL before there is one
 * @argc: with its own name as argv[0]
 * @argv: likewise
 */
struct reading {
	const struct command *command;
	int argc;
	char **argv;
};

/**
 * struct argument - an option, and where its value goes: one of the pointers is set
 * @name: "--NAME"
 * @letter: "-L", 0: it has none
 * @flag: becomes true; such an option has no value
 * @text: becomes the value
 * @u32: becomes the number, from @min to @max
 * @ms: becomes the time, which people write in seconds, from @min to @max milliseconds
 * @take: is called with the value
 * @act: is called; such an option has no value.  Both may return ARGUMENT_ENDS, too
 */
struct argument {
	const char *name;
	char letter;
	bool *flag;
	const char **text;
	uint32_t *u32;
	uint32_t *ms;
	uint32_t min;
	uint32_t max;
	int (*take)(const struct reading *r, const char *name, char *text);
	int (*act)(const struct reading *r);
};

/* All is done, and well. */
#define ARGUMENT_ENDS	(-1)

/**
 * struct command - a subcommand
 * @name: what people type
 * @plural: what they may type as well; NULL: it is not a thing
 * @options: besides --help, --json, --pretty and --rack, which all have; the last one has no
 *	name; NULL: none
 * @run: begins at the first operand; returns the exit status
 * @help: what --help prints after "usage: weftctl NAME"; its first line are
 *	the arguments
 * @summary: one line
 */
struct command {
	const char *name;
	const char *plural;
	const struct argument *options;
	int (*run)(const struct reading *r);
	const char *help;
	const char *summary;
};

/**
 * argument_read() - read the options, which may stand before, between and after operands
 * @own: options that count before those of all commands; NULL: none
 *
 * Before there is a command they end at the first operand.
 *
 * Return: also ARGUMENT_ENDS, after --help.
 */
int argument_read(const struct reading *r, const struct argument *own);

/* Print what --help prints.  Return: ARGUMENT_ENDS. */
int argument_help(const struct reading *r);

/* The next operand, NULL: there is none. */
char *argument_operand(const struct reading *r);

/* There must be no operands any more. */
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
 * argument_action() - which of a command's actions the next operand means
 * @names: NULL behind the last; the first one lists what there is: "list", "show" and "ls" all
 *	mean it, and no operand, too
 *
 * Return: as argument_word().
 */
int argument_action(const struct reading *r, const char * const *names);

/* An operand that is a number; @what is how the sentence calls it. */
int argument_u32(const struct reading *r, const char *what, const char *text,
		 uint32_t min, uint32_t max, uint32_t *value);

#endif /* WEFTCTL_ARGUMENT_H */
