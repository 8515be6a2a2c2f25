// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks-basics: the interface of locks, case by case, on one node; and a lock held
 * or taken by hand, for tests with several nodes.
 *
 *	locks-basics api FILE
 *	locks-basics hold FILE OFFSET r|w SECONDS	prints "held", waits, leaves;
 *							sooner at SIGUSR1
 *	locks-basics take FILE OFFSET r|w MS		prints what came of it; MS 0: TRY
 */
#include <sys/wait.h>

#include "user.h"

#define LOCKS	3000
#define WAIT_NS	20000000000ull	/* for anything that should come */

static const char *path;
static unsigned int cases;

static void expect(const char *what, long got, long want)
{
	if (got != want)
		node_die("%s: %ld, expected %ld", what, got, want);
	cases++;
}

static int64_t in_ms(int ms)
{
	return (int64_t)now_ns() + ms * 1000000ll;
}

static int ask(const struct user *u, uint32_t slot, uint32_t mode)
{
	return user_ask(u, slot, mode, 0, 0);
}

static int try(const struct user *u, uint32_t slot, uint32_t mode)
{
	return user_ask(u, slot, mode, WEFT_LOCK_TRY, 0);
}

static int within(const struct user *u, uint32_t slot, uint32_t mode, int ms)
{
	return user_ask(u, slot, mode, WEFT_LOCK_UNTIL, in_ms(ms));
}

static int drop(const struct user *u, uint32_t slot, uint32_t mode)
{
	return user_op(u, WEFT_IOC_LOCK_RELEASE, slot, mode, 0, 0);
}

static int open_errno(int fd, uint64_t offset)
{
	struct weft_lock_open o = { .offset = offset };

	return ioctl(fd, WEFT_IOC_LOCK_OPEN, &o) ? errno : 0;
}

static int op_errno(int fd, struct weft_lock_op o)
{
	return ioctl(fd, WEFT_IOC_LOCK_ACQUIRE, &o) ? errno : 0;
}

static int map_errno(int fd, int flags, size_t size, uint64_t offset)
{
	void *at = mmap(NULL, size, PROT_READ, flags, fd, (off_t)offset);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, size);
	return 0;
}

static void finish(pid_t pid, int want)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		node_die("cannot wait for a process: %s", strerror(errno));
	expect("a process ends as it should", status, want);
}

static uint64_t word(const struct user *u, uint32_t slot)
{
	return ((volatile struct weft_lock_word *)u->words)[slot].word;
}

/* --- what is refused ---------------------------------------------------------- */

static void refused(const struct user *u, uint32_t slot)
{
	struct weft_lock_op o = { .slot = slot, .mode = WEFT_LOCK_READ };
	uint32_t bad = 1u << 30;
	int fd;

	expect("OPEN at the end", open_errno(u->fd, 1 << 20), EINVAL);
	expect("OPEN far away", open_errno(u->fd, ~0ull), EINVAL);
	o.slot = bad;
	expect("ACQUIRE of no slot", op_errno(u->fd, o), EBADF);
	expect("WAKE of no slot", ioctl(u->fd, WEFT_IOC_LOCK_WAKE, &bad) ? errno : 0, EBADF);
	o.slot = slot;
	o.mode = 3;
	expect("ACQUIRE for nothing known", op_errno(u->fd, o), EINVAL);
	o.mode = WEFT_LOCK_READ;
	o.flags = 8;
	expect("ACQUIRE with flags from the future", op_errno(u->fd, o), EINVAL);
	o.flags = WEFT_LOCK_TRY | WEFT_LOCK_UNTIL;
	expect("ACQUIRE that tries and waits", op_errno(u->fd, o), EINVAL);
	o.flags = WEFT_LOCK_UNTIL;
	o.clock = 99;
	expect("ACQUIRE on no clock", op_errno(u->fd, o), EINVAL);
	expect("another ioctl", ioctl(u->fd, _IO('W', 99)) ? errno : 0, ENOTTY);
	expect("RELEASE of what is not held", drop(u, slot, WEFT_LOCK_READ), EPERM);
	expect("RELEASE of what is not held", drop(u, slot, WEFT_LOCK_WRITE), EPERM);

	expect("a private mapping", map_errno(u->fd, MAP_PRIVATE, 4096, WEFT_LOCKS_WORDS), EINVAL);
	expect("a mapping between", map_errno(u->fd, MAP_SHARED, 4096,
					      WEFT_LOCKS_WORDS + (1ull << 32)), EINVAL);
	expect("a mapping behind", map_errno(u->fd, MAP_SHARED, 4096,
					     WEFT_LOCKS_HOLDS + (1ull << 32)), EINVAL);

	fd = open(path, O_RDWR | O_CLOEXEC);
	expect("a file that never opened a lock", op_errno(fd, o), EBADF);
	close(fd);
}

