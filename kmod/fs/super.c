// SPDX-License-Identifier: GPL-2.0-only
/* Options, mount and unmount, see super.h. */
#include <linux/fs_context.h>
#include <linux/fs_parser.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/statfs.h>
#include <linux/wait_bit.h>

#include "base/compat.h"
#include "blocks/evict.h"
#include "fs/callback.h"
#include "fs/dir.h"
#include "fs/inode.h"
#include "fs/lifetime.h"
#include "fs/mount.h"
#include "fs/openstate.h"
#include "fs/rack.h"
#include "fs/racks.h"
#include "fs/super.h"
#include "locks/reclaim.h"
#include "net/rpc.h"
#include "weft.h"

#define CACHE_MIN		(256 << 10)
#define BLOCK_DEFAULT		4096
#define ROOT_MODE_DEFAULT	01777

enum weft_option { OPT_RACK, OPT_CACHE, OPT_BLOCK, OPT_MODE, OPT_UID, OPT_GID };

static const struct fs_parameter_spec weft_options[] = {
	fsparam_u32("rack", OPT_RACK),
	fsparam_string("cache", OPT_CACHE),
	fsparam_string("block", OPT_BLOCK),
	fsparam_u32oct("mode", OPT_MODE),
	fsparam_u32("uid", OPT_UID),
	fsparam_u32("gid", OPT_GID),
	{}
};

/* --- options --------------------------------------------------------------------- */

static int parse_bytes(struct fs_context *fc, const struct fs_parameter *param, u64 *bytes)
{
	char *rest;

	*bytes = memparse(param->string, &rest);
	if (*rest || rest == param->string)
		return invalf(fc, "weft: %s=%s is no size; write for example %s=64M",
			      param->key, param->string, param->key);
	return 0;
}

static int parse_rack(struct fs_context *fc, u32 number)
{
	struct weft_mount *m = fc->s_fs_info;
	struct weft_rack *rack;

	if (fc->purpose == FS_CONTEXT_FOR_RECONFIGURE)
		return number == m->rack->number ? 0 :
			invalf(fc, "weft: rack=%u: what is mounted belongs to rack %u: unmount it, then mount the other one",
			       number, m->rack->number);
	rack = weft_racks_find(number);
	if (!rack) {
		errorf(fc, "weft: rack=%u: this machine is no node of this rack: run weftctl up --rack %u first, weftctl rack lists the others",
		       number, number);
		return -ENOTCONN;
	}
	if (m->rack)
		weft_racks_put(m->rack);
	m->rack = rack;
	return 0;
}

static int parse_cache(struct fs_context *fc, const struct fs_parameter *param)
{
	struct weft_mount *m = fc->s_fs_info;
	u64 bytes, ram = (u64)totalram_pages() << PAGE_SHIFT;
	int err = parse_bytes(fc, param, &bytes);

	if (err)
		return err;
	if (bytes < CACHE_MIN)
		return invalf(fc, "weft: cache=%s is too small: 256K is the least",
			      param->string);
	if (bytes > ram - ram / 8)
		return invalf(fc, "weft: cache=%s is more than this machine's memory can give (%llu MiB)",
			      param->string, (ram - ram / 8) >> 20);
	m->cache = bytes;
	return 0;
}

static int parse_block(struct fs_context *fc, const struct fs_parameter *param)
{
	struct weft_mount *m = fc->s_fs_info;
	u64 bytes;
	int err = parse_bytes(fc, param, &bytes);

	if (err)
		return err;
	if (bytes < PAGE_SIZE || bytes > WEFT_REGION_BLOCK_MAX || !is_power_of_2(bytes))
		return invalf(fc, "weft: block=%s: a block is a power of two from 4K to 64K",
			      param->string);
	m->block = (u32)bytes;
	return 0;
}

