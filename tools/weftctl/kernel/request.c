// SPDX-License-Identifier: GPL-2.0-only
/* Requests to the family, see request.h. */
#include "kernel/request.h"

#include <errno.h>
#include <netlink/genl/genl.h>
#include <string.h>

#include "base/rack.h"
#include "kernel/explain.h"
#include "weft_netlink.h"

struct nl_msg *request_new(uint8_t cmd, bool dump)
{
	static const int attrs[WEFT_CMD_MAX + 1] = {
		[WEFT_CMD_CONFIG_CLEAR]	= WEFT_A_CONFIG_RACK,
		[WEFT_CMD_CONFIG_GET]	= WEFT_A_CONFIG_RACK,
		[WEFT_CMD_TUNE]		= WEFT_A_CONFIG_RACK,
		[WEFT_CMD_STATUS_GET]	= WEFT_A_STATUS_RACK,
		[WEFT_CMD_STATS_GET]	= WEFT_A_COUNTER_RACK,
		[WEFT_CMD_BLADE_STATS_GET] = WEFT_A_COUNTER_RACK,
		[WEFT_CMD_SWITCH_STATS_GET] = WEFT_A_COUNTER_RACK,
		[WEFT_CMD_PEER_GET]	= WEFT_A_PEER_RACK,
		[WEFT_CMD_HIST_GET]	= WEFT_A_HIST_RACK,
		[WEFT_CMD_REGION_GET]	= WEFT_A_REGION_RACK,
		[WEFT_CMD_LINE_GET]	= WEFT_A_LINE_RACK,
		[WEFT_CMD_LOCK_GET]	= WEFT_A_LOCK_RACK,
		[WEFT_CMD_NODE_FENCE]	= WEFT_A_PEER_RACK,
		[WEFT_CMD_LOST_GET]	= WEFT_A_LOST_RACK,
		[WEFT_CMD_BLADE_GET]	= WEFT_A_BLADE_RACK,
		[WEFT_CMD_BLADE_SET]	= WEFT_A_BLADE_RACK,
		[WEFT_CMD_REGION_SPREAD] = WEFT_A_REGION_RACK,
	};
	struct nl_msg *msg = genl_request(cmd, dump);
	uint32_t rack;

	if (!msg || !rack_chosen(&rack) || !attrs[cmd] ||
	    !nla_put_u32(msg, attrs[cmd], rack))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

int request_call(uint8_t cmd, struct nl_msg *msg, const char *subject, int max,
		 genl_answer_fn *answer, void *arg)
{
	struct genl_refusal why;

	return genl_call(msg, max, answer, arg, &why) ?
		explain(cmd, &why, subject) : 0;
}

int request_ask(uint8_t cmd, bool dump, int max, genl_answer_fn *answer, void *arg)
{
	return request_call(cmd, request_new(cmd, dump), NULL, max, answer, arg);
}

struct nl_msg *request_unless_full(struct nl_msg *msg, bool full)
{
	if (!full)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* --- Rows --------------------------------------------------------------------- */

/**
 * struct rows - a list on its way
 * @columns: of a row
 * @row: memory for one
 * @size: bytes of it
 * @take: gets each
 * @arg: for @take
 */
struct rows {
	const struct column *columns;
	void *row;
	size_t size;
	row_fn *take;
	void *arg;
};

static void take_value(const struct column *c, struct nlattr *attr, char *to)
{
	uint64_t number = c->kind == COLUMN_U64 ? attr_u64(attr) : attr_u32(attr);

	if (c->kind == COLUMN_STRING && attr)
		nla_strlcpy(to, attr, c->size);
	else if (c->kind == COLUMN_FLAG)
		*(bool *)to = attr;
	else if (c->kind == COLUMN_U64)
		*(uint64_t *)to = number;
	else if (c->kind != COLUMN_STRING)
		*(uint32_t *)to = (uint32_t)number;
}

bool request_row(struct nlattr **attrs, const struct column *columns, void *row, size_t size)
{
	const struct column *c, *first = NULL;

	memset(row, 0, size);
	for (c = columns; c->size || c->kind == COLUMN_FLAGS; c++) {
		if (!c->attr)
			continue;
		first = first ? first : c;
		take_value(c, attrs[c->attr], (char *)row + c->offset);
	}
	return attrs[first->attr] && (first->kind != COLUMN_U32 ||
				      attr_u32(attrs[first->attr]));
}

static int take_row(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	const struct rows *r = arg;

	(void)msg;
	if (request_row(attrs, r->columns, r->row, r->size))
		return r->take(r->row, r->arg);
	return r->columns->optional ? 0 : -EPROTO;
}

int request_max(const struct column *columns)
{
	const struct column *c;
	int max = 0;

	for (c = columns; c->size || c->kind == COLUMN_FLAGS; c++)
		max = c->attr > max ? c->attr : max;
	return max;
}

int request_rows(struct nl_msg *msg, const struct column *columns, void *row, size_t size,
		 row_fn *take, void *arg, struct genl_refusal *why)
{
	struct rows r = { columns, row, size, take, arg };

	return genl_call(msg, request_max(columns), take_row, &r, why);
}

int request_list(uint8_t cmd, struct nl_msg *msg, const char *subject,
		 const struct column *columns, void *row, size_t size, row_fn *take, void *arg)
{
	struct genl_refusal why;

	return request_rows(msg, columns, row, size, take, arg, &why) ?
		explain(cmd, &why, subject) : 0;
}

static int take_nothing(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	(void)attrs;
	(void)msg;
	(void)arg;
	return 0;
}

int request_done(struct nl_msg *msg, struct genl_refusal *why)
{
	return genl_call(msg, 0, take_nothing, NULL, why);
}

/* --- Values --------------------------------------------------------------------- */

uint32_t attr_u32(struct nlattr *attr)
{
	return attr && nla_len(attr) == sizeof(uint32_t) ? nla_get_u32(attr) : 0;
}

uint64_t attr_u64(struct nlattr *attr)
{
	return attr && nla_len(attr) == sizeof(uint64_t) ? nla_get_u64(attr) : 0;
}

struct in_addr attr_address(struct nlattr *attr)
{
	return (struct in_addr){ .s_addr = attr_u32(attr) };
}
