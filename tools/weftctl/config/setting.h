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

/**
 * struct mounting - where and how weft is mounted
 * @path: where, "" if it is not
 * @cache: bytes for blocks
 * @block: bytes of a block
 * @mode: permissions of the root directory
 * @uid: its owner
 * @gid: its group
 */
struct mounting {
	char path[PATH_MAX];
	uint64_t cache;
	uint32_t block;
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
};

/**
 * struct settings - what "weftctl up" was told
 * @config: for the node
 * @mounting: for the file system
 * @given: which settings, bit @setting
 */
struct settings {
	struct config config;
	struct mounting mounting;
	uint32_t given;
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

/**
 * struct setting - one of them
 * @name: how people call it
 * @example: a value that is right
 * @about: what it is, for the sentence if it is missing
 * @needed: the node cannot be set up without it
 * @kind: how it is written
 * @offset: where struct settings has it
 * @min: of numbers
 * @max: likewise
 * @key: how JSON calls it, NULL: like people
 * @is_set: where struct settings has that it is given, 0: nowhere but in @given
 */
struct setting {
	const char *name;
	const char *example;
	const char *about;
	bool needed;
	enum setting_kind kind;
	size_t offset;
	uint64_t min;
	uint64_t max;
	const char *key;
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

/* "ADDRESS/TWIN" of the memory blade at @i, or only the first; of the caller's memory. */
#define SETTING_HOME_MAX	40
const char *setting_home(const struct config *c, unsigned int i, char text[SETTING_HOME_MAX]);

#endif /* WEFTCTL_SETTING_H */
