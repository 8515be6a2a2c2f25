/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that weft is built for, 6.1 to 7.3 (tests/kernels compiles for
 * them).  Any layer uses it; no other file but core/types.h looks at LINUX_VERSION_CODE.
 */
#ifndef WEFT_COMPAT_H
#define WEFT_COMPAT_H

#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pagemap.h>
#include <linux/shrinker.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <linux/filelock.h>
#endif
#include <net/udp_tunnel.h>

/* Release the lock that a fault is handled under, for VM_FAULT_RETRY. */
static inline void weft_release_fault_lock(struct vm_fault *vmf)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	release_fault_lock(vmf);
#else
	mmap_read_unlock(vmf->vma->vm_mm);
#endif
}

/*
 * After handle_mm_fault() outside of the architecture's fault handler, under mmap_lock.  A
 * user-mode kernel tells its host of the new page table entry; processors look it up themselves.
 */
static inline void weft_fault_done(struct vm_area_struct *vma, unsigned long addr)
{
#ifdef CONFIG_UML
	addr &= PAGE_MASK;
	flush_tlb_range(vma, addr, addr + PAGE_SIZE);
#endif
}

static inline void weft_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
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
#define weft_file_idmap(file)	file_mnt_idmap(file)
#else
#define weft_idmap		struct user_namespace
#define weft_no_idmap		(&init_user_ns)
#define weft_file_idmap(file)	file_mnt_user_ns(file)
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

/* Set all three times of an inode: the catalog keeps one. */
static inline void weft_set_times(struct inode *inode, struct timespec64 ts)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	inode_set_atime_to_ts(inode, ts);
	inode_set_mtime_to_ts(inode, ts);
	inode_set_ctime_to_ts(inode, ts);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	inode->i_atime = ts;
	inode->i_mtime = ts;
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

/* I_NEW, I_FREEING and so on; a hint without the inode's lock. */
static inline unsigned long weft_inode_state(struct inode *inode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	return inode_state_read_once(inode);
#else
	return READ_ONCE(inode->i_state);
#endif
}

static inline int weft_drop_unused(struct inode *inode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return inode_generic_drop(inode);
#else
	return generic_drop_inode(inode);
#endif
}

/* All names of an inode, under its lock. */
#ifdef for_each_alias
#define weft_for_each_alias(dentry, inode) \
	for_each_alias(dentry, inode)
#else
#define weft_for_each_alias(dentry, inode) \
	hlist_for_each_entry(dentry, &(inode)->i_dentry, d_u.d_alias)
#endif

static inline void weft_set_d_op(struct super_block *sb, const struct dentry_operations *ops)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
	set_default_d_op(sb, ops);
#else
	sb->s_d_op = ops;
#endif
}

/*
 * Operations of names with other parameters in other kernels: each macro defines @op, which calls
 * int @function(dentry, flags), or (idmap, dir, dentry, mode).
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define WEFT_OP_REVALIDATE(op, function)				\
static int op(struct inode *dir, const struct qstr *name,		\
	      struct dentry *dentry, unsigned int flags)		\
{									\
	return function(dentry, flags);					\
}
#else
#define WEFT_OP_REVALIDATE(op, function)				\
static int op(struct dentry *dentry, unsigned int flags)		\
{									\
	return function(dentry, flags);					\
}
#endif

/* O_EXCL (@excl) is always given by the VFS, see kmod/fs/dir.c. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
#define WEFT_OP_CREATE(op, function)					\
static int op(weft_idmap *idmap, struct inode *dir,			\
	      struct dentry *dentry, umode_t mode)			\
{									\
	return function(idmap, dir, dentry, mode);			\
}
#else
#define WEFT_OP_CREATE(op, function)					\
static int op(weft_idmap *idmap, struct inode *dir,			\
	      struct dentry *dentry, umode_t mode, bool excl)		\
{									\
	return function(idmap, dir, dentry, mode);			\
}
#endif

/* mkdir() that ends with @err. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#define WEFT_OP_NO_MKDIR(op, err)					\
static struct dentry *op(weft_idmap *idmap, struct inode *dir,		\
			 struct dentry *dentry, umode_t mode)		\
{									\
	return ERR_PTR(err);						\
}
#else
#define WEFT_OP_NO_MKDIR(op, err)					\
static int op(weft_idmap *idmap, struct inode *dir,			\
	      struct dentry *dentry, umode_t mode)			\
{									\
	return err;							\
}
#endif

static inline void
weft_hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/*
 * The socket in the type that the kernel's tunnel functions take, by their declaration: struct
 * socket in older kernels, struct sock in newer ones.
 */
#define weft_tunnel_sock(s)						\
	_Generic(&udp_tunnel_sock_release,				\
		 void (*)(struct sock *): (s)->sk,			\
		 default: (s))

static inline void weft_tunnel_xmit(struct rtable *rt, struct sock *sk,
				    struct sk_buff *skb, __be32 from, __be32 to,
				    u8 ttl, __be16 df, __be16 from_port, __be16 port)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
	udp_tunnel_xmit_skb(rt, sk, skb, from, to, 0, ttl, df, from_port, port, false, true, 0);
#else
	udp_tunnel_xmit_skb(rt, sk, skb, from, to, 0, ttl, df, from_port, port, false, true);
#endif
}

/* Newer kernels want the flag for work queues that are not WQ_UNBOUND. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define WEFT_WQ_PERCPU		WQ_PERCPU
#else
#define WEFT_WQ_PERCPU		0
#endif

/* Newer kernels refuse leases unless a file system offers them. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define weft_nosetlease		NULL
#else
#define weft_nosetlease		simple_nosetlease
#endif

/* A shrinker: part of our memory in older kernels, allocated by newer ones. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static inline struct shrinker *weft_shrinker_alloc(void *private)
{
	struct shrinker *shrinker = shrinker_alloc(0, "weft-cache");

	if (shrinker)
		shrinker->private_data = private;
	return shrinker;
}

static inline void *weft_shrinker_private(const struct shrinker *shrinker)
{
	return shrinker->private_data;
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
struct weft_shrinker {
	struct shrinker shrinker;
	void *private;
};

static inline struct shrinker *weft_shrinker_alloc(void *private)
{
	struct weft_shrinker *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->shrinker.seeks = DEFAULT_SEEKS;
	s->private = private;
	return &s->shrinker;
}

static inline void *weft_shrinker_private(const struct shrinker *shrinker)
{
	return container_of(shrinker, struct weft_shrinker, shrinker)->private;
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
	kfree(container_of(shrinker, struct weft_shrinker, shrinker));
}
#endif

#endif /* WEFT_COMPAT_H */
