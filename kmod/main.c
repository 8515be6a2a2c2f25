// SPDX-License-Identifier: GPL-2.0-only
/* Order of initialisation and exit; nothing else. */
#include <linux/module.h>

#include "cache.h"
#include "charge.h"
#include "hist.h"
#include "inode.h"
#include "klock.h"
#include "lockquota.h"
#include "netlink.h"
#include "node.h"
#include "packet.h"
#include "opened.h"
#include "recall.h"
#include "super.h"
#include "weft_version.h"

static int __init weft_init(void)
{
	int err;

	err = weft_hist_init();
	if (err)
		return err;
	weft_charge_init();
	err = weft_cache_init();
	if (err)
		goto err_hist;
	err = weft_opened_init();
	if (err)
		goto err_cache;
	err = weft_inode_init();
	if (err)
		goto err_opened;
	err = weft_klock_init();
	if (err)
		goto err_inode;
	err = weft_recall_init();
	if (err)
		goto err_klock;
	err = weft_packet_init();
	if (err)
		goto err_recall;
	err = weft_node_init();
	if (err)
		goto err_packet;
	err = weft_super_init();
	if (err)
		goto err_node;
	err = weft_netlink_init();
	if (err)
		goto err_super;
	return 0;

err_super:
	weft_super_exit();
err_node:
	weft_node_exit();
err_packet:
	weft_packet_exit();
err_recall:
	weft_recall_exit();
err_klock:
	weft_klock_exit();
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
	weft_node_exit();
	weft_packet_exit();
	weft_recall_exit();
	weft_klock_exit();
	weft_lockquota_exit();
	weft_inode_exit();
	weft_opened_exit();
	weft_cache_exit();
	weft_hist_exit();
}

module_init(weft_init);
module_exit(weft_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(WEFT_VERSION);
MODULE_DESCRIPTION("One coherent memory for the machines of a rack");
