// SPDX-License-Identifier: GPL-2.0-only
/* The configuration file, see conf.h. */
#include "config/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"

/* Where we are. */
struct place {
	const char *name;	/* of the file */
	unsigned int number;	/* of the line */
	struct conf *c;	/* being filled in */
};

__attribute__((format(printf, 2, 3)))
static bool wrong(const struct place *p, const char *fmt, ...)
{
	char *error = p->c->error;
	size_t size = sizeof(p->c->error);
	va_list args;
	int len;

	/* A name that is longer than a path can be leaves room for the rest. */
	len = snprintf(error, size, "%.*s:%u: ", PATH_MAX - 1, p->name, p->number);
	va_start(args, fmt);
	vsnprintf(error + len, size - (size_t)len, fmt, args);
	va_end(args);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Where a comment begins, or the text ends. */
static size_t without_comment(const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++) {
		if (text[i] == '#' && (!i || is_blank(text[i - 1])))
			break;
	}
	return i;
}

/* Takes blanks away at both ends of the first @len bytes of @text. */
static char *trim(char *text, size_t len)
{
	while (len && is_blank(text[len - 1]))
		len--;
	text[len] = 0;
	return text + strspn(text, " \t");
}

static bool unknown(const struct place *p, const char *name)
{
	const char *quoted = value_quoted(name);
	char all[256] = "";
	enum setting_id id = setting_like(name);
	size_t len = 0;

	if (id < SETTINGS)
		return wrong(p, "there is no setting '%s': write '%s = %s' if that is meant",
			     quoted, settings_table[id].name, settings_table[id].example);
	for (id = 0; id < SETTINGS; id++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					id ? ", " : "", settings_table[id].name);
	return wrong(p, "there is no setting '%s': write one of %s", quoted, all);
}

/* Refuse a line that is no "NAME = VALUE", by the likeliest mistake. */
static bool no_assignment(const struct place *p, const char *text)
{
	const char *quoted = value_quoted(text), *name;
	enum setting_id id;

	if (*text == '[')
		return wrong(p, "'%s': there are no sections: take this line away, and write 'NAME = VALUE' lines only",
			     quoted);
	if (*text == ';' || !strncmp(text, "//", 2))
		return wrong(p, "'%s': begin a comment with '#'", quoted);
	name = text_format("%.*s", (int)strcspn(text, " \t:"), text);
	id = setting_find(name);
	if (id < SETTINGS)
		return wrong(p, "'%s' has no '=': write '%s = %s'", quoted,
			     settings_table[id].name, settings_table[id].example);
	return wrong(p, "'%s' is no setting: write 'NAME = VALUE', for example '%s = %s'",
		     quoted, settings_table[0].name, settings_table[0].example);
}

static bool parse_value(const struct place *p, enum setting_id id, const char *text)
{
	const struct setting *setting = &settings_table[id];
	size_t len = strlen(text);
	struct conf *c = p->c;
	struct why why;

	if (c->line[id])
		return wrong(p, "'%s' is set in line %u already: take one of the two lines away",
			     setting->name, c->line[id]);
	if (!len)
		return wrong(p, "'%s' has no value: write '%s = %s', or take the line away",
			     setting->name, setting->name, setting->example);
	if (len > 1 && (*text == '"' || *text == '\'') && text[len - 1] == *text)
		return wrong(p, "%s: write the value without quotation marks, as in '%s = %s'",
			     setting->name, setting->name, setting->example);
	if (!setting_read(id, text, &c->settings, &why))
		return wrong(p, "%s: %s: write for example '%s = %s', %s",
			     setting->name, why.text, setting->name, setting->example,
			     setting->about);
	c->line[id] = p->number;
	return true;
}

