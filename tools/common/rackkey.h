/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file with the key of a rack, as weft-memd --make-key writes it: weft-memd and weftctl read
 * it by this.  Nothing of the key is left in memory but what the caller gets.
 */
#ifndef WEFT_TOOLS_COMMON_RACKKEY_H
#define WEFT_TOOLS_COMMON_RACKKEY_H

#include "tag.h"

#define RACKKEY_OTHERS	077	/* permissions that nobody but the owner may have */

/**
 * rackkey_read() - read a key file, unless others than its owner may use it
 * @fd: the file, which is closed in any case
 * @path: its name, for people
 * @bytes: receives the key
 * @why: receives a sentence, @len bytes of it
 *
 * Return: 0 or -1.
 */
int rackkey_read(int fd, const char *path, u8 bytes[WEFT_KEY_LEN], char *why, size_t len);

#endif /* WEFT_TOOLS_COMMON_RACKKEY_H */
