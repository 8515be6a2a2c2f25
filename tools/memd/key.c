// SPDX-License-Identifier: GPL-2.0-only
/* The key file, see key.h. */
#include "key.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

#define OTHERS	(S_IRWXG | S_IRWXO)

static bool is_credential(const char *path)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	size_t n = dir ? strlen(dir) : 0;

	return n && !strncmp(path, dir, n) && path[n] == '/';
}

/* Return: a descriptor or -1. */
static int open_private(const char *path, char *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		fail(err, errno == ENOENT ?
		     "there is no key %s: make one (weft-memd --make-key %s), or copy the one that the rack has" :
		     "cannot read the key %s: %s",
		     path, errno == ENOENT ? path : strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		fail(err, "the key %s is not a file", path);
	} else if (st.st_mode & OTHERS && !is_credential(path)) {
		fail(err, "others than its owner may use the key %s (mode %04o): chmod 600 %s, and make another one if they may have read it",
		     path, st.st_mode & 07777, path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

int key_read(const char *path, struct weft_key *key, char *err)
{
	char text[WEFT_KEY_TEXT + 2];	/* newline, and one too many */
	u8 bytes[WEFT_KEY_LEN];
	int fd = open_private(path, err), bad;
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n < 0)
		return fail(err, "cannot read the key %s: %s", path, strerror(errno));
	bad = weft_key_parse(bytes, text, (size_t)n);
	if (!bad)
		weft_key_init(key, bytes);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(bytes, sizeof(bytes));
	if (bad)
		return fail(err, "%s is no key: a key is %d hexadecimal digits and a newline, as weft-memd --make-key writes it",
			    path, WEFT_KEY_TEXT);
	return 0;
}

static int write_key(int fd, const u8 bytes[WEFT_KEY_LEN])
{
	char text[WEFT_KEY_TEXT + 2];
	bool ok;
	u32 i;

	for (i = 0; i < WEFT_KEY_LEN; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	text[WEFT_KEY_TEXT] = '\n';
	ok = write(fd, text, WEFT_KEY_TEXT + 1) == WEFT_KEY_TEXT + 1 && !fsync(fd);
	explicit_bzero(text, sizeof(text));
	return ok ? 0 : -1;
}

int key_make(const char *path, char *err)
{
	u8 bytes[WEFT_KEY_LEN];
	struct weft_key key;
	int fd;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fail(err, "no random numbers for a key: %s", strerror(errno));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(err, errno == EEXIST ?
			    "%s is there already: other machines may have it" :
			    "cannot make the key %s: %s", path, strerror(errno));
	/* whatever the umask is */
	if (fchmod(fd, 0600) || write_key(fd, bytes)) {
		fail(err, "cannot write the key %s: %s", path, strerror(errno));
		unlink(path);
		close(fd);
		return -1;
	}
	close(fd);
	weft_key_init(&key, bytes);
	printf("made the key %s, fingerprint %08x.\n"
	       "Each machine of the rack needs it, under that name, readable for root only:\n"
	       "    scp -p %s root@MACHINE:%s\n",
	       path, weft_key_fingerprint(&key), path, path);
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(&key, sizeof(key));
	return 0;
}
