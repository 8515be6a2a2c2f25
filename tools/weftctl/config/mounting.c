// SPDX-License-Identifier: GPL-2.0-only
/* Mounting of weft, see mounting.h. */
#include "config/mounting.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

/* The directory and what leads to it, for everybody to pass through. */
static int make_directory(const char *path)
{
	char part[PATH_MAX];
	struct stat st;
	size_t i;

	snprintf(part, sizeof(part), "%s", path);
	for (i = 1; part[i]; i++) {
		if (part[i] != '/')
			continue;
		part[i] = 0;
		/* The last mkdir() below reports errors. */
		(void)mkdir(part, 0755);
		part[i] = '/';
	}
	if (mkdir(part, 0755) && errno != EEXIST)
		return fail("cannot make the directory %s: %s: name another one with 'mount = ' or --mount",
			    path, strerror(errno));
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return fail("%s is not a directory: name one with 'mount = ' or --mount", path);
	return 0;
}

/*
 * Why the kernel does not mount.  Its own sentences wait to be read from @fs, each
 * with a letter and a blank before it; those of weft say what to do.
 */
static int explain_mount(int fs, const char *path, int err)
{
	char text[512], *line = text;
	ssize_t len;

	len = read(fs, text, sizeof(text) - 1);
	if (len > 0) {
		text[len] = 0;
		text[strcspn(text, "\n")] = 0;
		if (text[0] && text[1] == ' ')
			line += 2;
		if (!strncmp(line, "weft: ", 6))
			line += 6;
		return fail("cannot mount %s: %s", path, line);
	}
	if (err == EPERM)
		return fail("mounting needs root (CAP_SYS_ADMIN): run weftctl with sudo");
	if (err == EBUSY)
		return fail("cannot mount %s: weft is mounted there already: 'umount %s' first",
			    path, path);
	return fail("cannot mount %s: %s (the kernel log says more)", path, strerror(err));
}

static int set_options(int fs, const struct settings *s)
{
	char text[32];
	enum setting_id id;
	int err = fsconfig(fs, FSCONFIG_SET_STRING, "source", "none", 0);

	snprintf(text, sizeof(text), "%u", s->config.rack);
	if (!err)
		err = fsconfig(fs, FSCONFIG_SET_STRING, "rack", text, 0);

	for (id = 0; id < SETTINGS && !err; id++) {
		FILE *f;

		if (!setting_of_mount(id) || !setting_given(s, id))
			continue;
		f = fmemopen(text, sizeof(text), "w");
		if (!f)
			return -1;
		setting_print(id, s, f);
		fclose(f);
		err = fsconfig(fs, FSCONFIG_SET_STRING, settings_table[id].name, text, 0);
	}
	return err ? err : fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

int mounting_mount(const struct settings *s)
{
	const char *path = s->mounting.path;
	int fs, tree = -1, rc;

	rc = make_directory(path);
	if (rc)
		return rc;
	fs = fsopen("weft", FSOPEN_CLOEXEC);
	if (fs < 0)
		return explain_mount(-1, path, errno);
	if (!set_options(fs, s))
		tree = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (tree < 0 || move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH))
		rc = explain_mount(fs, path, errno);
	if (tree >= 0)
		close(tree);
	close(fs);
	return rc;
}

int mounting_unmount(const char *path)
{
	if (!umount2(path, UMOUNT_NOFOLLOW))
		return 0;
	if (errno == EBUSY)
		return fail("programs still use %s: end them ('fuser -vm %s' lists them), then try again",
			    path, path);
	if (errno == EPERM)
		return fail("unmounting needs root (CAP_SYS_ADMIN): run weftctl with sudo");
	return fail("cannot unmount %s: %s", path, strerror(errno));
}
