// SPDX-License-Identifier: GPL-2.0-only
/*
 * The family "weft", see netlink.h: commands that set a node up and ask it, and the table of all.
 * Generic netlink holds its cb_lock for reading while a command runs, and one command that waits
 * would hold up all families once somebody wants it for writing.  So no command here may wait for
 * the network; netlink_ask.c says how its lists do it.
 */
#include <linux/build_bug.h>
#include <linux/inetdevice.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <net/genetlink.h>

#include "base/stats.h"
#include "blocks/region.h"
#include "control/genl.h"
#include "control/netlink.h"
#include "control/netlink_ask.h"
#include "control/netlink_event.h"
#include "control/netlink_list.h"
#include "fs/rack.h"
#include "fs/racks.h"
#include "weft_netlink.h"

/* --- setting a node up, and changing it ---------------------------------------------------- */

/* What is wrong with the addresses of one attribute, which may be repeated. */
struct weft_genl_wrong {
	const char *twice;
	const char *many;
	const char *no;
};

/* Return: the sentence of @wrong that says why @new cannot follow @addr[@n], or NULL. */
static const char *weft_genl_check_address(const __be32 *addr, u32 n, __be32 new,
					   const struct weft_genl_wrong *wrong)
{
	if (n == WEFT_BLADES)
		return wrong->many;
	if (ipv4_is_zeronet(new) || ipv4_is_multicast(new) || ipv4_is_lbcast(new))
		return wrong->no;
	while (n--)
		if (addr[n] == new)
			return wrong->twice;
	return NULL;
}

/*
 * Take the addresses of all attributes of a @type into @addr, WEFT_BLADES at most.  0.0.0.0 is a
 * blade without a twin.
 * Return: how many; -EINVAL, with a sentence for the attribute.
 */
static int weft_genl_get_addresses(struct genl_info *info, int type, __be32 *addr,
				   const struct weft_genl_wrong *wrong)
{
	const char *why;
	struct nlattr *attr;
	int rem, n = 0;
	__be32 new;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != type)
			continue;
		new = nla_get_be32(attr);
		if (!new && type == WEFT_A_CONFIG_TWIN)
			why = n == WEFT_BLADES ? wrong->many : NULL;
		else
			why = weft_genl_check_address(addr, (u32)n, new, wrong);
		if (why) {
			NL_SET_BAD_ATTR(info->extack, attr);
			weft_genl_say(info->extack, why);
			return -EINVAL;
		}
		addr[n++] = new;
	}
	return n;
}

static int weft_genl_get_homes(struct genl_info *info, struct weft_config *cfg)
{
	static const struct weft_genl_wrong home = {
		.twice = "HOME gives one address twice",
		.many = "HOME is given more than 16 times",
		.no = "HOME is not the address of one machine",
	}, twin = {
		.twice = "TWIN gives one address twice",
		.many = "TWIN is given more than 16 times",
		.no = "TWIN is not the address of one machine",
	};
	int homes = weft_genl_get_addresses(info, WEFT_A_CONFIG_HOME, cfg->home, &home);
	int twins = homes < 0 ? homes :
		    weft_genl_get_addresses(info, WEFT_A_CONFIG_TWIN, cfg->twin, &twin);

	if (twins < 0)
		return twins;
	cfg->homes = (u32)homes;
	if (GENL_REQ_ATTR_CHECK(info, WEFT_A_CONFIG_HOME)) {
		GENL_SET_ERR_MSG(info, "HOME is missing: the addresses of the memory blades");
		return -EINVAL;
	}
	if (twins > homes) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[WEFT_A_CONFIG_TWIN],
				    "TWIN is given more often than HOME");
		return -EINVAL;
	}
	return 0;
}

