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

/* And weft_rdma.ko, if there is an RDMA device; nothing depends on whether that can be. */
void module_load_rdma(void);

/* Whether weft_rdma.ko is loaded. */
bool module_has_rdma(void);

/* Whether it is, and not only being loaded or unloaded. */
bool module_is_loaded(void);

/* Which module it is. */
struct module_info {
	char version[64];	/* as MODULE_VERSION() says, "" if there is none */
	char source[64];	/* sum of its sources, "" if there is none */
};

/* Of the one that is loaded.  Return: whether there is one. */
bool module_loaded_info(struct module_info *info);

/* Of the one that modprobe would load.  Return: whether there is one. */
bool module_installed_info(struct module_info *info);

#endif /* WEFTCTL_MODULE_H */
