/* SPDX-License-Identifier: GPL-2.0-only */
/* Loading of the kernel module. */
#ifndef WEFTCTL_MODULE_H
#define WEFTCTL_MODULE_H

#include <stdbool.h>

/**
 * module_load() - load weft.ko and what it needs, as modprobe does
 *
 * Return: 0, also if it was loaded already; or an exit status, after it has
 * said why not.
 */
int module_load(void);

/* Whether it is, and not only being loaded or unloaded. */
bool module_is_loaded(void);

#endif /* WEFTCTL_MODULE_H */