/* Find the interface that a request names by index or name. */
static int weft_genl_get_interface(struct genl_info *info, struct weft_config *cfg)
{
	struct nlattr *index = info->attrs[WEFT_A_CONFIG_IFINDEX];
	struct nlattr *name = info->attrs[WEFT_A_CONFIG_IFNAME];
	struct net_device *dev;
	int err = 0;

	if (index && name) {
		NL_SET_ERR_MSG_ATTR(info->extack, name,
				    "IFNAME is given besides IFINDEX");
		return -EINVAL;
	}
	if (!index && GENL_REQ_ATTR_CHECK(info, WEFT_A_CONFIG_IFNAME)) {
		GENL_SET_ERR_MSG(info, "the interface is missing: IFINDEX or IFNAME");
		return -EINVAL;
	}
	dev = index ? dev_get_by_index(cfg->net, (int)nla_get_u32(index)) :
		      dev_get_by_name(cfg->net, nla_data(name));
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, index ? index : name,
				    "there is no such interface");
		return -ENODEV;
	}
	cfg->ifindex = dev->ifindex;
	if (!netif_running(dev)) {
		NL_SET_ERR_MSG_ATTR(info->extack, index ? index : name,
				    "the interface is down");
		err = -ENETDOWN;
	}
	dev_put(dev);
	return err;
}

static int weft_genl_config_set(struct sk_buff *skb, struct genl_info *info)
{
	struct weft_config cfg = { .net = genl_info_net(info) };
	struct nlattr **attrs = info->attrs;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, WEFT_A_CONFIG_ID)) {
		GENL_SET_ERR_MSG(info, "ID is missing: the number of this node");
		return -EINVAL;
	}
	cfg.id = nla_get_u32(attrs[WEFT_A_CONFIG_ID]);
	err = weft_genl_get_interface(info, &cfg);
	if (!err)
		err = weft_genl_get_homes(info, &cfg);
	if (err)
		return err;
	if (attrs[WEFT_A_CONFIG_RACK])
		cfg.number = nla_get_u32(attrs[WEFT_A_CONFIG_RACK]);
	cfg.rack = attrs[WEFT_A_CONFIG_JOINS] ? nla_get_u32(attrs[WEFT_A_CONFIG_JOINS]) :
						cfg.number;
	if (attrs[WEFT_A_CONFIG_ADDRESS])
		cfg.addr = nla_get_be32(attrs[WEFT_A_CONFIG_ADDRESS]);
	if (attrs[WEFT_A_CONFIG_MTU])
		cfg.mtu = nla_get_u32(attrs[WEFT_A_CONFIG_MTU]);
	if (attrs[WEFT_A_CONFIG_TIMEOUT_MS])
		cfg.timeout_ms = nla_get_u32(attrs[WEFT_A_CONFIG_TIMEOUT_MS]);
	if (attrs[WEFT_A_CONFIG_HOLD_US]) {
		cfg.hold_us = nla_get_u32(attrs[WEFT_A_CONFIG_HOLD_US]);
		cfg.hold_set = true;
	}
	if (attrs[WEFT_A_CONFIG_KEY]) {
		cfg.key_set = true;
		memcpy(cfg.key, nla_data(attrs[WEFT_A_CONFIG_KEY]), sizeof(cfg.key));
		/* the kernel's copy of the message */
		memzero_explicit(nla_data(attrs[WEFT_A_CONFIG_KEY]), sizeof(cfg.key));
	}
	err = weft_racks_up(&cfg, info->extack);
	memzero_explicit(cfg.key, sizeof(cfg.key));
	return err;
}

static int weft_genl_config_clear(struct sk_buff *skb, struct genl_info *info)
{
	struct weft_rack *rack = weft_genl_rack(info->nlhdr, WEFT_A_CONFIG_RACK, info->extack);
	int err;

	if (IS_ERR(rack))
		return PTR_ERR(rack);
	err = weft_racks_down(rack, info->extack);
	weft_racks_put(rack);
	return err;
}

static int weft_genl_tune(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *timeout = info->attrs[WEFT_A_CONFIG_TIMEOUT_MS];
	struct nlattr *hold = info->attrs[WEFT_A_CONFIG_HOLD_US];
	struct weft_rack *rack;
	int err;

	if (!timeout && !hold) {
		GENL_SET_ERR_MSG(info, "nothing to change: TIMEOUT_MS or HOLD_US");
		return -EINVAL;
	}
	rack = weft_genl_rack(info->nlhdr, WEFT_A_CONFIG_RACK, info->extack);
	if (IS_ERR(rack))
		return PTR_ERR(rack);
	err = weft_member_tune(&rack->member, timeout ? nla_get_u32(timeout) : 0,
			       hold ? (int)nla_get_u32(hold) : -1, info->extack);
	weft_racks_put(rack);
	return err;
}

/* --- the family and single answers --------------------------------------------------------- */

