/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration file: lines "NAME = VALUE" with the settings of setting.h, each
 * once at most.  From a # on at the beginning of a line or after a blank it is a
 * comment.
 */
#ifndef WEFTCTL_CONF_H
#define WEFTCTL_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "config/setting.h"

#ifndef CONF_FILE
#define CONF_FILE	"/etc/weft/weft.conf"
#endif

#define CONF_SIZE_MAX	65536	/* bytes of a file: more is no configuration */

/* A configuration file that was read. */
struct conf {
	struct settings settings;	/* what it says */
	unsigned int line[SETTINGS];	/* where each setting stands */
	/*
	 * what is wrong with it, with the file's name, the line's number and what to write
	 * instead; "" if nothing is
	 */
	char error[PATH_MAX + 640];
};

/**
 * conf_parse() - read settings out of a text
 * @name: of the file, for sentences
 * @text: need not end in a 0
 * @size: its bytes
 * @c: filled in
 *
 * Return: whether it is right; else @c->error says what is not.
 */
bool conf_parse(const char *name, const char *text, size_t size, struct conf *c);

/* Results of conf_read(). */
enum conf_found {
	CONF_GOOD,
	CONF_ABSENT,		/* there is no such file */
	CONF_WRONG,		/* it makes no sense: @c->error */
	CONF_UNREADABLE,	/* it cannot be read: @c->error */
};

/* Read the file @name. */
enum conf_found conf_read(const char *name, struct conf *c);

/**
 * conf_need() - the same for a command
 * @name: file, NULL: the one that is read unless told, which need not be there
 * @there: whether it is; NULL: it must be
 * @remedy: what to do if it is not
 *
 * Return: 0, or an exit status after it has said what is wrong.
 */
int conf_need(const char *name, const char *remedy, struct conf *c, bool *there);

/* All that is given, as a configuration file. */
void conf_print(const struct settings *s, FILE *out);

#endif /* WEFTCTL_CONF_H */