/* @text is the line without its end; it is changed. */
static bool parse_line(const struct place *p, char *text)
{
	size_t equals;
	char *name;
	enum setting_id id;

	if (*text && text[strlen(text) - 1] == '\r')
		return wrong(p, "the line ends in a carriage return: save the file with the ends of lines of Unix ('sed -i \"s/\\r$//\"')");
	text = trim(text, without_comment(text));
	if (!*text)
		return true;
	equals = strcspn(text, "=");
	/* "[a=b]" has no setting before its =. */
	if (!text[equals] || *text == '[' || *text == ';')
		return no_assignment(p, text);
	name = trim(text, equals);
	if (!*name)
		return wrong(p, "there is nothing before the '=': write 'NAME = VALUE', for example '%s = %s'",
			     settings_table[0].name, settings_table[0].example);
	id = setting_find(name);
	if (id == SETTINGS)
		return unknown(p, name);
	text += equals + 1;
	return parse_value(p, id, trim(text, strlen(text)));
}

/* Refuse settings that make no sense together. */
static bool check_whole(struct place *p)
{
	enum setting_id id = settings_useless(&p->c->settings);

	if (id == SETTINGS)
		return true;
	p->number = p->c->line[id];
	return wrong(p, "'%s' is of no use without a mount point: write 'mount = /weft' as well, or take the line away",
		     settings_table[id].name);
}

bool conf_parse(const char *name, const char *text, size_t size, struct conf *c)
{
	struct place p = { name, 0, c };
	const char *end;
	char *line;
	bool good;
	size_t len;

	memset(c, 0, sizeof(*c));
	if (size > CONF_SIZE_MAX) {
		p.number = 1;
		return wrong(&p, "the file has more than %d bytes and can be no configuration: write a new one, see weft.conf(5)",
			     CONF_SIZE_MAX);
	}
	while (size) {
		p.number++;
		end = memchr(text, '\n', size);
		len = end ? (size_t)(end - text) : size;
		if (memchr(text, 0, len))
			return wrong(&p, "there is a byte 0 in this line: write it anew, as plain text");
		line = strndup(text, len);
		if (!line)
			return wrong(&p, "no memory to read on: try again");
		good = parse_line(&p, line);
		free(line);
		if (!good)
			return false;
		len += end != NULL;
		text += len;
		size -= len;
	}
	return check_whole(&p);
}

/* All of an open file, one byte more than there may be at most. */
static ssize_t read_all(int fd, char *text)
{
	ssize_t size = 0, n;

	do {
		n = read(fd, text + size, (size_t)(CONF_SIZE_MAX + 1 - size));
		if (n > 0)
			size += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? n : size;
}

static enum conf_found unreadable(const char *name, struct conf *c, int err)
{
	const char *remedy = "name another one with --file";

	if (err == EACCES)
		remedy = "run weftctl with sudo, or 'chmod a+r' it";
	else if (err == EISDIR)
		remedy = "name the file, not the directory";
	snprintf(c->error, sizeof(c->error), "cannot read %.*s: %s: %s", PATH_MAX - 1,
		 name, strerror(err), remedy);
	return CONF_UNREADABLE;
}

enum conf_found conf_read(const char *name, struct conf *c)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), err;
	enum conf_found found;
	char *text;
	ssize_t size;

	memset(c, 0, sizeof(*c));
	if (fd < 0)
		return errno == ENOENT ? CONF_ABSENT : unreadable(name, c, errno);
	text = malloc(CONF_SIZE_MAX + 1);
	size = text ? read_all(fd, text) : -1;
	err = errno;
	close(fd);
	if (size < 0)
		found = unreadable(name, c, err);
	else
		found = conf_parse(name, text, (size_t)size, c) ? CONF_GOOD : CONF_WRONG;
	free(text);
	return found;
}

int conf_need(const char *name, const char *remedy, struct conf *c, bool *there)
{
	enum conf_found found = conf_read(name ? name : CONF_FILE, c);

	if (there)
		*there = found == CONF_GOOD;
	if (found == CONF_GOOD || (found == CONF_ABSENT && there && !name))
		return 0;
	if (found == CONF_ABSENT)
		return fail("there is no file %s: %s", name ? name : CONF_FILE, remedy);
	fail("%s", c->error);
	return found == CONF_WRONG ? EXIT_USAGE : EXIT_FAILED;
}

void conf_print(const struct settings *s, FILE *out)
{
	enum setting_id id;

	for (id = 0; id < SETTINGS; id++) {
		if (!setting_given(s, id))
			continue;
		fprintf(out, "%s = ", settings_table[id].name);
		setting_print(id, s, out);
		fputc('\n', out);
	}
}
