// SPDX-License-Identifier: GPL-2.0-only
/* Nodes that die, see dead.h. */
#include "kernel/dead.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "kernel/explain.h"
#include "kernel/request.h"
#include "weft_netlink.h"

/* What is said of the request is all that there is to its answer. */
static int take_nothing(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	(void)attrs;
	(void)msg;
	(void)arg;
	return 0;
}

int dead_fence(uint32_t node)
{
	struct nl_msg *msg = request_new(WEFT_CMD_NODE_FENCE, true);
	bool full = !msg || nla_put_u32(msg, WEFT_A_PEER_ID, node);
	char subject[16];

	snprintf(subject, sizeof(subject), "%u", node);
	return request_call(WEFT_CMD_NODE_FENCE, request_unless_full(msg, full), subject,
			    WEFT_A_PEER_MAX, take_nothing, NULL);
}

/* Who gets blocks that are lost. */
struct taker {
	void (*take)(const struct lost *l, void *arg);
	void *arg;
};

static int take_lost(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	const struct taker *t = arg;
	const struct lost l = {
		.region = attr_u32(attrs[WEFT_A_LOST_REGION]),
		.block = attr_u32(attrs[WEFT_A_LOST_BLOCK]),
		.offset = attr_u64(attrs[WEFT_A_LOST_OFFSET]),
		.length = attr_u64(attrs[WEFT_A_LOST_LENGTH]),
	};

	(void)msg;
	/* the first message of a list that comes over the network has none */
	if (!attrs[WEFT_A_LOST_REGION])
		return 0;
	if (!l.region || !l.block || !l.length)
		return -EPROTO;
	t->take(&l, t->arg);
	return 0;
}

static struct nl_msg *ask_for(uint32_t blade, uint32_t region)
{
	struct nl_msg *msg = request_new(WEFT_CMD_LOST_GET, true);
	bool full = !msg || nla_put_u32(msg, WEFT_A_LOST_MEMBER, blade) ||
		    (region && nla_put_u32(msg, WEFT_A_LOST_REGION, region));

	return request_unless_full(msg, full);
}

int dead_lost(uint32_t blade, struct in_addr address, uint32_t region, bool *silent,
	      void (*take)(const struct lost *l, void *arg), void *arg)
{
	struct taker t = { take, arg };
	char place[TEXT_PLACE_MAX];
	struct genl_refusal why;
	int err = genl_call(ask_for(blade, region), WEFT_A_LOST_MAX, take_lost, &t, &why);

	*silent = err == -ETIMEDOUT;
	if (err && !*silent)
		return explain(WEFT_CMD_LOST_GET, &why, text_place(blade, address, place));
	return 0;
}

int dead_lost_try(uint32_t blade, void (*take)(const struct lost *l, void *arg), void *arg)
{
	struct taker t = { take, arg };
	struct genl_refusal why;

	return genl_call(ask_for(blade, 0), WEFT_A_LOST_MAX, take_lost, &t, &why);
}
