// SPDX-License-Identifier: GPL-2.0-only
/* Whether a configuration can be, and what it leaves open, see setup.h. */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/stringify.h>
#include <net/net_namespace.h>

#include "rack/setup.h"

/* Can this be the address of a machine, and of no other blade? */
static bool is_machine(__be32 addr)
{
	return addr && !ipv4_is_multicast(addr) && !ipv4_is_lbcast(addr);
}

/* Do blades before the one at @i, or that one's twin, have @addr? */
static bool is_taken(const struct weft_config *cfg, u32 i, __be32 addr)
{
	u32 j;

	for (j = 0; j < i; j++)
		if (cfg->home[j] == addr || cfg->twin[j] == addr)
			return true;
	return cfg->home[i] == cfg->twin[i];
}

static int check_homes(const struct weft_config *cfg,
		       struct netlink_ext_ack *extack)
{
	u32 i;

	if (!cfg->homes || cfg->homes > WEFT_BLADES) {
		NL_SET_ERR_MSG(extack, "give the addresses of 1 to 16 memory blades");
		return -EINVAL;
	}
	for (i = 0; i < cfg->homes; i++) {
		if (!is_machine(cfg->home[i]) ||
		    (cfg->twin[i] && !is_machine(cfg->twin[i]))) {
			NL_SET_ERR_MSG(extack, "the address of a memory blade is not that of a machine");
			return -EINVAL;
		}
		if (is_taken(cfg, i, cfg->home[i]) ||
		    (cfg->twin[i] && is_taken(cfg, i, cfg->twin[i]))) {
			NL_SET_ERR_MSG(extack, "two memory blades have the same address");
			return -EINVAL;
		}
	}
	return 0;
}

int weft_setup_check(const struct weft_config *cfg, struct netlink_ext_ack *extack)
{
	if (!weft_node_bit(cfg->id)) {
		NL_SET_ERR_MSG(extack, "a node's id is 1 to 32");
		return -EINVAL;
	}
	if (cfg->timeout_ms < WEFT_TIMEOUT_MS_MIN ||
	    cfg->timeout_ms > WEFT_TIMEOUT_MS_MAX) {
		NL_SET_ERR_MSG(extack, "the time-out is 100 ms to 1 hour");
		return -EINVAL;
	}
	if (cfg->hold_us > WEFT_HOLD_US_MAX) {
		NL_SET_ERR_MSG(extack, "a block is held 10000 us at most");
		return -EINVAL;
	}
	if (cfg->mtu && (cfg->mtu < WEFT_MTU_MIN || cfg->mtu > WEFT_MTU_MAX)) {
		NL_SET_ERR_MSG(extack, "the MTU is " __stringify(WEFT_MTU_MIN)
			       " to " __stringify(WEFT_MTU_MAX) " bytes");
		return -EINVAL;
	}
	if (!ipv4_is_multicast(cfg->group)) {
		NL_SET_ERR_MSG(extack, "the switch's group is no multicast address");
		return -EINVAL;
	}
	return check_homes(cfg, extack);
}

/* What the interface says: its name, its address, its MTU. */
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
	err = weft_setup_check(cfg, extack);
	return err ? err : ask_interface(cfg, extack);
}
