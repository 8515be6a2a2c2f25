// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: order of initialisation and exit, and what the layers above do for those
 * below them.
 */
#include <linux/module.h>

#include "base/charge.h"
#include "base/hist.h"
#include "blocks/arrive.h"
#include "blocks/evict.h"
#include "blocks/region.h"
#include "control/netlink.h"
#include "fs/inode.h"
#include "fs/lifetime.h"
#include "fs/opened.h"
#include "fs/recall.h"
#include "fs/renew.h"
#include "fs/super.h"
#include "locks/arrive.h"
#include "locks/klock.h"
#include "locks/quota.h"
#include "net/packet.h"
#include "net/recv.h"
#include "rack/member.h"
#include "weft_version.h"

static const struct weft_receivers receivers = {
	.block = weft_block_recv,
	.lock = weft_klock_recv,
	.call = weft_recall_recv,
};

static void forgotten(void)
{
	weft_recall_run(weft_renew_all_lost);
}

static void back(void)
{
	weft_recall_run(weft_renew_opens);
}

static const struct weft_member_ops member_ops = {
	.forgotten = forgotten,
	.back = back,
};

static int __init weft_init(void)
{
	int err;

	err = weft_hist_init();
	if (err)
		return err;
	weft_charge_init();
	weft_recv_init(&receivers);
	err = weft_cache_init();
	if (err)
		goto err_hist;
	err = weft_opened_init();
	if (err)
		goto err_cache;
	err = weft_inode_init();
	if (err)
		goto err_opened;
	err = weft_lifetime_init();
	if (err)
		goto err_inode;
	err = weft_klock_init();
	if (err)
		goto err_lifetime;
	err = weft_recall_init();
	if (err)
		goto err_klock;
	err = weft_packet_init();
	if (err)
		goto err_recall;
	err = weft_member_init(&member_ops);
	if (err)
		goto err_packet;
	err = weft_super_init();
	if (err)
		goto err_member;
	err = weft_netlink_init();
	if (err)
		goto err_super;
	return 0;

err_super:
	weft_super_exit();
err_member:
	weft_member_exit();
err_packet:
	weft_packet_exit();
err_recall:
	weft_recall_exit();
err_klock:
	weft_klock_exit();
err_lifetime:
	weft_lifetime_exit();
err_inode:
	weft_inode_exit();
err_opened:
	weft_opened_exit();
err_cache:
	weft_cache_exit();
err_hist:
	weft_hist_exit();
	return err;
}

/* Nothing is mounted: a mount has a reference to the module. */
static void __exit weft_exit(void)
{
	weft_netlink_exit();
	weft_super_exit();
	weft_member_exit();
	weft_packet_exit();
	weft_recall_exit();
	weft_klock_exit();
	weft_lockquota_exit();
	weft_lifetime_exit();
	weft_inode_exit();
	weft_opened_exit();
	weft_cache_exit();
	weft_region_exit();
	weft_hist_exit();
}

module_init(weft_init);
module_exit(weft_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(WEFT_VERSION);
MODULE_DESCRIPTION("One coherent memory for the machines of a rack");
