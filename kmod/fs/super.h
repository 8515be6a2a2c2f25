/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file system type "weft".  There is one instance a node, however often it is
 * mounted.
 */
#ifndef WEFT_SUPER_H
#define WEFT_SUPER_H

/* When the module is loaded: 0 or a negative errno; and when it goes. */
int weft_super_init(void);
void weft_super_exit(void);

#endif /* WEFT_SUPER_H */
