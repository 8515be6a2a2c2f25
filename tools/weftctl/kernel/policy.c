// SPDX-License-Identifier: GPL-2.0-only
/* Policies of a region as words, see policy.h. */
#include "kernel/policy.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "tools/common/number.h"
#include "weft_wire.h"

#define VALUES_MAX	4

static const struct {
	const char *name;
	uint32_t mask;
	struct {
		const char *name;
		uint32_t bits;
	} value[VALUES_MAX];
} policies[POLICIES] = {
	{ "durability", WEFT_POLICY_DURABILITY,
	  { { "write-back", WEFT_POLICY_WRITE_BACK }, { "release", WEFT_POLICY_RELEASE },
	    { "sync", WEFT_POLICY_SYNC }, { "mirror", WEFT_POLICY_MIRROR } } },
	{ "on-owner-death", WEFT_POLICY_BLOCK,
	  { { "pass", 0 }, { "block", WEFT_POLICY_BLOCK } } },
	{ "on-loss", WEFT_POLICY_SIGBUS,
	  { { "revert", 0 }, { "sigbus", WEFT_POLICY_SIGBUS } } },
};

const char *policy_name(size_t nth)
{
	return policies[nth].name;
}

const char *policy_value(size_t nth, uint32_t bits)
{
	size_t i;

	for (i = 0; i < VALUES_MAX && policies[nth].value[i].name; i++) {
		if ((bits & policies[nth].mask) == policies[nth].value[i].bits)
			return policies[nth].value[i].name;
	}
	return "unknown";
}

static int no_such_value(size_t nth, const char *value)
{
	char those[64];
	size_t i, len = 0;

	for (i = 0; i < VALUES_MAX && policies[nth].value[i].name; i++)
		len += (size_t)snprintf(those + len, sizeof(those) - len, "%s%s",
					i ? ", " : "", policies[nth].value[i].name);
	return misuse("region", "%s='%s': it may be %s", policies[nth].name, value, those);
}

int policy_parse(const char *text, struct weft_policy *p)
{
	size_t len = strcspn(text, "="), nth, i;
	const char *value = text + len + 1;

	for (nth = 0; nth < POLICIES; nth++) {
		if (text[len] && strlen(policies[nth].name) == len &&
		    !memcmp(policies[nth].name, text, len))
			break;
	}
	if (nth == POLICIES)
		return misuse("region", "'%s' is no policy: durability=, on-owner-death=, on-loss= or nodes= and what it is to be",
			      text);
	if (p->which & policies[nth].mask)
		return misuse("region", "%s is given twice", policies[nth].name);
	for (i = 0; i < VALUES_MAX && policies[nth].value[i].name; i++) {
		if (strcmp(policies[nth].value[i].name, value))
			continue;
		p->which |= policies[nth].mask;
		p->policy |= policies[nth].value[i].bits;
		return 0;
	}
	return no_such_value(nth, value);
}

int policy_parse_nodes(const char *text, uint32_t *nodes)
{
	char copy[4 * TEXT_SET_MAX], *rest = copy, *one;
	uint64_t id;

	*nodes = 0;
	if (!strcmp(text, "all"))
		return 0;
	if (strlen(text) >= sizeof(copy))
		return misuse("region", POLICY_NODES "'%s': it is too long", text);
	strcpy(copy, text);
	while ((one = strsep(&rest, ","))) {
		if (number_decimal(one, WEFT_NODE_MIN, WEFT_NODE_MAX, &id))
			return misuse("region", POLICY_NODES "'%s': it may be 'all', or numbers of nodes from 1 to 32 with commas between, as in " POLICY_NODES "1,2",
				      text);
		*nodes |= UINT32_C(1) << (id - WEFT_NODE_MIN);
	}
	return 0;
}
