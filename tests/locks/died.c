// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks-died: locks whose owner died, by the letter of uapi/weft.h: how long the news stays,
 * and that it goes with the lock to other nodes.
 *
 *	locks-died api FILE			case by case, on one node
 *	locks-died die FILE OFFSET		takes it to write, and kills itself
 *	locks-died take FILE OFFSET r|w MS [mend]
 *						prints "taken", "taken: its owner died", or
 *						why not; mends it, leaves it
 */
#include <sys/wait.h>

#include "user.h"

#define LOCKS	64
#define AT	40
#define LIMIT	20000	/* ms */

static const char *path;
static unsigned int cases;

static void expect(const char *what, long got, long want)
{
	if (got != want)
		node_die("%s: %ld, expected %ld", what, got, want);
	cases++;
}

static int within(const struct user *u, uint32_t slot, uint32_t mode, uint64_t ms)
{
	return user_ask(u, slot, mode, WEFT_LOCK_UNTIL, (int64_t)(now_ns() + ms * 1000000));
}

static int drop(const struct user *u, uint32_t slot, uint32_t mode)
{
	return user_op(u, WEFT_IOC_LOCK_RELEASE, slot, mode, 0, 0);
}

/* A process that takes it, in @mode, and ends with it. */
static void dies(uint64_t offset, uint32_t mode)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		node_die("fork: %s", strerror(errno));
	if (!pid) {
		struct user u;
		uint32_t s;

		user_open(&u, path, LOCKS);
		s = user_slot(&u, offset);
		expect("it gets the lock", within(&u, s, mode, LIMIT), 0);
		kill(getpid(), SIGKILL);
	}
	if (waitpid(pid, &status, 0) != pid)
		node_die("cannot wait for a process: %s", strerror(errno));
	expect("a process is killed", status, SIGKILL);
}

/* What ACQUIRE returns to who asks to hear; it is left then. */
static int heard(int fd, uint32_t slot, uint32_t mode, uint32_t flags)
{
	struct weft_lock_op op = { .slot = slot, .mode = mode, .flags = flags };
	int rc = ioctl(fd, WEFT_IOC_LOCK_ACQUIRE, &op);

	if (rc >= 0 && ioctl(fd, WEFT_IOC_LOCK_RELEASE, &op))
		node_die("RELEASE: %s", strerror(errno));
	return rc;
}

static void stays(struct user *a, struct user *b, uint32_t s)
{
	dies(AT, WEFT_LOCK_READ);
	expect("a reader that dies", user_died(a, s), 0);
	dies(AT, WEFT_LOCK_WRITE);
	expect("a writer that dies", user_died(a, s), 1);
	expect("nobody has it without the kernel", user_take(a, 1, s, WEFT_LOCK_WRITE), 0);
	expect("... to read neither", user_take(a, 1, s, WEFT_LOCK_READ), 0);
	expect("A writes", within(a, s, WEFT_LOCK_WRITE, LIMIT), 0);
	expect("it is said still", user_died(a, s), 1);
	user_leave(a, 0, s, WEFT_LOCK_WRITE);
	expect("B reads", within(b, s, WEFT_LOCK_READ, LIMIT), 0);
	expect("it is said still", user_died(b, s), 1);
	expect("B leaves", drop(b, s, WEFT_LOCK_READ), 0);
	expect("A asks to hear", heard(a->fd, s, WEFT_LOCK_WRITE, WEFT_LOCK_HEAR), 1);
	expect("A does not ask", heard(a->fd, s, WEFT_LOCK_WRITE, 0), 0);
	expect("A tries, and hears", heard(a->fd, s, WEFT_LOCK_READ,
					   WEFT_LOCK_HEAR | WEFT_LOCK_TRY), 1);
	expect("A writes", within(a, s, WEFT_LOCK_WRITE, LIMIT), 0);
	expect("A mends it", user_mend(a, s), 0);
	expect("it is not said any more", user_died(a, s), 0);
	user_leave(a, 0, s, WEFT_LOCK_WRITE);
	expect("A takes it as ever", user_take(a, 1, s, WEFT_LOCK_WRITE), 1);
	user_leave(a, 1, s, WEFT_LOCK_WRITE);
	expect("A hears nothing", heard(a->fd, s, WEFT_LOCK_WRITE, WEFT_LOCK_HEAR), 0);
}

