// SPDX-License-Identifier: GPL-2.0-only
/* Memory blades, see blades.h. */
#include "kernel/blades.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "kernel/request.h"
#include "tools/common/clock.h"
#include "tools/common/number.h"
#include "weft_wire.h"

#define LOOK_US	200000	/* between two looks */

bool blades_number(const char *text, uint32_t *number)
{
	uint64_t n;

	if (number_decimal(text, 1, WEFT_BLADE_MAX, &n) ||
	    (n > WEFT_HOMES_MAX && n < WEFT_BLADE_MIN))
		return false;
	*number = (uint32_t)(n < WEFT_BLADE_MIN ? n : n - WEFT_BLADE_MIN + 1);
	return true;
}

int blades_parse(const char *text, uint32_t *homes)
{
	char copy[256], *rest = copy, *one;
	uint32_t n;

	*homes = 0;
	if (strlen(text) >= sizeof(copy))
		return misuse("region", "'%s': it is too long", text);
	strcpy(copy, text);
	while ((one = strsep(&rest, ","))) {
		if (!blades_number(one, &n))
			return misuse("region", "'%s': give numbers of memory blades from 1 to %u with commas between, as in 1,3",
				      text, WEFT_HOMES_MAX);
		*homes |= UINT32_C(1) << (n - 1);
	}
	return 0;
}

/* --- The blades -------------------------------------------------------------- */

#define BLADE(member, of_kind, of_attr, of_key, of_title, of_width, ...)	\
	COLUMN(struct blade, member, of_kind, .attr = WEFT_A_BLADE_##of_attr,	\
	       .key = of_key, .title = of_title, .width = of_width, __VA_ARGS__)

/* The state of a blade, by the regions that use it. */
static const char *state_of(const void *row)
{
	const struct blade *b = row;

	if (b->drains)
		return b->regions ? "draining" : "drained";
	return b->joined ? "in use" : "not there";
}

const struct column blade_columns[] = {
	BLADE(number, U32, MEMBER, "blade", "BLADE", 5, .optional = true),
	BLADE(address, ADDRESS, ADDRESS, "address", "ADDRESS", -15),
	BLADE(joined, FLAG, JOINED, "joined", "STATE", -9, .text = state_of),
	BLADE(drains, FLAG, DRAINS, "drains", NULL, 0),
	BLADE(bytes, U64, BYTES, "bytes", "BYTES", 16),
	BLADE(needed, U64, NEEDED, "needed", "NEEDED", 16),
	BLADE(regions, U32, REGIONS, "regions", "REGIONS", 8),
	COLUMN_END
};

static int add(void *row, void *arg)
{
	const uint32_t id = ((const struct blade *)row)->number;
	struct blade_list *b = arg;

	if (id < WEFT_BLADE_MIN || id > WEFT_BLADE_MAX || b->len == WEFT_HOMES_MAX)
		return -EPROTO;
	b->list[b->len] = *(const struct blade *)row;
	b->list[b->len++].number = id - WEFT_BLADE_MIN + 1;
	return 0;
}

static int read_list(struct blade_list *b, struct genl_refusal *why)
{
	struct blade row;

	b->len = 0;
	return request_rows(request_new(WEFT_CMD_BLADE_GET, true), blade_columns, &row, sizeof(row),
			    add, b, why);
}

int blades_read(struct blade_list *b)
{
	struct genl_refusal why;

	return read_list(b, &why) ? explain(WEFT_CMD_BLADE_GET, &why, "the first memory blade") : 0;
}

const struct blade *blades_find(const struct blade_list *b, uint32_t number)
{
	size_t i;

	for (i = 0; i < b->len; i++)
		if (b->list[i].number == number)
			return &b->list[i];
	return NULL;
}

/* --- Where they are ----------------------------------------------------------- */