static int weft_parse_param(struct fs_context *fc, struct fs_parameter *param)
{
	struct weft_mount *m = fc->s_fs_info;
	struct fs_parse_result result;
	int opt = fs_parse(fc, weft_options, param, &result);

	switch (opt) {
	case OPT_RACK:
		return parse_rack(fc, result.uint_32);
	case OPT_CACHE:
		return parse_cache(fc, param);
	case OPT_BLOCK:
		return parse_block(fc, param);
	case OPT_MODE:
		if (result.uint_32 & ~07777)
			return invalf(fc, "weft: mode=%o: at most 7777", result.uint_32);
		m->mode = (umode_t)result.uint_32;
		return 0;
	case OPT_UID:
		m->uid = make_kuid(fc->user_ns, result.uint_32);
		return uid_valid(m->uid) ? 0 :
			invalf(fc, "weft: uid=%u is no user", result.uint_32);
	case OPT_GID:
		m->gid = make_kgid(fc->user_ns, result.uint_32);
		return gid_valid(m->gid) ? 0 :
			invalf(fc, "weft: gid=%u is no group", result.uint_32);
	default:
		return opt;
	}
}

static int weft_show_options(struct seq_file *seq, struct dentry *root)
{
	const struct weft_mount *m = weft_mount_of(root->d_sb);

	seq_printf(seq, ",rack=%u,cache=%lluK", m->rack->number, m->cache >> 10);
	if (m->block != BLOCK_DEFAULT)
		seq_printf(seq, ",block=%uK", m->block >> 10);
	return 0;
}

/* --- the instance ------------------------------------------------------------------- */

static int weft_statfs(struct dentry *dentry, struct kstatfs *buf)
{
	struct weft_call *call = weft_inode_new_call(WEFT_CALL_STATFS);
	int err;

	if (!call)
		return -ENOMEM;
	err = weft_rpc_catalog(&weft_mount_of(dentry->d_sb)->rack->node, call);
	if (!err) {
		buf->f_type = WEFT_SUPER_MAGIC;
		buf->f_bsize = PAGE_SIZE;
		buf->f_blocks = call->size >> PAGE_SHIFT;
		buf->f_bfree = call->size > call->used ?
			       (call->size - call->used) >> PAGE_SHIFT : 0;
		buf->f_bavail = buf->f_bfree;
		buf->f_files = call->cookie + call->region;
		buf->f_ffree = call->region;
		buf->f_namelen = WEFT_NAME_MAX;
	}
	kfree(call);
	return err;
}

static const struct super_operations weft_super_operations = {
	.alloc_inode = weft_inode_alloc,
	.free_inode = weft_inode_free,
	.evict_inode = weft_inode_evict,
	.drop_inode = weft_inode_unused,
	.statfs = weft_statfs,
	.show_options = weft_show_options,
};

/*
 * Wait until no other superblock of the rack is left.  Before Linux 6.6 a mount may make a new one
 * as soon as the old one has evicted its inodes, while cache, locks and membership of the old one
 * are still to be stopped.
 */
static int begin_instance(struct weft_mount *m)
{
	/* 0: this thread has set the bit */
	if (wait_on_bit_lock(&m->rack->instance, 0, TASK_KILLABLE))
		return -EINTR;
	m->instance = true;
	return 0;
}

static void end_instance(struct weft_mount *m)
{
	if (m->instance)
		clear_and_wake_up_bit(0, &m->rack->instance);
}

static void free_mount(struct weft_mount *m)
{
	if (m && m->rack)
		weft_racks_put(m->rack);
	kfree(m);
}

static int make_root(struct super_block *sb, const struct weft_mount *m)
{
	struct inode *inode = new_inode(sb);
	struct timespec64 now;

	if (!inode)
		return -ENOMEM;
	inode->i_ino = WEFT_ROOT_INO;
	inode->i_mode = S_IFDIR | m->mode;
	inode->i_uid = m->uid;
	inode->i_gid = m->gid;
	ktime_get_coarse_real_ts64(&now);
	weft_set_times(inode, now);
	inode->i_flags |= S_NOATIME | S_NOCMTIME;
	inode->i_op = &weft_dir_inode_operations;
	inode->i_fop = &weft_dir_operations;
	set_nlink(inode, 2);
	sb->s_root = d_make_root(inode);
	return sb->s_root ? 0 : -ENOMEM;
}

