// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device writes into a block while another node wants it.
 *
 *	system-pins device FILE HOW	on one node: writes into FILE's first block, which
 *					is mapped, as a device does
 *	system-pins other FILE		on another node: writes a word of that block while
 *					the device is at it
 *
 * The device is process_vm_writev(): it pins pages as drivers do, and has them pinned
 * for as long as what it copies does not come.  That is a page of ours that userfaultfd
 * makes wait.  O_DIRECT would not do: before Linux 6.5 it does not pin pages.
 *
 * HOW: mapped; or unmapped: the mapping goes while the device is at it.  FILE has two
 * blocks of zeros.  The two tell each other by words of its last page how far they are.
 * What the device wrote and what the other node wrote must both be there afterwards.
 * Prints "ok"; or "late": this machine was so slow that the block was not to be kept that
 * long, which says nothing, and the pair is to be run again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tools/common/clock.h"

#define PAGE		4096u
#define LENGTH		512u	/* of what the device writes */
#define AT_IT_MS	200
#define KEPT_MS		700	/* a block is kept for so long if a device is at it, and more */
#define LIMIT_S		60	/* for all of it */
#define FILLED		0xd5
#define WORD_AT		(PAGE / 2)
#define WORD		0x600du
#define POLL_US		500

/* In the last page of the file: not 0 from when it is so. */
struct progress {
	_Atomic unsigned int device;	/* is at it */
	_Atomic unsigned int other;	/* is about to write */
};

struct device {
	char *source;
	char *block;
};

static void die(const char *what)
{
	fprintf(stderr, "pins: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static char *map(int fd, off_t at, int flags)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, fd, at);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static off_t last_page(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);

	if (size < 2 * (off_t)PAGE)
		die("a file of two blocks");
	return size - PAGE;
}

/* A page that is not there.  Returns who is told of it. */
static int slow_page(char *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (unsigned long)page, .len = PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		die("userfaultfd");
	return fd;
}

static void fill(int fd, const char *page)
{
	static char data[PAGE];
	struct uffdio_copy copy = {
		.dst = (unsigned long)page,
		.src = (unsigned long)data,
		.len = PAGE,
	};

	memset(data, FILLED, sizeof(data));
	if (ioctl(fd, UFFDIO_COPY, &copy))
		die("UFFDIO_COPY");
}

static void *run(void *arg)
{
	const struct device *d = arg;
	struct iovec from = { d->source, LENGTH }, to = { d->block, LENGTH };

	if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != LENGTH)
		die("process_vm_writev");
	return NULL;
}

static int device(const char *file, int stays)
{
	int slow, fd = open(file, O_RDWR);
	struct progress *progress;
	struct uffd_msg msg;
	struct device d;
	double took_ms;
	pthread_t thread;

	if (fd < 0)
		die(file);
	progress = (struct progress *)map(fd, last_page(fd), MAP_SHARED);
	d.block = map(fd, 0, MAP_SHARED);
	d.source = map(-1, 0, MAP_PRIVATE | MAP_ANONYMOUS);
	slow = slow_page(d.source);
	if (pthread_create(&thread, NULL, run, &d))
		die("a thread");
	/* the pages are pinned when it asks for what to write into them */
	if (read(slow, &msg, sizeof(msg)) != sizeof(msg))
		die("userfaultfd");
	if (!stays)
		munmap(d.block, PAGE);
	progress->device = 1;
	/* alarm() ends what waits for ever */
	while (!progress->other)
		usleep(POLL_US);
	took_ms = now_seconds() * 1e3;
	usleep(AT_IT_MS * 1000);
	fill(slow, d.source);
	pthread_join(thread, NULL);
	took_ms = now_seconds() * 1e3 - took_ms;

	if (!stays)
		d.block = map(fd, 0, MAP_SHARED);
	/* the other node's may take a while yet */
	while (*(volatile unsigned int *)(d.block + WORD_AT) != WORD)
		usleep(POLL_US);
	if (took_ms > KEPT_MS) {
		puts("late");
		return 0;
	}
	for (unsigned int i = 0; i < LENGTH; i++) {
		if ((unsigned char)d.block[i] == FILLED)
			continue;
		printf("byte %u of what the device wrote is lost\n", i);
		return 1;
	}
	puts("ok");
	return 0;
}

static int other(const char *file)
{
	int fd = open(file, O_RDWR);
	struct progress *progress;
	char *block;

	if (fd < 0)
		die(file);
	progress = (struct progress *)map(fd, last_page(fd), MAP_SHARED);
	block = map(fd, 0, MAP_SHARED);
	while (!progress->device)
		usleep(POLL_US);
	progress->other = 1;
	*(volatile unsigned int *)(block + WORD_AT) = WORD;
	return 0;
}

int main(int argc, char **argv)
{
	alarm(LIMIT_S);
	if (argc == 4 && !strcmp(argv[1], "device"))
		return device(argv[2], !strcmp(argv[3], "mapped"));
	if (argc == 3 && !strcmp(argv[1], "other"))
		return other(argv[2]);
	fprintf(stderr, "usage: system-pins device FILE mapped|unmapped | other FILE\n");
	return 2;
}
