// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: any text as a configuration file.  Either it is refused by one sentence
 * that names the file and a line of it, or what was read can be written and read again,
 * and is the same.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tools/weftctl/config/conf.h"
#include "fuzz.h"

#define NAME	"fuzz.conf"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int lines_of(const uint8_t *data, size_t size)
{
	unsigned int n = 1;
	size_t i;

	for (i = 0; i + 1 < size; i++)
		n += data[i] == '\n';
	return n;
}

static void refused(const struct conf *c, unsigned int lines)
{
	static const char begin[] = NAME ":";
	const char *rest;
	unsigned long line;
	size_t i, len = strlen(c->error);
	char *end;

	CHECK(!strncmp(c->error, begin, sizeof(begin) - 1));
	rest = c->error + sizeof(begin) - 1;
	CHECK(isdigit((unsigned char)*rest));
	line = strtoul(rest, &end, 10);
	CHECK(line >= 1 && line <= lines);
	CHECK(!strncmp(end, ": ", 2) && end[2]);
	/* It was not cut, and does nothing to a terminal. */
	CHECK(len + 1 < sizeof(c->error));
	for (i = 0; i < len; i++)
		CHECK(!iscntrl((unsigned char)c->error[i]));
}

static void taken(const struct conf *c)
{
	static struct conf again;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	CHECK(f != NULL);
	conf_print(&c->settings, f);
	CHECK(!fclose(f));
	CHECK(conf_parse(NAME, text, size, &again));
	CHECK(!memcmp(&again.settings, &c->settings, sizeof(again.settings)));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct conf c;

	if (conf_parse(NAME, (const char *)data, size, &c)) {
		CHECK(!c.error[0]);
		taken(&c);
	} else {
		refused(&c, lines_of(data, size));
	}
	return 0;
}
