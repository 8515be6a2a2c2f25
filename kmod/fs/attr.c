// SPDX-License-Identifier: GPL-2.0-only
/* stat(), setattr and the end of a region; see attr.h. */
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/jiffies.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "blocks/access.h"
#include "blocks/tail.h"
#include "fs/attr.h"
#include "fs/fault.h"
#include "fs/fsync.h"
#include "fs/inode.h"
#include "fs/openstate.h"

/* --- what lies behind the end -------------------------------------------------------------- */

/*
 * A program may store behind the end, in the last page that it has mapped.  The node that grows
 * the region zeroes that first: it fetches the block to write, whichever node has stored there.
 * Another node may grow the region at the same time, and what its programs then store is part of
 * the region and must stay.  So the bytes are zeroed only if
 *
 *	1. this node has the block to write, and holds its own programs off (blocks/tail.h);
 *	2. the catalog, asked after 1, says where the end is;
 *	3. the block has not left this node since 1.
 *
 * Then all bytes behind that end were stored before 2, when they were no part of the region.
 */

/*
 * Zero the bytes of @blk behind the end, at @size; out: the size as the catalog says.
 * Return: 0; 1: the size is another one, or the block has left this node: repeat; -EAGAIN.
 */
static int clear_block(struct weft_inode *wi, struct weft_block *blk, u64 *size)
{
	u32 at = *size & (weft_region_block(&wi->region) - 1), generation;
	u64 now;
	int ret;

	ret = weft_tail_seal(blk, at, &generation);
	if (ret <= 0)
		return ret;
	ret = weft_inode_ask_size(wi, &now);
	if (!ret)
		ret = now != *size || !weft_tail_zero(blk, at, generation);
	if (ret >= 0)
		*size = now;
	weft_tail_unseal(blk);
	return ret;
}

int weft_tail_clear(struct weft_inode *wi)
{
	unsigned long end = weft_wait_end(wi->rack);
	struct weft_block *blk;
	u64 size;
	int ret;

	ret = weft_inode_ask_size(wi, &size);
	if (ret)
		return ret;
	do {
		if (!(size & (weft_region_block(&wi->region) - 1)))
			return 0;
		blk = weft_get_page(wi, (size - 1) >> PAGE_SHIFT, WEFT_M, false, end);
		if (blk == ERR_PTR(-ENXIO)) {
			/* another node has made the region smaller */
			ret = weft_inode_ask_size(wi, &size);
			if (ret)
				return ret;
			continue;
		}
		if (IS_ERR(blk))
			return PTR_ERR(blk);
		ret = clear_block(wi, blk, &size);
		/* revocations may take the block from here on */
		weft_block_touched(blk, WEFT_M);
		weft_put_page(blk);
		if (ret <= 0 && ret != -EAGAIN)
			return ret;
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

/*
 * Zero the bytes from @size on in the last block that stays, before the region is made smaller: if
 * another node grows it again at once, programs read zeros.  Whole blocks behind @size are the
 * home's to forget.
 */
static int weft_tail_cut(struct weft_inode *wi, u64 size)
{
	unsigned long end = weft_wait_end(wi->rack);
	u64 stop = min_t(u64, round_up(size, weft_region_block(&wi->region)),
			 i_size_read(&wi->vfs));

	while (size < stop) {
		pgoff_t page = size >> PAGE_SHIFT;
		u32 in_block = weft_region_in_block(&wi->region, page);
		u32 at = offset_in_page(size);
		u32 n = min_t(u64, PAGE_SIZE - at, stop - size);
		struct weft_block *blk;

		blk = weft_lock_cached(wi, page, WEFT_M);
		if (blk) {
			memzero_page(blk->pages[in_block], at, n);
			weft_block_touched(blk, WEFT_M);
			unlock_page(blk->pages[in_block]);
			weft_block_put(blk);
			size += n;
			continue;
		}
		blk = weft_get_page(wi, page, WEFT_M, false, end);
		if (IS_ERR(blk))
			return PTR_ERR(blk) == -ENXIO ? 0 : PTR_ERR(blk);
		weft_put_page(blk);
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
	return 0;
}

/* --- attributes ---------------------------------------------------------------------------- */

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

/*
 * Zero what is behind the end; with @cut, what will be behind it when the region has @size bytes.
 */
static int clear_tail(struct weft_inode *wi, bool cut, u64 size)
{
	int err;

	/* truncate() by name: no file is open, so the first blade has to know of the use */
	atomic_inc(&wi->files);
	err = weft_openstate_open(wi, NULL, false, false);
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

static int weft_setattr(weft_idmap *idmap, struct dentry *dentry, struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	struct weft_inode *wi = weft_inode_of(inode);
	struct weft_call *call;
	bool smaller = false;
	int err;

	/* permissions and the old size may be another node's changes */
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
	/* programs may have stored there between the first zeroing and the new size */
	if (!err && smaller && is_inside_block(wi, attr->ia_size))
		err = clear_tail(wi, false, 0);
	return err;
}

const struct inode_operations weft_file_inode_operations = {
	.getattr = weft_getattr,
	.setattr = weft_setattr,
};
