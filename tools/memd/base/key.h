/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that has the key of the rack: read at the start, made by --make-key, handed to a
 * service by --hand-key.  front/main.c calls it, before there is a blade.
 */
#ifndef WEFT_MEMD_KEY_H
#define WEFT_MEMD_KEY_H

#include "base/options.h"
#include "tag.h"

/**
 * key_read() - read a key file
 * @key: filled in
 * @err: receives a sentence, ERR_MAX bytes
 *
 * Refuses a file that others than its owner may read.  A service that may not read it
 * takes the copy that key_hand() has made in its $RUNTIME_DIRECTORY.
 *
 * Return: 0 or -1.
 */
int key_read(const char *path, struct weft_key *key, char *err);

/**
 * key_make() - make a key file, and say what to do with it
 * @err: receives a sentence, ERR_MAX bytes
 *
 * A file that is there is never touched: a key that others have already is not to be
 * replaced by chance.
 *
 * Return: 0 or -1.
 */
int key_make(const char *path, char *err);

/**
 * key_hand() - what a service does as root before the blade starts as somebody else
 * @o: options of the blade; without a key nothing is done
 * @dir: directory that is only that user's; gets a copy of the key, for that user only,
 *	where key_read() looks for it ($RUNTIME_DIRECTORY)
 * @err: receives a sentence, ERR_MAX bytes
 *
 * The first blade of a rack that is new makes the key if there is none.  A rack is not new
 * if there is a file with its regions: its other machines have another key, or none, and
 * must not be shut out by chance.
 *
 * Return: 0 or -1.
 */
int key_hand(const struct options *o, const char *dir, char *err);

#endif /* WEFT_MEMD_KEY_H */