static int join(struct weft_member *member, struct fs_context *fc)
{
	struct weft_config cfg;
	__be32 other;
	int err = weft_member_join(member, &other);

	switch (err) {
	case 0:
		return 0;
	case -ENOTCONN:
		errorf(fc, "weft: this node is not configured: run weftctl up first");
		return err;
	case -EEXIST:
		if (weft_member_config(member, &cfg))
			cfg.id = 0;
		errorf(fc, "weft: another node has the id %u: give this one another with weftctl down and weftctl up",
		       cfg.id);
		pr_warn("weft: another node has the id %u\n", cfg.id);
		return err;
	case -ETIMEDOUT:
		if (weft_member_config(member, &cfg))
			cfg.home[0] = 0;
		errorf(fc, "weft: the memory blade %pI4 does not answer: is weft-memd running?",
		       &cfg.home[0]);
		pr_warn("weft: the memory blade %pI4 does not answer: is weft-memd running?\n",
			&cfg.home[0]);
		return err;
	case -EAGAIN:
		errorf(fc, "weft: the rack is not ready for this node yet: its blades still see to what it had before, or not all of them are there (weftctl status); mount again");
		return err;
	case -EHOSTDOWN:
		errorf(fc, "weft: a memory blade of the rack does not answer the first one: is weft-memd running on all of them?");
		return err;
	case -ENOKEY:
		errorf(fc, "weft: the memory blade and this node do not both have a key: give all machines of the rack the same one (weft-memd --key, weftctl up --key), or none");
		return err;
	case -EKEYREJECTED:
		errorf(fc, "weft: the memory blade has another key than this node: copy the rack's key here, then weftctl down and weftctl up");
		return err;
	default:
		errorf(fc, "weft: the memory blade refuses to let this node join (error %d)",
		       -err);
		return err;
	}
}

static int weft_fill_super(struct super_block *sb, struct fs_context *fc)
{
	struct weft_mount *m = sb->s_fs_info;
	int err;

	sb->s_blocksize = PAGE_SIZE;
	sb->s_blocksize_bits = PAGE_SHIFT;
	sb->s_magic = WEFT_SUPER_MAGIC;
	sb->s_maxbytes = min_t(u64, MAX_LFS_FILESIZE, WEFT_REGION_SIZE_MAX);
	sb->s_time_gran = 1;
	sb->s_op = &weft_super_operations;
	weft_set_d_op(sb, &weft_dentry_operations);

	err = begin_instance(m);
	if (err)
		return err;
	weft_places_forget(&m->rack->node.places);
	err = join(&m->rack->member, fc);
	if (err)
		return err;
	m->joined = true;
	err = weft_cache_start(&m->rack->cache, m->cache >> PAGE_SHIFT);
	if (err)
		return err;
	m->started = true;
	weft_locks_start(&m->rack->locks);
	weft_callback_start(m->rack);
	weft_dir_start(m->rack);
	return make_root(sb, m);
}

static void weft_kill_sb(struct super_block *sb)
{
	struct weft_mount *m = sb->s_fs_info;

	/* without the bit, another superblock may be using these */
	if (m->instance) {
		weft_dir_stop(m->rack);
		weft_callback_stop(m->rack);
	}
	WRITE_ONCE(m->leaving, true);
	if (m->instance)
		flush_workqueue(m->rack->home_wq);
	/* evicts the inodes, which gives all blocks back */
	kill_anon_super(sb);
	if (m->started) {
		weft_locks_stop(&m->rack->locks);
		weft_openstate_flush(m->rack->opened);
		weft_cache_stop(&m->rack->cache);
	}
	if (m->joined)
		weft_member_leave(&m->rack->member);
	end_instance(m);
	free_mount(m);
}

