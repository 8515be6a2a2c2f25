// SPDX-License-Identifier: GPL-2.0-only
/* An instance of the kernel's tracing, see tracefs.h. */
#include "kernel/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "tools/common/number.h"

#define USUAL		"/sys/kernel/tracing"
#define PREFIX		"weftctl-"	/* and the number of the process */

/* Where tracefs is mounted, in @path.  The usual place if there are several. */
static bool find_mounted(char *path, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;
	bool found = false;

	if (!f)
		return false;
	while ((entry = getmntent(f))) {
		if (strcmp(entry->mnt_type, "tracefs") ||
		    (found && strcmp(entry->mnt_dir, USUAL)))
			continue;
		snprintf(path, size, "%s", entry->mnt_dir);
		found = true;
	}
	endmntent(f);
	return found;
}

static int fail_at(const char *what, const char *path)
{
	if (errno == EACCES || errno == EPERM)
		return fail("tracing needs root: run weftctl with sudo");
	return fail("cannot %s %s: %s", what, path, strerror(errno));
}

static int mount_it(struct tracefs *t)
{
	if (mount("tracefs", USUAL, "tracefs", 0, NULL)) {
		if (errno == ENODEV || errno == ENOENT)
			return fail("this kernel has no tracing (CONFIG_TRACING)");
		return fail_at("mount tracefs at", USUAL);
	}
	snprintf(t->mounted, sizeof(t->mounted), "%s", USUAL);
	return 0;
}

/* Remove instances of processes that were killed. */
static void remove_stale(const char *instances)
{
	DIR *dir = opendir(instances);
	struct dirent *entry;
	uint64_t pid;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		if (number_decimal(entry->d_name + strlen(PREFIX), 1, INT_MAX, &pid))
			continue;
		if (kill((pid_t)pid, 0) && errno == ESRCH)
			(void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

/* Writes @text to a file of the instance. */
static int put(const struct tracefs *t, const char *file, const char *text)
{
	char path[PATH_MAX + 64];
	ssize_t n;
	int fd, err;

	snprintf(path, sizeof(path), "%s/%s", t->path, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT)
			return fail("the module weft has no %s: are weftctl and the module of the same version?",
				    file);
		return fail_at("open", path);
	}
	n = write(fd, text, strlen(text));
	err = errno;
	close(fd);
	errno = err;
	return n < 0 ? fail_at("write to", path) : 0;
}

static void unmount(struct tracefs *t)
{
	/* Somebody else may have come to use it: then it stays. */
	if (*t->mounted)
		(void)umount2(t->mounted, 0);
}

static int make_instance(struct tracefs *t, const char *root)
{
	char instances[PATH_MAX - 64];

	if (snprintf(instances, sizeof(instances), "%s/instances", root) >=
	    (int)sizeof(instances))
		return fail("the path %s is too long", root);
	remove_stale(instances);
	snprintf(t->path, sizeof(t->path), "%s/" PREFIX "%d", instances, (int)getpid());
	return mkdir(t->path, 0700) ? fail_at("make", t->path) : 0;
}

int tracefs_open(struct tracefs *t)
{
	char root[PATH_MAX - 128];
	int rc = 0;

	*t = (struct tracefs){ .fd = -1 };
	if (!find_mounted(root, sizeof(root))) {
		rc = mount_it(t);
		snprintf(root, sizeof(root), "%s", USUAL);
	}
	if (!rc) {
		rc = make_instance(t, root);
		if (rc)
			unmount(t);
	}
	if (rc)
		return rc;
	/* The clock that can be told as a time of day. */
	rc = put(t, "trace_clock", "mono");
	if (!rc)
		rc = put(t, "tracing_on", "0");
	if (rc)
		tracefs_close(t);
	return rc;
}

int tracefs_event(const struct tracefs *t, const char *event, const char *filter)
{
	char file[128];
	int rc;

	snprintf(file, sizeof(file), "events/weft/%s/filter", event);
	rc = put(t, file, filter);
	if (rc)
		return rc;
	snprintf(file, sizeof(file), "events/weft/%s/enable", event);
	return put(t, file, "1");
}

int tracefs_start(struct tracefs *t)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/trace_pipe", t->path);
	t->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->fd < 0)
		return fail_at("open", path);
	return put(t, "tracing_on", "1");
}

int tracefs_stop(const struct tracefs *t)
{
	return put(t, "tracing_on", "0");
}

void tracefs_close(struct tracefs *t)
{
	/* An instance that is open cannot be removed. */
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	if (rmdir(t->path))
		fprintf(stderr, "weftctl: cannot remove %s: %s: remove it with rmdir\n",
			t->path, strerror(errno));
	unmount(t);
}
