// SPDX-License-Identifier: GPL-2.0-only
/* Setting a node up, and changing it, see netlink_setup.h. */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/genetlink.h>

#include "control/genl.h"
#include "control/netlink_setup.h"
#include "fs/rack.h"
#include "fs/racks.h"
#include "weft_netlink.h"

/**
 * struct weft_genl_addresses - those of blades, or of their twins, out of a request
 * @type: of the attribute
 * @none: 0 stands for a blade without one
 * @addr: where they go
 * @n: how many there are
 * @twice: a sentence: one is there already
 * @many: ... there are too many
 * @no: ... it is none
 */
struct weft_genl_addresses {
	int type;
	bool none;
	__be32 *addr;
	u32 n;
	const char *twice;
	const char *many;
	const char *no;
};

static const char *weft_genl_add_address(struct weft_genl_addresses *a, __be32 addr)
{
	u32 i;

	if (a->n == WEFT_BLADES)
		return a->many;
	if (!addr && a->none) {
		a->addr[a->n++] = 0;
		return NULL;
	}
	if (ipv4_is_zeronet(addr) || ipv4_is_multicast(addr) || ipv4_is_lbcast(addr))
		return a->no;
	for (i = 0; i < a->n; i++) {
		if (a->addr[i] == addr)
			return a->twice;
	}
	a->addr[a->n++] = addr;
	return NULL;
}

static int weft_genl_get_addresses(struct genl_info *info, struct weft_genl_addresses *a)
{
	struct nlattr *attr;
	const char *wrong;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != a->type)
			continue;
		wrong = weft_genl_add_address(a, nla_get_be32(attr));
		if (!wrong)
			continue;
		NL_SET_BAD_ATTR(info->extack, attr);
		if (info->extack)
			info->extack->_msg = wrong;
		return -EINVAL;
	}
	return 0;
}

/* Takes the addresses of the blades out of a request, and those of their twins. */
static int weft_genl_get_homes(struct genl_info *info, struct weft_config *cfg)
{
	struct weft_genl_addresses homes = {
		.type = WEFT_A_CONFIG_HOME, .addr = cfg->home,
		.twice = "HOME gives one address twice",
		.many = "HOME is given more than 16 times",
		.no = "HOME is not the address of one machine",
	};
	struct weft_genl_addresses twins = {
		.type = WEFT_A_CONFIG_TWIN, .addr = cfg->twin, .none = true,
		.twice = "TWIN gives one address twice",
		.many = "TWIN is given more than 16 times",
		.no = "TWIN is not the address of one machine",
	};
	int err = weft_genl_get_addresses(info, &homes);

	if (!err)
		err = weft_genl_get_addresses(info, &twins);
	if (err)
		return err;
	cfg->homes = homes.n;
	if (GENL_REQ_ATTR_CHECK(info, WEFT_A_CONFIG_HOME)) {
		GENL_SET_ERR_MSG(info, "HOME is missing: the addresses of the memory blades");
		return -EINVAL;
	}
	if (twins.n > homes.n) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[WEFT_A_CONFIG_TWIN],
				    "TWIN is given more often than HOME");
		return -EINVAL;
	}
	return 0;
}

/* Finds the interface that a request names by index or name. */
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

int weft_genl_config_set(struct sk_buff *skb, struct genl_info *info)
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
		/* the message is ours; who sent it has another */
		memzero_explicit(nla_data(attrs[WEFT_A_CONFIG_KEY]), sizeof(cfg.key));
	}
	err = weft_racks_up(&cfg, info->extack);
	memzero_explicit(cfg.key, sizeof(cfg.key));
	return err;
}

int weft_genl_config_clear(struct sk_buff *skb, struct genl_info *info)
{
	struct weft_rack *rack = weft_genl_rack(info->nlhdr, WEFT_A_CONFIG_RACK, info->extack);
	int err;

	if (IS_ERR(rack))
		return PTR_ERR(rack);
	err = weft_racks_down(rack, info->extack);
	weft_racks_put(rack);
	return err;
}

int weft_genl_tune(struct sk_buff *skb, struct genl_info *info)
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