void blades_now(struct config *c, const struct peers *peers)
{
	size_t i;

	for (i = 0; i < peers->len; i++) {
		const struct peer *p = &peers->list[i];

		if (p->id < WEFT_BLADE_MIN || p->id - WEFT_BLADE_MIN >= c->homes_len)
			continue;
		c->homes[p->id - WEFT_BLADE_MIN] = p->address;
		c->twins[p->id - WEFT_BLADE_MIN] = p->twin;
	}
}

/*
 * Ask the first blade for blades that came and went since this node was set up.  One that is
 * drained, and that no region uses any more, may be switched off.
 */
static void find_others(struct config *c, uint32_t *silent)
{
	struct genl_refusal why;
	struct blade_list b;
	size_t i;
	int err;

	c->drained = 0;
	err = read_list(&b, &why);
	*silent = err == -ETIMEDOUT;
	if (err)
		return;
	for (i = 0; i < b.len; i++) {
		const struct blade *one = &b.list[i];

		/* there are no gaps */
		if (one->number == c->homes_len + 1)
			c->homes[c->homes_len++] = one->address;
		if (one->drains && !one->regions)
			c->drained |= UINT32_C(1) << (one->number - 1);
	}
}

int blades_config(struct config *c, uint32_t *silent)
{
	struct peers peers;
	int rc = kernel_config_get(c);

	*silent = 0;
	/* who has none is where it was set up */
	if (!rc && config_twins(c)) {
		rc = kernel_peers(&peers);
		if (!rc)
			blades_now(c, &peers);
	}
	if (!rc)
		find_others(c, silent);
	return rc;
}

int blades_silent(uint32_t silent, const struct in_addr *homes)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < WEFT_HOMES_MAX; i++)
		if (silent & UINT32_C(1) << i)
			rc = explain_silent(text_place(WEFT_BLADE_MIN + i, homes[i]));
	return rc;
}

/* --- What is lost ------------------------------------------------------------- */

#define LOST(member, of_kind, of_attr, of_title, of_width, ...)			\
	COLUMN(struct lost, member, of_kind, .attr = of_attr, .key = #member,	\
	       .title = of_title, .width = of_width, __VA_ARGS__)

static const char *name_text(const void *row)
{
	const struct lost *l = row;

	return text_safe(*l->name ? l->name : "(no name)");
}

const struct column lost_columns[] = {
	LOST(region, U32, WEFT_A_LOST_REGION, "REGION", 8, .optional = true),
	LOST(name, TEXT, 0, NULL, 0, .optional = true),
	LOST(block, U32, WEFT_A_LOST_BLOCK, NULL, 0),
	LOST(offset, U64, WEFT_A_LOST_OFFSET, "OFFSET", 16),
	LOST(length, U64, WEFT_A_LOST_LENGTH, "BYTES", 16),
	COLUMN(struct lost, name, TEXT, .title = "NAME", .text = name_text),
	COLUMN_END
};

struct taker {
	row_fn *take;
	void *arg;
};

static int take_lost(void *row, void *arg)
{
	const struct taker *t = arg;
	const struct lost *l = row;

	return l->block && l->length ? t->take(row, t->arg) : -EPROTO;
}

int blades_lost_try(uint32_t blade, uint32_t region, row_fn *take, void *arg,
		    struct genl_refusal *why)
{
	struct nl_msg *msg = request_new(WEFT_CMD_LOST_GET, true);
	bool full = !msg || nla_put_u32(msg, WEFT_A_LOST_MEMBER, blade) ||
		    (region && nla_put_u32(msg, WEFT_A_LOST_REGION, region));
	struct taker t = { take, arg };
	struct lost row;

	return request_rows(request_unless_full(msg, full), lost_columns, &row, sizeof(row),
			    take_lost, &t, why);
}

int blades_lost(uint32_t blade, struct in_addr address, uint32_t region, bool *silent,
		row_fn *take, void *arg)
{
	struct genl_refusal why;
	int err = blades_lost_try(blade, region, take, arg, &why);

	*silent = err == -ETIMEDOUT;
	return err && !*silent ?
	       explain(WEFT_CMD_LOST_GET, &why, text_place(blade, address)) : 0;
}

