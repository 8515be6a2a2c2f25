// SPDX-License-Identifier: GPL-2.0-only
/* The key of a rack, see rackkey.h. */
#include "tools/common/rackkey.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Return: bytes of the text, or -1 with a sentence. */
static ssize_t read_text(int fd, const char *path, char *text, size_t room, char *why, size_t len)
{
	struct stat st;
	ssize_t n = -1;

	if (fstat(fd, &st)) {
		snprintf(why, len, "cannot read the key %s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		snprintf(why, len, "the key %s is not a file", path);
	} else if (st.st_mode & RACKKEY_OTHERS) {
		snprintf(why, len,
			 "others than its owner may use the key %s (mode %04o): chmod 600 %s, and make another one if they may have read it",
			 path, st.st_mode & 07777, path);
	} else {
		n = read(fd, text, room);
		if (n < 0)
			snprintf(why, len, "cannot read the key %s: %s", path, strerror(errno));
	}
	return n;
}

int rackkey_read(int fd, const char *path, u8 bytes[WEFT_KEY_LEN], char *why, size_t len)
{
	char text[WEFT_KEY_TEXT + 2];	/* newline, and one too many */
	ssize_t n = read_text(fd, path, text, sizeof(text), why, len);
	int bad = n < 0 ? -1 : weft_key_parse(bytes, text, (size_t)n);

	close(fd);
	explicit_bzero(text, sizeof(text));
	if (n >= 0 && bad)
		snprintf(why, len,
			 "%s is no key: a key is %d hexadecimal digits and a newline, as weft-memd --make-key writes it",
			 path, WEFT_KEY_TEXT);
	return bad ? -1 : 0;
}
