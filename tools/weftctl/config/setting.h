/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that "weftctl up" can be told.  One table for both ways of telling it:
 * "--NAME VALUE" on the command line, "NAME = VALUE" in the configuration file.
 */
#ifndef WEFTCTL_SETTING_H
#define WEFTCTL_SETTING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/value.h"
#include "kernel/kernel.h"
#include "tools/common/json.h"

/* Where and how weft is mounted. */
struct mounting {
	char path[PATH_MAX];	/* where, "" if it is not */
	uint64_t cache;	/* bytes for blocks */
	uint32_t block;	/* bytes of a block */
	uint32_t mode;	/* permissions of the root directory */
	uint32_t uid;	/* its owner */
	uint32_t gid;	/* its group */
};

/* Settings that were given. */
struct settings {
	struct config config;	/* for the node */
	struct mounting mounting;	/* for the file system */
	uint32_t given;	/* which settings, bit @setting */
};

enum setting_id {
	SETTING_NODE,
	SETTING_INTERFACE,
	SETTING_HOMES,
	SETTING_RACK,
	SETTING_JOINS,
	SETTING_ADDRESS,
	SETTING_MTU,
	SETTING_TIMEOUT,
	SETTING_HOLD,
	SETTING_KEY,
	SETTING_MOUNT,
	SETTING_CACHE,
	SETTING_BLOCK,
	SETTING_MODE,
	SETTING_UID,
	SETTING_GID,
	SETTINGS,
};

/* enum setting_kind - how a value is written, and kept */
enum setting_kind {
	SETTING_KIND_U32,
	SETTING_KIND_OCTAL,	/* uint32_t; in JSON a string */
	SETTING_KIND_SECONDS,	/* uint32_t of milliseconds, which JSON has */
	SETTING_KIND_BYTES,	/* uint64_t */
	SETTING_KIND_BLOCK,	/* uint32_t, a power of two */
	SETTING_KIND_ADDRESS,
	SETTING_KIND_INTERFACE,
	SETTING_KIND_PATH,
	SETTING_KIND_HOMES,	/* and their twins */
};

/* One of them. */
struct setting {
	const char *name;	/* how people call it */
	const char *example;	/* a value that is right */
	const char *about;	/* what it is, for the sentence if it is missing */
	bool needed;	/* the node cannot be set up without it */
	enum setting_kind kind;	/* how it is written */
	size_t offset;	/* where struct settings has it */
	uint64_t min;	/* of numbers */
	uint64_t max;
	const char *key;	/* how JSON calls it, NULL: like people */
	/* where struct settings has that it is given, 0: nowhere but in @given */
	size_t is_set;
};

extern const struct setting settings_table[SETTINGS];

/* Return: whether it is right; else @why says what is wrong. */
bool setting_read(enum setting_id id, const char *text, struct settings *s, struct why *why);

/* Its value as setting_read() takes it; it must be given. */
void setting_print(enum setting_id id, const struct settings *s, FILE *out);

/* The same as a member of an object. */
void setting_json(enum setting_id id, const struct settings *s, struct json *j);

/* Return: the setting of that name, SETTINGS if there is none. */
enum setting_id setting_find(const char *name);

/* Return: the setting that may be meant by @name, SETTINGS if none is like it. */
enum setting_id setting_like(const char *name);

static inline bool setting_given(const struct settings *s, enum setting_id id)
{
	return s->given >> id & 1;
}

/* Of those that only matter when weft is mounted. */
static inline bool setting_of_mount(enum setting_id id)
{
	return id > SETTING_MOUNT && id < SETTINGS;
}

/**
 * settings_missing() - what still has to be said
 *
 * Return: a setting that is needed and not given; SETTINGS if there is none.
 */
enum setting_id settings_missing(const struct settings *s);

/**
 * settings_useless() - what was said for nothing
 *
 * Return: a setting of the mount that is given when no mount point is; SETTINGS
 * if there is none.
 */
enum setting_id settings_useless(const struct settings *s);

/* "ADDRESS/TWIN" of the memory blade at @i, or only the first. */
const char *setting_home(const struct config *c, unsigned int i);

#endif /* WEFTCTL_SETTING_H */
