// SPDX-License-Identifier: GPL-2.0-only
/* Requests to the family, see request.h. */
#include "kernel/request.h"

#include <netlink/genl/genl.h>

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
