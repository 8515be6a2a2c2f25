/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel has said about weft. */
#ifndef WEFTCTL_KERNELLOG_H
#define WEFTCTL_KERNELLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct warning - one sentence of it
 * @text: without a newline
 * @age: seconds ago
 */
struct warning {
	char text[256];
	uint64_t age;
};

#define WARNINGS_MAX	64

/**
 * struct warnings - those of the last hour, or since "dmesg -C"
 * @list: the last ones, in their order
 * @len: how many of them
 * @all: how many there were
 */
struct warnings {
	struct warning list[WARNINGS_MAX];
	size_t len;
	size_t all;
};

/* Return: 0, or a negative errno, -EPERM if we may not. */
int kernellog_read(struct warnings *w);

#endif /* WEFTCTL_KERNELLOG_H */
