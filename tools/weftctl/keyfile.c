// SPDX-License-Identifier: GPL-2.0-only
/* The key file, see keyfile.h. */
#include "keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"

#define DIGITS	(2 * WEFT_KEY_BYTES)

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Return: whether it is the digits, and nothing else but a newline. */
static int parse(const char *text, ssize_t len, uint8_t key[WEFT_KEY_BYTES])
{
	int i, high, low;

	if (len == DIGITS + 1 && text[DIGITS] == '\n')
		len = DIGITS;
	if (len != DIGITS)
		return 0;
	for (i = 0; i < WEFT_KEY_BYTES; i++) {
		high = digit(text[2 * i]);
		low = digit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return 0;
		key[i] = (uint8_t)(high << 4 | low);
	}
	return 1;
}

static int read_open(int fd, const char *path, uint8_t key[WEFT_KEY_BYTES])
{
	char text[DIGITS + 2];	/* newline, and one too many */
	struct stat st;
	ssize_t n;
	int good;

	if (fstat(fd, &st))
		return fail("cannot read the key %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail("the key %s is not a file", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return fail("others than its owner may use the key %s (mode %04o): chmod 600 %s, and make another one if they may have read it",
			    path, (unsigned int)st.st_mode & 07777, path);
	n = read(fd, text, sizeof(text));
	if (n < 0)
		return fail("cannot read the key %s: %s", path, strerror(errno));
	good = parse(text, n, key);
	explicit_bzero(text, sizeof(text));
	if (good)
		return 0;
	return fail("%s is no key: a key is %d hexadecimal digits and a newline, as weft-memd --make-key writes it",
		    path, DIGITS);
}

int keyfile_read(const char *path, uint8_t key[WEFT_KEY_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	if (fd < 0 && errno == ENOENT)
		return fail("there is no key %s: copy the rack's from another machine of it ('scp -p root@MACHINE:%s %s'), or make the rack's on its first machine ('weft-memd --make-key %s')",
			    path, path, path, path);
	if (fd < 0)
		return fail("cannot read the key %s: %s", path, strerror(errno));
	rc = read_open(fd, path, key);
	close(fd);
	return rc;
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
