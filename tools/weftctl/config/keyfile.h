/* SPDX-License-Identifier: GPL-2.0-only */
/* The file with the key of the rack, as weft-memd --make-key writes it. */
#ifndef WEFTCTL_KEYFILE_H
#define WEFTCTL_KEYFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "weft_netlink.h"

/* Why a key could not be read. */
struct keyfile_error {
	/* without a full stop; after the first colon what to do, or what the system said */
	char text[1024];
};

/**
 * keyfile_load() - read a key
 * @key: receives it
 * @why: says what is wrong
 *
 * Refuses a file that others than its owner may read.
 *
 * Return: whether it is there and right.
 */
bool keyfile_load(const char *path, uint8_t key[WEFT_KEY_BYTES], struct keyfile_error *why);

/**
 * keyfile_read() - the same, for a command that cannot do without
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
