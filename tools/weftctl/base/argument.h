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

/* Whose arguments are read. */
struct reading {
	const struct command *command;	/* subcommand, NULL before there is one */
	int argc;	/* with its own name as argv[0] */
	char **argv;
};

/* An option, and where its value goes: one of the pointers is set. */
struct argument {
	const char *name;	/* "--NAME" */
	char letter;	/* "-L", 0: it has none */
	bool *flag;	/* becomes true; such an option has no value */
	const char **text;	/* becomes the value */
	uint32_t *u32;	/* becomes the number, from @min to @max */
	/* becomes the time, which people write in seconds, from @min to @max milliseconds */
	uint32_t *ms;
	uint32_t min;
	uint32_t max;
	/* is called with the value */
	int (*take)(const struct reading *r, const char *name, char *text);
	/* is called; such an option has no value.  Both may return ARGUMENT_ENDS, too */
	int (*act)(const struct reading *r);
};

/* All is done, and well. */
#define ARGUMENT_ENDS	(-1)

/* A subcommand. */
struct command {
	const char *name;	/* what people type */
	const char *plural;	/* what they may type as well; NULL: it is not a thing */
	/*
	 * besides --help, --json, --pretty and --rack, which all have; the last one has no
	 * name; NULL: none
	 */
	const struct argument *options;
	/* begins at the first operand; returns the exit status */
	int (*run)(const struct reading *r);
	/* what --help prints after "usage: weftctl NAME"; its first line are the arguments */
	const char *help;
	const char *summary;	/* one line */
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