static void read_only(uint64_t offset)
{
	struct user u = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	uint32_t slot;

	slot = user_slot(&u, offset);
	expect("write through a file for reading", ask(&u, slot, WEFT_LOCK_WRITE), EACCES);
	expect("read through it", ask(&u, slot, WEFT_LOCK_READ), 0);
	expect("leave through it", drop(&u, slot, WEFT_LOCK_READ), 0);
	expect("leave again", drop(&u, slot, WEFT_LOCK_READ), EPERM);
	expect("its words", map_errno(u.fd, MAP_SHARED, 4096, WEFT_LOCKS_WORDS), EACCES);
	close(u.fd);
}

/* A process that reads there dies. */
static void bus_error(const volatile void *at)
{
	pid_t pid = fork();

	if (!pid) {
		signal(SIGBUS, SIG_DFL);
		_exit(*(const volatile char *)at);
	}
	finish(pid, SIGBUS);
}

/* --- what locks guard ----------------------------------------------------------- */

#define BLOCK	4096

/* The blocks from @first on, as one range. */
static int bind_blocks(const struct user *u, uint32_t slot, unsigned int first,
		       unsigned int n)
{
	struct weft_lock_range r = { .offset = first * BLOCK, .length = n * BLOCK };
	struct weft_lock_bind b = { .slot = slot, .n = 1, .ranges = (uintptr_t)&r };

	return ioctl(u->fd, WEFT_IOC_LOCK_BIND, &b) ? errno : 0;
}

static int bind_range(const struct user *u, uint32_t slot, uint64_t offset,
		      uint64_t length)
{
	struct weft_lock_range r = { .offset = offset, .length = length };
	struct weft_lock_bind b = { .slot = slot, .n = 1, .ranges = (uintptr_t)&r };

	return ioctl(u->fd, WEFT_IOC_LOCK_BIND, &b) ? errno : 0;
}

static int bind_many(const struct user *u, uint32_t slot, uint32_t n)
{
	struct weft_lock_range r[WEFT_BIND_MAX + 1];
	struct weft_lock_bind b = { .slot = slot, .n = n, .ranges = (uintptr_t)r };

	/* from the last to the first, each a byte over the end of its block */
	for (uint32_t i = 0; i < n; i++) {
		r[i].offset = (WEFT_BIND_MAX - 1 - i % WEFT_BIND_MAX) * BLOCK;
		r[i].length = i ? BLOCK + 1 : BLOCK;
	}
	return ioctl(u->fd, WEFT_IOC_LOCK_BIND, &b) ? errno : 0;
}

static int forget(const struct user *u, uint32_t slot)
{
	struct weft_lock_bind b = { .slot = slot };

	return ioctl(u->fd, WEFT_IOC_LOCK_BIND, &b) ? errno : 0;
}

