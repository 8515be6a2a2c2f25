// SPDX-License-Identifier: GPL-2.0-only
/* Reading of the command line, see argument.h. */
#include "argument.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "kernel.h"
#include "weftctl.h"

static const char *command_name(const struct reading *r)
{
	return r->command ? r->command->name : NULL;
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
		else
			break;
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

int argument_stop(const struct reading *r, int letter)
{
	if (letter != 'h')
		return EXIT_USAGE;
	printf("usage: weftctl %s%s", r->command->name, r->command->help);
	return 0;
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

int argument_u32(const struct reading *r, const char *option, const char *text,
		 uint32_t min, uint32_t max, uint32_t *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	/* strtoull() takes blanks and signs, too. */
	if (!isdigit((unsigned char)*text) || *end)
		return misuse(r->command->name, "%s: '%s' is not a number", option, text);
	if (errno || number < min || number > max)
		return misuse(r->command->name, "%s: %s is not within %u to %u",
			      option, text, min, max);
	*value = (uint32_t)number;
	return 0;
}

int argument_seconds(const struct reading *r, const char *option,
		     const char *text, uint32_t min_ms, uint32_t max_ms,
		     uint32_t *ms)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	/* strtod() takes blanks, signs, hexadecimals, "nan", too. */
	if (!*text || strspn(text, "0123456789.") != strlen(text) || *end)
		return misuse(r->command->name, "%s: '%s' is not a number of seconds",
			      option, text);
	if (seconds * 1000 < min_ms || seconds * 1000 > max_ms)
		return misuse(r->command->name, "%s: %s is not within %g to %g seconds",
			      option, text, min_ms / 1e3, max_ms / 1e3);
	*ms = (uint32_t)(seconds * 1000 + 0.5);
	return 0;
}

int argument_address(const struct reading *r, const char *option,
		     const char *text, struct in_addr *a)
{
	uint32_t host;

	if (inet_pton(AF_INET, text, a) != 1)
		return misuse(r->command->name, "%s: '%s' is not an IPv4 address such as 10.0.0.101",
			      option, text);
	host = ntohl(a->s_addr);
	if (!host || IN_MULTICAST(host) || IN_EXPERIMENTAL(host))
		return misuse(r->command->name, "%s: %s is not the address of one machine",
			      option, text);
	return 0;
}

int argument_addresses(const struct reading *r, const char *option,
		       const char *text, struct in_addr *list, unsigned int max,
		       unsigned int *len)
{
	char one[INET_ADDRSTRLEN + 16];
	unsigned int i;
	size_t n;
	int rc;

	*len = 0;
	for (;; text += n + 1) {
		n = strcspn(text, ",");
		snprintf(one, sizeof(one), "%.*s", (int)n, text);
		if (*len == max)
			return misuse(r->command->name, "%s: a rack has %u memory blades at most",
				      option, max);
		rc = argument_address(r, option, one, &list[*len]);
		if (rc)
			return rc;
		for (i = 0; i < *len; i++) {
			if (list[i].s_addr == list[*len].s_addr)
				return misuse(r->command->name, "%s: %s is there twice",
					      option, one);
		}
		++*len;
		if (!text[n])
			return 0;
	}
}

int argument_interface(const struct reading *r, const char *option,
		       const char *text, char *name)
{
	if (!*text || strlen(text) >= IF_NAMESIZE || strpbrk(text, "/ \t\n"))
		return misuse(r->command->name, "%s: '%s' cannot be the name of an interface",
			      option, text);
	strcpy(name, text);
	return 0;
}

int argument_tunable(const struct reading *r, int letter, const char *text,
		     struct config *c)
{
	if (letter == 't')
		return argument_seconds(r, "--timeout", text, WEFT_TIMEOUT_MS_MIN,
					WEFT_TIMEOUT_MS_MAX, &c->timeout_ms);
	c->hold_set = true;
	return argument_u32(r, "--hold", text, 0, WEFT_HOLD_US_MAX, &c->hold_us);
}
