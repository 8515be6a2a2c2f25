/* SPDX-License-Identifier: GPL-2.0-only */
/* The lock calls of the kernel: WEFT_IOC_LOCK_*.  There is one node. */
#ifndef WEFT_TESTS_COMMON_KERNEL_LOCK_H
#define WEFT_TESTS_COMMON_KERNEL_LOCK_H

#include "region.h"

/* Region @r is open as @fd.  Return: 0, or the error. */
int fake_ioctl(struct fake_region *r, int fd, unsigned long request, void *argument);

#endif /* WEFT_TESTS_COMMON_KERNEL_LOCK_H */
