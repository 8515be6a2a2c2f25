// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root directory, see dir.h.  Each path walk asks the catalog again (d_revalidate), so a name
 * that one node creates or unlinks changes for all nodes at once.
 */
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "base/event.h"
#include "fs/dir.h"
#include "fs/fault.h"
#include "fs/file.h"
#include "fs/inode.h"
#include "fs/lifetime.h"
#include "fs/mount.h"
#include "fs/openstate.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "locks/lockfile.h"
#include "net/rpc.h"
#include "weft.h"

static struct weft_call *new_call(u16 op, const struct qstr *name)
{
	struct weft_call *call = weft_inode_new_call(op);

	if (!call)
		return NULL;
	call->name_len = (u16)name->len;
	memcpy(call->name, name->name, name->len);
	return call;
}

static struct weft_node *node_of(const struct inode *dir)
{
	return &weft_mount_of(dir->i_sb)->rack->node;
}

/*
 * LOOKUP or CREATE: ask the catalog, and free @call, which may be NULL.
 * @created: out, of CREATE: the catalog has made the region
 * Return: the region's inode, with a reference, or an error.
 */
static struct inode *ask_inode(struct inode *dir, struct weft_call *call, bool *created)
{
	struct inode *inode;
	int err = -ENOMEM;

	if (call)
		err = weft_rpc_catalog(node_of(dir), call);
	inode = err ? ERR_PTR(err) : weft_inode_get(dir->i_sb, call);
	*created = !err && call->valid & WEFT_CREATE_NEW;
	kfree(call);
	return inode;
}

