// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel module does for locks, done here by standing between a program
 * and the C library: linked to a test, or preloaded behind libweft-preload.so.
 *
 * All files in the directory WEFT_FAKE_DIR are regions.  The state of one, for all
 * processes, is a file beside it.  There is one node.  An open file is known by
 * its position, which programs that map regions have no use for: copies of a
 * descriptor, and what a child inherits, have it too, as they are the same file.
 * That an open file is gone is learned from a lock that the kernel ties to it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "tests/libweft/fake.h"
#include "weft.h"

#define POSITION	(1ll << 40)	/* of files that are known, plus the owner number */
#define SLOTS		(1u << 18)
#define OWNERS		1024
#define REAP_MS		20
#define KERNELS_CELL	(WEFT_HOLDS_THREADS - 1)

/* Nothing of ours may be near what the programs map. */
#define HEAD_SIZE	(64ull << 20)
#define WORDS_AT	HEAD_SIZE
#define WORDS_ROOM	(64ull << 20)
#define HOLDS_AT	(WORDS_AT + WORDS_ROOM)
#define HOLDS_ROOM	(8ull << 20)

struct slot {
	uint64_t offset;
	uint64_t bound;			/* bytes that it guards */

	_Atomic uint32_t waiters;
	_Atomic uint32_t events;	/* a futex: something may have become free */
};

struct head {
	pthread_mutex_t mutex;
	bool ready;
	uint32_t n_slots;
	bool owner_used[OWNERS];
	struct fake_counts counts;
	uint32_t hash[SLOTS * 2];	/* slot + 1 */
	struct slot slots[SLOTS];
};

_Static_assert(sizeof(struct head) <= HEAD_SIZE, "the head fits");

struct region {
	dev_t dev;
	ino_t ino;
	struct head *head;
	struct weft_lock_word *words;
	struct weft_holds *holds[OWNERS];
	struct region *next;
};

static struct region *regions;
static pthread_mutex_t regions_mutex = PTHREAD_MUTEX_INITIALIZER;
_Bool fake_refuses, fake_old;

/* --- What stands behind ------------------------------------------------------- */

static void *next(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	if (!p) {
		fprintf(stderr, "fake: no %s\n", name);
		abort();
	}
	return p;
}

/* Not the preload library's: it is in the middle of something. */
static int lock_mutex(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *mutex);

	if (!real)
		real = next("pthread_mutex_lock");
	return real(mutex);
}

static int unlock_mutex(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *mutex);

	if (!real)
		real = next("pthread_mutex_unlock");
	return real(mutex);
}

static int recover_mutex(pthread_mutex_t *mutex)
{
	int (*real)(pthread_mutex_t *mutex) = next("pthread_mutex_consistent");

	return real(mutex);
}

static int init_mutex(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	int (*real)(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr) =
		next("pthread_mutex_init");

	return real(mutex, attr);
}

static void *next_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	long p = syscall(SYS_mmap, address, length, prot, flags, fd, offset);

	return p == -1 ? MAP_FAILED : (void *)p;
}

static int next_open(const char *name, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, 0600);
}

/* --- Regions ------------------------------------------------------------------ */

static bool is_region(int fd)
{
	const char *dir = getenv("WEFT_FAKE_DIR");
	char link[64], name[PATH_MAX];
	ssize_t n;

	if (!dir || fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	if (n < 0)
		return false;
	name[n] = '\0';
	n = (ssize_t)strlen(dir);
	return !strncmp(name, dir, (size_t)n) && name[n] == '/' && name[n + 1] != '.';
}

static void prepare(struct head *h)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	init_mutex(&h->mutex, &attr);
	h->ready = true;
}

