// SPDX-License-Identifier: GPL-2.0-only
/* Reading of the command line, see argument.h. */
#include "base/argument.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/fail.h"
#include "base/rack.h"
#include "base/value.h"

static const char *command_name(const struct reading *r)
{
	return r->command ? r->command->name : NULL;
}

/* Which rack the requests are about.  Return: false after it has said what is wrong. */
static bool take_rack(const struct reading *r)
{
	uint32_t number;
	struct why why;

	if (!value_u32(optarg, 0, UINT32_MAX, &number, &why)) {
		misuse(command_name(r), "--rack: %s", why.text);
		return false;
	}
	rack_choose(number);
	return true;
}

int argument_next(const struct reading *r)
{
	return argument_next_of(r, "");
}

int argument_next_of(const struct reading *r, const char *more)
{
	/* Before the subcommand options end at it; after it they do not. */
	char letters[32];
	int letter, at;

	snprintf(letters, sizeof(letters), "%s%s", r->command ? ":hjp" : "+:hjpV", more);

	opterr = 0;
	for (;;) {
		at = optind ? optind : 1;
		letter = getopt_long(r->argc, r->argv, letters, r->options, NULL);
		if (letter == 'j')
			output.json = true;
		else if (letter == 'p')
			output.json = output.pretty = true;
		else if (letter != ARGUMENT_LETTER_RACK)
			break;
		else if (!take_rack(r))
			return '?';
	}
	if (letter == ':') {
		misuse(command_name(r), "%s needs a value", r->argv[optind - 1]);
		return '?';
	}
	if (letter == '?') {
		/* Inside of "-jx" optind still points there. */
		const char *text = r->argv[optind > at ? optind - 1 : at];

		if (optopt && !strncmp(text, "--", 2))
			misuse(command_name(r), "%.*s takes no value",
			       (int)strcspn(text, "="), text);
		else if (optopt)
			misuse(command_name(r), "there is no option '-%c'", optopt);
		else
			misuse(command_name(r), "there is no option '%s', or it is not clear which one is meant",
			       text);
	}
	return letter;
}

int argument_help(const struct command *command)
{
	printf("usage: weftctl %s%s", command->name, command->help);
	return 0;
}

int argument_stop(const struct reading *r, int letter)
{
	return letter == 'h' ? argument_help(r->command) : EXIT_USAGE;
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

int argument_action(const struct command *command, const char *text,
		    const char * const *names, size_t n)
{
	const char *all[ARGUMENT_ACTIONS + 1];
	int at;

	memcpy(all, names, n * sizeof(*names));
	all[n] = strcmp(names[0], "list") ? "list" : "show";
	at = argument_word(command, "action", strcmp(text, "ls") ? text : "list", all, n + 1);
	return at == (int)n ? 0 : at;
}

/* What is wrong with the value of an option, if anything. */
static int end(const struct reading *r, const char *option, bool good,
	       const struct why *why)
{
	return good ? 0 : misuse(r->command->name, "%s: %s", option, why->text);
}

int argument_u32(const struct reading *r, const char *option, const char *text,
		 uint32_t min, uint32_t max, uint32_t *value)
{
	struct why why;

	return end(r, option, value_u32(text, min, max, value, &why), &why);
}

int argument_seconds(const struct reading *r, const char *option,
		     const char *text, uint32_t min_ms, uint32_t max_ms,
		     uint32_t *ms)
{
	struct why why;

	return end(r, option, value_seconds(text, min_ms, max_ms, ms, &why), &why);
}