static void binds(struct user *a, struct user *b)
{
	uint32_t s = user_slot(a, 48), t = user_slot(b, 56);
	struct weft_lock_bind nowhere = { .slot = s, .n = 1, .ranges = 8 };
	struct user c, weak = { 0 };

	expect("BIND of no slot", bind_blocks(a, 1u << 30, 0, 1), EBADF);
	expect("BIND of nothing", bind_range(a, s, 0, 0), EINVAL);
	expect("BIND that wraps", bind_range(a, s, BLOCK, ~0ull), EINVAL);
	expect("BIND beyond the end", bind_range(a, s, (1 << 20) - 1, 2), EINVAL);
	expect("BIND of too many ranges", bind_many(a, s, WEFT_BIND_MAX + 1), E2BIG);
	expect("BIND of no memory",
	       ioctl(a->fd, WEFT_IOC_LOCK_BIND, &nowhere) ? errno : 0, EFAULT);
	expect("BIND of the whole region", bind_many(a, s, WEFT_BIND_MAX), 0);
	expect("BIND of a part", bind_blocks(a, s, 10, 4), 0);
	expect("BIND again", bind_blocks(a, s, 10, 4), 0);
	expect("BIND of what another has", bind_blocks(b, t, 13, 2), EEXIST);
	expect("BIND beside it", bind_blocks(b, t, 14, 2), 0);
	expect("BIND over it", bind_blocks(a, s, 12, 3), EEXIST);
	expect("which has changed nothing", bind_blocks(b, t, 10, 1), EEXIST);
	expect("BIND with less", bind_blocks(a, s, 11, 1), 0);
	expect("BIND of what is free", bind_blocks(b, t, 12, 4), 0);
	expect("forget", forget(a, s), 0);
	expect("forget again", forget(a, s), 0);
	expect("BIND of what was forgotten", bind_blocks(b, t, 10, 4), 0);

	user_open(&c, path, LOCKS);
	user_slot(&c, 56);
	expect("BIND by two files", bind_blocks(&c, t, 10, 4), 0);
	expect("one forgets for all", forget(&c, t), 0);
	expect("BIND of one file's", bind_blocks(a, s, 10, 1), 0);
	expect("BIND by another", bind_blocks(&c, s, 10, 1), 0);
	close(c.fd);
	munmap(c.words, WEFT_LOCKS_SIZE(LOCKS));
	munmap(c.holds, WEFT_HOLDS_SIZE(LOCKS));
	expect("BIND of what a file still says", bind_blocks(b, t, 10, 1), EEXIST);
	user_open(&c, path, LOCKS);
	user_slot(&c, 64);
	expect("BIND by a file that goes", bind_blocks(&c, user_slot(&c, 64), 20, 1), 0);
	expect("BIND of its block", bind_blocks(b, t, 20, 1), EEXIST);
	close(c.fd);
	munmap(c.words, WEFT_LOCKS_SIZE(LOCKS));
	munmap(c.holds, WEFT_HOLDS_SIZE(LOCKS));
	expect("BIND of what nobody says", bind_blocks(b, t, 20, 1), 0);

	weak.fd = open(path, O_RDONLY | O_CLOEXEC);
	user_slot(&weak, 72);
	expect("BIND by one that may not write", bind_blocks(&weak, user_slot(&weak, 72), 40, 2), 0);
	expect("BIND, by it, of what another has",
	       bind_blocks(&weak, user_slot(&weak, 80), 20, 1), EEXIST);
	expect("BIND, by one that may write, of its", bind_blocks(b, user_slot(b, 88), 41, 1), 0);
	expect("which is taken from it", bind_blocks(&weak, user_slot(&weak, 72), 41, 1), EEXIST);
	expect("the others of its lock are free", bind_blocks(a, s, 40, 1), 0);
	expect("BIND, by it, of a lock that is bound", bind_blocks(&weak, t, 50, 1), 0);
	expect("it forgets what is not its own", forget(&weak, t), 0);
	expect("which has changed nothing", bind_blocks(a, s, 41, 1), EEXIST);
	close(weak.fd);
	expect("take a lock that guards", ask(a, s, WEFT_LOCK_WRITE), 0);
	expect("BIND while it is held", bind_blocks(a, s, 30, 2), 0);
	expect("leave it", drop(a, s, WEFT_LOCK_WRITE), 0);
}

/* --- two files of a node ---------------------------------------------------------- */

static void exclusion(const struct user *a, const struct user *b, uint32_t s)
{
	expect("A writes", ask(a, s, WEFT_LOCK_WRITE), 0);
	expect("the word says so", (long)word(a, s), (long)(WEFT_LOCK_WRITE |
	       (uint64_t)a->owner << WEFT_WORD_OWNER_SHIFT));
	expect("B tries to read", try(b, s, WEFT_LOCK_READ), EBUSY);
	expect("B tries to write", try(b, s, WEFT_LOCK_WRITE), EBUSY);
	expect("B waits", within(b, s, WEFT_LOCK_READ, 30), ETIMEDOUT);
	expect("B waits no time", within(b, s, WEFT_LOCK_WRITE, -5), ETIMEDOUT);
	expect("nothing is left of that", (long)word(a, s), (long)(WEFT_LOCK_WRITE |
	       (uint64_t)a->owner << WEFT_WORD_OWNER_SHIFT));
	expect("B leaves what A has", drop(b, s, WEFT_LOCK_WRITE), EPERM);
	expect("A leaves", drop(a, s, WEFT_LOCK_WRITE), 0);
	expect("nobody has it", (long)word(a, s), WEFT_LOCK_WRITE);

	expect("A reads without the kernel", user_take(a, 5, s, WEFT_LOCK_READ), 1);
	expect("B reads", try(b, s, WEFT_LOCK_READ), 0);
	expect("there are two", (long)(word(a, s) & WEFT_WORD_READERS), 2 * WEFT_WORD_READER);
	expect("B tries to write", try(b, s, WEFT_LOCK_WRITE), EBUSY);
	expect("B leaves", drop(b, s, WEFT_LOCK_READ), 0);
	user_leave(a, 5, s, WEFT_LOCK_READ);
	expect("B writes in time", within(b, s, WEFT_LOCK_WRITE, -5), 0);
	user_leave(b, 0, s, WEFT_LOCK_WRITE);
}

