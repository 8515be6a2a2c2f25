/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct weft_mount: options and state of a mounted file system (s_fs_info).  fs/super owns it,
 * other files of fs/ read it.
 */
#ifndef WEFT_MOUNT_H
#define WEFT_MOUNT_H

#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/uidgid.h>

#include "net/config.h"

struct weft_rack;

/**
 * struct weft_progress - a wait for work that may come to a standstill
 * @done: how much was done at the last look, a count that only grows
 * @since: when it last grew, jiffies
 */
struct weft_progress {
	u64 done;
	unsigned long since;
};

/* Return: whether the count, which is @done now, has not grown for @ms. */
static inline bool weft_progress_stalled(struct weft_progress *p, u64 done, u32 ms)
{
	if (p->done != done)
		*p = (struct weft_progress){ done, jiffies };
	return time_after(jiffies, p->since + msecs_to_jiffies(ms));
}

/**
 * struct weft_flush_way - a wait for homes that take back the blocks of inodes
 * @waiting: homes that are waited for, bit 0: the first blade
 * @progress: of the blocks that each has taken back
 * @pins_end: when the wait for devices that write into blocks ends, jiffies; 0: it has not begun
 */
struct weft_flush_way {
	u32 waiting;
	struct weft_progress progress[WEFT_BLADES];
	unsigned long pins_end;
};

/**
 * struct weft_mount - options and state of a mount
 * @rack: with a reference; NULL: no option has named it yet, see weft_get_tree()
 * @cache: bytes that blocks may take in this node's memory
 * @block: bytes of a block of regions that are created here
 * @mode: permissions of the root directory
 * @uid: owner of the root directory
 * @gid: group of the root directory
 * @instance: this mount has the rack's instance bit, see begin_instance()
 * @joined: weft_member_leave() is due
 * @started: weft_cache_stop() is due
 * @leaving: the file system is being unmounted, and the node leaves the rack
 * @silent: the first blade did not answer the last time of a write
 * @flushing: the wait for homes that all inodes evicted by the unmount share
 */
struct weft_mount {
	struct weft_rack *rack;
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
	struct weft_flush_way flushing;
};

static inline struct weft_mount *weft_mount_of(const struct super_block *sb)
{
	return sb->s_fs_info;
}

#endif /* WEFT_MOUNT_H */
