/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layer as a whole: regions, their lines and contents, and who may have them.  front/memd.c
 * makes and frees it.
 */
#ifndef WEFT_MEMD_LINES_LAYER_H
#define WEFT_MEMD_LINES_LAYER_H

struct memd;

/* Make it, without regions.  Return: 0 or -1 without memory. */
int lines_make(struct memd *m);
void lines_free(struct memd *m);

#endif /* WEFT_MEMD_LINES_LAYER_H */
