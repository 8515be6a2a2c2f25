// SPDX-License-Identifier: GPL-2.0-only
/* Regions and their policies, see regions.h. */
#include "kernel/regions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"
#include "base/text.h"
#include "kernel/request.h"
#include "tools/common/number.h"
#include "weft_wire.h"

static const char *durability(uint32_t policy)
{
	return policy_value(0, policy);
}

static const char *on_owner_death(uint32_t policy)
{
	return policy_value(1, policy);
}

static const char *on_loss(uint32_t policy)
{
	return policy_value(2, policy);
}

static const char *name_text(const void *row)
{
	return text_safe(region_name(row));
}

#define REGION(member, of_kind, of_attr, of_key, ...)				\
	COLUMN(struct region, member, of_kind, .attr = WEFT_A_REGION_##of_attr,	\
	       .key = of_key, __VA_ARGS__)

const struct column region_columns[] = {
	REGION(id, U32, ID, "id", .title = "REGION", .width = 8),
	REGION(name, STRING, NAME, "name", .optional = true),
	REGION(size, U64, SIZE, "size", .title = "SIZE", .width = 16),
	REGION(block, U32, BLOCK, "block", .title = "BLOCK", .width = 8),
	REGION(lines, U32, LINES, "lines", .title = "LINES", .width = 10),
	REGION(locks, U32, LOCKS, "locks", .title = "LOCKS", .width = 10),
	REGION(gone, FLAG, GONE, "gone"),
	REGION(policy, U32, POLICY, "durability", .word = durability),
	REGION(policy, U32, POLICY, "on_owner_death", .word = on_owner_death),
	REGION(policy, U32, POLICY, "on_loss", .word = on_loss),
	REGION(nodes, SET, NODES, "nodes", .optional = true),
	REGION(homes, SET, HOMES, "homes"),
	REGION(name, STRING, NAME, NULL, .title = "NAME", .text = name_text),
	COLUMN_END
};

int regions_each(row_fn *take, void *arg)
{
	struct region row;

	return request_list(WEFT_CMD_REGION_GET, request_new(WEFT_CMD_REGION_GET, true), NULL,
			    region_columns, &row, sizeof(row), take, arg);
}

static int add(void *row, void *arg)
{
	struct regions *known = arg;
	struct region *list = array_more(known->list, known->len, sizeof(*list));

	if (!list)
		return -ENOMEM;
	known->list = list;
	list[known->len++] = *(const struct region *)row;
	return 0;
}

int regions_read(struct regions *r)
{
	int rc;

	*r = (struct regions){ 0 };
	rc = regions_each(add, r);
	if (rc)
		regions_free(r);
	return rc;
}

void regions_free(struct regions *r)
{
	free(r->list);
	*r = (struct regions){ 0 };
}

const struct region *regions_by_id(const struct regions *r, uint32_t id)
{
	size_t i;

	for (i = 0; i < r->len; i++) {
		if (r->list[i].id == id)
			return &r->list[i];
	}
	return NULL;
}

const struct region *regions_by_name(const struct regions *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->len; i++) {
		if (*name && !strcmp(r->list[i].name, name))
			return &r->list[i];
	}
	return NULL;
}

int regions_unknown(const char *text)
{
	return fail("this node knows no region '%s': 'weftctl region show' lists those that it knows",
		    text);
}

bool regions_is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

const char *region_name(const struct region *r)
{
	return *r->name ? r->name : r->gone ? "(gone)" : "(no name)";
}

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
	char copy[384], *rest = copy, *one;
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