static struct dentry *weft_lookup(struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	struct inode *inode;
	bool created;

	if (dentry->d_name.len > WEFT_NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	inode = ask_inode(dir, new_call(WEFT_CALL_LOOKUP, &dentry->d_name), &created);
	return d_splice_alias(inode == ERR_PTR(-ENOENT) ? NULL : inode, dentry);
}

static void tell_removed(const struct weft_inode *wi, const struct qstr *name, bool here)
{
	weft_event_removed(&wi->rack->node, wi->region.id, (const char *)name->name, name->len,
			   here);
}

/* Does the name still mean this region?  1, 0 or an error. */
static int same_region(struct weft_inode *wi, const struct qstr *name, u32 timeout_ms)
{
	struct weft_call *call = new_call(WEFT_CALL_LOOKUP, name);
	int err;

	if (!call)
		return -ENOMEM;
	err = weft_rpc_call(&wi->rack->node, WEFT_BLADE_MIN, call, timeout_ms);
	if (!err && call->region == wi->region.id) {
		weft_inode_update(wi, call);
		err = 1;
	} else if (!err || err == -ENOENT) {
		/* a region has one name, so another node has unlinked it */
		if (wi->vfs.i_nlink)
			tell_removed(wi, name, false);
		clear_nlink(&wi->vfs);
		err = 0;
	}
	kfree(call);
	return err;
}

static int revalidate(struct dentry *dentry, unsigned int flags)
{
	struct weft_inode *wi;
	struct inode *inode;

	if (flags & LOOKUP_RCU)
		return -ECHILD;
	inode = d_inode(dentry);
	if (!inode)
		return 0;
	wi = weft_inode_of(inode);
	/* there is no rename(), so d_name does not change under us */
	return !wi->region.id ? 1 :
	       same_region(wi, &dentry->d_name, READ_ONCE(wi->rack->node.timeout_ms));
}

WEFT_OP_REVALIDATE(weft_revalidate, revalidate)

static void ask_create(struct weft_call *call, weft_idmap *idmap, const struct inode *dir,
		       umode_t mode, bool excl)
{
	call->op = WEFT_CALL_CREATE;
	call->valid = (excl ? WEFT_CREATE_EXCL : 0) |
		      (weft_inode_unlimited() ? WEFT_CREATE_UNLIMITED : 0);
	call->mode = mode & 07777;
	call->uid = from_kuid(&init_user_ns, mapped_fsuid(idmap, &init_user_ns));
	call->gid = from_kgid(&init_user_ns, dir->i_mode & S_ISGID ?
			      dir->i_gid : mapped_fsgid(idmap, &init_user_ns));
	call->block = weft_mount_of(dir->i_sb)->block;
}

static void tell_created(const struct inode *inode, const struct qstr *name)
{
	const struct weft_inode *wi = weft_inode_of(inode);

	weft_event_created(&wi->rack->node, wi->region.id, (const char *)name->name, name->len);
}

/* Always exclusive: the VFS takes success to mean that the region is new. */
static int create(weft_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct weft_call *call = new_call(WEFT_CALL_CREATE, &dentry->d_name);
	struct inode *inode;
	bool created;

	if (call)
		ask_create(call, idmap, dir, mode, true);
	inode = ask_inode(dir, call, &created);
	if (IS_ERR(inode))
		return PTR_ERR(inode);
	d_instantiate(dentry, inode);
	tell_created(inode, &dentry->d_name);
	return 0;
}

WEFT_OP_CREATE(weft_create, create)

/*
 * OPEN the region, so that the first blade keeps it until the VFS has checked permissions and has
 * called weft_open(), which names the user's right again.
 */
static int keep(struct weft_inode *wi, struct file *file, bool created)
{
	int err;

	atomic_inc(&wi->files);
	err = weft_openstate_open(wi, file, created, created);
	atomic_dec(&wi->files);
	return err;
}

/*
 * LOOKUP or, with O_CREAT, CREATE, then OPEN.  Another node may unlink the region between the two
 * calls: then start again, as the name means another region, or none.
 * @created: out: this call has made the region
 * Return: the inode, with a reference, or an error.
 */
static struct inode *open_name(struct inode *dir, const struct qstr *name, struct file *file,
			       unsigned int flags, umode_t mode, bool *created)
{
	unsigned long end = weft_wait_end(weft_mount_of(dir->i_sb)->rack);
	struct inode *inode;
	struct weft_call *call;
	int err;

	do {
		call = new_call(WEFT_CALL_LOOKUP, name);
		if (call && flags & O_CREAT)
			ask_create(call, weft_file_idmap(file), dir, mode, flags & O_EXCL);
		inode = ask_inode(dir, call, created);
		*created &= !!(flags & O_CREAT);
		if (IS_ERR(inode))
			return inode;
		if (*created)
			tell_created(inode, name);
		err = keep(weft_inode_of(inode), file, *created);
		if (!err)
			return inode;
		if (err == -ESTALE)
			clear_nlink(inode);
		iput(inode);
	} while (err == -ESTALE && time_before(jiffies, end));
	return ERR_PTR(err);
}

/*
 * open() of a name without a valid dentry.  The name may exist by now, as another user's file:
 * only the catalog's answer to CREATE tells.  With ->lookup() and ->create() the VFS would take
 * the region that ->create() finds for new, and would not check permissions.
 */
static int weft_atomic_open(struct inode *dir, struct dentry *dentry,
			    struct file *file, unsigned int flags, umode_t mode)
{
	bool created = false;
	struct inode *inode;
	struct dentry *alias;

	if (dentry->d_name.len > WEFT_NAME_MAX)
		return -ENAMETOOLONG;
	inode = open_name(dir, &dentry->d_name, file, flags, mode, &created);
	if (inode == ERR_PTR(-ENOENT))
		inode = NULL;
	if (created && !IS_ERR_OR_NULL(inode))
		file->f_mode |= FMODE_CREATED;
	d_drop(dentry); /* a negative dentry, if it was hashed at all */
	alias = d_splice_alias(inode, dentry);
	if (IS_ERR(alias))
		return PTR_ERR(alias);
	/* the VFS checks permissions, unless FMODE_CREATED is set, and calls ->open() */
	return finish_no_open(file, alias);
}

static int weft_mknod(weft_idmap *idmap, struct inode *dir,
		      struct dentry *dentry, umode_t mode, dev_t dev)
{
	if (!S_ISREG(mode))
		return -EOPNOTSUPP;
	return create(idmap, dir, dentry, mode);
}

static int weft_unlink(struct inode *dir, struct dentry *dentry)
{
	struct weft_call *call = new_call(WEFT_CALL_UNLINK, &dentry->d_name);
	struct weft_inode *wi = weft_inode_of(d_inode(dentry));
	int err;

	if (!call)
		return -ENOMEM;
	/* the VFS has checked permissions for this region; the name may mean another one by now */
	call->region = wi->region.id;
	err = weft_rpc_catalog(node_of(dir), call);
	kfree(call);
	if (!err) {
		clear_nlink(&wi->vfs);
		tell_removed(wi, &dentry->d_name, true);
	}
	return err;
}

/* Operations that weft does not have: without a function the VFS would answer EPERM. */
WEFT_OP_NO_MKDIR(weft_mkdir, -EOPNOTSUPP)

static int weft_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	return -EOPNOTSUPP;
}

