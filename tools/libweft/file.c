// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: our own open file of each, the memory shared with the kernel through
 * it, and which lock has which slot.
 *
 * The file is not the program's.  The kernel gives back what is held through a
 * file when its last process has gone, so it must be of this process alone, and
 * the program may close its own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "internal.h"

/**
 * struct weft_slots - offset to slot, read without a lock
 * @room:	a power of two
 * @used:	entries in use, at most three quarters of @room
 * @older:	what it replaced; somebody may be reading it
 * @entries:	@key is the offset + 1, 0 in a free one, and written last
 */
struct weft_slots {
	size_t room;
	size_t used;
	struct weft_slots *older;
	struct {
		_Atomic uint64_t key;
		uint32_t slot;
	} entries[];
};

#define FIRST_ROOM	1024u

static struct weft_file *_Atomic files;

/* Whose open files these are: a child of vfork() shares our memory, not them. */
static pid_t process;

/* File descriptors that are ours and no business of the program. */
#define FDS		65536
static _Atomic uint64_t our_fds[FDS / 64];

/* Zeroed memory that takes no more than is used of it; NULL if there is none. */
void *weft_private(size_t size, bool wiped_in_child)
{
	void *p = weft_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (wiped_in_child && madvise(p, size, MADV_WIPEONFORK)) {
		weft_sys_munmap(p, size);
		return NULL;
	}
	return p;
}

/* --- File descriptors ------------------------------------------------------- */

bool weft_fd_ours(int fd)
{
	return fd >= 0 && fd < FDS &&
	       atomic_load_explicit(&our_fds[fd / 64], memory_order_relaxed) >>
	       (fd % 64) & 1;
}

static void mark(int fd, bool ours)
{
	uint64_t bit = 1ull << fd % 64;

	if (fd < 0 || fd >= FDS)
		return;
	if (ours)
		atomic_fetch_or(&our_fds[fd / 64], bit);
	else
		atomic_fetch_and(&our_fds[fd / 64], ~bit);
}

/* A copy of @fd where programs rarely look for theirs; @fd stays. */
static int out_of_the_way(int fd)
{
	struct rlimit limit;
	int low = 0, copy;

	if (!getrlimit(RLIMIT_NOFILE, &limit))
		low = limit.rlim_cur > 1024 ? 960 : (int)limit.rlim_cur / 2;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, low);
	return copy >= 0 ? copy : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* The program wants the number @fd, which is ours, for a file of its own. */
int weft_fd_move(int fd)
{
	struct weft_file *f;

	if (process != getpid())
		return 0;
	for (f = atomic_load(&files); f; f = f->next) {
		int copy;

		if (f->fd != fd)
			continue;
		copy = out_of_the_way(fd);
		if (copy < 0)
			return errno;
		mark(copy, true);
		f->fd = copy;
		break;
	}
	mark(fd, false);
	return 0;
}

/* An ioctl through our file, which may move meanwhile. */
int weft_ioctl(struct weft_file *f, unsigned long request, void *argument)
{
	for (;;) {
		int fd = f->fd;

		int rc = ioctl(fd, request, argument);

		if (rc >= 0)
			return rc == WEFT_LOCK_OWNER_DIED ? EOWNERDEAD : 0;
		if (fd == f->fd || (errno != EBADF && errno != ENOTTY))
			return errno;
	}
}

