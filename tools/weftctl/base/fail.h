/* SPDX-License-Identifier: GPL-2.0-only */
/* How weftctl tells people what is wrong, and its exit statuses. */
#ifndef WEFTCTL_FAIL_H
#define WEFTCTL_FAIL_H

enum {
	EXIT_USAGE = 1,		/* the command line makes no sense */
	EXIT_FAILED = 2,	/* it does, but could not be done */
	EXIT_FOUND = 3,		/* it was, and something is wrong */
};

/* Called before anything is said, unless NULL: a page must give the terminal back. */
extern void (*fail_before)(void);

/**
 * fail() - say why a command could not be done
 * @fmt: the sentence, without a full stop or a newline; with its remedy
 *
 * Return: EXIT_FAILED, so that callers can write "return fail(...)".
 */
__attribute__((format(printf, 1, 2)))
int fail(const char *fmt, ...);

/**
 * misuse() - say what is wrong with the command line
 * @command: subcommand whose help is pointed to, or NULL
 * @fmt: the sentence
 *
 * Return: EXIT_USAGE.
 */
__attribute__((format(printf, 2, 3)))
int misuse(const char *command, const char *fmt, ...);

#endif /* WEFTCTL_FAIL_H */
