/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * OPEN and CLOSE: the open state of this node at the first blade, which keeps an unlinked region
 * as long as a node has it open.  fs/ calls it when a file is opened and an inode is evicted;
 * recoveries repeat OPEN.  Nothing here may grant access that the catalog has refused.
 */
#ifndef WEFT_OPENSTATE_H
#define WEFT_OPENSTATE_H

struct file;
struct weft_inode;
struct weft_openstate;
struct weft_rack;

/**
 * weft_openstate_open() - OPEN: tell the catalog that this node uses the region, and for which
 * user
 * @file: file that is being opened; NULL: the use gives no user access
 * @checked: the VFS has granted the access, or grants it unasked as the region is new
 * @created: this open() has made the region
 *
 * Sends nothing if the last OPEN was for the same user and access, with the same owner and mode.
 * The caller has raised weft_inode.files and lowers it after the use, see weft_openstate_nodes().
 *
 * Waits for a CLOSE of the same region that is in flight, and for no other.  Sleeps; killable.
 * Return: 0; -EACCES: the catalog refuses this node, or this user; as weft_inode_call().
 */
int weft_openstate_open(struct weft_inode *wi, struct file *file, bool checked, bool created);

/*
 * Repeat OPEN for a catalog that has lost its open state.  Sleeps.
 * Return: 0; -EINTR, -ETIMEDOUT: the first blade does not answer, repeat it for no other region.
 */
int weft_openstate_again(struct weft_inode *wi);

/* The inode is being evicted: queue a CLOSE.  Does not wait for its answer. */
void weft_openstate_close(struct weft_inode *wi);

/* Before LEAVE, which closes all: wait for CLOSE calls in flight, drop those that are queued. */
void weft_openstate_flush(struct weft_openstate *opened);

/* Return: NULL: no memory. */
struct weft_openstate *weft_openstate_new(void);
void weft_openstate_free(struct weft_openstate *opened);

/**
 * weft_openstate_nodes() - the catalog has changed which nodes may use a region
 * @attr: the region and its nodes
 *
 * A node that may not use the region any more gives all of it back: over several of these calls,
 * which the blade repeats.  Sleeps, for seconds at most.
 *
 * Return: 0: this node may use the region, or has nothing of it; -EBUSY: a program has it open;
 * -EAGAIN: not all is home yet.
 */
int weft_openstate_nodes(struct weft_rack *rack, const struct weft_call *attr);

#endif /* WEFT_OPENSTATE_H */