/* Readers that are in lists, and not in the word. */
static void lists(const struct user *a, struct user *b, uint32_t s)
{
	struct user la = *a, lb = *b;

	expect("A may list", a->may_list, true);
	expect("B may list", b->may_list, true);
	la.lists = lb.lists = true;
	a->words[s].word |= WEFT_WORD_LISTED;
	expect("A lists it", user_take(&la, 5, s, WEFT_LOCK_READ), 1);
	expect("B lists it", user_take(&lb, 127, s, WEFT_LOCK_READ), 1);
	expect("B counts it", user_take(&lb, 128, s, WEFT_LOCK_READ), 1);
	expect("the word has one", (long)(word(a, s) & WEFT_WORD_READERS), WEFT_WORD_READER);
	expect("nobody writes without the kernel", user_take(&la, 6, s, WEFT_LOCK_WRITE), 0);
	expect("B tries to write", try(b, s, WEFT_LOCK_WRITE), EBUSY);
	user_leave(&lb, 128, s, WEFT_LOCK_READ);
	expect("B tries to write beside the listed", try(b, s, WEFT_LOCK_WRITE), EBUSY);
	expect("A waits", within(a, s, WEFT_LOCK_WRITE, 30), ETIMEDOUT);
	expect("B lists it again", user_take(&lb, 1, s, WEFT_LOCK_READ), 1);
	user_leave(&lb, 1, s, WEFT_LOCK_READ);
	user_leave(&lb, 127, s, WEFT_LOCK_READ);
	expect("A still has it", try(b, s, WEFT_LOCK_WRITE), EBUSY);
	user_leave(&la, 5, s, WEFT_LOCK_READ);
	expect("B writes", try(b, s, WEFT_LOCK_WRITE), 0);
	expect("nobody is listed", (long)(word(a, s) & WEFT_WORD_LISTED), 0);
	expect("A cannot list it now", user_take(&la, 5, s, WEFT_LOCK_READ), 0);
	expect("B leaves", drop(b, s, WEFT_LOCK_WRITE), 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void interrupted(const struct user *a, const struct user *b, uint32_t s)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct weft_lock_op o = { .slot = s, .mode = WEFT_LOCK_WRITE };

	sigaction(SIGALRM, &sa, NULL);
	expect("A reads", ask(a, s, WEFT_LOCK_READ), 0);
	alarm(1);
	expect("a signal ends the wait", op_errno(b->fd, o), EINTR);
	expect("SLOW is gone with it", (long)(word(a, s) & (WEFT_WORD_SLOW | WEFT_WORD_TELL)), 0);
	expect("A leaves", drop(a, s, WEFT_LOCK_READ), 0);
}

/* A process with a file of its own that does something, and dies in the end. */
static pid_t child(uint64_t offset, void (*what)(struct user *u, uint32_t slot))
{
	pid_t pid = fork();
	struct user u;
	uint32_t slot;

	if (pid)
		return pid;
	user_open(&u, path, LOCKS);
	slot = user_slot(&u, offset);
	what(&u, slot);
	kill(getpid(), SIGKILL);
	_exit(1);
}

/* In each of these milliseconds others can do something: one may be seconds, in which none can. */
static void give_time(unsigned int ms)
{
	while (ms--)
		pause_us(1000);
}

/*
 * Until the word shows one of these bits.  Between processes it is the only order there
 * is: one that has been started may take any time to come so far.
 */
static void until(const struct user *u, uint32_t slot, uint64_t bits)
{
	uint64_t end = now_ns() + WAIT_NS;

	while (!(word(u, slot) & bits)) {
		if (now_ns() > end)
			node_die("waited 20 s for bits %llx of the word %llx",
				 (unsigned long long)bits,
				 (unsigned long long)word(u, slot));
		pause_us(1000);
	}
}

/* Those that are to die with a lock do it when somebody waits, so that he has seen it. */
static void writes(struct user *u, uint32_t slot)
{
	expect("it writes", ask(u, slot, WEFT_LOCK_WRITE), 0);
	until(u, slot, WEFT_WORD_SLOW | WEFT_WORD_TELL);
}

static void reads(struct user *u, uint32_t slot)
{
	if (!user_take(u, 3, slot, WEFT_LOCK_READ))
		expect("it reads", ask(u, slot, WEFT_LOCK_READ), 0);
	until(u, slot, WEFT_WORD_SLOW | WEFT_WORD_TELL);
}

static void lists_it(struct user *u, uint32_t slot)
{
	u->lists = true;
	__atomic_fetch_or(&u->words[slot].word, WEFT_WORD_LISTED, __ATOMIC_SEQ_CST);
	expect("it lists it", user_take(u, 3, slot, WEFT_LOCK_READ), 1);
	until(u, slot, WEFT_WORD_SLOW | WEFT_WORD_TELL);
}

static void holds_it(struct user *u, uint32_t slot)
{
	expect("it reads", user_take(u, 3, slot, WEFT_LOCK_READ), 1);
	until(u, slot, WEFT_WORD_SLOW | WEFT_WORD_TELL);
}

static void waits(struct user *u, uint32_t slot)
{
	ask(u, slot, WEFT_LOCK_WRITE);
}

/* Who came first; shared with children. */
static unsigned int *came, me;

static void comes(struct user *u, uint32_t slot)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	unsigned int nobody = 0;

	sigaction(SIGALRM, &sa, NULL);
	expect("it writes", ask(u, slot, WEFT_LOCK_WRITE), 0);
	__atomic_compare_exchange_n(came, &nobody, me, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	expect("it leaves", drop(u, slot, WEFT_LOCK_WRITE), 0);
}

/* A process that has a signal while it waits, and one that waits behind it. */
static bool keeps_place(const struct user *a, uint32_t s, uint64_t offset)
{
	pid_t first, second;

	*came = 0;
	expect("A writes", ask(a, s, WEFT_LOCK_WRITE), 0);
	me = 1;
	first = child(offset, comes);
	until(a, s, WEFT_WORD_SLOW | WEFT_WORD_TELL);
	me = 2;
	second = child(offset, comes);
	give_time(200);
	kill(first, SIGALRM);
	give_time(200);
	expect("A leaves", drop(a, s, WEFT_LOCK_WRITE), 0);
	finish(first, SIGKILL);
	finish(second, SIGKILL);
	return *came == 1;
}

/* Once is enough: they may be slow to begin, and then in the other order. */
static void signals(const struct user *a, uint32_t s, uint64_t offset)
{
	bool kept = false;
	int i;

	came = mmap(NULL, sizeof(*came), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (came == MAP_FAILED)
		node_die("no memory");
	for (i = 0; i < 5 && !kept; i++)
		kept = keeps_place(a, s, offset);
	expect("who has a signal keeps its place", kept, true);
	munmap(came, sizeof(*came));
}

static void dies_taking(struct user *u, uint32_t slot)
{
	atomic_store(user_entry(u, 9, 0), (slot + 1) | WEFT_ENTRY_CHANGING);
	__atomic_fetch_add(&u->words[slot].word, WEFT_WORD_READER, __ATOMIC_SEQ_CST);
}

static void dies_leaving(struct user *u, uint32_t slot)
{
	expect("it reads", ask(u, slot, WEFT_LOCK_READ), 0);
	atomic_store(user_entry(u, 9, 0), (slot + 1) | WEFT_ENTRY_CHANGING);
	__atomic_fetch_sub(&u->words[slot].word, WEFT_WORD_READER, __ATOMIC_SEQ_CST);
}

/* Leaves while somebody waits, and cannot say so any more. */
static void dies_untold(struct user *u, uint32_t slot)
{
	expect("it writes", ask(u, slot, WEFT_LOCK_WRITE), 0);
	until(u, slot, WEFT_WORD_SLOW | WEFT_WORD_TELL);
	__atomic_fetch_and(&u->words[slot].word, ~WEFT_WORD_OWNER, __ATOMIC_SEQ_CST);
}

/* Who has the lock of a writer that died says that all is well again. */
static void told_and_mends(const struct user *u, uint32_t slot)
{
	expect("the word says that a writer died", !!(word(u, slot) & WEFT_WORD_DIED), 1);
	expect("A mends", ioctl(u->fd, WEFT_IOC_LOCK_MEND, &slot), 0);
	expect("the word says it no more", !!(word(u, slot) & WEFT_WORD_DIED), 0);
}

static void the_dead(const struct user *a, const struct user *b, uint32_t s,
		     uint64_t offset)
{
	const uint64_t shown = WEFT_WORD_READERS | WEFT_WORD_SLOW;
	pid_t pid = child(offset, writes);
	uint64_t end;

	until(a, s, WEFT_WORD_OWNER);
	expect("a writer that dies gives it back", within(a, s, WEFT_LOCK_WRITE, 20000), 0);
	told_and_mends(a, s);
	finish(pid, SIGKILL);
	pid = child(offset, waits);
	until(a, s, WEFT_WORD_SLOW | WEFT_WORD_TELL);
	kill(pid, SIGKILL);
	finish(pid, SIGKILL);
	expect("one that waited leaves nothing",
	       (long)(word(a, s) & (WEFT_WORD_SLOW | WEFT_WORD_TELL)), 0);
	expect("A leaves", drop(a, s, WEFT_LOCK_WRITE), 0);

	pid = child(offset, reads);
	until(a, s, WEFT_WORD_READERS);
	expect("a reader that dies gives it back", within(a, s, WEFT_LOCK_WRITE, 20000), 0);
	finish(pid, SIGKILL);
	expect("A leaves", drop(a, s, WEFT_LOCK_WRITE), 0);

	pid = child(offset, lists_it);
	until(a, s, WEFT_WORD_LISTED);
	give_time(300);
	expect("a listed reader that dies gives it back",
	       within(a, s, WEFT_LOCK_WRITE, 20000), 0);
	finish(pid, SIGKILL);
	expect("A leaves", drop(a, s, WEFT_LOCK_WRITE), 0);
	pid = child(offset, holds_it);
	until(a, s, WEFT_WORD_READERS);
	expect("so does one whose entry says that it is counted",
	       within(a, s, WEFT_LOCK_WRITE, 20000), 0);
	finish(pid, SIGKILL);
	expect("A leaves", drop(a, s, WEFT_LOCK_WRITE), 0);

	finish(child(offset, dies_taking), SIGKILL);
	expect("half taken is not taken", within(a, s, WEFT_LOCK_WRITE, 20000), 0);
	expect("A leaves", drop(a, s, WEFT_LOCK_WRITE), 0);

	expect("A reads", user_take(a, 1, s, WEFT_LOCK_READ), 1);
	finish(child(offset, dies_leaving), SIGKILL);
	give_time(100);
	expect("A still does", (long)(word(a, s) & WEFT_WORD_READERS), WEFT_WORD_READER);
	expect("B tries to write", try(b, s, WEFT_LOCK_WRITE), EBUSY);

	/* as long as another may be changing it nothing is known */
	atomic_store(user_entry(b, 700, 15), (s + 1) | WEFT_ENTRY_CHANGING);
	finish(child(offset, dies_taking), SIGKILL);
	give_time(300);
	expect("not settled", (long)(word(a, s) & shown),
	       (long)(2 * WEFT_WORD_READER | WEFT_WORD_SLOW));
	expect("others read meanwhile", within(b, s, WEFT_LOCK_READ, 20000), 0);
	atomic_store(user_entry(b, 700, 15), 0);
	/* the kernel looks again after a while, which is longer on a busy machine */
	end = now_ns() + WAIT_NS;
	while ((word(a, s) & shown) != 2 * WEFT_WORD_READER && now_ns() < end)
		pause_us(1000);
	expect("settled", (long)(word(a, s) & shown), 2 * WEFT_WORD_READER);
	user_leave(a, 1, s, WEFT_LOCK_READ);
	user_leave(b, 1, s, WEFT_LOCK_READ);
	expect("nobody has it", (long)word(a, s), WEFT_LOCK_WRITE);

	pid = child(offset, dies_untold);
	until(a, s, WEFT_WORD_OWNER);
	expect("left without a word", within(a, s, WEFT_LOCK_READ, 20000), 0);
	finish(pid, SIGKILL);
	expect("A leaves", drop(a, s, WEFT_LOCK_READ), 0);
}

/* Words and counts that make no sense hurt only those who share them. */
static void nonsense(struct user *a, const struct user *b, uint32_t s)
{
	a->words[s].word = ~0ull;
	expect("B tries to read nonsense", try(b, s, WEFT_LOCK_READ), EBUSY);
	expect("B leaves it", drop(b, s, WEFT_LOCK_WRITE), EPERM);
	a->words[s].word = WEFT_WORD_READERS;
	expect("B reads with all others", within(b, s, WEFT_LOCK_READ, 20), ETIMEDOUT);
	a->holds->readers[s] = ~0u;
	atomic_store(user_entry(a, 1, 0), ~0u);
	atomic_store(user_entry(a, 2, 0), (s + 1) | WEFT_ENTRY_CHANGING);
	atomic_store(user_entry(a, 3, 0), (s + 1) | WEFT_ENTRY_HELD);
	atomic_store(user_entry(a, 4, 0), (s + 1) | WEFT_ENTRY_LISTED);
	munmap(a->words, WEFT_LOCKS_SIZE(LOCKS));
	munmap(a->holds, WEFT_HOLDS_SIZE(LOCKS));
	close(a->fd);
	expect("it is gone with the file", within(b, s, WEFT_LOCK_WRITE, 20000), 0);
	expect("B leaves", drop(b, s, WEFT_LOCK_WRITE), 0);
}

static int api(void)
{
	int fd = node_open(path, 1 << 20, NULL);
	struct user a, b;
	struct stat st;
	uint32_t s, i;

	close(fd);
	user_open(&a, path, LOCKS);
	user_open(&b, path, LOCKS);
	bus_error(a.words);
	expect("the holds begin before any lock", a.holds->cell[0].entry[0], 0);
	bus_error(&a.holds->readers[0]);
	s = user_slot(&a, 40);
	expect("the same lock has the same slot", user_slot(&b, 40), s);
	expect("files have numbers of their own", a.owner != b.owner, 1);
	bus_error(&a.words[64]);
	bus_error(&a.holds->readers[1024]);
	for (i = 0; i < 1100; i++)
		expect("more locks have more slots", user_slot(&a, 1000 + i) != s, 1);
	expect("they are free", (long)word(&b, 1000), 0);
	refused(&a, s);
	read_only(77);
	binds(&a, &b);
	exclusion(&a, &b, s);
	lists(&a, &b, s);
	interrupted(&a, &b, s);
	signals(&a, s, 40);
	the_dead(&a, &b, s, 40);
	nonsense(&a, &b, s);
	fstat(b.fd, &st);
	expect("the region is what it was", st.st_size, 1 << 20);
	printf("%u cases\n", cases);
	return 0;
}

/* --- by hand --------------------------------------------------------------------- */

/* Ends a sleep. */
static void wake(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = wake };
	struct user u;
	uint32_t slot, mode;
	uint64_t number;
	int err;

	node_begin("locks-basics");
	if (argc == 3 && !strcmp(argv[1], "api")) {
		path = argv[2];
		return api();
	}
	if (argc != 6) {
		fputs("Usage: locks-basics api FILE | hold FILE OFFSET r|w SECONDS | take FILE OFFSET r|w MS\n",
		      stderr);
		return 2;
	}
	user_open(&u, argv[2], WEFT_LOCKS_MAX);
	slot = user_slot(&u, node_number_of("OFFSET", argv[3], 0, INT64_MAX));
	mode = *argv[4] == 'w' ? WEFT_LOCK_WRITE : WEFT_LOCK_READ;
	number = node_number_of(argv[1], argv[5], 0, 1000000);
	if (!strcmp(argv[1], "hold")) {
		sigaction(SIGUSR1, &action, NULL);
		err = ask(&u, slot, mode);
		if (err)
			node_die("ACQUIRE: %s", strerror(err));
		puts("held");
		sleep(number);
		user_leave(&u, 0, slot, mode);
		return 0;
	}
	err = number ? within(&u, slot, mode, (int)number) : try(&u, slot, mode);
	puts(err ? strerror(err) : user_died(&u, slot) ? "taken, and its owner has died" : "taken");
	return err != 0;
}
