// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of mappings: which region is mapped where.
 *
 * Written under a mutex, read without: a counter is odd while it changes, and
 * who has read it anew when the counter is another has read nothing.  It has room
 * for as many mappings as Linux gives a process.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "internal.h"

#define MAPPINGS	65536u

/**
 * struct mapping - a piece of a region in the address space
 * @begin:	first address
 * @end:	first address after it
 * @offset:	in the region, of @begin
 * @file:	the region
 */
struct mapping {
	_Atomic uintptr_t begin;
	_Atomic uintptr_t end;
	_Atomic uint64_t offset;
	struct weft_file *_Atomic file;
};

_Atomic uint32_t weft_generation = 1;
_Atomic uint64_t weft_hull;

/* Sorted; none overlaps another. */
static struct mapping *_Atomic table;
static _Atomic unsigned int n_mappings;
static _Atomic unsigned int sequence;

/*
 * Whoever has it may change things, or fork.  Not a pthread_mutex_t: in the preload
 * library that would be looked for in the table itself.  0: free, 1: taken, 2: taken
 * and somebody may wait.
 */
static _Atomic uint32_t table_lock;

void weft_complain(_Atomic bool *said, const char *format, ...)
{
	char text[512];
	int cancel_state;
	va_list args;
	ssize_t n;

	if (atomic_exchange(said, true))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	strcat(text, "\n");
	/* Not stdio: its locks may be held by whoever called us. */
	cancel_state = weft_cancel_off();
	n = write(STDERR_FILENO, text, strlen(text));
	weft_cancel_restore(cancel_state);
	(void)n;
}

/*
 * Opening, closing and writing are cancellation points; what calls us is none, and
 * has things half done: between these two nobody is cancelled.
 */
