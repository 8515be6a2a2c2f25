/* SPDX-License-Identifier: GPL-2.0-only */
/* The lock calls of the kernel: WEFT_IOC_LOCK_*.  There is one node. */
#ifndef WEFT_TESTS_COMMON_KERNEL_LOCK_H
#define WEFT_TESTS_COMMON_KERNEL_LOCK_H

#include "region.h"

/* Region @r is open as @fd.  Return: 0, or the error. */
int fake_ioctl(struct fake_region *r, int fd, unsigned long request, void *argument);

/* It has so many bytes now: whoever awaits something behind that looks again. */
void fake_shrunk(struct fake_region *r, uint64_t size);

/* It has got a lock, and asked to be told that the last owner died, which is so. */
bool fake_hears(struct fake_region *r, const struct weft_lock_op *op);

#endif /* WEFT_TESTS_COMMON_KERNEL_LOCK_H */