static_assert(WEFT_KEY_BYTES == WEFT_KEY_LEN, "a key of the API has the length of one of the core");

/* --- Policies ------------------------------------------------------------ */

static struct netlink_range_validation weft_genl_timeout_range = {
	.min = WEFT_TIMEOUT_MS_MIN,
	.max = WEFT_TIMEOUT_MS_MAX,
};

static struct netlink_range_validation weft_genl_region_range = {
	.min = 1,
	.max = WEFT_REGION_MAX,
};

static struct netlink_range_validation weft_genl_homes_range = {
	.min = 1,
	.max = (1u << WEFT_BLADES) - 1,
};

static struct netlink_range_validation weft_genl_ifindex_range = {
	.min = 1,
	.max = INT_MAX,
};

/* An attribute of each kind that several commands take. */
#define U32(attr)	[attr] = { .type = NLA_U32 }
#define ADDRESS(attr)	[attr] = { .type = NLA_BE32 }
#define NODE(attr)	[attr] = NLA_POLICY_RANGE(NLA_U32, WEFT_NODE_MIN, WEFT_NODE_MAX)
#define BLADE(attr)	[attr] = NLA_POLICY_RANGE(NLA_U32, WEFT_BLADE_MIN, WEFT_BLADE_MAX)
#define REGION(attr)	[attr] = NLA_POLICY_FULL_RANGE(NLA_U32, &weft_genl_region_range)
#define TUNABLES \
	[WEFT_A_CONFIG_TIMEOUT_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &weft_genl_timeout_range), \
	[WEFT_A_CONFIG_HOLD_US] = NLA_POLICY_MAX(NLA_U32, WEFT_HOLD_US_MAX)
#define FIXED { .type = NLA_REJECT, \
		.reject_message = "this cannot be changed while the node is up" }

static const struct nla_policy weft_genl_config_policy[] = {
	NODE(WEFT_A_CONFIG_ID),
	U32(WEFT_A_CONFIG_RACK),
	[WEFT_A_CONFIG_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &weft_genl_ifindex_range),
	[WEFT_A_CONFIG_IFNAME] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	ADDRESS(WEFT_A_CONFIG_HOME),
	TUNABLES,
	ADDRESS(WEFT_A_CONFIG_ADDRESS),
	[WEFT_A_CONFIG_MTU] = NLA_POLICY_RANGE(NLA_U32, WEFT_MTU_MIN, WEFT_MTU_MAX),
	[WEFT_A_CONFIG_WIRE_VERSION] = {
		.type = NLA_REJECT,
		.reject_message = "the version of the messages cannot be set",
	},
	[WEFT_A_CONFIG_KEY] = NLA_POLICY_EXACT_LEN(WEFT_KEY_BYTES),
	U32(WEFT_A_CONFIG_JOINS),
	ADDRESS(WEFT_A_CONFIG_TWIN),
};

static const struct nla_policy weft_genl_tune_policy[] = {
	[WEFT_A_CONFIG_ID] = FIXED,
	U32(WEFT_A_CONFIG_RACK),
	[WEFT_A_CONFIG_IFINDEX ... WEFT_A_CONFIG_HOME] = FIXED,
	TUNABLES,
};

/* The rack, and nothing else. */
static const struct nla_policy weft_genl_config_rack_policy[] = { U32(WEFT_A_CONFIG_RACK) };
static const struct nla_policy weft_genl_status_policy[] = { U32(WEFT_A_STATUS_RACK) };
static const struct nla_policy weft_genl_counter_policy[] = { U32(WEFT_A_COUNTER_RACK) };
static const struct nla_policy weft_genl_peer_policy[] = { U32(WEFT_A_PEER_RACK) };
static const struct nla_policy weft_genl_blades_policy[] = { U32(WEFT_A_BLADE_RACK) };
static const struct nla_policy weft_genl_hist_policy[] = { U32(WEFT_A_HIST_RACK) };
static const struct nla_policy weft_genl_region_policy[] = { U32(WEFT_A_REGION_RACK) };

static const struct nla_policy weft_genl_blade_policy[] = {
	BLADE(WEFT_A_COUNTER_MEMBER), U32(WEFT_A_COUNTER_RACK),
};

static const struct nla_policy weft_genl_fence_policy[] = {
	NODE(WEFT_A_PEER_ID), U32(WEFT_A_PEER_RACK),
};