static int weft_symlink(weft_idmap *idmap, struct inode *dir, struct dentry *dentry,
			const char *to)
{
	return -EOPNOTSUPP;
}

static int weft_rename(weft_idmap *idmap, struct inode *old_dir, struct dentry *old,
		       struct inode *dir, struct dentry *dentry, unsigned int flags)
{
	return -EOPNOTSUPP;
}

const struct inode_operations weft_dir_inode_operations = {
	.lookup = weft_lookup,
	.create = weft_create,
	.atomic_open = weft_atomic_open,
	.mknod = weft_mknod,
	.unlink = weft_unlink,
	.mkdir = weft_mkdir,
	.link = weft_link,
	.symlink = weft_symlink,
	.rename = weft_rename,
	.getattr = simple_getattr,
	.setattr = simple_setattr,
};

const struct dentry_operations weft_dentry_operations = {
	.d_revalidate = weft_revalidate,
};

/* --- regions that other nodes unlink ------------------------------------------------------- */

/*
 * An unused inode stays in memory with its blocks, and the first blade keeps the region for this
 * node.  So the sweep looks up the names of all inodes in turns, a few a second.  If the dentry
 * was reclaimed before the inode, the sweep asks the catalog whether the region has a name.
 */
#define SWEEP_INTERVAL		HZ
#define SWEEP_INODES		16
#define SWEEP_TIMEOUT_MS	1000

/* Does the region, which has no dentry here, still have a name?  1, 0 or an error. */
static int has_name(struct weft_inode *wi)
{
	struct weft_call *call = weft_inode_new_call(WEFT_CALL_GETATTR);
	int err;

	if (!call)
		return -ENOMEM;
	call->region = wi->region.id;
	err = weft_rpc_call(&wi->rack->node, WEFT_BLADE_MIN, call, SWEEP_TIMEOUT_MS);
	if (!err && call->region == wi->region.id && call->name_len) {
		err = 1;
	} else if (!err || err == -ENOENT || err == -ESTALE) {
		clear_nlink(&wi->vfs);
		err = 0;
	}
	kfree(call);
	return err;
}

/* Stores through mappings count as writes, though the program may never call msync(). */
static void tell_times(struct weft_rack *rack)
{
	struct weft_inode *wi;
	u32 region = 0;

	while ((wi = weft_inode_grab_next(rack, 0, &region))) {
		weft_inode_tell_mtime(wi);
		iput(&wi->vfs);
	}
}

static void sweep(struct work_struct *work)
{
	struct weft_rack *rack = container_of(to_delayed_work(work), struct weft_rack, sweep);
	struct weft_inode *wi;
	unsigned int n;

	for (n = 0; n < SWEEP_INODES; n++) {
		struct dentry *dentry;
		int same;

		wi = weft_inode_grab_next(rack, 0, &rack->sweep_next);
		if (!wi)
			break;
		dentry = d_find_alias(&wi->vfs);
		same = dentry ? same_region(wi, &dentry->d_name, SWEEP_TIMEOUT_MS) :
				has_name(wi);
		if (!same && dentry)
			d_drop(dentry);
		dput(dentry);
		iput(&wi->vfs);
		if (same < 0)
			break; /* no answer: an unmount would wait for more of these */
	}
	tell_times(rack);
	weft_homes_trim(rack);
	queue_delayed_work(system_long_wq, &rack->sweep, SWEEP_INTERVAL);
}

