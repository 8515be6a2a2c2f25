// SPDX-License-Identifier: GPL-2.0-only
/* Reading of single values, see value.h. */
#include "base/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tools/common/number.h"

__attribute__((format(printf, 2, 3)))
static bool no(struct why *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return false;
}

#define QUOTED_MAX	128

const char *value_quoted(const char *text)
{
	char quoted[QUOTED_MAX];
	size_t i, n = 0;

	for (i = 0; text[i] && n < QUOTED_MAX - 4; i++) {
		const unsigned char *c = (const unsigned char *)text + i;
		bool beyond = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;

		/* Control characters; those beyond ASCII are two bytes of UTF-8. */
		quoted[n++] = iscntrl(*c) || beyond ? '?' : text[i];
		i += beyond;
	}
	return text_format("%.*s%s", (int)n, quoted, text[i] ? "..." : "");
}

bool value_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value, struct why *why)
{
	uint64_t number;
	int err = number_decimal(text, min, max, &number);

	if (err == -EINVAL)
		return no(why, "'%s' is not a number", value_quoted(text));
	if (err)
		return no(why, "%s is not within %u to %u", value_quoted(text), min, max);
	*value = (uint32_t)number;
	return true;
}

bool value_seconds(const char *text, uint32_t min_ms, uint32_t max_ms, uint32_t *ms,
		   struct why *why)
{
	double seconds;
	int err = number_real(text, min_ms / 1e3, max_ms / 1e3, &seconds);

	/* Digits and a point, and nothing else that is a number in C. */
	if (err == -EINVAL || strspn(text, "0123456789.") != strlen(text))
		return no(why, "'%s' is not a number of seconds", value_quoted(text));
	if (err)
		return no(why, "%s is not within %g to %g seconds", value_quoted(text),
			  min_ms / 1e3, max_ms / 1e3);
	*ms = (uint32_t)(seconds * 1000 + 0.5);
	return true;
}

bool value_address(const char *text, struct in_addr *a, struct why *why)
{
	uint32_t host;

	if (inet_pton(AF_INET, text, a) != 1)
		return no(why, "'%s' is not an IPv4 address such as 10.0.0.101", value_quoted(text));
	host = ntohl(a->s_addr);
	if (!host || IN_MULTICAST(host) || IN_EXPERIMENTAL(host))
		return no(why, "%s is not the address of one machine", value_quoted(text));
	return true;
}

/* One of a list, without the blanks around it; *@next: behind it, NULL: it is the last. */
static void cut(const char *text, const char *ends, char *one, size_t size, const char **next)
{
	size_t n = strcspn(text, ends);

	*next = text[n] ? text + n + 1 : NULL;
	for (; n && (*text == ' ' || *text == '\t'); text++)
		n--;
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	snprintf(one, size, "%.*s", (int)n, text);
}

/* Whether one of the first @n addresses is @a. */
static bool is_there(const struct in_addr *list, unsigned int n, struct in_addr a)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (list[i].s_addr == a.s_addr)
			return true;
	}
	return false;
}

/* "ADDRESS" or "ADDRESS/TWIN". */
static bool read_blade(const char *text, struct in_addr *home, struct in_addr *twin,
		       struct why *why)
{
	char one[INET_ADDRSTRLEN + 16];
	const char *next;

	*twin = (struct in_addr){ 0 };
	cut(text, "/", one, sizeof(one), &next);
	if (!value_address(one, home, why))
		return false;
	if (!next)
		return true;
	cut(next, "", one, sizeof(one), &next);
	return value_address(one, twin, why);
}

bool value_blades(const char *text, struct in_addr *homes, struct in_addr *twins,
		  unsigned int max, unsigned int *len, struct why *why)
{
	char one[2 * (INET_ADDRSTRLEN + 16)];
	struct in_addr home, twin;
	const struct in_addr *twice;

	for (*len = 0; text; ++*len) {
		cut(text, ",", one, sizeof(one), &text);
		if (*len == max)
			return no(why, "a rack has %u memory blades at most", max);
		if (!read_blade(one, &home, &twin, why))
			return false;
		twice = is_there(homes, *len, home) || is_there(twins, *len, home) ? &home :
			twin.s_addr && (is_there(homes, *len, twin) ||
					is_there(twins, *len, twin) ||
					twin.s_addr == home.s_addr) ? &twin : NULL;
		if (twice)
			return no(why, "%s is there twice",
				  text_address(*twice));
		homes[*len] = home;
		twins[*len] = twin;
	}
	return true;
}

bool value_interface(const char *text, char *name, struct why *why)
{
	const char *c;
	/* In a file a # might begin a comment. */
	bool odd = !*text || *text == '#' || strlen(text) >= IF_NAMESIZE;

	/* As the kernel sees it; and nothing that looks like several words. */
	for (c = text; *c; c++)
		odd |= *c == '/' || *c == ':' || *c == '"' || *c == '\'' ||
		       isspace((unsigned char)*c) || iscntrl((unsigned char)*c);
	if (odd || !strcmp(text, ".") || !strcmp(text, ".."))
		return no(why, "'%s' cannot be the name of an interface",
			  value_quoted(text));
	strcpy(name, text);
	return true;
}

bool value_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes, struct why *why)
{
	char least[NUMBER_SIZE_MAX], most[NUMBER_SIZE_MAX];
	int err = number_size(text, min, max, bytes);

	if (err == -EINVAL)
		return no(why, "'%s' is not a size such as 64M", value_quoted(text));
	if (err)
		return no(why, "%s is not within %s to %s", value_quoted(text),
			  number_size_text(min, least), number_size_text(max, most));
	return true;
}

bool value_mode(const char *text, uint32_t *mode, struct why *why)
{
	uint64_t value;

	if (strlen(text) > 5 || number_octal(text, 0, 07777, &value))
		return no(why, "'%s' is not an octal number of at most 7777",
			  value_quoted(text));
	*mode = (uint32_t)value;
	return true;
}

bool value_path(const char *text, char *path, struct why *why)
{
	size_t len = strlen(text), i;
	bool odd = *text != '/' || len >= PATH_MAX;

	/* "/weft/" is "/weft", as the kernel shows it. */
	while (len > 1 && text[len - 1] == '/')
		len--;
	/* Blanks are not seen at the end of a line; with a # they begin a comment. */
	for (i = 0; i < len; i++)
		odd |= iscntrl((unsigned char)text[i]) != 0 ||
		       (text[i] == ' ' && (i + 1 == len || text[i + 1] == '#'));
	if (odd)
		return no(why, "'%s' is not the path of a directory that begins with /", value_quoted(text));
	if (len == 1)
		return no(why, "'%s' has the whole system in it: take a directory of its own",
			  value_quoted(text));
	memcpy(path, text, len);
	path[len] = 0;
	return true;
}
