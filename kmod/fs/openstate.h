/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first blade keeps a region as long as a node uses it, whether it has a name or
 * not: OPEN before the first program opens it here, CLOSE when its inode goes.
 */
#ifndef WEFT_OPENSTATE_H
#define WEFT_OPENSTATE_H

struct file;
struct weft_inode;
struct weft_openstate;
struct weft_rack;

/**
 * weft_openstate_open() - tell the catalog that this node uses the region, and for whom
 * @file: that is being opened; NULL: nobody is let in by this
 * @checked: the VFS has looked whether who opens it may, or nobody is asked as it is new
 * @created: it is
 *
 * Nothing is asked if the catalog has let in the same user for the same, and owner and mode are
 * as they were.  weft_inode.files has been raised before, and stays so as long as the region
 * is used: see weft_openstate_nodes().
 *
 * Waits for a CLOSE of the same region that is still under way, and for nobody else's.
 * Sleeps; killable.  Return: -EACCES: the region is not for this node, or not for this user as
 * the catalog has it; and as weft_inode_call().
 */
int weft_openstate_open(struct weft_inode *wi, struct file *file, bool checked, bool created);

/*
 * Tell it once more: the catalog has forgotten.  Sleeps.  Return: 0; -EINTR, -ETIMEDOUT: it
 * does not answer, the others would wait in vain, too.
 */
int weft_openstate_again(struct weft_inode *wi);

/* This node does not use it any more: the catalog is told a little later. */
void weft_openstate_close(struct weft_inode *wi);

/*
 * Wait for the CLOSE calls under way, and drop those that have not begun.  After it the node
 * leaves the rack.
 */
void weft_openstate_flush(struct weft_openstate *opened);

/* Return: NULL: no memory. */
struct weft_openstate *weft_openstate_new(void);
void weft_openstate_free(struct weft_openstate *opened);

/**
 * weft_openstate_nodes() - the catalog says for which nodes a region is from now on
 *
 * If this one is not among them all of the region goes home: not at once, the blade asks again.
 * Sleeps, for seconds at most.
 *
 * Return: 0: this node has nothing of it, or may have it; -EBUSY: a program has it open; -EAGAIN.
 */
int weft_openstate_nodes(struct weft_rack *rack, const struct weft_call *attr);

#endif /* WEFT_OPENSTATE_H */
