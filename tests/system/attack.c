// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user without privileges may try on a node so that others suffer: see attacks.sh.
 * Prints what came of it.
 *
 *	system-attack write SLOW FILE	write() to the file's first page from memory that does not
 *					come (a mapping of SLOW, see slow.c): "ready", then how
 *					many bytes, or an errno
 *	system-attack read SLOW FILE	read() of that page into such memory
 *	system-attack pin SLOW FILE	process_vm_writev() from such memory into a mapping of
 *					that page: it is pinned meanwhile
 *	system-attack missing FILE	userfaultfd: faults in a mapping of FILE are to wait for us
 *	system-attack protect FILE	the same, of accesses to write
 *	system-attack mlock FILE BYTES	keep so much in memory
 *	system-attack crowd FILE GO	open and map it as often as it goes, wait for a file GO
 *	system-attack ask N		asks the first blade so often by netlink which blades there
 *					are: how many answers came, in how many milliseconds
 *	system-attack offsets FILE	calls with numbers that make no sense: "ok", or which
 *					one was answered in another way than it should be
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "weft.h"
#include "weft_netlink.h"

#define PAGE		4096u
#define LIMIT_S		120
#define POLL_US		50000

static void die(const char *what)
{
	fprintf(stderr, "system-attack: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static int tell(ssize_t n)
{
	if (n < 0)
		printf("%s\n", strerrorname_np(errno));
	else
		printf("%zd\n", n);
	return 0;
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static char *map(int fd, int prot, int flags)
{
	char *p = mmap(NULL, PAGE, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static int stalled(const char *how, const char *slow, const char *file)
{
	char *memory = map(open_file(slow, O_RDONLY), PROT_READ | PROT_WRITE, MAP_PRIVATE);
	int fd = open_file(file, O_RDWR);
	struct iovec from = { memory, PAGE }, to = { NULL, PAGE };

	if (!strcmp(how, "pin")) {
		to.iov_base = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED);
		*(volatile char *)to.iov_base = 'p';
	}
	puts("ready");
	fflush(stdout);
	if (!strcmp(how, "write"))
		return tell(pwrite(fd, memory, PAGE, 0));
	if (!strcmp(how, "read"))
		return tell(pread(fd, memory, PAGE, 0));
	return tell(process_vm_writev(getpid(), &from, 1, &to, 1, 0));
}

static int user_faults(const char *file, unsigned long long mode)
{
	struct uffdio_register range = { .range.len = PAGE, .mode = mode };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return tell(-1);
	range.range.start = (unsigned long)map(open_file(file, O_RDWR), PROT_READ | PROT_WRITE,
					       MAP_SHARED);
	return tell(ioctl(fd, UFFDIO_REGISTER, &range));
}

static int lock_memory(const char *file, size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, open_file(file, O_RDONLY), 0);

	if (p == MAP_FAILED)
		die("mmap");
	return tell(mlock(p, bytes));
}

static int crowd(const char *file, const char *go)
{
	unsigned long files = 0, mappings = 0;
	int first = open_file(file, O_RDWR), why;
	char *p;

	while (open(file, O_RDWR | O_CLOEXEC) >= 0)
		files++;
	why = errno;
	/* neighbours would be one mapping */
	while ((p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, first,
			 (off_t)(mappings % 2) * 2 * PAGE)) != MAP_FAILED) {
		if (mappings < 64)
			(void)*(volatile char *)p;
		mappings++;
	}
	printf("%lu files %s %lu mappings %s\n", files, strerrorname_np(why), mappings,
	       strerrorname_np(errno));
	fflush(stdout);
	while (access(go, F_OK))
		usleep(POLL_US);
	return 0;
}

/* Each of these is to be refused with that errno. */
static int offsets(const char *file)
{
	int fd = open_file(file, O_RDWR), wrong = 0;
	struct weft_lock_open lock = { .offset = ~0ull };
	struct weft_lock_op op = { .slot = ~0u, .mode = WEFT_LOCK_WRITE };
	struct weft_eventcount event = { .slot = ~0u };
	struct weft_policy policy = { .policy = ~0u, .which = ~0u };
	void *volatile nowhere = (void *)8;
	unsigned int slot = ~0u;
	char byte = 0;

#define REFUSED(err, call)						\
	do {								\
		errno = 0;						\
		if ((call) >= 0 || errno != (err)) {			\
			printf("%s: %s\n", #call, strerrorname_np(errno)); \
			wrong = 1;					\
		}							\
	} while (0)
	REFUSED(EINVAL, pread(fd, &byte, 1, -1));
	REFUSED(EINVAL, pwrite(fd, &byte, 1, -1));
	REFUSED(EINVAL, pwrite(fd, &byte, 1, LONG_MAX));
	REFUSED(EFBIG, pwrite(fd, &byte, 1, 1l << 48));
	REFUSED(EINVAL, ftruncate(fd, -1));
	REFUSED(EFBIG, ftruncate(fd, LONG_MAX));
	REFUSED(EINVAL, lseek(fd, LONG_MAX, SEEK_SET));
	REFUSED(EFAULT, pwrite(fd, nowhere, 1, 0));
	REFUSED(EFAULT, pread(fd, nowhere, 1, 0));
	REFUSED(EINVAL, ioctl(fd, WEFT_IOC_LOCK_OPEN, &lock));
	REFUSED(EBADF, ioctl(fd, WEFT_IOC_LOCK_ACQUIRE, &op));
	REFUSED(EBADF, ioctl(fd, WEFT_IOC_LOCK_RELEASE, &op));
	REFUSED(EBADF, ioctl(fd, WEFT_IOC_LOCK_WAKE, &slot));
	REFUSED(EBADF, ioctl(fd, WEFT_IOC_LOCK_MEND, &slot));
	REFUSED(EBADF, ioctl(fd, WEFT_IOC_EVENT_READ, &event));
	REFUSED(EBADF, ioctl(fd, WEFT_IOC_EVENT_AWAIT, &event));
	REFUSED(EBADF, ioctl(fd, WEFT_IOC_EVENT_ADVANCE, &slot));
	REFUSED(EINVAL, ioctl(fd, WEFT_IOC_POLICY_SET, &policy));
	REFUSED(EFAULT, ioctl(fd, WEFT_IOC_NODES_SET, nowhere));
	REFUSED(EFAULT, ioctl(fd, WEFT_IOC_LOCK_OPEN, nowhere));
	if (!wrong)
		puts("ok");
	return wrong;
}

/* --- questions ------------------------------------------------------------------------ */

struct question {
	struct nlmsghdr h;
	struct genlmsghdr g;
	struct nlattr a;
	char name[8];
};

static union {
	char bytes[32768];
	struct nlmsghdr h;
} heard;

/* A request, without the attribute if @name is NULL. */
static void put_question(int fd, uint16_t family, uint16_t flags, uint8_t cmd, const char *name)
{
	struct question q = {
		.h = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | flags },
		.g = { .cmd = cmd, .version = 1 },
		.a = { .nla_type = CTRL_ATTR_FAMILY_NAME },
	};

	q.h.nlmsg_len = offsetof(struct question, a);
	if (name) {
		q.a.nla_len = (uint16_t)(sizeof(q.a) + strlen(name) + 1);
		strcpy(q.name, name);
		q.h.nlmsg_len += NLA_ALIGN(q.a.nla_len);
	}
	if (send(fd, &q, q.h.nlmsg_len, 0) < 0)
		die("cannot ask");
}

static uint16_t family_id(int fd)
{
	const struct nlattr *a;
	ssize_t n, at;

	put_question(fd, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, WEFT_GENL_NAME);
	n = recv(fd, heard.bytes, sizeof(heard.bytes), 0);
	for (at = NLMSG_HDRLEN + GENL_HDRLEN; at + NLA_HDRLEN < n; at += NLA_ALIGN(a->nla_len)) {
		a = (const struct nlattr *)(heard.bytes + at);
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(const uint16_t *)(a + 1);
		if (a->nla_len < NLA_HDRLEN)
			break;
	}
	die("the family is not there");
	return 0;
}

/* To the end of the list.  Return: its error. */
static int hear_out(int fd)
{
	const struct nlmsghdr *h;
	ssize_t n;

	for (;;) {
		n = recv(fd, heard.bytes, sizeof(heard.bytes), 0);
		if (n <= 0)
			die("no answer");
		for (h = &heard.h; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n))
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				return *(const int *)NLMSG_DATA(h);
	}
}

static int ask(uint64_t many)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	uint64_t begun, answers = 0, i;
	uint16_t family;

	if (fd < 0)
		die("cannot open a socket");
	family = family_id(fd);
	begun = now_ms();
	for (i = 0; i < many; i++) {
		put_question(fd, family, NLM_F_DUMP, WEFT_CMD_BLADE_GET, NULL);
		answers += hear_out(fd) >= 0;
	}
	printf("%llu %llu\n", (unsigned long long)answers, (unsigned long long)(now_ms() - begun));
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	alarm(LIMIT_S);
	if (argc == 4 && (!strcmp(what, "write") || !strcmp(what, "read") || !strcmp(what, "pin")))
		return stalled(what, argv[2], argv[3]);
	if (argc == 3 && !strcmp(what, "missing"))
		return user_faults(argv[2], UFFDIO_REGISTER_MODE_MISSING);
	if (argc == 3 && !strcmp(what, "protect"))
		return user_faults(argv[2], UFFDIO_REGISTER_MODE_WP);
	if (argc == 4 && !strcmp(what, "mlock"))
		return lock_memory(argv[2], argument(argv[3], 1, LONG_MAX));
	if (argc == 4 && !strcmp(what, "crowd"))
		return crowd(argv[2], argv[3]);
	if (argc == 3 && !strcmp(what, "offsets"))
		return offsets(argv[2]);
	if (argc == 3 && !strcmp(what, "ask"))
		return ask(argument(argv[2], 1, LONG_MAX));
	fprintf(stderr, "usage: see the top of tests/system/attack.c\n");
	return 2;
}