bool weft_is_region(int fd)
{
	struct statfs fs;
	struct stat st;

	return !fstatfs(fd, &fs) && fs.f_type == WEFT_SUPER_MAGIC &&
	       !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/*
 * One more open file of what is open as @fd, by the rights of @fd; -1: there is none.
 * @writes: may it be written?
 */
static int open_again(int fd, bool *writes)
{
	char name[64];
	int own;

	*writes = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
	own = *writes ? ioctl(fd, WEFT_IOC_LOCK_FILE, 0ul) : -1;
	if (own >= 0)
		return own;
	/* What was opened to be read may be ours to write; and an older module has no such call. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	own = open(name, O_RDWR | O_CLOEXEC);
	*writes = own >= 0;
	if (own < 0)
		own = ioctl(fd, WEFT_IOC_LOCK_FILE, 0ul);
	return own >= 0 ? own : open(name, O_RDONLY | O_CLOEXEC);
}

/*
 * Opens the file behind @fd once more, and by that for us alone.  If that cannot be done:
 * uses the same open file.
 */
static int open_anew(struct weft_file *f, int fd)
{
	static _Atomic bool said;
	bool writes;
	int own = open_again(fd, &writes), error = errno;

	f->reads = own >= 0 && !writes;
	f->by_ioctl = own < 0 || !writes;
	if (own >= 0) {
		int copy = out_of_the_way(own);

		if (copy >= 0) {
			weft_sys_close(own);
			own = copy;
		}
	} else {
		own = out_of_the_way(fd);
		if (own >= 0)
			weft_complain(&said, "weft: locks of this process are given back only when others that have the same open file end, too, as it could not be opened for this one alone: %s",
				      strerrordesc_np(error));
	}
	if (own < 0)
		return errno;
	mark(own, true);
	process = getpid();
	f->fd = own;
	return 0;
}

static void close_file(struct weft_file *f)
{
	int fd = f->fd;

	f->fd = -1;
	mark(fd, false);
	weft_sys_close(fd);
}

/* --- Regions ---------------------------------------------------------------- */

/*
 * For a descriptor that may write, one that may only be read is none: what is mapped through
 * that goes on with it.
 */
static struct weft_file *find_file(const struct stat *st, bool writes)
{
	struct weft_file *f, *found = NULL;

	for (f = atomic_load(&files); f; f = f->next) {
		if (f->fd < 0 || f->dev != st->st_dev || f->ino != st->st_ino)
			continue;
		if (!f->reads)
			return f;
		if (!writes)
			found = f;
	}
	return found;
}

/* One that is not in use. */
static struct weft_file *new_file(void)
{
	struct weft_file *f;

	for (f = atomic_load(&files); f; f = f->next)
		if (f->fd < 0)
			return f;
	/* Not by malloc(), which may be the program's and use locks. */
	f = weft_private(sizeof(*f), false);
	if (f) {
		f->fd = -1;
		f->next = atomic_load(&files);
		atomic_store(&files, f);
	}
	return f;
}

/* The region that is open as @fd.  To be followed by weft_file_unused(). */
struct weft_file *weft_file_get(int fd, int *error)
{
	struct weft_file *f;
	struct stat st;

	if (fstat(fd, &st)) {
		*error = errno;
		return NULL;
	}
	f = find_file(&st, (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
	if (f)
		return f;
	f = new_file();
	if (!f) {
		*error = ENOMEM;
		return NULL;
	}
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->block = (uint64_t)st.st_blksize;
	if (f->block < 4096 || f->block > 2 << 20 || f->block & (f->block - 1))
		f->block = 4096;
	*error = open_anew(f, fd);
	return *error ? NULL : f;
}

static void unmap_shared(struct weft_file *f)
{
	if (f->words)
		weft_sys_munmap(f->words, WEFT_LOCKS_SIZE(WEFT_LOCKS_MAX));
	if (f->holds)
		weft_sys_munmap(f->holds, WEFT_HOLDS_SIZE(WEFT_LOCKS_MAX));
	f->words = NULL;
	f->holds = NULL;
}

static void forget_slots(struct weft_file *f)
{
	struct weft_slots *s = atomic_exchange(&f->slots, NULL), *older;

	for (; s; s = older) {
		older = s->older;
		weft_sys_munmap(s, sizeof(*s) + s->room * sizeof(s->entries[0]));
	}
}

/* Has a thread read-locked something, or is just changing that?  Only if a slot is open. */
static bool has_entry(const struct weft_file *f)
{
	unsigned int n = f->holds ? weft_cells() : 0, cell, i;

	for (cell = 0; cell < n; cell++)
		for (i = 0; i < WEFT_HOLDS_ENTRIES; i++)
			if (__atomic_load_n(&f->holds->cell[cell].entry[i], __ATOMIC_ACQUIRE))
				return true;
	return false;
}

/* The entries first: a count has been changed when its entry is cleared. */
static bool holds_any(const struct weft_file *f)
{
	struct weft_slots *s = atomic_load(&f->slots);
	size_t i;

	if (s && s->used && has_entry(f))
		return true;
	for (i = 0; s && i < s->room; i++) {
		uint32_t slot = s->entries[i].slot;
		const struct weft_local *local = &f->local[slot];

		if (!atomic_load(&s->entries[i].key))
			continue;
		if (local->holder || local->reads || (f->holds && f->holds->readers[slot]))
			return true;
		if (f->words && (__atomic_load_n(&f->words[slot].word, __ATOMIC_RELAXED) &
				 WEFT_WORD_OWNER) == f->owner)
			return true;
	}
	return false;
}

/*
 * Lets go of a file that is mapped nowhere.  What is held through it is not given
 * up by unmapping: it stays until that is left, or the process ends.
 */
void weft_file_unused(struct weft_file *f)
{
	/* foreign: notes of threads that name entries, whose memory has to stay */
	if (f->mappings || f->fd < 0 || atomic_load(&f->foreign) || holds_any(f))
		return;
	unmap_shared(f);
	forget_slots(f);
	weft_ranges_forget(f);
	if (f->local)
		weft_sys_munmap(f->local, WEFT_LOCKS_MAX * sizeof(*f->local));
	f->local = NULL;
	f->owner = 0;
	close_file(f);
}

/* In a child: what is shared with the kernel is the parent's, our file as well. */
void weft_files_forked(void)
{
	struct weft_file *f;

	for (f = atomic_load(&files); f; f = f->next) {
		int inherited = f->fd;

		if (inherited < 0)
			continue;
		/* They did not come along. */
		f->words = NULL;
		f->holds = NULL;
		f->owner = 0;
		forget_slots(f);
		/* If it cannot be opened, both go on with the same one. */
		if (!open_anew(f, inherited)) {
			mark(inherited, false);
			weft_sys_close(inherited);
		} else {
			f->by_ioctl = true;
		}
	}
}

/* --- Slots ------------------------------------------------------------------ */

static size_t hash(uint64_t key, size_t room)
{
	return (size_t)(key * 0x9E3779B97F4A7C15ull >> 20) & (room - 1);
}

bool weft_slot_known(struct weft_file *f, uint64_t offset, uint32_t *slot)
{
	struct weft_slots *s = atomic_load_explicit(&f->slots, memory_order_acquire);
	uint64_t key = offset + 1, found;
	size_t i;

	if (!s)
		return false;
	for (i = hash(key, s->room);; i = (i + 1) & (s->room - 1)) {
		found = atomic_load_explicit(&s->entries[i].key, memory_order_acquire);
		if (found == key) {
			*slot = s->entries[i].slot;
			return true;
		}
		if (!found)
			return false;
	}
}

static void insert(struct weft_slots *s, uint64_t key, uint32_t slot)
{
	size_t i = hash(key, s->room);

	while (atomic_load_explicit(&s->entries[i].key, memory_order_relaxed))
		i = (i + 1) & (s->room - 1);
	s->entries[i].slot = slot;
	atomic_store_explicit(&s->entries[i].key, key, memory_order_release);
	s->used++;
}

/* Room for one more. */
static struct weft_slots *room_for_slot(struct weft_file *f)
{
	struct weft_slots *s = atomic_load(&f->slots), *larger;
	size_t room = s ? s->room * 2 : FIRST_ROOM, i;

	if (s && s->used < s->room / 4 * 3)
		return s;
	larger = weft_private(sizeof(*s) + room * sizeof(s->entries[0]), false);
	if (!larger)
		return NULL;
	larger->room = room;
	larger->older = s;
	for (i = 0; s && i < s->room; i++)
		if (s->entries[i].key)
			insert(larger, s->entries[i].key, s->entries[i].slot);
	atomic_store_explicit(&f->slots, larger, memory_order_release);
	return larger;
}

/* Memory that is shared with the kernel; a child does not get it. */
static void *map_shared(struct weft_file *f, size_t size, uint64_t offset)
{
	void *p = weft_sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd,
		       (off_t)offset);

	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, size, MADV_DONTFORK)) {
		weft_sys_munmap(p, size);
		return NULL;
	}
	return p;
}

/* 0, or the errno: the kernel may say at the first mapping that there is no room. */
static int share(struct weft_file *f)
{
	int error;

	if (!f->local)
		f->local = weft_private(WEFT_LOCKS_MAX * sizeof(*f->local), true);
	if (!f->local)
		return ENOMEM;
	if (f->by_ioctl || f->words)
		return 0;
	f->words = map_shared(f, WEFT_LOCKS_SIZE(WEFT_LOCKS_MAX), WEFT_LOCKS_WORDS);
	if (f->words)
		f->holds = map_shared(f, WEFT_HOLDS_SIZE(WEFT_LOCKS_MAX), WEFT_LOCKS_HOLDS);
	if (f->words && f->holds)
		return 0;
	error = errno;
	unmap_shared(f);
	return error;
}

static int open_slot(struct weft_file *f, uint64_t offset, uint32_t *slot)
{
	static _Atomic bool said_full, said_quota, said_old, said_far;
	struct weft_lock_open o = { .offset = offset };
	struct weft_slots *s = room_for_slot(f);
	int error;

	if (!s)
		return ENOMEM;
	error = share(f);
	if (!error)
		error = weft_ioctl(f, WEFT_IOC_LOCK_OPEN, &o);
	switch (error) {
	case 0:
		break;
	case ENOSPC:
		weft_complain(&said_full, "weft: no lock can be added to the region: its slots or its users' numbers on this machine are used up; they are free again when nobody here has the region open");
		return EAGAIN;
	case EDQUOT:
		weft_complain(&said_quota, "weft: this user has as many locks open on this machine as it may: raise lock_user_kib of the kernel module, see weft(7)");
		return EAGAIN;
	case ENOTTY:
		weft_complain(&said_old, "weft: the kernel module that is loaded has no locks, or those of another version: load the weft.ko of the same version as this library");
		return ENOTSUP;
	case EFBIG:
		weft_complain(&said_far, "weft: a lock lies further back in a region than locks can have names: put it into the first 64 GiB");
		return EINVAL;
	case ETIMEDOUT:
		return EIO;
	default:
		return error;
	}
	if (o.slot >= WEFT_LOCKS_MAX || !o.owner || o.owner > 65535)
		return EIO;
	f->owner = (uint64_t)o.owner << WEFT_WORD_OWNER_SHIFT;
	f->lists = o.flags & WEFT_LOCK_LISTS;
	insert(s, offset + 1, o.slot);
	*slot = o.slot;
	return 0;
}

/* The slot of the lock at @offset. */
int weft_slot(struct weft_file *f, uint64_t offset, uint32_t *slot)
{
	int error = 0;

	if (weft_slot_known(f, offset, slot))
		return 0;
	weft_lock_table();
	if (f->fd < 0)
		error = EINVAL;
	else if (!weft_slot_known(f, offset, slot))
		error = open_slot(f, offset, slot);
	weft_unlock_table();
	return error;
}