static const struct nla_policy weft_genl_blade_set_policy[] = {
	BLADE(WEFT_A_BLADE_MEMBER),
	ADDRESS(WEFT_A_BLADE_ADDRESS),
	[WEFT_A_BLADE_ACTION] =
		NLA_POLICY_RANGE(NLA_U32, WEFT_BLADE_ACTION_ADD, WEFT_BLADE_ACTION_USE),
	U32(WEFT_A_BLADE_RACK),
};

static const struct nla_policy weft_genl_spread_policy[] = {
	REGION(WEFT_A_REGION_ID),
	U32(WEFT_A_REGION_RACK),
	[WEFT_A_REGION_HOMES] = NLA_POLICY_FULL_RANGE(NLA_U32, &weft_genl_homes_range),
};

static const struct nla_policy weft_genl_line_policy[] = {
	REGION(WEFT_A_LINE_REGION), U32(WEFT_A_LINE_RACK),
};

static const struct nla_policy weft_genl_lock_policy[] = {
	REGION(WEFT_A_LOCK_REGION), U32(WEFT_A_LOCK_RACK),
};

static const struct nla_policy weft_genl_lost_policy[] = {
	BLADE(WEFT_A_LOST_MEMBER), REGION(WEFT_A_LOST_REGION), U32(WEFT_A_LOST_RACK),
};

/* --- Single answers ------------------------------------------------------ */

/* One attribute for each blade up to the last one that has a twin. */
static int weft_genl_put_twins(struct sk_buff *skb, const struct weft_config *cfg)
{
	u32 n = cfg->homes, i;

	while (n && !cfg->twin[n - 1])
		n--;
	for (i = 0; i < n; i++) {
		if (nla_put_in_addr(skb, WEFT_A_CONFIG_TWIN, cfg->twin[i]))
			return -EMSGSIZE;
	}
	return 0;
}

static int weft_genl_put_config(struct sk_buff *skb, const struct weft_config *cfg)
{
	u32 i;

	if (nla_put_u32(skb, WEFT_A_CONFIG_ID, cfg->id) ||
	    nla_put_u32(skb, WEFT_A_CONFIG_RACK, cfg->number) ||
	    nla_put_u32(skb, WEFT_A_CONFIG_JOINS, cfg->rack) ||
	    nla_put_u32(skb, WEFT_A_CONFIG_IFINDEX, (u32)cfg->ifindex) ||
	    nla_put_string(skb, WEFT_A_CONFIG_IFNAME, cfg->ifname) ||
	    nla_put_u32(skb, WEFT_A_CONFIG_TIMEOUT_MS, cfg->timeout_ms) ||
	    nla_put_u32(skb, WEFT_A_CONFIG_HOLD_US, cfg->hold_us) ||
	    nla_put_in_addr(skb, WEFT_A_CONFIG_ADDRESS, cfg->addr) ||
	    nla_put_u32(skb, WEFT_A_CONFIG_MTU, cfg->mtu) ||
	    nla_put_u32(skb, WEFT_A_CONFIG_WIRE_VERSION, WEFT_WIRE_VERSION))
		return -EMSGSIZE;
	for (i = 0; i < cfg->homes; i++) {
		if (nla_put_in_addr(skb, WEFT_A_CONFIG_HOME, cfg->home[i]))
			return -EMSGSIZE;
	}
	return weft_genl_put_twins(skb, cfg);
}

static int weft_genl_put_refused(struct sk_buff *skb, const struct weft_refused *r)
{
	const char *name;
	char buf[32];

	if (r->stat == WEFT_STAT_COUNT)
		return 0;
	name = weft_stat_name(r->stat, buf, sizeof(buf));
	if (nla_put_string(skb, WEFT_A_STATUS_REFUSED, name) ||
	    nla_put_in_addr(skb, WEFT_A_STATUS_REFUSED_FROM, r->from) ||
	    nla_put_u64_64bit(skb, WEFT_A_STATUS_REFUSED_MS, r->msecs, WEFT_A_STATUS_PAD))
		return -EMSGSIZE;
	return 0;
}

