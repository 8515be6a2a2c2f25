// SPDX-License-Identifier: GPL-2.0-only
/*
 * What nodes see of a file that others store to, make larger and smaller: its bytes, size and
 * time.  Runs on all nodes at once, which go on together (files.sh).
 *
 *	system-bytes tails FILE NODE NODES	what was stored behind the end is zero when the file
 *						has grown, and when it was cut off
 *	system-bytes slots FILE NODE NODES	... and of what all write meanwhile nothing is lost
 *	system-bytes cut FILE NODE NODES	who reads what is being cut off gets what there is,
 *						no error
 *	system-bytes times FILE NODE NODES	when others see that it was written to
 *
 * FILE must not be there; FILE.meet is where they meet.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tests/common/check.h"
#include "tests/common/child.h"
#include "tools/common/clock.h"

#define PAGE		4096
#define TICKS_MS	40	/* in these the clock of modification times goes on */

static const char *name;
static uint32_t node, nodes;

/* All of them write to it. */
static struct meet {
	_Atomic uint32_t arrived;
	_Atomic uint32_t over;
	struct timespec time;
} *meet;

static void *map_file(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static void meet_all(void)
{
	static uint32_t round;

	round++;
	atomic_fetch_add(&meet->arrived, 1);
	UNTIL(atomic_load(&meet->arrived) >= round * nodes);
}

static int open_file(int flags)
{
	int fd = open(name, O_RDWR | flags, 0600);

	CHECK(fd >= 0, "%s", name);
	return fd;
}

/* --- behind the end ------------------------------------------------------------------ */

#define OLD	100	/* bytes of the file first, */
#define GROWN	3000	/* and then */
#define CUT	200

enum how { BY_TRUNCATE, BY_WRITE, BY_APPEND, HOWS };

static void grow(int fd, enum how how)
{
	int append;

	switch (how) {
	case BY_WRITE:
		CHECK_EQ(pwrite(fd, "", 1, GROWN - 1), 1);
		break;
	case BY_APPEND:
		append = open_file(O_APPEND);
		CHECK_EQ(write(append, "", 1), 1);
		close(append);
		/* fall through */
	default:
		CHECK(!ftruncate(fd, GROWN));
	}
}

/* @size bytes, of which all from @from on are zero. */
static void zero_from(int fd, int from, int size, const char *what, int scene)
{
	char bytes[PAGE + 1];
	int i, other = 0;

	CHECK_EQ(pread(fd, bytes, sizeof(bytes), 0), size);
	for (i = from; i < size; i++)
		other += bytes[i] != 0;
	CHECK(!other, "node %u, %s, scene %d: %d bytes behind the old end are not zero", node, what,
	      scene, other);
	for (i = 0; i < OLD; i++)
		CHECK(bytes[i] == 'a', "node %u, %s, scene %d: byte %d is lost", node, what, scene, i);
}

/* What is mapped of the page, without a read() that ends where the file does. */
static void mapped_zero_from(const volatile char *p, int from, int scene)
{
	int i;

	for (i = from; i < PAGE; i++)
		CHECK(!p[i], "node %u, scene %d: byte %d behind a cut is still mapped", node, scene, i);
}

static void scene(int s)
{
	uint32_t storer = s % nodes + 1, grower = s / nodes % nodes + 1;
	enum how how = s % HOWS;
	bool goes_home = s & 1;	/* what is stored, before others look */
	char *p = NULL;
	int fd = -1;

	if (node == storer) {
		fd = open_file(O_CREAT);
		CHECK(!ftruncate(fd, 0) && !ftruncate(fd, OLD));
		p = map_file(fd, PAGE);
		memset(p, 'a', OLD);
		memset(p + OLD, 'x', PAGE - OLD);
		if (goes_home) {
			munmap(p, PAGE);
			close(fd);
			fd = -1;
		}
	}
	meet_all();
	if (fd < 0) {
		fd = open_file(0);
		p = map_file(fd, PAGE);
	}
	/* some of them have it, too */
	if (s & 2 && node != grower)
		CHECK(*(volatile char *)p == 'a');
	meet_all();
	if (node == grower)
		grow(fd, how);
	meet_all();
	zero_from(fd, OLD, GROWN, "grown", s);
	meet_all();
	memset(p + CUT, 'y', 100);
	meet_all();
	if (node == storer)
		CHECK(!ftruncate(fd, CUT));
	meet_all();
	mapped_zero_from(p, CUT, s);
	meet_all();
	if (node == grower)
		p[GROWN] = 'z';
	meet_all();
	if (node == storer)
		CHECK(!ftruncate(fd, PAGE));
	meet_all();
	zero_from(fd, OLD, PAGE, "cut off and grown", s);
	munmap(p, PAGE);
	close(fd);
	meet_all();
}

static void tails(void)
{
	int s;

	for (s = 0; s < (int)(nodes * nodes * HOWS); s++)
		scene(s);
}

/* --- nothing is lost ------------------------------------------------------------------ */

#define SLOT	32
#define RECORD	24	/* bytes of it; the rest is nobody's */
#define SLOTS	300

static void fill(char *record, uint32_t i)
{
	memset(record, (int)(i % 251 + 1), RECORD);
}

/* In what is nobody's, behind the end and perhaps not behind it any more. */
static void spoil(int fd, char *p)
{
	struct stat st;
	long at, end;

	CHECK(!fstat(fd, &st));
	if (!st.st_size)
		return;
	end = (st.st_size - 1) / PAGE * PAGE + PAGE;
	for (at = st.st_size / SLOT * SLOT + RECORD; at < end; at += 5 * SLOT)
		p[at] = 'x';
}

static void slots(void)
{
	char record[RECORD], found[RECORD];
	int fd = open_file(O_CREAT);
	char *p = map_file(fd, SLOTS * SLOT);
	uint32_t i;

	meet_all();
	for (i = node - 1; i < SLOTS; i += nodes) {
		fill(record, i);
		spoil(fd, p);
		CHECK_EQ(pwrite(fd, record, RECORD, i * SLOT), RECORD);
	}
	meet_all();
	for (i = 0; i < SLOTS; i++) {
		fill(record, i);
		CHECK_EQ(pread(fd, found, RECORD, i * SLOT), RECORD);
		CHECK(!memcmp(record, found, RECORD), "what was written to slot %u is lost", i);
	}
}

/* --- who reads what is cut off ---------------------------------------------------------- */

#define SIZE	(16 * PAGE)
#define CUTS	60

/* Memory that comes when the file has been cut off: in the middle of a read. */
static void *late_memory(int *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	*uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	CHECK(*uffd >= 0, "userfaultfd");
	CHECK(!ioctl(*uffd, UFFDIO_API, &api));
	reg.range.start = (uintptr_t)p;
	reg.range.len = PAGE;
	CHECK(!ioctl(*uffd, UFFDIO_REGISTER, &reg));
	return p;
}

static void *bring(void *arg)
{
	struct uffdio_zeropage zero = { .range.len = PAGE };
	int uffd = *(int *)arg;
	struct uffd_msg msg;

	CHECK_EQ(read(uffd, &msg, sizeof(msg)), (ssize_t)sizeof(msg));
	CHECK_EQ(msg.event, UFFD_EVENT_PAGEFAULT);
	meet_all();	/* node 2 cuts */
	meet_all();
	zero.range.start = msg.arg.pagefault.address / PAGE * PAGE;
	CHECK(!ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
	return NULL;
}

static void cut_under_way(int fd)
{
	pthread_t thread;
	void *late;
	int uffd;

	if (node == 2)
		CHECK(!ftruncate(fd, SIZE));
	meet_all();
	if (node == 1) {
		late = late_memory(&uffd);
		CHECK(!pthread_create(&thread, NULL, bring, &uffd));
		CHECK_EQ(pread(fd, late, PAGE, SIZE / 2), 0);
		CHECK(!pthread_join(thread, NULL));
		close(uffd);
	} else {
		meet_all();
		if (node == 2)
			CHECK(!ftruncate(fd, OLD));
		meet_all();
	}
	meet_all();
}

static void cut(void)
{
	static char bytes[SIZE];
	int fd = open_file(O_CREAT), i;
	unsigned long n = 0;
	ssize_t got;

	cut_under_way(fd);
	if (node == 2) {
		memset(bytes, 'd', SIZE);
		for (i = 0; i < CUTS; i++) {
			CHECK(!ftruncate(fd, i % 3 * 5000));
			CHECK_EQ(pwrite(fd, bytes, SIZE, 0), SIZE);
		}
		atomic_store(&meet->over, 1);
	}
	for (; !atomic_load(&meet->over); n++) {
		got = pread(fd, bytes, PAGE, n * 5 % 16 * PAGE);
		CHECK(got >= 0, "read %lu", n);
		for (i = 0; i < got; i++)
			CHECK(!bytes[i] || bytes[i] == 'd', "read %lu, byte %d", n, i);
	}
	printf("node %u: %lu reads\n", node, n);
	meet_all();
}

/* --- times ------------------------------------------------------------------------------ */

/* What node 1 does after it has stored to page @step of @p.  Return: do others know at once? */
static bool tell(int fd, char *p, int step)
{
	const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	int other;

	switch (step) {
	case 0:
		CHECK(!msync(p, PAGE, MS_SYNC));
		return true;
	case 1:
		CHECK(!fdatasync(fd));
		return true;
	case 2:
		CHECK(!fsync(fd));
		return true;
	case 3:	/* the file stays open, and mapped */
		other = open_file(0);
		CHECK(!close(other));
		return true;
	case 4:
		CHECK(!futimens(fd, old));
		return true;
	case 5:
		CHECK_EQ(pwrite(fd, "w", 1, (step + 1) * PAGE - 1), 1);
		other = dup(fd);
		CHECK(!close(other));
		return true;
	case 6:
		CHECK(!munmap(p, PAGE));
		return false;
	default:
		return false;
	}
}

#define STEPS	8

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static struct timespec time_of_file(void)
{
	struct stat st;

	CHECK(!stat(name, &st));
	return st.st_mtim;
}

static void times(void)
{
	struct timespec before = { 0 }, now;
	int fd = open_file(O_CREAT), step;
	char *p = NULL;
	bool at_once;

	if (node == 1) {
		CHECK(!ftruncate(fd, STEPS * PAGE));
		p = map_file(fd, STEPS * PAGE);
	}
	for (step = 0; step < STEPS; step++) {
		meet_all();
		if (node == 1) {
			pause_ms(TICKS_MS);
			p[step * PAGE] = 's';
			atomic_store(&meet->over, tell(fd, p + step * PAGE, step));
			meet->time = time_of_file();
			CHECK(!same_time(&meet->time, &before), "step %d", step);
		}
		meet_all();
		at_once = atomic_load(&meet->over);
		if (!at_once)
			UNTIL((now = time_of_file(), same_time(&now, &meet->time)));
		now = time_of_file();
		CHECK(same_time(&now, &meet->time), "step %d: node %u sees %ld.%09ld, it is %ld.%09ld",
		      step, node, now.tv_sec, now.tv_nsec, meet->time.tv_sec, meet->time.tv_nsec);
		before = now;
	}
	meet_all();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = {
		{ "tails", tails }, { "slots", slots }, { "cut", cut }, { "times", times },
	};
	char *at;
	size_t i;
	int fd;

	if (argc != 5) {
		fprintf(stderr, "usage: system-bytes tails|slots|cut|times FILE NODE NODES\n");
		return 2;
	}
	name = argv[2];
	nodes = (uint32_t)argument(argv[4], 2, 32);
	node = (uint32_t)argument(argv[3], 1, nodes);
	CHECK(asprintf(&at, "%s.meet", name) > 0);
	fd = open(at, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, PAGE), "%s", at);
	meet = map_file(fd, PAGE);
	free(at);
	for (i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (!strcmp(argv[1], what[i].name))
			what[i].run();
	return check_result();
}