int weft_cancel_off(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

void weft_cancel_restore(int state)
{
	pthread_setcancelstate(state, NULL);
}

/*
 * The thread that forks, which has the table meanwhile: handlers of the fork that are not ours
 * may use a malloc() that maps something.
 */
static _Atomic pthread_t forking;

/* Of who has the table: as it was before. */
static int cancel_before;
static sigset_t mask_before;

/*
 * Nobody is cancelled while he has it, or it would stay locked.  Nor does a signal's
 * handler run, which might map something, unmap it, fork or post a semaphore, and wait
 * for itself for ever.  What a thread does itself is not blocked: the kernel kills who
 * blocks that.
 */
void weft_lock_table(void)
{
	static const int own[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
	sigset_t all, mask;
	uint32_t found = 0;
	int state;
	size_t i;

	if (atomic_load(&forking) == pthread_self())
		return;
	state = weft_cancel_off();
	sigfillset(&all);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_BLOCK, &all, &mask);

	if (!atomic_compare_exchange_strong(&table_lock, &found, 1))
		while (atomic_exchange(&table_lock, 2))
			syscall(SYS_futex, &table_lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	cancel_before = state;
	mask_before = mask;
}

void weft_unlock_table(void)
{
	int state = cancel_before;
	sigset_t mask = mask_before;

	if (atomic_load(&forking) == pthread_self())
		return;
	if (atomic_exchange(&table_lock, 0) == 2)
		syscall(SYS_futex, &table_lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	weft_cancel_restore(state);
}

/* Of a fork without handlers another thread may have had it, and not be here. */
void weft_maps_forked(void)
{
	atomic_store(&table_lock, 0);
	atomic_store(&sequence, 0);
	if (atomic_load(&forking) != pthread_self())
		atomic_store(&forking, 0);
}

/* What the child takes over: its other handlers may have the table in between. */
static int cancel_before_fork;
static sigset_t mask_before_fork;

static void before_fork(void)
{
	weft_lock_table();
	cancel_before_fork = cancel_before;
	mask_before_fork = mask_before;
	atomic_store(&forking, pthread_self());
}

static void after_fork_in_parent(void)
{
	atomic_store(&forking, 0);
	weft_unlock_table();
}

static void after_fork(void)
{
	/* Another handler may have used a lock before; that did it. */
	if (weft_is_forked())
		weft_forked();
	else
		atomic_store(&table_lock, 0);
	atomic_store(&forking, 0);
	pthread_sigmask(SIG_SETMASK, &mask_before_fork, NULL);
	weft_cancel_restore(cancel_before_fork);
}

/*
 * Early, so that handlers of the program come before ours when it forks: they may
 * use locks.
 */
static __attribute__((constructor)) void start(void)
{
	weft_threads_start();
	pthread_atfork(before_fork, after_fork_in_parent, after_fork);
}

/* --- Looking ------------------------------------------------------------------ */

/* The first mapping that ends above @address; the table may be changing. */
static unsigned int first_above(struct mapping *t, unsigned int n, uintptr_t address)
{
	unsigned int low = 0, high = n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (atomic_load_explicit(&t[middle].end, memory_order_relaxed) > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The region at @address, NULL: none, and where in it that is. */
struct weft_file *weft_mapped(uintptr_t address, uint64_t *offset)
{
	for (;;) {
		unsigned int before = atomic_load_explicit(&sequence, memory_order_acquire);
		struct mapping *t = atomic_load_explicit(&table, memory_order_relaxed);
		struct weft_file *f = NULL;
		unsigned int n, i;

		n = atomic_load_explicit(&n_mappings, memory_order_relaxed);
		i = t ? first_above(t, n, address) : n;
		if (i < n) {
			uintptr_t begin = atomic_load_explicit(&t[i].begin,
							       memory_order_relaxed);

			if (begin <= address) {
				f = atomic_load_explicit(&t[i].file, memory_order_relaxed);
				*offset = address - begin +
					  atomic_load_explicit(&t[i].offset,
							       memory_order_relaxed);
			}
		}
		atomic_thread_fence(memory_order_acquire);
		if (likely(!(before & 1) &&
			   before == atomic_load_explicit(&sequence, memory_order_relaxed)))
			return f;
	}
}

/* --- Changing, under the mutex ------------------------------------------------ */

/* No signal's handler looks meanwhile, it would wait for us for ever. */
static void change_begin(void)
{
	atomic_store(&sequence, atomic_load(&sequence) + 1);
	atomic_thread_fence(memory_order_release);
}

static void change_end(void)
{
	unsigned int n = atomic_load(&n_mappings);
	uint64_t first, count;

	if (n) {
		first = table[0].begin >> WEFT_HULL_SHIFT;
		count = ((table[n - 1].end - 1) >> WEFT_HULL_SHIFT) - first + 1;
		atomic_store(&weft_hull, count << 32 | first);
	} else {
		atomic_store(&weft_hull, 0);
	}
	/* No thread may believe any more what it has found; those of 0 never were. */
	if (atomic_fetch_add(&weft_generation, 1) == UINT32_MAX)
		weft_forget_refs();
	atomic_store(&sequence, atomic_load(&sequence) + 1);
}

static void put(unsigned int i, uintptr_t begin, uintptr_t end, uint64_t offset,
		struct weft_file *f)
{
	struct mapping *t = table;

	atomic_store_explicit(&t[i].begin, begin, memory_order_relaxed);
	atomic_store_explicit(&t[i].end, end, memory_order_relaxed);
	atomic_store_explicit(&t[i].offset, offset, memory_order_relaxed);
	atomic_store_explicit(&t[i].file, f, memory_order_relaxed);
}

/* Moves what begins at @from to @to. */
static void shift(unsigned int from, unsigned int to)
{
	struct mapping *t = table;
	unsigned int n = n_mappings, i;

	if (to > from)
		for (i = n; i-- > from;)
			put(i + to - from, t[i].begin, t[i].end, t[i].offset, t[i].file);
	else if (to < from)
		for (i = from; i < n; i++)
			put(i + to - from, t[i].begin, t[i].end, t[i].offset, t[i].file);
	n_mappings = n + to - from;
}

/* Takes the addresses out of the table.  Room for one more must be left. */
static void cut(uintptr_t begin, uintptr_t end)
{
	struct mapping *t = table;
	unsigned int i = first_above(t, n_mappings, begin), j;

	if (i < n_mappings && t[i].begin < begin) {
		if (t[i].end > end) {
			/* A hole in the middle makes two of it. */
			shift(i, i + 1);
			put(i, t[i].begin, begin, t[i].offset, t[i].file);
			put(i + 1, end, t[i + 1].end,
			    t[i + 1].offset + (end - t[i + 1].begin), t[i + 1].file);
			t[i].file->mappings++;
			return;
		}
		put(i, t[i].begin, begin, t[i].offset, t[i].file);
		i++;
	}
	for (j = i; j < n_mappings && t[j].end <= end; j++)
		t[j].file->mappings--;
	shift(j, i);
	if (i < n_mappings && t[i].begin < end)
		put(i, end, t[i].end, t[i].offset + (end - t[i].begin), t[i].file);
}

/* What a range of addresses is rounded to. */
static uintptr_t page_end(uintptr_t address, size_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (address + length + page - 1) & ~(page - 1);
}

static int add(struct weft_file *f, uintptr_t begin, uintptr_t end, uint64_t offset)
{
	unsigned int i;

	if (!table) {
		table = weft_private(MAPPINGS * sizeof(*table), false);
		if (!table)
			return ENOMEM;
	}
	/* Addresses of more than 48 bits, which only who asks for them gets, do not
	 * fit into weft_hull.
	 */
	if (n_mappings + 2 > MAPPINGS || (end - 1) >> 48)
		return ENOMEM;
	change_begin();
	cut(begin, end);
	i = first_above(table, n_mappings, begin);
	shift(i, i + 1);
	put(i, begin, end, offset, f);
	f->mappings++;
	change_end();
	return 0;
}

/* The pages at @address show the region open as @fd.  0, or why that is not known. */
int weft_map_add(int fd, uintptr_t address, size_t length, uint64_t offset)
{
	struct weft_file *f;
	int error = 0;

	weft_lock_table();
	f = weft_file_get(fd, &error);
	if (f) {
		error = add(f, address, page_end(address, length), offset);
		weft_file_unused(f);
	}
	weft_unlock_table();
	return error;
}

/*
 * The pages at @address show no region any more, unless weft_map_settle() says that they do
 * after all.  Until that, what is held of the regions stays.  0, or why nothing was done.
 */
int weft_map_take(uintptr_t address, size_t length, struct weft_taken *taken)
{
	uint64_t hull = atomic_load_explicit(&weft_hull, memory_order_relaxed);
	uintptr_t end = page_end(address, length);
	unsigned int i, n = 0;
	int error = 0;

	taken->n = 0;
	/* Most of what programs map and unmap. */
	if ((end - 1) >> WEFT_HULL_SHIFT < (uint32_t)hull ||
	    address >> WEFT_HULL_SHIFT >= (uint32_t)hull + (hull >> 32))
		return 0;
	weft_lock_table();
	i = first_above(table, n_mappings, address);
	while (i + n < n_mappings && table[i + n].begin < end)
		n++;
	taken->pieces = n <= 1 ? &taken->one : weft_private(n * sizeof(*taken->pieces), false);
	/* A hole in the middle of one makes two of it. */
	if (!taken->pieces || (n && n_mappings == MAPPINGS))
		error = ENOMEM;
	for (; !error && taken->n < n; taken->n++, i++) {
		uintptr_t begin = table[i].begin < address ? address : table[i].begin;

		taken->pieces[taken->n] = (struct weft_piece){
			.begin = begin,
			.end = table[i].end > end ? end : table[i].end,
			.offset = table[i].offset + (begin - table[i].begin),
			.file = table[i].file,
		};
		table[i].file->mappings++;
	}
	if (taken->n) {
		change_begin();
		cut(address, end);
		change_end();
	}
	weft_unlock_table();
	return error;
}

/* Of so many bytes from @address on, which were all mapped: how many of the first still are. */
static size_t still_mapped(uintptr_t address, size_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), most = length / page, least = 0;

	/* This only looks whether there is a hole. */
	while (least < most) {
		size_t n = most - (most - least) / 2;

		if (!syscall(SYS_msync, address, n * page, MS_ASYNC))
			least = n;
		else
			most = n - 1;
	}
	return least * page;
}

/*
 * What was taken is gone; or, if it is @back, as the call failed that was to take it away, what
 * is left of it is put back.  0, or why that could not be noted.
 */
int weft_map_settle(struct weft_taken *taken, bool back)
{
	unsigned int i;
	int error = 0;

	if (!taken->n)
		return 0;
	weft_lock_table();
	for (i = 0; i < taken->n; i++) {
		struct weft_piece *p = &taken->pieces[i];
		size_t left = back ? still_mapped(p->begin, p->end - p->begin) : 0;

		if (left && add(p->file, p->begin, p->begin + left, p->offset))
			error = ENOMEM;
		p->file->mappings--;
	}
	for (i = 0; i < taken->n; i++)
		weft_file_unused(taken->pieces[i].file);
	weft_unlock_table();
	if (taken->pieces != &taken->one)
		weft_sys_munmap(taken->pieces, taken->n * sizeof(*taken->pieces));
	return error;
}

/* The pages at @address show no region any more.  0, or why that cannot be noted. */
int weft_map_remove(uintptr_t address, size_t length)
{
	struct weft_taken taken;
	int error = weft_map_take(address, length, &taken);

	return error ? error : weft_map_settle(&taken, false);
}

/*
 * The region that all of these addresses show, NULL: not one, and where in it they
 * begin.  It stays as it is, with all that is held of it, until weft_map_let_go(),
 * even if it is mapped nowhere in between.
 */
struct weft_file *weft_map_hold(uintptr_t address, size_t length, uint64_t *offset)
{
	struct weft_file *f = NULL;
	struct mapping *t;
	unsigned int i;

	if (!atomic_load(&weft_hull))
		return NULL;
	weft_lock_table();
	t = table;
	i = t ? first_above(t, n_mappings, address) : 0;
	if (t && i < n_mappings && t[i].begin <= address) {
		f = t[i].file;
		*offset = t[i].offset + (address - t[i].begin);
		/* What goes on in the next one is one mapping for the kernel. */
		for (; f && t[i].end - address < length; i++)
			if (i + 1 == n_mappings || t[i + 1].begin != t[i].end ||
			    t[i + 1].file != f ||
			    t[i + 1].offset != t[i].offset + (t[i].end - t[i].begin))
				f = NULL;
	}
	if (f)
		f->mappings++;
	weft_unlock_table();
	return f;
}

/* The pages at @address show the region.  What was known of them is replaced. */
int weft_map_put(struct weft_file *f, uintptr_t address, size_t length, uint64_t offset)
{
	int error;

	weft_lock_table();
	error = add(f, address, page_end(address, length), offset);
	weft_unlock_table();
	return error;
}

void weft_map_let_go(struct weft_file *f)
{
	weft_lock_table();
	f->mappings--;
	weft_file_unused(f);
	weft_unlock_table();
}

/* --- Mappings that nobody told of ---------------------------------------------- */

struct line {
	uintptr_t begin;
	uintptr_t end;
	uint64_t offset;
	char shared;
	dev_t dev;
	ino_t ino;
	char *name;
};

static bool read_line(char *text, struct line *l)
{
	unsigned int major, minor;
	unsigned long ino, offset;
	int name = 0;

	text[strcspn(text, "\n")] = '\0';
	if (sscanf(text, "%lx-%lx %*c%*c%*c%c %lx %x:%x %lu %n", &l->begin, &l->end,
		   &l->shared, &offset, &major, &minor, &ino, &name) != 7 || !name)
		return false;
	l->offset = offset;
	l->dev = makedev(major, minor);
	l->ino = ino;
	l->name = text + name;
	return true;
}

/* Not found out by opening: a device might take that for a request. */
static bool is_weft(const char *name)
{
	struct statfs fs;

	return !statfs(name, &fs) && fs.f_type == WEFT_SUPER_MAGIC;
}

/*
 * Through the directory that the file of a line is in, or was: who has it mapped may have lost
 * its name, or the right to open that.
 */
static int open_by_mapping(struct line *l)
{
	char *slash = strrchr(l->name, '/');
	int dir = -1, fd = -1;

	if (slash == l->name)
		return -1;
	*slash = '\0';
	if (is_weft(l->name))
		dir = open(l->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	if (dir >= 0) {
		fd = ioctl(dir, WEFT_IOC_LOCK_FILE, l->begin);
		weft_sys_close(dir);
	}
	return fd;
}

static int open_by_name(const struct line *l)
{
	int fd;

	if (!is_weft(l->name))
		return -1;
	fd = open(l->name, O_RDWR | O_CLOEXEC);
	return fd >= 0 ? fd : open(l->name, O_RDONLY | O_CLOEXEC);
}

/* Opens the region of a line; -1: it is none. */
static int open_region(struct line *l)
{
	struct stat st;
	int fd;

	if (l->shared != 's' || l->name[0] != '/')
		return -1;
	fd = open_by_mapping(l);
	if (fd < 0)
		fd = open_by_name(l);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || st.st_dev != l->dev || st.st_ino != l->ino) {
		/* Another file has the name now. */
		weft_sys_close(fd);
		return -1;
	}
	return fd;
}

static int scan(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *text = NULL;
	size_t room = 0;
	int error = ENOENT;

	if (!maps)
		return errno;
	while (getline(&text, &room, maps) > 0) {
		struct line l;
		int fd;

		if (!read_line(text, &l) || address < l.begin || address >= l.end)
			continue;
		fd = open_region(&l);
		if (fd >= 0) {
			error = weft_map_add(fd, l.begin, l.end - l.begin, l.offset);
			weft_sys_close(fd);
		}
		break;
	}
	free(text);
	fclose(maps);
	return error;
}

/* Asks the kernel what is mapped at @address: 0 if that is a region, known now. */
int weft_map_scan(uintptr_t address)
{
	int cancel_state = weft_cancel_off(), error = scan(address);

	weft_cancel_restore(cancel_state);
	return error;
}
