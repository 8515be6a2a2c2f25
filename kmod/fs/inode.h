/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct weft_inode: a region as a file of this node, and calls of the catalog about it.
 * Used by all of fs/ and by control/inspect.  The inode number is the region's number.
 * The catalog owns the attributes: nothing here may answer a program from a cached copy.
 */
#ifndef WEFT_INODE_H
#define WEFT_INODE_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "blocks/region.h"
#include "core/call.h"
#include "locks/slots.h"

struct weft_rack;

#define WEFT_ROOT_INO	(WEFT_REGION_MAX + 1)

#define WEFT_FAILED	8	/* faults of an inode whose outcome is kept for their repetition */

/**
 * struct weft_failed - a fault without mmap_lock that failed, or an upgrade that waits in portions
 * @task: pid of the thread, 0: free
 * @page: offset in the file, in pages
 * @at: when it failed, or when its last portion ended; jiffies
 * @since: when its first portion began, jiffies
 * @err: negative errno; 0: it still waits
 */
struct weft_failed {
	pid_t task;
	pgoff_t page;
	unsigned long at;
	unsigned long since;
	int err;
};

/**
 * struct weft_pass - the right by which an open() passed the permission check, see core/call.h
 * @how: WEFT_OPEN_*
 * @want: access that was opened for, 3 bits rwx
 * @uid: user
 * @owner: of the region at the time of the check, as @group and @mode
 */
struct weft_pass {
	u8 how;
	u8 want;
	u32 uid;
	u32 owner;
	u32 group;
	u32 mode;
};

#define WEFT_STREAMS	4	/* sequential readers that are told apart */

/**
 * struct weft_stream - a sequential reader, see ahead.c
 * @at: block of its last access
 * @end: first block that was not read ahead for it
 * @window: blocks to read ahead
 * @age: of its last access, in counts of weft_inode.stream_age; the oldest is replaced
 */
struct weft_stream {
	u64 at;
	u64 end;
	u32 window;
	u32 age;
};

/**
 * struct weft_inode - a region, or the root directory
 * @vfs: the kernel's part, initialised by the slab's constructor
 * @rack: constant
 * @region: the region as the layers below see it; its number is 0 for the root
 * @lock: size and times of @vfs when they are written, @mtime_dirty, @failed, @stream,
 *	@stream_age, @uses, @nodes, @pass
 * @nodes: bits of the nodes that may use the region, 0: all; as the catalog last said
 * @failed: outcomes of faults, for their repetition
 * @stream: sequential readers
 * @stream_age: counts accesses of readers
 * @open_lock: taken for OPEN and CLOSE; @opened and @open_asked when they are written
 * @pass: of the last OPEN that the first blade has accepted
 * @opened: the first blade has accepted an OPEN of this node
 * @open_asked: an OPEN was sent, answered or not: a CLOSE is due
 * @mtime_dirty: the region was written to, and the catalog does not have the time yet
 * @gone: the catalog has deleted the region
 * @uses: counts the ends of uses by programs
 * @returned: all blocks were given back after the last use; those that are left when the inode is
 *	evicted are lost.  @lock to write
 * @lost: modified blocks of this node, or locks that its programs hold, are lost: programs get
 *	errors until all of them have closed the region
 * @files: open files, and those that are being opened
 * @renew: bits of blades that recover: evicted blocks are given back as weft_block_renew() does
 * @lose: bits of blades that have recovered without this node: evicted blocks are dropped
 * @home_work: gives the blocks back when no program uses the region any more
 * @mtime_work: tells the catalog the time of the last write; owns a reference while it is queued
 * @slots: locks that programs have open
 */
struct weft_inode {
	struct inode vfs;
	struct weft_rack *rack;
	struct weft_region region;
	spinlock_t lock;
	u32 nodes;
	struct weft_failed failed[WEFT_FAILED];
	struct weft_stream stream[WEFT_STREAMS];
	u32 stream_age;
	struct mutex open_lock;
	struct weft_pass pass;
	bool opened;
	bool open_asked;
	bool mtime_dirty;
	bool gone;
	u32 uses;
	bool returned;
	bool lost;
	atomic_t files;
	u32 renew;
	u32 lose;
	struct work_struct home_work;
	struct work_struct mtime_work;
	struct weft_slots slots;
};

static inline struct weft_inode *weft_inode_of(const struct inode *inode)
{
	return container_of(inode, struct weft_inode, vfs);
}

static inline struct weft_inode *weft_inode_of_region(struct weft_region *region)
{
	return container_of(region, struct weft_inode, region);
}

/* Return: the region's inode, with a reference; NULL: unknown here, or being freed. */
struct weft_inode *weft_inode_grab(struct weft_rack *rack, u32 region);

/**
 * weft_inode_grab_next() - walk through the inodes of a rack, by their numbers
 * @only: number of the only region to visit; 0: all
 * @region: number of the last one, 0 at first; set to the next one
 *
 * Return: the next inode, with a reference; NULL at the end.
 */
struct weft_inode *weft_inode_grab_next(struct weft_rack *rack, u32 only, u32 *region);

/* Set attributes, homes and policy as the catalog has answered them. */
void weft_inode_update(struct weft_inode *wi, const struct weft_call *attr);

/**
 * weft_inode_call() - ask the catalog about a region, and set the attributes that it answers
 *
 * Sleeps; killable.  Return: as weft_rpc_catalog(); -ESTALE: the region was deleted;
 * -EUCLEAN: the answer is about another region.
 */
int weft_inode_call(struct weft_inode *wi, struct weft_call *call);

/* Ask the catalog for the attributes.  Sleeps, killable.  Return: as weft_inode_call(). */
int weft_inode_refresh(struct weft_inode *wi);

/* The same.  @size: out: the size in this answer; i_size may already be that of another one. */
int weft_inode_ask_size(struct weft_inode *wi, u64 *size);

/* Return: whether the thread has CAP_SYS_RESOURCE, so that no quota holds for its regions. */
bool weft_inode_unlimited(void);

/* Make the region @size bytes, if no other node has made it larger.  Sleeps, killable. */
int weft_inode_grow(struct weft_inode *wi, u64 size);

/* Tell the catalog the time of the last write, unless it has that.  Sleeps, killable. */
int weft_inode_flush_mtime(struct weft_inode *wi);

/* Return: a zeroed call for the caller to kfree(), or NULL. */
struct weft_call *weft_inode_new_call(u16 op);

/* Return: WEFT_SET_* of a SETATTR by which the current thread changes the size. */
u32 weft_inode_size_flags(void);

/* Function of @mtime_work. */
void weft_inode_mtime_work(struct work_struct *work);

/* weft_inode_flush_mtime() when a writable file is closed: by @mtime_work if the thread exits. */
void weft_inode_closed(struct weft_inode *wi);

/* weft_inode_flush_mtime() by @mtime_work.  Does not sleep. */
void weft_inode_tell_mtime(struct weft_inode *wi);

/* utimes(): @ns replaces the time of the last write, which the catalog is not told any more. */
void weft_inode_set_mtime(struct weft_inode *wi, u64 ns);

/* Count the end of a use that may have modified blocks, before its reference is dropped. */
void weft_inode_used(struct weft_inode *wi);

/* Set the time of the last write to now. */
void weft_inode_written(struct weft_inode *wi);

#endif /* WEFT_INODE_H */
