/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open files of a region.  One is known by its position, which programs that map
 * regions have no use for: copies of a descriptor, and what a child inherits, have it
 * too, as they are the same file.  That it is gone is learned from a lock that the
 * kernel ties to it.
 */
#ifndef WEFT_TESTS_COMMON_KERNEL_OWNER_H
#define WEFT_TESTS_COMMON_KERNEL_OWNER_H

#include "region.h"

/* The owner number of an open file; 0: it has none yet. */
unsigned int fake_owner_of(int fd);

/* The same of one that gets a number now if it has none; 0: none is left. */
unsigned int fake_make_owner(struct fake_region *r, int fd);

/* Gives back what files held that are gone.  @own is the owner who asks. */
void fake_reap(struct fake_region *r, int fd, unsigned int own);

#endif /* WEFT_TESTS_COMMON_KERNEL_OWNER_H */
