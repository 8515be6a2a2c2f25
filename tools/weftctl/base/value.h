/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading of single values, wherever they stand.  Every function returns whether
 * @text is one; if not, @why says what is wrong with it, as the end of a sentence
 * that begins with the name of what is set.
 */
#ifndef WEFTCTL_VALUE_H
#define WEFTCTL_VALUE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* The reason why a value is refused. */
struct why {
	char text[320];	/* without a full stop or a newline; what stands in it is printable */
};

bool value_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value, struct why *why);

/* Seconds, with a fraction or without, to milliseconds. */
bool value_seconds(const char *text, uint32_t min_ms, uint32_t max_ms, uint32_t *ms,
		   struct why *why);

bool value_address(const char *text, struct in_addr *a, struct why *why);

/**
 * value_blades() - addresses of memory blades with commas between them
 * @homes: theirs, @max at most
 * @twins: what stands behind a slash, 0: nothing
 * @len: how many there are
 *
 * Blanks may stand beside commas and slashes.
 */
bool value_blades(const char *text, struct in_addr *homes, struct in_addr *twins,
		  unsigned int max, unsigned int *len, struct why *why);

/* @name: of IF_NAMESIZE */
bool value_interface(const char *text, char *name, struct why *why);

/* Bytes, with a suffix K, M, G or T or without. */
bool value_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes, struct why *why);

/* Permissions, as chmod takes them in octal. */
bool value_mode(const char *text, uint32_t *mode, struct why *why);

/**
 * value_path() - an absolute path of a directory
 * @path: of PATH_MAX
 */
bool value_path(const char *text, char *path, struct why *why);

/* How the functions above quote: cut, and without what terminals obey. */
const char *value_quoted(const char *text);

#endif /* WEFTCTL_VALUE_H */
