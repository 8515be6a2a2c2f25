// SPDX-License-Identifier: GPL-2.0-only
/* Memory blades, and the homes of regions, see homes.h. */
#include "kernel/homes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "kernel/explain.h"
#include "kernel/request.h"
#include "tools/common/clock.h"
#include "tools/common/number.h"
#include "weft_wire.h"

#define LOOK_US	200000	/* between two looks */

const char *homes_text(uint32_t homes, char text[HOMES_TEXT_MAX])
{
	size_t len = 0;
	unsigned int i;

	text[0] = 0;
	for (i = 0; i < WEFT_HOMES_MAX; i++)
		if (homes & UINT32_C(1) << i)
			len += (size_t)snprintf(text + len, HOMES_TEXT_MAX - len, "%s%u",
						len ? "," : "", i + 1);
	return text;
}

bool homes_number(const char *text, uint32_t *number)
{
	uint64_t n;

	if (number_decimal(text, 1, WEFT_BLADE_MAX, &n) ||
	    (n > WEFT_HOMES_MAX && n < WEFT_BLADE_MIN))
		return false;
	*number = (uint32_t)(n < WEFT_BLADE_MIN ? n : n - WEFT_BLADE_MIN + 1);
	return true;
}

int homes_parse(const char *text, uint32_t *homes)
{
	char copy[4 * HOMES_TEXT_MAX], *rest = copy, *one;
	uint32_t n;

	*homes = 0;
	if (strlen(text) >= sizeof(copy))
		return misuse("region", "'%s': it is too long", text);
	strcpy(copy, text);
	while ((one = strsep(&rest, ","))) {
		if (!homes_number(one, &n))
			return misuse("region", "'%s': give numbers of memory blades from 1 to %u with commas between, as in 1,3",
				      text, WEFT_HOMES_MAX);
		*homes |= UINT32_C(1) << (n - 1);
	}
	return 0;
}

/* --- The blades -------------------------------------------------------------- */

static int take_blade(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	struct blade_list *b = arg;
	const uint32_t id = attr_u32(attrs[WEFT_A_BLADE_MEMBER]);

	(void)msg;
	/* the first message of a list that comes over the network has none */
	if (!attrs[WEFT_A_BLADE_MEMBER])
		return 0;
	if (id < WEFT_BLADE_MIN || id > WEFT_BLADE_MAX || b->len == WEFT_HOMES_MAX)
		return -EPROTO;
	b->list[b->len++] = (struct blade){
		.number = id - WEFT_BLADE_MIN + 1,
		.address = attr_address(attrs[WEFT_A_BLADE_ADDRESS]),
		.joined = attrs[WEFT_A_BLADE_JOINED],
		.drains = attrs[WEFT_A_BLADE_DRAINS],
		.bytes = attr_u64(attrs[WEFT_A_BLADE_BYTES]),
		.needed = attr_u64(attrs[WEFT_A_BLADE_NEEDED]),
		.regions = attr_u32(attrs[WEFT_A_BLADE_REGIONS]),
	};
	return 0;
}

int homes_blades_try(struct blade_list *b)
{
	struct genl_refusal why;

	b->len = 0;
	return genl_call(request_new(WEFT_CMD_BLADE_GET, true), WEFT_A_BLADE_MAX, take_blade, b,
			 &why);
}

int homes_blades(struct blade_list *b)
{
	b->len = 0;
	return request_call(WEFT_CMD_BLADE_GET, request_new(WEFT_CMD_BLADE_GET, true),
			    "the first memory blade", WEFT_A_BLADE_MAX, take_blade, b);
}

const struct blade *homes_blade(const struct blade_list *b, uint32_t number)
{
	size_t i;

	for (i = 0; i < b->len; i++)
		if (b->list[i].number == number)
			return &b->list[i];
	return NULL;
}

/* --- What is to be done ------------------------------------------------------- */

static int take_nothing(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	(void)attrs;
	(void)msg;
	(void)arg;
	return 0;
}

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

int homes_set_blade(uint32_t number, uint32_t action, struct in_addr address)
{
	struct nl_msg *msg = request_new(WEFT_CMD_BLADE_SET, true);
	bool full = !msg || nla_put_u32(msg, WEFT_A_BLADE_MEMBER, WEFT_BLADE_MIN + number - 1) ||
		    nla_put_u32(msg, WEFT_A_BLADE_ACTION, action) ||
		    (address.s_addr && nla_put_u32(msg, WEFT_A_BLADE_ADDRESS, address.s_addr));
	struct genl_refusal why;

	return genl_call(request_unless_full(msg, full), WEFT_A_BLADE_MAX, take_nothing, NULL,
			 &why) ? explain_blade(&why, number, action) : 0;
}

static int explain_spread(const struct genl_refusal *why, uint32_t homes, const char *name)
{
	char text[HOMES_TEXT_MAX];

	if (blade_refuses(why)) {
		switch (-why->code) {
		case ENOENT:
			return fail("there is no region %s any more", name);
		case EBUSY:
			return fail("region %s moves just now: wait until that is over ('weftctl region show')",
				    name);
		case ENOSPC:
			return fail("memory blades %s have no room for region %s: 'weftctl blade list' says how much they have",
				    homes ? homes_text(homes, text) : "in use", name);
		case EHOSTDOWN:
			return fail("a memory blade that has region %s, or is to have it, is not there: 'weftctl blade list' says which, start it and try again",
				    name);
		case EINVAL:
		case ENXIO:
			return fail("not all of memory blades %s may be used by regions: 'weftctl blade list' says which may",
				    homes_text(homes, text));
		case EIO:
			return fail("the first memory blade cannot write its file: its log says why");
		}
	}
	return explain(WEFT_CMD_REGION_SPREAD, why, "the first memory blade");
}

int homes_spread(uint32_t region, uint32_t homes, const char *name)
{
	struct nl_msg *msg = request_new(WEFT_CMD_REGION_SPREAD, true);
	bool full = !msg || (region && nla_put_u32(msg, WEFT_A_REGION_ID, region)) ||
		    (homes && nla_put_u32(msg, WEFT_A_REGION_HOMES, homes));
	struct genl_refusal why;

	return genl_call(request_unless_full(msg, full), WEFT_A_REGION_MAX, take_nothing, NULL,
			 &why) ? explain_spread(&why, homes, name) : 0;
}

int homes_wait(int (*is_so)(void *arg), void *arg, uint32_t ms, const char *what)
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