void weft_dir_init(struct weft_rack *rack)
{
	INIT_DELAYED_WORK(&rack->sweep, sweep);
}

void weft_dir_start(struct weft_rack *rack)
{
	rack->sweep_next = 0;
	queue_delayed_work(system_long_wq, &rack->sweep, SWEEP_INTERVAL);
}

void weft_dir_stop(struct weft_rack *rack)
{
	cancel_delayed_work_sync(&rack->sweep);
}

/* --- listing ---------------------------------------------------------------------- */

/*
 * The position in the directory is 2 plus the number of the last region that was emitted: the
 * catalog lists regions by their numbers, which only grow.  An open directory keeps one number in
 * file->private_data, the last region that existed when the listing began: so a program that
 * creates regions while it lists them comes to the end.
 */
#define POS_FIRST	2

static u32 listed(const struct dir_context *ctx)
{
	return (u32)(ctx->pos - POS_FIRST);
}

/* Emit the entries of one answer, up to region @last.  Return: false: @ctx is full, or the end. */
static bool emit_reply(struct dir_context *ctx, const struct weft_call *call, u32 last)
{
	u32 at = 0;

	while (at < call->list_len) {
		const u8 *entry = call->list + at;
		u32 region = get_unaligned_be32(entry);
		const char *name = (const char *)entry + WEFT_DIR_LEN;
		u32 name_len = entry[WEFT_DIR_LEN - 1];

		at += WEFT_DIR_LEN + name_len;
		if (region > last)
			return false;
		if (region <= listed(ctx))
			continue;
		if (!dir_emit(ctx, name, (int)name_len, region, DT_REG))
			return false;
		ctx->pos = (loff_t)POS_FIRST + region;
	}
	return true;
}

/* Ask for one part of the listing after the other.  Return: 0 when @ctx is full, or at the end. */
static int list_parts(struct file *file, struct dir_context *ctx, struct weft_call *call)
{
	struct weft_node *node = node_of(file_inode(file));
	unsigned long last = (unsigned long)READ_ONCE(file->private_data);
	u32 from;
	int err;

	do {
		from = listed(ctx);
		memset(call, 0, sizeof(*call));
		call->op = WEFT_CALL_READDIR;
		call->cookie = from;
		err = weft_rpc_catalog(node, call);
		if (err)
			return err;
		if (!from || !last) {
			last = (unsigned long)call->size;
			WRITE_ONCE(file->private_data, (void *)last);
		}
		if (!emit_reply(ctx, call, (u32)last))
			return 0;
		/* ends when the answer was the last one, or had no new entry */
	} while (call->cookie > from && listed(ctx) > from);
	return 0;
}

static int weft_iterate(struct file *file, struct dir_context *ctx)
{
	struct weft_call *call;
	int err;

	if (!dir_emit_dots(file, ctx))
		return 0;
	if (ctx->pos < POS_FIRST || ctx->pos - POS_FIRST > WEFT_REGION_MAX)
		return 0;
	call = weft_inode_new_call(WEFT_CALL_READDIR);
	if (!call)
		return -ENOMEM;
	err = list_parts(file, ctx, call);
	kfree(call);
	return err;
}

/* For processes that have a region mapped, but no file of it open any more. */
static long weft_dir_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return cmd == WEFT_IOC_LOCK_FILE ? weft_lockfile_open(file, arg) : -ENOTTY;
}

const struct file_operations weft_dir_operations = {
	.owner = THIS_MODULE,
	.read = generic_read_dir,
	.iterate_shared = weft_iterate,
	.llseek = generic_file_llseek,
	.unlocked_ioctl = weft_dir_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.fsync = noop_fsync,
	.flock = weft_reclock,
	.lock = weft_reclock,
	.setlease = weft_nosetlease,
};
