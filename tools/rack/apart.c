// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user-mode kernel needs of the process that keeps it: namespaces of its own.
 *
 * Such a kernel is many processes, one for each address space of its guest, and they
 * do not die with the first one by themselves. In a process namespace they do. Its
 * memory is a file, on a file system in memory that only it sees and that goes with it.
 */
#include "apart.h"
#include "rackio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t length = strlen(text);
	bool done = fd >= 0 && write(fd, text, length) == length;

	if (fd >= 0)
		close(fd);
	return done ? 0 : -1;
}

/**
 * apart_unshare() - the children of this process get a process namespace
 *
 * Who may not do that alone may in a user namespace, if the system lets users have
 * some; there one's own user and group stay what they are.
 *
 * Return: 0, -1 with errno set.
 */
int apart_unshare(void)
{
	unsigned int uid = geteuid(), gid = getegid();
	char map[64];

	if (!unshare(CLONE_NEWPID | CLONE_NEWNS))
		return 0;
	if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS))
		return -1;
	/* Without this the next one is refused. */
	if (write_file("/proc/self/setgroups", "deny"))
		return -1;
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	if (write_file("/proc/self/gid_map", map))
		return -1;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	return write_file("/proc/self/uid_map", map);
}

/**
 * apart_enter() - in the first process of the namespace: get ready for the kernel
 * @memory: directory where its memory is to be
 *
 * Return: 0, -1 with errno set.
 */
int apart_enter(const char *memory)
{
	const struct rlimit no_core = { 0, 0 };
	struct pollfd keeper = { APART_CHANNEL_FD, 0, 0 };

	/* What the parent is cannot be asked from here. Its end of the channel tells. */
	if (poll(&keeper, 1, 0) != 0) {
		errno = ESRCH;
		return -1;
	}
	/* A panic would leave one of the size of the guest. */
	setrlimit(RLIMIT_CORE, &no_core);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("memory", memory, "tmpfs", MS_NOSUID | MS_NODEV, "mode=700,size=100%"))
		return -1;
	/* Its own processes; where that is forbidden it cannot name them in its log. */
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) &&
	    errno != EPERM)
		return -1;
	return setenv("TMPDIR", memory, 1);
}

/**
 * apart_channel() - a channel of which the kernel inherits one end
 * @inherited: filled in: that end
 *
 * Return: the other end, -1 with errno set.
 */
int apart_channel(int *inherited)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -1;
	/* Not where the child is to have it: it would be closed there after all. */
	*inherited = fcntl(ends[1], F_DUPFD_CLOEXEC, APART_CHANNEL_FD + 1);
	close(ends[1]);
	if (*inherited >= 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

/*
 * Until @kernel has ended. A user-mode kernel (Linux 6.1 at least) forgets the interrupt of
 * its timer if that comes while it handles the one before with interrupts off
 * (unblock_signals() in its os-Linux/signal.c), and since it only ever arms the timer for
 * the next event, all its timers and sleeps stand still from then on. On a busy machine
 * that happened once an hour or so. An interrupt too many does no harm: it looks at the
 * clock, runs what is due and arms the timer. While it boots it would: there is a handler
 * of the signal, and of the interrupt, before there is something for them to call.
 */
static int wait_for(pid_t kernel, const sigset_t *told)
{
	const struct timespec beat = { .tv_nsec = APART_BEAT_MS * 1000000l };
	bool up = false;
	pid_t pid = 0;
	int signal, status;

	while (pid != kernel) {
		signal = up ? sigtimedwait(told, NULL, &beat) : sigwaitinfo(told, NULL);
		if (signal == APART_UP)
			up = true;
		else if (signal < 0 && errno == EAGAIN)
			kill(kernel, SIGALRM);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0 && pid != kernel)
			;
		if (pid < 0 && errno != EINTR)
			return RACK_TROUBLE;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/**
 * apart_first() - in the first process of the namespace: start another one, which returns
 *
 * The first process of a namespace cannot kill itself, which is how a user-mode kernel
 * ends when it panics: it would spin for ever. So this one only waits for it, sends it
 * SIGALRM each APART_BEAT_MS from APART_UP on, and everything ends with this one. The
 * other one inherits a mask in which that is blocked.
 *
 * Return: 0 in the other process, -1 with errno set.
 */
int apart_first(void)
{
	sigset_t told;
	pid_t kernel;

	sigemptyset(&told);
	sigaddset(&told, SIGCHLD);
	sigaddset(&told, APART_UP);
	sigprocmask(SIG_BLOCK, &told, NULL);
	kernel = fork();
	if (kernel <= 0)
		return kernel;
	close(APART_CHANNEL_FD);
	_exit(wait_for(kernel, &told));
}

/**
 * apart_main() - weft-rackio apart: whether this user can have such namespaces
 * @argc: number of arguments
 * @argv: arguments
 *
 * Return: exit status: 0 if so, else 1, and a sentence has told why.
 */
int apart_main(int argc, char **argv)
{
	int status = 1;
	pid_t pid;

	(void)argc;
	(void)argv;
	pid = apart_unshare() ? -1 : fork();
	if (!pid) {
		/* The parts that a system may forbid although it gives namespaces. */
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("memory", "/tmp", "tmpfs", 0, NULL)) {
			fprintf(stderr, "weft-rack: cannot mount in a namespace: %s\n",
				strerror(errno));
			_exit(1);
		}
		_exit(0);
	}
	if (pid < 0)
		fprintf(stderr, "weft-rack: no namespaces for user-mode kernels (%s)\n",
			strerror(errno));
	else if (waitpid(pid, &status, 0) != pid)
		status = 1;
	return status ? 1 : 0;
}
