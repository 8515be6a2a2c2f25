/* SPDX-License-Identifier: GPL-2.0-only */
/* Mounting of weft.  Functions return 0, or an exit status after a sentence. */
#ifndef WEFTCTL_MOUNTING_H
#define WEFTCTL_MOUNTING_H

#include "config/setting.h"

/**
 * mounting_mount() - mount weft, which joins the rack
 *
 * The directory is made if it is not there.  Set-user-id programs and devices mean
 * nothing below it.
 */
int mounting_mount(const struct settings *s);

/* Unmount what is mounted at @path last. */
int mounting_unmount(const char *path);

#endif /* WEFTCTL_MOUNTING_H */