/* --- contexts ---------------------------------------------------------------------- */

/* If no option has named the rack, it is the only one of this machine. */
static int take_only_rack(struct fs_context *fc)
{
	struct weft_mount *m = fc->s_fs_info;

	if (m->rack)
		return 0;
	m->rack = weft_racks_only();
	if (m->rack)
		return 0;
	errorf(fc, "weft: this machine is in several racks: say which one with -o rack=NUMBER, weftctl rack lists them");
	return -ENOTUNIQ;
}

static int is_of_rack(struct super_block *sb, struct fs_context *fc)
{
	const struct weft_mount *m = fc->s_fs_info;

	return weft_mount_of(sb)->rack == m->rack;
}

/* One superblock for each rack, as get_tree_single() has one for all. */
static int weft_get_tree(struct fs_context *fc)
{
	struct super_block *sb;
	int err = take_only_rack(fc);

	if (err)
		return err;
	sb = sget_fc(fc, is_of_rack, set_anon_super_fc);
	if (IS_ERR(sb))
		return PTR_ERR(sb);
	if (!sb->s_root) {
		err = weft_fill_super(sb, fc);
		if (err) {
			deactivate_locked_super(sb);
			return err;
		}
		sb->s_flags |= SB_ACTIVE;
	}
	fc->root = dget(sb->s_root);
	return 0;
}

static int weft_reconfigure(struct fs_context *fc)
{
	struct weft_mount *m = weft_mount_of(fc->root->d_sb);
	const struct weft_mount *new = fc->s_fs_info;

	m->cache = new->cache;
	m->block = new->block;
	weft_cache_resize(&m->rack->cache, m->cache >> PAGE_SHIFT);
	return 0;
}

static void weft_free_context(struct fs_context *fc)
{
	free_mount(fc->s_fs_info);
}

static const struct fs_context_operations weft_context_operations = {
	.parse_param = weft_parse_param,
	.get_tree = weft_get_tree,
	.reconfigure = weft_reconfigure,
	.free = weft_free_context,
};

/*
 * A mount joins the rack, whose members trust each other's root, so the root of a user namespace
 * may not.  The VFS refuses it as well (no FS_USERNS_MOUNT); this says why.
 */
static bool in_user_namespace(struct fs_context *fc)
{
	static DEFINE_RATELIMIT_STATE(said, 60 * HZ, 1);

	if (fc->user_ns == &init_user_ns)
		return false;
	if (__ratelimit(&said))
		errorf(fc, "weft: cannot be mounted in a user namespace: mount it outside, and there bind it to where it is to be seen (mount --bind)");
	return true;
}

static int weft_init_fs_context(struct fs_context *fc)
{
	struct weft_mount *m;

	if (fc->purpose == FS_CONTEXT_FOR_MOUNT && in_user_namespace(fc))
		return -EPERM;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	if (fc->purpose == FS_CONTEXT_FOR_RECONFIGURE) {
		*m = *weft_mount_of(fc->root->d_sb);
		weft_racks_get(m->rack);
	} else {
		m->cache = round_down(((u64)totalram_pages() << PAGE_SHIFT) / 4, PAGE_SIZE);
		m->block = BLOCK_DEFAULT;
		m->mode = ROOT_MODE_DEFAULT;
		m->uid = GLOBAL_ROOT_UID;
		m->gid = GLOBAL_ROOT_GID;
	}
	fc->s_fs_info = m;
	fc->ops = &weft_context_operations;
	return 0;
}

static struct file_system_type weft_fs_type = {
	.owner = THIS_MODULE,
	.name = "weft",
	.init_fs_context = weft_init_fs_context,
	.parameters = weft_options,
	.kill_sb = weft_kill_sb,
	.fs_flags = FS_ALLOW_IDMAP,
};
MODULE_ALIAS_FS("weft");

int weft_super_init(void)
{
	return register_filesystem(&weft_fs_type);
}

void weft_super_exit(void)
{
	unregister_filesystem(&weft_fs_type);
}
