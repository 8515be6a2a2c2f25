/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel has said about weft. */
#ifndef WEFTCTL_KERNELLOG_H
#define WEFTCTL_KERNELLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One sentence of it. */
struct warning {
	char text[256];	/* without a newline */
	uint64_t age;	/* seconds ago */
};

#define WARNINGS_MAX	64

/* Warnings of the last hour, or since "dmesg -C". */
struct warnings {
	struct warning list[WARNINGS_MAX];	/* the last ones, in their order */
	size_t len;	/* how many of them */
	size_t all;	/* how many there were */
};

/* Return: 0, or a negative errno, -EPERM if we may not. */
int kernellog_read(struct warnings *w);

#endif /* WEFTCTL_KERNELLOG_H */
