// SPDX-License-Identifier: GPL-2.0-only
/*
 * Binds a mount to another place with other users: an idmapped mount.
 *
 *	system-idmap FROM TO THERE HERE
 *
 * User and group number THERE of the files are number HERE at TO, and root's of the files, to
 * whom the directory belongs, is ROOT; nobody else has a number there.  Prints "ok", or the name of the errno with which the kernel refuses it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/common/argument.h"

#define ROOT	100000u

static void die(const char *what)
{
	fprintf(stderr, "system-idmap: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void write_map(pid_t pid, const char *which, unsigned int there, unsigned int here)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, which);
	f = fopen(path, "w");
	if (!f || fprintf(f, "0 %u 1\n%u %u 1\n", ROOT, there, here) < 0 || fclose(f))
		die(path);
}

/* A user namespace that has these numbers. */
static int make_namespace(unsigned int there, unsigned int here)
{
	char path[64], byte;
	int ready[2], fd;
	pid_t pid;

	if (pipe(ready))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		if (unshare(CLONE_NEWUSER) || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("a user namespace");
	write_map(pid, "uid_map", there, here);
	write_map(pid, "gid_map", there, here);
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return fd;
}

int main(int argc, char **argv)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP };
	int tree, ns;

	if (argc != 5) {
		fprintf(stderr, "usage: system-idmap FROM TO THERE HERE\n");
		return 2;
	}
	ns = make_namespace(argument_u32(argv[3]), argument_u32(argv[4]));
	tree = open_tree(AT_FDCWD, argv[1], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0)
		die(argv[1]);
	attr.userns_fd = (unsigned long long)ns;
	if (mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr))) {
		printf("%s\n", strerrorname_np(errno));
		return 0;
	}
	if (move_mount(tree, "", AT_FDCWD, argv[2], MOVE_MOUNT_F_EMPTY_PATH))
		die(argv[2]);
	puts("ok");
	return 0;
}
