// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of a file, as programs ask for and change them; see attr.h. */
#include <linux/fs.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "fs/attr.h"
#include "fs/fsync.h"
#include "fs/inode.h"
#include "fs/opened.h"
#include "fs/tail.h"

static int weft_getattr(weft_idmap *idmap, const struct path *path,
			struct kstat *stat, u32 mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);
	struct weft_inode *wi = weft_inode_of(inode);
	int err;

	if (!(flags & AT_STATX_DONT_SYNC) && wi->region.id) {
		err = weft_inode_refresh(wi);
		if (err)
			return err;
	}
	weft_fillattr(idmap, mask, inode, stat);
	stat->blksize = wi->region.id ? weft_region_block(&wi->region) : PAGE_SIZE;
	return 0;
}

/* What is behind the end, or, @cut, will be behind @size. */
static int clear_tail(struct weft_inode *wi, bool cut, u64 size)
{
	int err;

	/* by name, no file of it is open */
	atomic_inc(&wi->files);
	err = weft_opened_open(wi, NULL, false, false);
	if (!err)
		err = cut ? weft_tail_cut(wi, size) : weft_tail_clear(wi);
	weft_inode_used(wi);
	atomic_dec(&wi->files);
	return weft_program_errno(err);
}

static bool is_inside_block(const struct weft_inode *wi, u64 size)
{
	return size & (weft_region_block(&wi->region) - 1);
}

static int weft_setattr(weft_idmap *idmap, struct dentry *dentry,
			struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	struct weft_inode *wi = weft_inode_of(inode);
	struct weft_call *call;
	bool smaller = false;
	int err;

	/* who may, and what is cut off, goes by what other nodes have made of it */
	if (wi->region.id) {
		err = weft_inode_refresh(wi);
		if (err)
			return err;
	}
	err = setattr_prepare(idmap, dentry, attr);
	if (err)
		return err;
	if (!wi->region.id) {
		setattr_copy(idmap, inode, attr);
		return 0;
	}
	if (attr->ia_valid & ATTR_SIZE && attr->ia_size != i_size_read(inode)) {
		smaller = attr->ia_size < i_size_read(inode);
		err = clear_tail(wi, smaller, attr->ia_size);
		if (err)
			return err;
	}
	call = weft_inode_new_call(WEFT_CALL_SETATTR);
	if (!call)
		return -ENOMEM;
	if (attr->ia_valid & ATTR_SIZE) {
		call->valid |= weft_inode_size_flags();
		call->size = attr->ia_size;
	}
	if (attr->ia_valid & ATTR_MODE) {
		call->valid |= WEFT_SET_MODE;
		call->mode = attr->ia_mode & 07777;
	}
	if (attr->ia_valid & (ATTR_UID | ATTR_GID)) {
		call->valid |= WEFT_SET_OWNER;
		call->uid = from_kuid(&init_user_ns, attr->ia_valid & ATTR_UID ?
				      from_vfsuid(idmap, &init_user_ns, attr->ia_vfsuid) :
				      inode->i_uid);
		call->gid = from_kgid(&init_user_ns, attr->ia_valid & ATTR_GID ?
				      from_vfsgid(idmap, &init_user_ns, attr->ia_vfsgid) :
				      inode->i_gid);
	}
	if (attr->ia_valid & ATTR_MTIME) {
		call->valid |= WEFT_SET_MTIME;
		call->mtime = timespec64_to_ns(&attr->ia_mtime);
		weft_inode_set_mtime(wi, call->mtime);
	}
	err = call->valid ? weft_inode_call(wi, call) : 0;
	kfree(call);
	/* again: what programs have stored there in between */
	if (!err && smaller && is_inside_block(wi, attr->ia_size))
		err = clear_tail(wi, false, 0);
	return err;
}

const struct inode_operations weft_file_inode_operations = {
	.getattr = weft_getattr,
	.setattr = weft_setattr,
};
