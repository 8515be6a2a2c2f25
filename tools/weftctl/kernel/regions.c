// SPDX-License-Identifier: GPL-2.0-only
/* The regions that the node knows, see regions.h. */
#include "kernel/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"
#include "base/text.h"
#include "kernel/policy.h"
#include "kernel/request.h"

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

static const char *name_text(const void *row, char *buf)
{
	return text_safe(region_name(row), buf, COLUMN_CELL_MAX);
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