static int weft_genl_put_status(struct sk_buff *skb, struct weft_rack *rack,
				const struct weft_member_status *s)
{
	struct weft_cache_status cache;

	weft_cache_status(&rack->cache, &cache);
	if (nla_put_u32(skb, WEFT_A_STATUS_RACK, rack->number) ||
	    (s->joined && nla_put_flag(skb, WEFT_A_STATUS_JOINED)) ||
	    nla_put_u32(skb, WEFT_A_STATUS_LIFE, s->life) ||
	    (s->key_set && nla_put_u32(skb, WEFT_A_STATUS_FINGERPRINT, s->fingerprint)) ||
	    weft_genl_put_refused(skb, &s->refused) ||
	    nla_put_u32(skb, WEFT_A_STATUS_ANSWERED_MS, s->answered_ms) ||
	    nla_put_u32(skb, WEFT_A_STATUS_MEMBERS, s->members) ||
	    nla_put_u32(skb, WEFT_A_STATUS_LEASE_MS, s->lease_ms) ||
	    nla_put_u64_64bit(skb, WEFT_A_STATUS_REGIONS,
			      weft_region_count(&rack->cache.regions),
			      WEFT_A_STATUS_PAD) ||
	    nla_put_u64_64bit(skb, WEFT_A_STATUS_LINES, cache.lines,
			      WEFT_A_STATUS_PAD) ||
	    nla_put_u64_64bit(skb, WEFT_A_STATUS_CACHE_BYTES, cache.bytes,
			      WEFT_A_STATUS_PAD) ||
	    nla_put_u64_64bit(skb, WEFT_A_STATUS_CACHE_MAX, cache.max,
			      WEFT_A_STATUS_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Begin an answer of one message, with its header in @hdr.  Return: NULL without memory. */
static struct sk_buff *weft_genl_answer(struct genl_info *info, void **hdr)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*hdr = genlmsg_put_reply(skb, info, weft_genl_family, 0,
				 info->genlhdr->cmd);
	if (!*hdr) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

/* Send the message of weft_genl_answer(); with @err, of putting attributes, free it. */
static int weft_genl_reply(struct sk_buff *skb, void *hdr, int err, struct genl_info *info)
{
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

static int weft_genl_config_get(struct sk_buff *skb, struct genl_info *info)
{
	struct weft_rack *rack = weft_genl_rack(info->nlhdr, WEFT_A_CONFIG_RACK, info->extack);
	struct weft_config cfg;
	void *hdr;
	int err;

	if (IS_ERR(rack))
		return PTR_ERR(rack);
	err = weft_member_config(&rack->member, &cfg);
	weft_racks_put(rack);
	if (err)
		return weft_genl_not_up(info->extack);
	skb = weft_genl_answer(info, &hdr);
	if (!skb)
		return -ENOMEM;
	return weft_genl_reply(skb, hdr, weft_genl_put_config(skb, &cfg), info);
}

static int weft_genl_status_of(struct weft_rack *rack, struct genl_info *info)
{
	struct weft_member_status status;
	struct sk_buff *skb;
	void *hdr;

	if (weft_member_status(&rack->member, &status))
		return weft_genl_not_up(info->extack);
	skb = weft_genl_answer(info, &hdr);
	if (!skb)
		return -ENOMEM;
	return weft_genl_reply(skb, hdr, weft_genl_put_status(skb, rack, &status), info);
}

static int weft_genl_status_get(struct sk_buff *skb, struct genl_info *info)
{
	struct weft_rack *rack = weft_genl_rack(info->nlhdr, WEFT_A_STATUS_RACK, info->extack);
	int err;

	if (IS_ERR(rack))
		return PTR_ERR(rack);
	err = weft_genl_status_of(rack, info);
	weft_racks_put(rack);
	return err;
}

/* --- The racks ----------------------------------------------------------- */

/* Its state is the number of the next rack, or a smaller one. */
static int weft_genl_racks_start(struct netlink_callback *cb)
{
	return PTR_ERR_OR_ZERO(weft_genl_list_new(cb, sizeof(u64), 0));
}

static int weft_genl_racks_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	u64 *next = weft_genl_list(cb);
	struct weft_config cfg;
	struct weft_rack *rack;
	u32 number;
	void *hdr;
	bool up;

	while (*next <= U32_MAX) {
		rack = weft_racks_next((u32)*next);
		if (!rack)
			break;
		number = rack->number;
		up = !weft_member_config(&rack->member, &cfg);
		weft_racks_put(rack);
		if (up) {
			hdr = weft_genl_item(skb, cb, WEFT_CMD_RACK_GET);
			if (!hdr || !weft_genl_item_end(skb, hdr, weft_genl_put_config(skb, &cfg)))
				break;
		}
		*next = (u64)number + 1;
	}
	return skb->len;
}

/* --- The family ---------------------------------------------------------- */

#define TAKES(what, who)	.policy = what, .maxattr = ARRAY_SIZE(what) - 1, .flags = who
#define LISTS(number, name)	.cmd = number, .start = name##_start, .dumpit = name##_dump, \
				.done = weft_genl_list_done
#define DO(number, name, what, who)	{ .cmd = number, .doit = name, TAKES(what, who) }
#define LIST(number, name, what, who)	{ LISTS(number, name), TAKES(what, who) }
#define ANYONE			0
#define ADMIN			GENL_ADMIN_PERM

static const struct genl_ops weft_genl_ops[] = {
	DO(WEFT_CMD_CONFIG_SET, weft_genl_config_set, weft_genl_config_policy, ADMIN),
	DO(WEFT_CMD_CONFIG_CLEAR, weft_genl_config_clear, weft_genl_config_rack_policy, ADMIN),
	DO(WEFT_CMD_CONFIG_GET, weft_genl_config_get, weft_genl_config_rack_policy, ANYONE),
	DO(WEFT_CMD_TUNE, weft_genl_tune, weft_genl_tune_policy, ADMIN),
	DO(WEFT_CMD_STATUS_GET, weft_genl_status_get, weft_genl_status_policy, ANYONE),
	LIST(WEFT_CMD_STATS_GET, weft_genl_node, weft_genl_counter_policy, ANYONE),
	LIST(WEFT_CMD_BLADE_STATS_GET, weft_genl_ask, weft_genl_blade_policy, ANYONE),
	LIST(WEFT_CMD_SWITCH_STATS_GET, weft_genl_node, weft_genl_counter_policy, ANYONE),
	LIST(WEFT_CMD_PEER_GET, weft_genl_node, weft_genl_peer_policy, ANYONE),
	LIST(WEFT_CMD_HIST_GET, weft_genl_node, weft_genl_hist_policy, ANYONE),
	LIST(WEFT_CMD_REGION_GET, weft_genl_node, weft_genl_region_policy, ANYONE),
	LIST(WEFT_CMD_LINE_GET, weft_genl_node, weft_genl_line_policy, ANYONE),
	LIST(WEFT_CMD_LOCK_GET, weft_genl_node, weft_genl_lock_policy, ANYONE),
	{ LISTS(WEFT_CMD_RACK_GET, weft_genl_racks) },
	LIST(WEFT_CMD_NODE_FENCE, weft_genl_ask, weft_genl_fence_policy, ADMIN),
	LIST(WEFT_CMD_LOST_GET, weft_genl_ask, weft_genl_lost_policy, ANYONE),
	LIST(WEFT_CMD_BLADE_GET, weft_genl_ask, weft_genl_blades_policy, ANYONE),
	LIST(WEFT_CMD_BLADE_SET, weft_genl_ask, weft_genl_blade_set_policy, ADMIN),
	LIST(WEFT_CMD_REGION_SPREAD, weft_genl_ask, weft_genl_spread_policy, ADMIN),
};

static const struct genl_multicast_group weft_genl_groups[] = {
	/* events name processes of all users */
	{ .name = WEFT_GENL_GROUP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

static struct genl_family family __ro_after_init = {
	.name		= WEFT_GENL_NAME,
	.version	= WEFT_GENL_VERSION,
	.ops		= weft_genl_ops,
	.n_ops		= ARRAY_SIZE(weft_genl_ops),
	.mcgrps		= weft_genl_groups,
	.n_mcgrps	= ARRAY_SIZE(weft_genl_groups),
	.parallel_ops	= true,
	.module		= THIS_MODULE,
};

int weft_netlink_init(void)
{
	int err;

	weft_genl_family = &family;
	err = genl_register_family(&family);
	if (err)
		return err;
	err = weft_netlink_event_init();
	if (err)
		genl_unregister_family(&family);
	return err;
}

void weft_netlink_exit(void)
{
	/* nothing is mounted, so only the notifier chain can still send events */
	weft_netlink_event_exit();
	/* waits for commands that run; a list that is half read holds a reference to the module */
	genl_unregister_family(&family);
}
