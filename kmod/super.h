/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file system type "weft".  There is one instance a node, however often it is
 * mounted.
 */
#ifndef WEFT_SUPER_H
#define WEFT_SUPER_H

#include <linux/fs.h>
#include <linux/uidgid.h>

#include "homeward.h"

/**
 * struct weft_mount - options of the mount
 * @cache: bytes that blocks may take in this node's memory
 * @block: bytes of a block of regions that are created here
 * @mode: permissions of the root directory
 * @uid: its owner
 * @gid: its group
 * @instance: it is this node's only one, see weft_fill_super()
 * @joined: weft_node_leave() is due
 * @started: weft_cache_stop() is due
 * @leaving: the file system is being unmounted, and the node leaves the rack
 * @silent: the last time that the blade was told of a modification it did not answer
 * @homeward: of all inodes that go then, one after the other
 */
struct weft_mount {
	u64 cache;
	u32 block;
	umode_t mode;
	kuid_t uid;
	kgid_t gid;
	bool instance;
	bool joined;
	bool started;
	bool leaving;
	bool silent;
	struct weft_homeward homeward;
};

static inline struct weft_mount *weft_mount_of(const struct super_block *sb)
{
	return sb->s_fs_info;
}

int weft_super_init(void);
void weft_super_exit(void);

#endif /* WEFT_SUPER_H */
