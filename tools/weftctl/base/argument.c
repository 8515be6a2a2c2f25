// SPDX-License-Identifier: GPL-2.0-only
/* Reading of the command line, see argument.h. */
#include "base/argument.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/rack.h"
#include "base/value.h"

#define OPTIONS_MAX	32
#define LONG		256	/* what getopt_long() returns for the first of them */

static const char *command_name(const struct reading *r)
{
	return r->command ? r->command->name : NULL;
}

/* --- Options -------------------------------------------------------------- */

int argument_help(const struct reading *r)
{
	printf("usage: weftctl %s%s", r->command->name, r->command->help);
	return ARGUMENT_ENDS;
}

static int be_pretty(const struct reading *r)
{
	(void)r;
	output.json = output.pretty = true;
	return 0;
}

/* Which rack the requests are about. */
static int take_rack(const struct reading *r, const char *name, char *text)
{
	uint32_t number;
	struct why why;

	if (!value_u32(text, 0, UINT32_MAX, &number, &why))
		return misuse(command_name(r), "--%s: %s", name, why.text);
	rack_choose(number);
	return 0;
}

static const struct argument common[] = {
	{ "help", 'h', .act = argument_help }, { "json", 'j', .flag = &output.json },
	{ "pretty", 'p', .act = be_pretty }, { "rack", .take = take_rack }, { 0 }
};

/* All that a command has. */
struct options {
	const struct argument *from[OPTIONS_MAX];
	struct option list[OPTIONS_MAX + 1];	/* the same for getopt_long() */
	char letters[2 * OPTIONS_MAX + 3];	/* likewise, two for each at most */
	int len;
};

static bool has_value(const struct argument *a)
{
	return !a->flag && !a->act;
}

static void add_options(struct options *o, const struct argument *a)
{
	int i, own = o->len;

	for (; a && a->name; a++) {
		for (i = 0; i < own && strcmp(o->from[i]->name, a->name); i++)
			;
		if (i < own || o->len == OPTIONS_MAX)
			continue;
		o->list[o->len] = (struct option){ a->name, has_value(a), NULL, LONG + o->len };
		o->from[o->len++] = a;
		if (a->letter)
			snprintf(o->letters + strlen(o->letters), 3, "%c%s", a->letter,
				 has_value(a) ? ":" : "");
	}
}

static const struct argument *find(const struct options *o, int letter)
{
	int i;

	for (i = 0; i < o->len; i++) {
		if (letter == LONG + i || letter == o->from[i]->letter)
			break;
	}
	return o->from[i];
}

static int take(const struct reading *r, const struct argument *a)
{
	bool good = true;
	struct why why;

	if (a->act)
		return a->act(r);
	if (a->take)
		return a->take(r, a->name, optarg);
	if (a->flag)
		*a->flag = true;
	else if (a->text)
		*a->text = optarg;
	else if (a->ms)
		good = value_seconds(optarg, a->min, a->max, a->ms, &why);
	else
		good = value_u32(optarg, a->min, a->max, a->u32, &why);
	return good ? 0 : misuse(command_name(r), "--%s: %s", a->name, why.text);
}

/* @at: where the option stands, or before it. */
static int no_such(const struct reading *r, int at)
{
	/* Inside of "-jx" optind still points there. */
	const char *text = r->argv[optind > at ? optind - 1 : at];

	if (optopt && !strncmp(text, "--", 2))
		return misuse(command_name(r), "%.*s takes no value", (int)strcspn(text, "="), text);
	if (optopt)
		return misuse(command_name(r), "there is no option '-%c'", optopt);
	return misuse(command_name(r), "there is no option '%s', or it is not clear which one is meant",
		      text);
}

int argument_read(const struct reading *r, const struct argument *own)
{
	struct options o = { .len = 0 };
	int letter, at, rc = 0;

	/* Before the subcommand options end at it; after it they do not. */
	strcpy(o.letters, r->command ? ":" : "+:");
	add_options(&o, own);
	add_options(&o, common);
	opterr = 0;
	/* getopt_long() starts over */
	optind = 0;
	while (!rc) {
		at = optind ? optind : 1;
		letter = getopt_long(r->argc, r->argv, o.letters, o.list, NULL);
		if (letter == -1)
			break;
		if (letter == ':')
			rc = misuse(command_name(r), "%s needs a value", r->argv[optind - 1]);
		else if (letter == '?')
			rc = no_such(r, at);
		else
			rc = take(r, find(&o, letter));
	}
	return rc;
}

/* --- Operands ------------------------------------------------------------- */

char *argument_operand(const struct reading *r)
{
	return optind < r->argc ? r->argv[optind++] : NULL;
}

int argument_none(const struct reading *r)
{
	if (optind == r->argc)
		return 0;
	return misuse(command_name(r), "'%s' is too much here", r->argv[optind]);
}

int argument_word(const struct command *command, const char *kind,
		  const char *text, const char * const *names, size_t n)
{
	const char *of = command ? command->name : NULL;
	char those[256];
	int found = -1, fits = 0;
	size_t i, len = 0;

	for (i = 0; i < n; i++) {
		if (!strcmp(text, names[i]))
			return (int)i;
		if (!*text || strncmp(text, names[i], strlen(text)))
			continue;
		fits++;
		found = (int)i;
		if (len < sizeof(those))
			len += (size_t)snprintf(those + len, sizeof(those) - len,
						"%s'%s'", len ? ", " : "", names[i]);
	}
	if (fits == 1)
		return found;
	if (fits)
		misuse(of, "'%s' may be %s", text, those);
	else
		misuse(of, "there is no %s '%s'", kind, text);
	return -1;
}

int argument_action(const struct reading *r, const char * const *names)
{
	const char *all[ARGUMENT_ACTIONS + 1], *text = argument_operand(r);
	size_t n;
	int at;

	if (!text)
		return 0;
	for (n = 0; names[n]; n++)
		all[n] = names[n];
	all[n] = strcmp(names[0], "list") ? "list" : "show";
	at = argument_word(r->command, "action", strcmp(text, "ls") ? text : "list", all, n + 1);
	return at == (int)n ? 0 : at;
}

int argument_u32(const struct reading *r, const char *what, const char *text,
		 uint32_t min, uint32_t max, uint32_t *value)
{
	struct why why;

	return value_u32(text, min, max, value, &why) ? 0 :
	       misuse(r->command->name, "%s: %s", what, why.text);
}
