/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first blade keeps a region as long as a node uses it, whether it has a name or
 * not: OPEN before the first program opens it here, CLOSE when its inode goes.
 */
#ifndef WEFT_OPENED_H
#define WEFT_OPENED_H

struct weft_inode;
struct weft_opened;

/**
 * weft_opened_open() - tell the catalog that this node uses the region
 *
 * Waits for a CLOSE of the same region that is still under way, and for nobody else's.
 * Sleeps; killable.
 */
int weft_opened_open(struct weft_inode *wi);

/*
 * Tell it once more: the catalog has forgotten.  Sleeps.  Return: 0; -EINTR, -ETIMEDOUT: it
 * does not answer, the others would wait in vain, too.
 */
int weft_opened_again(struct weft_inode *wi);

/* This node does not use it any more: the catalog is told a little later. */
void weft_opened_close(struct weft_inode *wi);

/*
 * Wait for the CLOSE calls under way, and drop those that have not begun.  After it the node
 * leaves the rack.
 */
void weft_opened_flush(struct weft_opened *opened);

/* Return: NULL: no memory. */
struct weft_opened *weft_opened_new(void);
void weft_opened_free(struct weft_opened *opened);

#endif /* WEFT_OPENED_H */
