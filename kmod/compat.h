/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that we build for, 6.1 to 6.12.  No other
 * file looks at LINUX_VERSION_CODE.
 */
#ifndef WEFT_COMPAT_H
#define WEFT_COMPAT_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pagemap.h>
#include <linux/shrinker.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <linux/filelock.h>
#endif

/* Give up the lock that a fault is handled under, for VM_FAULT_RETRY. */
static inline void weft_release_fault_lock(struct vm_fault *vmf)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	release_fault_lock(vmf);
#else
	mmap_read_unlock(vmf->vma->vm_mm);
#endif
}

static inline void weft_vm_flags_set(struct vm_area_struct *vma,
				     unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/* First argument of the inode operations. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define weft_idmap		struct mnt_idmap
#define weft_no_idmap		(&nop_mnt_idmap)
#else
#define weft_idmap		struct user_namespace
#define weft_no_idmap		(&init_user_ns)
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define weft_fillattr(idmap, mask, inode, stat) \
	generic_fillattr(idmap, mask, inode, stat)
#else
#define weft_fillattr(idmap, mask, inode, stat) \
	generic_fillattr(idmap, inode, stat)
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define weft_splice_read	copy_splice_read
#else
#define weft_splice_read	generic_file_splice_read
#endif

/* F_RDLCK, F_WRLCK, F_UNLCK */
static inline int weft_lock_type(const struct file_lock *fl)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	return fl->c.flc_type;
#else
	return fl->fl_type;
#endif
}

/* All three times of an inode: the catalog keeps one. */
static inline void weft_set_times(struct inode *inode, struct timespec64 ts)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	inode_set_atime_to_ts(inode, ts);
	inode_set_mtime_to_ts(inode, ts);
	inode_set_ctime_to_ts(inode, ts);
#else
	inode->i_atime = ts;
	inode->i_mtime = ts;
	inode->i_ctime = ts;
#endif
}

static inline struct timespec64 weft_mtime(const struct inode *inode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return inode_get_mtime(inode);
#else
	return inode->i_mtime;
#endif
}

/* A shrinker's memory: part of it in older kernels, the kernel's in newer. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static inline struct shrinker *weft_shrinker_alloc(void)
{
	return shrinker_alloc(0, "weft-cache");
}

static inline int weft_shrinker_register(struct shrinker *shrinker)
{
	shrinker_register(shrinker);
	return 0;
}

static inline void weft_shrinker_free(struct shrinker *shrinker)
{
	shrinker_free(shrinker);
}
#else
static inline struct shrinker *weft_shrinker_alloc(void)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (shrinker)
		shrinker->seeks = DEFAULT_SEEKS;
	return shrinker;
}

static inline int weft_shrinker_register(struct shrinker *shrinker)
{
	return register_shrinker(shrinker, "weft-cache");
}

static inline void weft_shrinker_free(struct shrinker *shrinker)
{
	if (!shrinker)
		return;
	unregister_shrinker(shrinker); /* harmless if it was not registered */
	kfree(shrinker);
}
#endif

#endif /* WEFT_COMPAT_H */
