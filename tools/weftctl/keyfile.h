/* SPDX-License-Identifier: GPL-2.0-only */
/* The file with the key of the rack, as weft-memd --make-key writes it. */
#ifndef WEFTCTL_KEYFILE_H
#define WEFTCTL_KEYFILE_H

#include <stdint.h>

#include "weft_netlink.h"

/**
 * keyfile_read() - read a key
 * @key: receives it
 *
 * Refuses a file that others than its owner may read.
 *
 * Return: 0, or an exit status after it has said what is wrong.
 */
int keyfile_read(const char *path, uint8_t key[WEFT_KEY_BYTES]);

/**
 * keyfile_check() - see whether a key could be read, and forget it
 * @path: the file
 *
 * Only root may read the rack's key: for anybody else it is no mistake that the file
 * cannot be looked at; a sentence says that it was not.
 *
 * Return: as keyfile_read().
 */
int keyfile_check(const char *path);

#endif /* WEFTCTL_KEYFILE_H */
