// SPDX-License-Identifier: GPL-2.0-only
/* The key file, see keyfile.h. */
#include "config/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "tag.h"

__attribute__((format(printf, 2, 3)))
static bool refuse(struct keyfile_error *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return false;
}

static bool read_open(int fd, const char *path, uint8_t key[WEFT_KEY_BYTES],
		      struct keyfile_error *why)
{
	char text[WEFT_KEY_TEXT + 2];	/* newline, and one too many */
	struct stat st;
	ssize_t n;
	int bad;

	if (fstat(fd, &st))
		return refuse(why, "cannot read the key %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(why, "the key %s is not a file", path);
	if (st.st_mode & 0077)
		return refuse(why, "others than its owner may use the key %s (mode %04o): chmod 600 %s, and make another one if they may have read it",
			    path, (unsigned int)st.st_mode & 07777, path);
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return refuse(why, "cannot read the key %s: %s", path, strerror(errno));
	bad = weft_key_parse(key, text, (size_t)n);
	explicit_bzero(text, sizeof(text));
	if (!bad)
		return true;
	return refuse(why, "%s is no key: a key is %d hexadecimal digits and a newline, as weft-memd --make-key writes it",
		      path, WEFT_KEY_TEXT);
}

bool keyfile_load(const char *path, uint8_t key[WEFT_KEY_BYTES], struct keyfile_error *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool good;

	if (fd < 0 && errno == ENOENT)
		return refuse(why, "there is no key %s: copy the rack's from another machine of it ('scp -p root@MACHINE:%s %s'), or make the rack's on its first machine ('weft-memd --make-key %s')",
			      path, path, path, path);
	if (fd < 0)
		return refuse(why, "cannot read the key %s: %s", path, strerror(errno));
	good = read_open(fd, path, key, why);
	close(fd);
	return good;
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
