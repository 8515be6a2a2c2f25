/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that has the key of the rack.
 */
#ifndef WEFT_MEMD_KEY_H
#define WEFT_MEMD_KEY_H

#include "tag.h"

/**
 * key_read() - read a key file
 * @key: filled in
 * @err: receives a sentence, ERR_MAX bytes
 *
 * Refuses a file that others than its owner may read, but for what systemd hands to a
 * service (below $CREDENTIALS_DIRECTORY), which looks after that itself.
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

#endif /* WEFT_MEMD_KEY_H */
