/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layer as a whole: which regions there are and who is a member, kept in the file.
 * front/memd.c makes and frees it.
 */
#ifndef WEFT_MEMD_CATALOG_LAYER_H
#define WEFT_MEMD_CATALOG_LAYER_H

struct memd;

/* Make it.  Return: 0 or -1 without memory. */
int catalog_make(struct memd *m);

/* The file is open, or there is none: what it has is here.  Return: 0, or -1 with a sentence. */
int catalog_open(struct memd *m, char *err);

/* The end, also of one that was not opened, or could not be. */
void catalog_free(struct memd *m);

#endif /* WEFT_MEMD_CATALOG_LAYER_H */
