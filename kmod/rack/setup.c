// SPDX-License-Identifier: GPL-2.0-only
/* Completes a configuration, see setup.h. */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/stringify.h>
#include <net/net_namespace.h>

#include "rack/setup.h"

/*
 * The netlink family has checked each attribute by itself (control/netlink.c); the twin of a blade
 * must also be another machine than all blades.
 */
static int check_twins(const struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	u32 i, j;

	for (i = 0; i < cfg->homes; i++)
		for (j = 0; j < cfg->homes; j++)
			if (cfg->twin[i] && cfg->twin[i] == cfg->home[j]) {
				NL_SET_ERR_MSG(extack, "two memory blades have the same address");
				return -EINVAL;
			}
	return 0;
}

/* Take name, address and MTU from the interface, where the configuration does not give them. */
static int ask_interface(struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	struct net_device *dev;
	struct in_device *in_dev;
	const struct in_ifaddr *ifa;
	__be32 addr = 0;
	u32 mtu;

	dev = dev_get_by_index(cfg->net, cfg->ifindex);
	if (!dev) {
		NL_SET_ERR_MSG(extack, "there is no such interface");
		return -ENODEV;
	}
	strscpy(cfg->ifname, dev->name, sizeof(cfg->ifname));
	mtu = READ_ONCE(dev->mtu);
	cfg->gathers = dev->features & NETIF_F_SG;
	rcu_read_lock();
	in_dev = __in_dev_get_rcu(dev);
	if (in_dev) {
		in_dev_for_each_ifa_rcu(ifa, in_dev) {
			if (cfg->addr && cfg->addr != ifa->ifa_local)
				continue;
			addr = ifa->ifa_local;
			break;
		}
	}
	rcu_read_unlock();
	dev_put(dev);

	if (!addr) {
		if (cfg->addr)
			NL_SET_ERR_MSG(extack, "the interface does not have this address");
		else
			NL_SET_ERR_MSG(extack, "the interface has no IPv4 address: give it one first");
		return -EADDRNOTAVAIL;
	}
	cfg->addr = addr;
	if (mtu < WEFT_MTU_MIN) {
		NL_SET_ERR_MSG(extack, "the interface's MTU is less than "
			       __stringify(WEFT_MTU_MIN) ": raise it with 'ip link set'");
		return -EINVAL;
	}
	if (cfg->mtu > mtu) {
		NL_SET_ERR_MSG(extack, "the MTU is greater than the interface's");
		return -EINVAL;
	}
	if (!cfg->mtu)
		cfg->mtu = min_t(u32, mtu, WEFT_MTU_MAX);
	return 0;
}

int weft_setup_complete(struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	int err;

	if (!cfg->timeout_ms)
		cfg->timeout_ms = WEFT_TIMEOUT_MS_DEFAULT;
	if (!cfg->hold_set)
		cfg->hold_us = WEFT_HOLD_US_DEFAULT;
	if (!cfg->group)
		cfg->group = htonl(WEFT_WIRE_GROUP);
	err = check_twins(cfg, extack);
	return err ? err : ask_interface(cfg, extack);
}
