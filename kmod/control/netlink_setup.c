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

/* Takes the addresses of the blades out of a request. */
static int weft_genl_get_homes(struct genl_info *info, struct weft_config *cfg)
{
	struct nlattr *attr;
	__be32 addr;
	u32 i;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != WEFT_A_CONFIG_HOME)
			continue;
		addr = nla_get_be32(attr);
		if (ipv4_is_zeronet(addr) || ipv4_is_multicast(addr) ||
		    ipv4_is_lbcast(addr)) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "HOME is not the address of one machine");
			return -EINVAL;
		}
		for (i = 0; i < cfg->homes; i++) {
			if (cfg->home[i] == addr) {
				NL_SET_ERR_MSG_ATTR(info->extack, attr,
						    "HOME gives one address twice");
				return -EINVAL;
			}
		}
		if (cfg->homes == ARRAY_SIZE(cfg->home)) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr,
					    "HOME is given more than 16 times");
			return -EINVAL;
		}
		cfg->home[cfg->homes++] = addr;
	}
	if (GENL_REQ_ATTR_CHECK(info, WEFT_A_CONFIG_HOME)) {
		GENL_SET_ERR_MSG(info, "HOME is missing: the addresses of the memory blades");
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
