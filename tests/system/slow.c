// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file system in user space (FUSE) of which one file, "slow", can be read when it likes.
 *
 *	system-slow DIR GO	is mounted there, until it is killed; what is read of the file
 *				comes when there is a file GO
 *
 * Prints "ready" when it is there.  Whoever maps the file has memory that does not come.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE		65536u
#define SLOW_ID		2u	/* the root is 1 */
#define WAITING_MAX	64
#define LOOK_MS		50
#define REQUEST_MAX	(FUSE_MIN_READ_BUFFER + 65536)

static int fuse;

static struct {
	uint64_t unique;
	uint32_t size;
} waiting[WAITING_MAX];
static unsigned int n_waiting;

static void die(const char *what)
{
	fprintf(stderr, "system-slow: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void answer(uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + len), .error = -error, .unique = unique,
	};
	struct iovec v[] = { { &head, sizeof(head) }, { (void *)(uintptr_t)data, len } };

	/* who asked may have been killed */
	if (writev(fuse, v, 2) < 0 && errno != ENOENT)
		die("an answer");
}

static struct fuse_attr attributes(uint64_t id)
{
	return (struct fuse_attr){
		.ino = id, .nlink = 1, .size = id == SLOW_ID ? SIZE : 0,
		.mode = id == SLOW_ID ? S_IFREG | 0444 : S_IFDIR | 0555,
	};
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = {
		.nodeid = SLOW_ID, .generation = 1, .entry_valid = 3600, .attr_valid = 3600,
		.attr = attributes(SLOW_ID),
	};

	if (strcmp(name, "slow") != 0)
		answer(in->unique, ENOENT, NULL, 0);
	else
		answer(in->unique, 0, &out, sizeof(out));
}

static void get_attr(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = {
		.attr_valid = 3600, .attr = attributes(in->nodeid),
	};

	answer(in->unique, 0, &out, sizeof(out));
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	if (n_waiting == WAITING_MAX) {
		answer(in->unique, EIO, NULL, 0);
		return;
	}
	waiting[n_waiting].unique = in->unique;
	waiting[n_waiting++].size = r->offset >= SIZE ? 0 : r->size;
}

static void take(const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = 4096,
	};
	struct fuse_open_out opened = { .fh = 1 };
	const void *body = in + 1;

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(in, body);
		break;
	case FUSE_GETATTR:
		get_attr(in);
		break;
	case FUSE_OPEN:
		answer(in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		read_file(in, body);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:	/* it comes when it comes */
		break;
	default:
		answer(in->unique, ENOSYS, NULL, 0);
		break;
	}
}

static void give_all(void)
{
	static char data[SIZE];

	memset(data, 's', sizeof(data));
	while (n_waiting) {
		n_waiting--;
		answer(waiting[n_waiting].unique, 0, data, waiting[n_waiting].size < SIZE ?
		       waiting[n_waiting].size : SIZE);
	}
}

int main(int argc, char **argv)
{
	static _Alignas(8) char buf[REQUEST_MAX];
	struct pollfd p;
	char options[96];
	ssize_t n;

	if (argc != 3) {
		fprintf(stderr, "usage: system-slow DIR GO\n");
		return 2;
	}
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		die("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fuse);
	if (mount("slow", argv[1], "fuse", MS_NOSUID | MS_NODEV, options))
		die(argv[1]);
	puts("ready");
	fflush(stdout);
	for (;;) {
		p = (struct pollfd){ .fd = fuse, .events = POLLIN };
		if (poll(&p, 1, LOOK_MS) > 0) {
			n = read(fuse, buf, sizeof(buf));
			if (n < 0 && errno == ENODEV)
				return 0; /* unmounted */
			if (n >= (ssize_t)sizeof(struct fuse_in_header))
				take((const struct fuse_in_header *)(const void *)buf);
		}
		if (n_waiting && !access(argv[2], F_OK))
			give_all();
	}
}