static void refused(const struct user *a, uint32_t s)
{
	struct weft_lock_open o = { .offset = AT };
	uint32_t nowhere = 4711;
	int fd = open(path, O_RDONLY);

	expect("MEND of no slot", ioctl(a->fd, WEFT_IOC_LOCK_MEND, &nowhere) ? errno : 0, EBADF);
	expect("MEND of no memory", ioctl(a->fd, WEFT_IOC_LOCK_MEND, (void *)8) ? errno : 0,
	       EFAULT);
	expect("a file to read", ioctl(fd, WEFT_IOC_LOCK_OPEN, &o), 0);
	expect("MEND by who may only read", ioctl(fd, WEFT_IOC_LOCK_MEND, &s) ? errno : 0,
	       EACCES);
	dies(AT, WEFT_LOCK_WRITE);
	expect("who may only read hears", heard(fd, s, WEFT_LOCK_READ, WEFT_LOCK_HEAR), 1);
	close(fd);
	expect("A writes", within(a, s, WEFT_LOCK_WRITE, LIMIT), 0);
	expect("A mends it", user_mend(a, s), 0);
	expect("A leaves", drop(a, s, WEFT_LOCK_WRITE), 0);
}

static int api(void)
{
	int fd = node_open(path, 1 << 20, NULL);
	struct user a, b;
	uint32_t s;

	close(fd);
	/* nobody else has a file of the region open: its slots go, the lock stays here */
	dies(AT, WEFT_LOCK_WRITE);
	user_open(&a, path, LOCKS);
	user_open(&b, path, LOCKS);
	s = user_slot(&a, AT);
	expect("the same slot", user_slot(&b, AT), s);
	expect("the news has stayed with the lock", user_died(&a, s), 1);
	expect("A writes", within(&a, s, WEFT_LOCK_WRITE, LIMIT), 0);
	expect("A mends it", user_mend(&a, s), 0);
	expect("A leaves", drop(&a, s, WEFT_LOCK_WRITE), 0);
	stays(&a, &b, s);
	refused(&a, s);
	printf("%u cases\n", cases);
	return 0;
}

static int take(const char *offset, const char *how, const char *ms, bool mend)
{
	uint32_t mode = *how == 'w' ? WEFT_LOCK_WRITE : WEFT_LOCK_READ, slot;
	struct user u;
	int err;

	user_open(&u, path, WEFT_LOCKS_MAX);
	slot = user_slot(&u, node_number_of("OFFSET", offset, 0, INT64_MAX));
	err = within(&u, slot, mode, node_number_of("MS", ms, 1, 1000000));
	puts(err ? strerror(err) : user_died(&u, slot) ? "taken: its owner died" : "taken");
	if (err)
		return 1;
	if (mend && user_mend(&u, slot))
		node_die("MEND: %s", strerror(errno));
	user_leave(&u, 0, slot, mode);
	return 0;
}

int main(int argc, char **argv)
{
	node_begin("locks-died");
	if (argc >= 3)
		path = argv[2];
	if (argc == 3 && !strcmp(argv[1], "api"))
		return api();
	if (argc == 4 && !strcmp(argv[1], "die")) {
		dies(node_number_of("OFFSET", argv[3], 0, INT64_MAX), WEFT_LOCK_WRITE);
		return 0;
	}
	if ((argc == 6 || argc == 7) && !strcmp(argv[1], "take"))
		return take(argv[3], argv[4], argv[5], argc == 7);
	fputs("Usage: locks-died api FILE | die FILE OFFSET | take FILE OFFSET r|w MS [mend]\n",
	      stderr);
	return 2;
}
