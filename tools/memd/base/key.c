// SPDX-License-Identifier: GPL-2.0-only
/* The key file, see key.h. */
#include "base/key.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/rackkey.h"

/* Of the copy for a service.  Return: false without such a directory. */
static bool copy_path(char path[PATH_MAX], const char *dir)
{
	return dir && snprintf(path, PATH_MAX, "%s/key", dir) < PATH_MAX;
}

/* Return: 0 or -1, @err says why. */
static int read_bytes(const char *path, u8 bytes[WEFT_KEY_LEN], char *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char copy[PATH_MAX];

	if (fd < 0 && errno == EACCES && copy_path(copy, getenv("RUNTIME_DIRECTORY"))) {
		fd = open(copy, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			errno = EACCES;
	}
	if (fd < 0)
		return fail(err, errno == ENOENT ?
			    "there is no key %s: copy the rack's from another machine of it, or make the rack's on its first machine (weft-memd --make-key %s)" :
			    "cannot read the key %s: %s",
			    path, errno == ENOENT ? path : strerror(errno));
	return rackkey_read(fd, path, bytes, err, ERR_MAX);
}

int key_read(const char *path, struct weft_key *key, char *err)
{
	u8 bytes[WEFT_KEY_LEN];
	int rc = read_bytes(path, bytes, err);

	if (!rc)
		weft_key_init(key, bytes);
	explicit_bzero(bytes, sizeof(bytes));
	return rc;
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

/* --- For a service ------------------------------------------------------------ */

/* There has been a rack: then what is to be done is up to people. */
static int refuse_new(const struct options *o, char *err)
{
	if (options_blade(o))
		return fail(err, "there is no key %s: copy the one of the rack's first blade here (on that machine: scp -p %s root@THIS:%s)",
			    o->key, o->key, o->key);
	return fail(err, "there is no key %s, but %s has regions of a rack: copy its key from another machine of it; if it has had none, stop all machines of the rack, make one (weft-memd --make-key %s), and copy it to all of them",
		    o->key, o->backing, o->key);
}

static int make_if_new(const struct options *o, char *err)
{
	struct stat st;

	if (!access(o->key, F_OK))
		return 0;
	if (options_blade(o) || (o->backing && !stat(o->backing, &st) && st.st_size))
		return refuse_new(o, err);
	return key_make(o->key, err);
}

/* A new file each time: nobody has the old one open. */
static int write_copy(const char *path, const struct stat *dir,
		      const u8 bytes[WEFT_KEY_LEN], char *err)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fchown(fd, dir->st_uid, dir->st_gid) || write_key(fd, bytes)) {
		fail(err, "cannot write %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

int key_hand(const struct options *o, const char *dir, char *err)
{
	u8 bytes[WEFT_KEY_LEN];
	char path[PATH_MAX];
	struct stat st;
	int rc;

	if (!o->key)
		return 0;
	if (stat(dir, &st) || !S_ISDIR(st.st_mode) || st.st_mode & RACKKEY_OTHERS ||
	    !copy_path(path, dir))
		return fail(err, "--hand-key %s: it has to be a directory that only its owner may use",
			    dir);
	rc = make_if_new(o, err);
	if (!rc)
		rc = read_bytes(o->key, bytes, err);
	if (!rc)
		rc = write_copy(path, &st, bytes, err);
	explicit_bzero(bytes, sizeof(bytes));
	return rc;
}