/* The file of a region's state.  Not kept open: programs close what they find. */
static int state_file(ino_t ino)
{
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s/.%lu", getenv("WEFT_FAKE_DIR"), (unsigned long)ino);
	fd = next_open(name, O_RDWR | O_CREAT | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void *map_state(ino_t ino, size_t length, uint64_t offset)
{
	int fd = state_file(ino);
	void *p = next_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	if (p == MAP_FAILED)
		abort();
	syscall(SYS_close, fd);
	return p;
}

static struct region *open_state(const struct stat *st)
{
	struct region *r = calloc(1, sizeof(*r));
	int fd = state_file(st->st_ino);

	if (!r || syscall(SYS_flock, fd, 2 /* LOCK_EX */) ||
	    syscall(SYS_ftruncate, fd, HOLDS_AT + HOLDS_ROOM * OWNERS))
		abort();
	r->head = map_state(st->st_ino, HEAD_SIZE, 0);
	r->words = map_state(st->st_ino, WORDS_ROOM, WORDS_AT);
	if (!r->head->ready)
		prepare(r->head);
	syscall(SYS_close, fd);
	r->dev = st->st_dev;
	r->ino = st->st_ino;
	return r;
}

static struct region *region_of(int fd)
{
	struct region *r;
	struct stat st;

	if (fstat(fd, &st))
		abort();
	lock_mutex(&regions_mutex);
	for (r = regions; r; r = r->next)
		if (r->ino == st.st_ino && r->dev == st.st_dev)
			break;
	if (!r) {
		r = open_state(&st);
		r->next = regions;
		regions = r;
	}
	unlock_mutex(&regions_mutex);
	return r;
}

static struct weft_holds *holds_of(struct region *r, unsigned int owner)
{
	if (!r->holds[owner])
		r->holds[owner] = map_state(r->ino, HOLDS_ROOM, HOLDS_AT + HOLDS_ROOM * owner);
	return r->holds[owner];
}

/* Killed processes leave it as it was: nothing below is harmed by that. */
static void lock_head(struct head *h)
{
	if (lock_mutex(&h->mutex) == EOWNERDEAD)
		recover_mutex(&h->mutex);
}

static _Atomic uint64_t *word_of(struct region *r, uint32_t slot)
{
	return (_Atomic uint64_t *)&r->words[slot].word;
}

static _Atomic uint32_t *readers_of(struct region *r, unsigned int owner, uint32_t slot)
{
	return (_Atomic uint32_t *)&holds_of(r, owner)->readers[slot];
}

static _Atomic uint32_t *pending_of(struct region *r, unsigned int owner, unsigned int cell)
{
	return (_Atomic uint32_t *)&holds_of(r, owner)->pending[cell];
}

static void tell(struct slot *s)
{
	atomic_fetch_add(&s->events, 1);
	syscall(SYS_futex, &s->events, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* --- Open files that are gone ---------------------------------------------------- */

static bool gone(int fd, unsigned int own, unsigned int owner)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = POSITION + owner, .l_len = 1,
	};

	return owner != own && !syscall(SYS_fcntl, fd, F_OFD_GETLK, &lock) &&
	       lock.l_type == F_UNLCK;
}

/* Is somebody who lives about to change the word of the slot? */
static bool any_pending(struct region *r, const bool *dead, uint32_t slot)
{
	unsigned int owner, cell;

	for (owner = 1; owner < OWNERS; owner++)
		for (cell = 0; r->head->owner_used[owner] && !dead[owner] &&
			       cell < WEFT_HOLDS_THREADS; cell++)
			if (*pending_of(r, owner, cell) == slot + 1)
				return true;
	return false;
}

/*
 * A thread died between changing the word and its count: the counts of those who
 * live tell what is right, once none of them is about to change anything; SLOW
 * keeps new ones away.  That settles it for all who are dead.
 */
static void reap_uncertain(struct region *r, const bool *dead, uint32_t slot)
{
	_Atomic uint64_t *word = word_of(r, slot);
	uint64_t readers = 0, w;
	unsigned int owner;

	atomic_fetch_or(word, WEFT_WORD_SLOW);
	while (any_pending(r, dead, slot))
		usleep(100);
	for (owner = 1; owner < OWNERS; owner++) {
		if (!r->head->owner_used[owner])
			continue;
		if (dead[owner])
			*readers_of(r, owner, slot) = 0;
		else
			readers += *readers_of(r, owner, slot);
	}
	w = *word;
	atomic_fetch_sub(word, (w & WEFT_WORD_READERS) - readers * WEFT_WORD_READER);
}

/* Gives back what a file held that is gone. */
static void reap_slot(struct region *r, unsigned int owner, uint32_t slot, bool uncertain,
		      const bool *dead)
{
	_Atomic uint64_t *word = word_of(r, slot);
	struct slot *s = &r->head->slots[slot];
	uint32_t n = *readers_of(r, owner, slot);
	uint64_t w = *word;
	bool held = n || uncertain;

	if (uncertain)
		reap_uncertain(r, dead, slot);
	else
		atomic_fetch_sub(word, (uint64_t)n * WEFT_WORD_READER);
	*readers_of(r, owner, slot) = 0;
	if ((w & WEFT_WORD_OWNER) >> WEFT_WORD_OWNER_SHIFT == owner) {
		atomic_fetch_and(word, ~WEFT_WORD_OWNER);
		held = true;
	}
	if (held) {
		if (!s->waiters)
			atomic_fetch_and(word, ~WEFT_WORD_SLOW);
		tell(s);
	}
}

static void reap(struct region *r, int fd, unsigned int own)
{
	struct head *h = r->head;
	bool dead[OWNERS] = { false };
	unsigned int owner, cell;
	uint32_t slot;

	for (owner = 1; owner < OWNERS; owner++)
		dead[owner] = h->owner_used[owner] && gone(fd, own, owner);
	for (owner = 1; owner < OWNERS; owner++) {
		if (!dead[owner])
			continue;
		for (slot = 0; slot < h->n_slots; slot++) {
			bool uncertain = false;

			for (cell = 0; cell < WEFT_HOLDS_THREADS; cell++)
				if (*pending_of(r, owner, cell) == slot + 1)
					uncertain = true;
			reap_slot(r, owner, slot, uncertain, dead);
		}
		for (cell = 0; cell < WEFT_HOLDS_THREADS; cell++)
			*pending_of(r, owner, cell) = 0;
		h->owner_used[owner] = false;
		dead[owner] = false;
		h->counts.reaped++;
	}
}

/* --- ioctls --------------------------------------------------------------------- */

/* The owner number of an open file; 0: none is left. */
static unsigned int owner_of(struct region *r, int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
	off_t position = lseek(fd, 0, SEEK_CUR);
	unsigned int owner;

	if (position > POSITION)
		return (unsigned int)(position - POSITION);
	for (owner = 1; owner < OWNERS && r->head->owner_used[owner]; owner++)
		;
	if (owner == OWNERS)
		return 0;
	r->head->owner_used[owner] = true;
	lock.l_start = POSITION + owner;
	if (syscall(SYS_fcntl, fd, F_OFD_SETLK, &lock))
		abort();
	lseek(fd, POSITION + owner, SEEK_SET);
	return owner;
}

static uint32_t *find_slot(struct head *h, uint64_t offset)
{
	uint64_t i = offset * 0x9E3779B97F4A7C15ull >> 40;

	for (;; i++) {
		uint32_t *entry = &h->hash[i % (SLOTS * 2)];

		if (!*entry || h->slots[*entry - 1].offset == offset)
			return entry;
	}
}

static int lock_open(struct region *r, int fd, struct weft_lock_open *o)
{
	struct head *h = r->head;
	int error = ENOSPC;
	uint32_t *entry;
	struct stat st;

	if (fstat(fd, &st) || o->offset >= (uint64_t)st.st_size)
		return EINVAL;
	lock_head(h);
	h->counts.opens++;
	if (lseek(fd, 0, SEEK_CUR) <= POSITION)
		reap(r, fd, 0);
	o->owner = owner_of(r, fd);
	entry = find_slot(h, o->offset);
	if (!*entry && h->n_slots < SLOTS) {
		h->slots[h->n_slots].offset = o->offset;
		*word_of(r, h->n_slots) = 2;
		*entry = ++h->n_slots;
	}
	if (*entry && o->owner) {
		o->slot = *entry - 1;
		error = 0;
	}
	unlock_mutex(&h->mutex);
	return error;
}

static bool may_have(uint64_t w, unsigned int mode)
{
	return !(w & WEFT_WORD_OWNER) &&
	       (mode == WEFT_LOCK_READ || !(w & WEFT_WORD_READERS));
}

/* One attempt, under the head's lock.  What this node lacks comes at once. */
static bool attempt(struct region *r, unsigned int owner, uint32_t slot, unsigned int mode,
		    bool waiting)
{
	uint64_t w, new, slow = r->head->slots[slot].waiters > waiting ? WEFT_WORD_SLOW : 0;
	_Atomic uint64_t *word = word_of(r, slot);

	*pending_of(r, owner, KERNELS_CELL) = slot + 1;
	w = *word;
	do {
		bool may = may_have(w, mode);

		if (!may && !waiting) {
			*pending_of(r, owner, KERNELS_CELL) = 0;
			return false;
		}
		new = w | WEFT_WORD_SLOW;
		if (may) {
			new = (w & (WEFT_WORD_READERS | WEFT_WORD_OWNER)) | slow;
			new |= mode == WEFT_LOCK_WRITE || (w & WEFT_WORD_PERM) == 2 ? 2 : 1;
			new += mode == WEFT_LOCK_READ ? WEFT_WORD_READER :
			       (uint64_t)owner << WEFT_WORD_OWNER_SHIFT;
		}
	} while (!atomic_compare_exchange_weak(word, &w, new));
	if (may_have(w, mode) && mode == WEFT_LOCK_READ)
		atomic_fetch_add(readers_of(r, owner, slot), 1);
	*pending_of(r, owner, KERNELS_CELL) = 0;
	return may_have(w, mode);
}

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int lock_acquire(struct region *r, int fd, const struct weft_lock_op *op)
{
	unsigned int owner = (unsigned int)(lseek(fd, 0, SEEK_CUR) - POSITION);
	struct head *h = r->head;
	struct slot *s = &h->slots[op->slot];
	uint32_t seen, timed_out = 0;
	int error = 0;

	if (op->slot >= h->n_slots || owner >= OWNERS)
		return EBADF;
	if (op->mode != WEFT_LOCK_READ && op->mode != WEFT_LOCK_WRITE)
		return EINVAL;
	if (op->mode == WEFT_LOCK_WRITE && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return EACCES;
	h->counts.acquires++;
	lock_head(h);
	if (attempt(r, owner, op->slot, op->mode, false))
		goto out;
	reap(r, fd, owner);
	error = EBUSY;
	if (op->flags & WEFT_LOCK_TRY) {
		if (attempt(r, owner, op->slot, op->mode, false))
			error = 0;
		goto out;
	}
	h->counts.waits++;
	s->waiters++;
	for (;;) {
		struct timespec wait = { .tv_nsec = REAP_MS * 1000000 };
		uint64_t reaped = h->counts.reaped;

		seen = s->events;
		if (attempt(r, owner, op->slot, op->mode, true)) {
			if (timed_out == seen + 1)
				h->counts.late++;
			error = 0;
			break;
		}
		error = ETIMEDOUT;
		if (op->flags & WEFT_LOCK_UNTIL && now((clockid_t)op->clock) >= op->deadline_ns)
			break;
		if (op->flags & WEFT_LOCK_UNTIL) {
			int64_t left = op->deadline_ns - now((clockid_t)op->clock);

			if (left < wait.tv_nsec)
				wait.tv_nsec = left > 0 ? left : 1;
		}
		unlock_mutex(&h->mutex);
		error = syscall(SYS_futex, &s->events, FUTEX_WAIT, seen, &wait, NULL, 0) ?
			errno : 0;
		lock_head(h);
		if (error == EINTR)
			break;
		reap(r, fd, owner);
		/* Nothing was said, and nobody died: then it cannot have become free. */
		timed_out = error == ETIMEDOUT && reaped == h->counts.reaped ? seen + 1 : 0;
	}
	s->waiters--;
	if (error && !s->waiters)
		atomic_fetch_and(word_of(r, op->slot), ~WEFT_WORD_SLOW);
out:
	unlock_mutex(&h->mutex);
	return error;
}

static int lock_release(struct region *r, int fd, const struct weft_lock_op *op)
{
	unsigned int owner = (unsigned int)(lseek(fd, 0, SEEK_CUR) - POSITION);
	struct head *h = r->head;
	int error = EPERM;

	if (op->slot >= h->n_slots || owner >= OWNERS)
		return EBADF;
	lock_head(h);
	h->counts.releases++;
	if (op->mode == WEFT_LOCK_READ && *readers_of(r, owner, op->slot)) {
		*pending_of(r, owner, KERNELS_CELL) = op->slot + 1;
		atomic_fetch_sub(word_of(r, op->slot), WEFT_WORD_READER);
		atomic_fetch_sub(readers_of(r, owner, op->slot), 1);
		*pending_of(r, owner, KERNELS_CELL) = 0;
		error = 0;
	} else if (op->mode == WEFT_LOCK_WRITE &&
		   (*word_of(r, op->slot) & WEFT_WORD_OWNER) >> WEFT_WORD_OWNER_SHIFT == owner) {
		atomic_fetch_and(word_of(r, op->slot), ~WEFT_WORD_OWNER);
		error = 0;
	}
	if (!error)
		tell(&h->slots[op->slot]);
	unlock_mutex(&h->mutex);
	return error;
}

static int lock_wake(struct region *r, uint32_t slot)
{
	if (slot >= r->head->n_slots)
		return EBADF;
	r->head->counts.wakes++;
	tell(&r->head->slots[slot]);
	return 0;
}

/* How much that is, no more: whose blocks they are is the kernel's own business. */
static int lock_bind(struct region *r, const struct weft_lock_bind *b)
{
	const struct weft_lock_range *range = (const void *)(uintptr_t)b->ranges;
	uint64_t bytes = 0;
	uint32_t i;

	if (b->slot >= r->head->n_slots)
		return EBADF;
	if (b->n > WEFT_BIND_MAX)
		return E2BIG;
	for (i = 0; i < b->n; i++) {
		if (!range[i].length || range[i].offset % 4096 || range[i].length % 4096)
			return EINVAL;
		bytes += range[i].length;
	}
	if (bytes > WEFT_BIND_MAX * 4096ull)
		return E2BIG;
	r->head->slots[b->slot].bound = bytes;
	return 0;
}

/* --- What programs call ------------------------------------------------------------ */

int ioctl(int fd, unsigned long request, ...)
{
	struct region *r;
	void *argument;
	va_list args;
	int error;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(request) != WEFT_IOC_MAGIC || !is_region(fd))
		return (int)syscall(SYS_ioctl, fd, request, argument);
	r = region_of(fd);
	switch (request) {
	case WEFT_IOC_LOCK_OPEN:
		error = lock_open(r, fd, argument);
		break;
	case WEFT_IOC_LOCK_ACQUIRE:
		error = lock_acquire(r, fd, argument);
		break;
	case WEFT_IOC_LOCK_RELEASE:
		error = lock_release(r, fd, argument);
		break;
	case WEFT_IOC_LOCK_WAKE:
		error = lock_wake(r, *(__u32 *)argument);
		break;
	case WEFT_IOC_LOCK_BIND:
		error = fake_old ? ENOTTY : lock_bind(r, argument);
		break;
	default:
		error = ENOTTY;
	}
	errno = error;
	return error ? -1 : 0;
}

static void *map(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	struct region *r;
	unsigned int owner;

	if ((uint64_t)offset < WEFT_LOCKS_WORDS || !is_region(fd))
		return next_mmap(address, length, prot, flags, fd, offset);
	/* Of us nobody asks for more than the whole, somewhere. */
	(void)address;
	(void)prot;
	(void)flags;
	r = region_of(fd);
	if ((uint64_t)offset < WEFT_LOCKS_HOLDS)
		return map_state(r->ino, length, WORDS_AT + (uint64_t)offset - WEFT_LOCKS_WORDS);
	lock_head(r->head);
	owner = owner_of(r, fd);
	unlock_mutex(&r->head->mutex);
	if (!owner) {
		errno = ENOSPC;
		return MAP_FAILED;
	}
	return map_state(r->ino, length, HOLDS_AT + HOLDS_ROOM * owner);
}

void *mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	return map(address, length, prot, flags, fd, offset);
}

void *mmap64(void *address, size_t length, int prot, int flags, int fd, off64_t offset)
{
	return map(address, length, prot, flags, fd, offset);
}

int open(const char *name, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (fake_refuses && !strncmp(name, "/proc/self/fd/", 14)) {
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

int fstatfs(int fd, struct statfs *fs)
{
	int (*real)(int fd, struct statfs *fs) = next("fstatfs");
	int error = real(fd, fs);

	if (!error && is_region(fd))
		fs->f_type = WEFT_SUPER_MAGIC;
	return error;
}

int statfs(const char *name, struct statfs *fs)
{
	int (*real)(const char *name, struct statfs *fs) = next("statfs");
	int fd, error = real(name, fs);

	if (error)
		return error;
	fd = next_open(name, O_PATH | O_CLOEXEC);
	if (is_region(fd))
		fs->f_type = WEFT_SUPER_MAGIC;
	if (fd >= 0)
		syscall(SYS_close, fd);
	return 0;
}

/* --- For tests ---------------------------------------------------------------------- */

static char begun[64];

void fake_end(void)
{
	char command[128];

	if (!*begun)
		return;
	snprintf(command, sizeof(command), "rm -rf '%s'", begun);
	if (system(command))
		fprintf(stderr, "fake: %s is left\n", begun);
	*begun = '\0';
}

void fake_begin(char *directory)
{
	snprintf(begun, sizeof(begun), "/dev/shm/weft-fake.XXXXXX");
	if (!mkdtemp(begun)) {
		perror(begun);
		exit(2);
	}
	setenv("WEFT_FAKE_DIR", begun, 1);
	strcpy(directory, begun);
}

struct fake_counts *fake_counts(int fd)
{
	return &region_of(fd)->head->counts;
}

_Atomic uint64_t *fake_word(int fd, uint64_t offset)
{
	struct region *r = region_of(fd);
	uint32_t *entry = find_slot(r->head, offset);

	return *entry ? word_of(r, *entry - 1) : NULL;
}

uint64_t fake_bound(int fd, uint64_t offset)
{
	struct region *r = region_of(fd);
	uint32_t *entry = find_slot(r->head, offset);

	return *entry ? r->head->slots[*entry - 1].bound : 0;
}

void fake_take_away(int fd, uint64_t offset, unsigned int left)
{
	_Atomic uint64_t *word = fake_word(fd, offset);

	atomic_fetch_and(word, ~WEFT_WORD_PERM);
	atomic_fetch_or(word, left);
}
