// SPDX-License-Identifier: GPL-2.0-only
/* The key file, see keyfile.h. */
#include "config/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "tools/common/rackkey.h"

bool keyfile_load(const char *path, uint8_t key[WEFT_KEY_BYTES], struct keyfile_error *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0)
		return !rackkey_read(fd, path, key, why->text, sizeof(why->text));
	if (errno == ENOENT)
		snprintf(why->text, sizeof(why->text),
			 "there is no key %s: copy the rack's from another machine of it ('scp -p root@MACHINE:%s %s'), or make the rack's on its first machine ('weft-memd --make-key %s')",
			 path, path, path, path);
	else
		snprintf(why->text, sizeof(why->text), "cannot read the key %s: %s", path,
			 strerror(errno));
	return false;
}

int keyfile_read(const char *path, uint8_t key[WEFT_KEY_BYTES])
{
	struct keyfile_error why;

	return keyfile_load(path, key, &why) ? 0 : fail("%s", why.text);
}

int keyfile_check(const char *path)
{
	uint8_t key[WEFT_KEY_BYTES];
	int rc;

	if (geteuid() && access(path, R_OK) && errno == EACCES) {
		fprintf(stderr, "weftctl: the key %s was not looked at: only root may read it\n",
			path);
		return 0;
	}
	rc = keyfile_read(path, key);
	explicit_bzero(key, sizeof(key));
	return rc;
}
