/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inodes: one for each region that was looked up, and the root directory.  The
 * number of a region is its inode number; its attributes are the catalog's and
 * are asked for again whenever a program looks at them.
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

#define WEFT_FAILED	8	/* failed faults that are remembered */

/**
 * struct weft_failed - a fault that failed after it let go of mmap_lock, or waits by portions
 * @task: pid of the thread, 0: free
 * @page: offset in the file
 * @at: when, jiffies; the last portion ended
 * @since: when the first portion began, jiffies
 * @err: what went wrong; 0: nothing yet, it waits
 */
struct weft_failed {
	pid_t task;
	pgoff_t page;
	unsigned long at;
	unsigned long since;
	int err;
};

/**
 * struct weft_pass - by which right a program was let in, see core/call.h
 * @how: WEFT_OPEN_*
 * @want: what for, 3 bits rwx
 * @uid: user
 * @owner: of the region then
 * @group: of the region then
 * @mode: of the region then
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
 * struct weft_stream - a sequential reader
 * @at: block that it last asked for
 * @end: read ahead up to here, exclusive
 * @window: blocks to read ahead
 * @age: when it was last seen; the oldest is replaced
 */
struct weft_stream {
	u64 at;
	u64 end;
	u32 window;
	u32 age;
};

/**
 * struct weft_inode - a region
 * @vfs: the kernel's part
 * @rack: that it is of
 * @region: what the layers below know of it; its number is 0 for the root
 * @lock: size and times of @vfs when they are written, @mtime_dirty, @failed, @stream,
 *	@stream_age, @uses, @nodes, @pass
 * @nodes: those that may use the region, 0: all; as far as this node knows
 * @failed: so that the repetition of a fault can report the error
 * @stream: sequential readers
 * @stream_age: counts accesses
 * @open_lock: @opened, @opening
 * @opened: the blade knows that this node uses the region
 * @pass: whom the blade has let in last
 * @open_asked: it may know: it was told, if perhaps in vain.  @open_lock to write
 * @mtime_dirty: written to since the catalog heard of it
 * @gone: the region does not exist any more
 * @uses: how often a program ended to use it.  @lock
 * @returned: its blocks have gone home since then; what is left of them when it goes is
 *	lost.  @lock to write
 * @lost: what this node had modified in it is lost, or locks that its programs hold: they have
 *	no access until all of them have closed it
 * @files: open files, and those that are being opened
 * @renew: blades that begin anew just now, to which blocks do not go home as usual
 * @lose: ... and which do not want them any more
 * @home_work: its blocks go home, as nobody uses it any more
 * @mtime_work: tells the catalog of @mtime_dirty; has a reference
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

/* The inode of a region with a reference, NULL if it is not known here or goes. */
struct weft_inode *weft_inode_grab(struct weft_rack *rack, u32 region);

/**
 * weft_inode_grab_next() - walk through the inodes of a rack, by their numbers
 * @only: number of the only region to visit; 0: all
 * @region: number of the last one, 0 at first; set to the next one
 *
 * Return: the next inode, with a reference; NULL at the end.
 */
struct weft_inode *weft_inode_grab_next(struct weft_rack *rack, u32 only, u32 *region);

/* Take over attributes that came from the catalog. */
void weft_inode_update(struct weft_inode *wi, const struct weft_call *attr);

/**
 * weft_inode_call() - a call of the catalog about a region, which answers with attributes
 *
 * Takes them over.  Sleeps; killable.  Return: as weft_rpc_catalog(); -ESTALE: the region
 * is gone; -EUCLEAN.
 */
int weft_inode_call(struct weft_inode *wi, struct weft_call *call);

/* weft_inode_refresh(), and the size as that answer says it: i_size may be that of an older one. */
int weft_inode_ask_size(struct weft_inode *wi, u64 *size);

/* Ask the catalog for the attributes.  Sleeps. */
int weft_inode_refresh(struct weft_inode *wi);

/* Does no quota hold for this thread's regions?  CAP_SYS_RESOURCE. */
bool weft_inode_unlimited(void);

/**
 * weft_inode_resize() - another size
 * @grow: never make it smaller: another node may have made it larger
 */
int weft_inode_resize(struct weft_inode *wi, u64 size, bool grow);

/* Tell the catalog when the region was last written to, if it was. */
int weft_inode_flush_mtime(struct weft_inode *wi);

/* A zeroed call of the catalog, which kfree() frees, or NULL. */
struct weft_call *weft_inode_new_call(u16 op);

/* Flags of a SETATTR that changes the size for the current thread. */
u32 weft_inode_size_flags(void);

/* Work of @mtime_work. */
void weft_inode_mtime_work(struct work_struct *work);

/* A file that may have been written to is closed: the same, now or a little later. */
void weft_inode_closed(struct weft_inode *wi);

/* The same a little later, in another thread.  Does not sleep. */
void weft_inode_tell_mtime(struct weft_inode *wi);

/* It is to be this, as somebody said: the time of what was written before is not told any more. */
void weft_inode_set_mtime(struct weft_inode *wi, u64 ns);

/* A program used it and may have modified blocks: before its reference goes. */
void weft_inode_used(struct weft_inode *wi);

/* The region was written to, now. */
void weft_inode_written(struct weft_inode *wi);

#endif /* WEFT_INODE_H */
