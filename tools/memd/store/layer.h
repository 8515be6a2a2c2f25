/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layer as a whole: where contents are kept, in memory or in a file.  front/memd.c makes and
 * frees it.
 */
#ifndef WEFT_MEMD_STORE_LAYER_H
#define WEFT_MEMD_STORE_LAYER_H

struct memd;

/* Make it, without a file.  Return: 0 or -1 without memory. */
int store_make(struct memd *m);

/* Open the file, if there is to be one.  Return: 0, or -1 with a sentence. */
int store_open(struct memd *m, char *err);

/* The end, also of one that was not opened, or could not be. */
void store_free(struct memd *m);

#endif /* WEFT_MEMD_STORE_LAYER_H */