/* --- What is to be done ------------------------------------------------------- */

/* Has the first blade refused it?  Else the kernel here has. */
static bool blade_refuses(const struct genl_refusal *why)
{
	return !strncmp(why->text, "the first blade", strlen("the first blade"));
}

static int explain_blade(const struct genl_refusal *why, uint32_t number, uint32_t action)
{
	if (blade_refuses(why)) {
		switch (-why->code) {
		case ENXIO:
			return fail("the rack has no memory blade %u: 'weftctl blade list' says which there are",
				    number);
		case EEXIST:
			return fail("the rack has a memory blade %u, at another address: 'weftctl blade list' says which there are",
				    number);
		case EADDRINUSE:
			return fail("another member of the rack has this address: each memory blade needs its own");
		case EINVAL:
			if (action == WEFT_BLADE_ACTION_ADD)
				return fail("memory blade %u cannot be added: blades are numbered without gaps, 'weftctl blade list' says which number is next, %u is the last one",
					    number, WEFT_HOMES_MAX);
			return fail("memory blade %u is the last one that regions use: add another one first",
				    number);
		case EIO:
			return fail("the first memory blade cannot write its file: its log says why");
		}
	}
	return explain(WEFT_CMD_BLADE_SET, why, "the first memory blade");
}

int blades_set(uint32_t number, uint32_t action, struct in_addr address)
{
	struct nl_msg *msg = request_new(WEFT_CMD_BLADE_SET, true);
	bool full = !msg || nla_put_u32(msg, WEFT_A_BLADE_MEMBER, WEFT_BLADE_MIN + number - 1) ||
		    nla_put_u32(msg, WEFT_A_BLADE_ACTION, action) ||
		    (address.s_addr && nla_put_u32(msg, WEFT_A_BLADE_ADDRESS, address.s_addr));
	struct genl_refusal why;

	return request_done(request_unless_full(msg, full), &why) ?
	       explain_blade(&why, number, action) : 0;
}

static int explain_spread(const struct genl_refusal *why, uint32_t homes, const char *name)
{
	if (blade_refuses(why)) {
		switch (-why->code) {
		case ENOENT:
			return fail("there is no region %s any more", name);
		case EBUSY:
			return fail("region %s moves just now: wait until that is over ('weftctl region show')",
				    name);
		case ENOSPC:
			return fail("memory blades %s have no room for region %s: 'weftctl blade list' says how much they have",
				    homes ? text_set(homes) : "in use", name);
		case EHOSTDOWN:
			return fail("a memory blade that has region %s, or is to have it, is not there: 'weftctl blade list' says which, start it and try again",
				    name);
		case EINVAL:
		case ENXIO:
			return fail("not all of memory blades %s may be used by regions: 'weftctl blade list' says which may",
				    text_set(homes));
		case EIO:
			return fail("the first memory blade cannot write its file: its log says why");
		}
	}
	return explain(WEFT_CMD_REGION_SPREAD, why, "the first memory blade");
}

int blades_spread(uint32_t region, uint32_t homes, const char *name)
{
	struct nl_msg *msg = request_new(WEFT_CMD_REGION_SPREAD, true);
	bool full = !msg || (region && nla_put_u32(msg, WEFT_A_REGION_ID, region)) ||
		    (homes && nla_put_u32(msg, WEFT_A_REGION_HOMES, homes));
	struct genl_refusal why;

	return request_done(request_unless_full(msg, full), &why) ?
	       explain_spread(&why, homes, name) : 0;
}

int blades_wait(int (*is_so)(void *arg), void *arg, uint32_t ms, const char *what)
{
	uint64_t end = now_ms() + ms;
	int ret;

	while (!(ret = is_so(arg))) {
		if (now_ms() >= end)
			return fail("%s is not over yet, and goes on: 'weftctl blade list' and 'weftctl region show' say how far it is",
				    what);
		usleep(LOOK_US);
	}
	return ret < 0 ? -ret : 0;
}
