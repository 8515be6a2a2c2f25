// SPDX-License-Identifier: GPL-2.0-only
/* Regions, and what all processes know of them; see region.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "behind.h"
#include "region.h"

/* Nothing of ours may be near what the programs map. */
#define HEAD_SIZE	(64ull << 20)
#define WORDS_AT	HEAD_SIZE
#define WORDS_ROOM	(64ull << 20)
#define HOLDS_AT	(WORDS_AT + WORDS_ROOM)
#define HOLDS_ROOM	(8ull << 20)

_Static_assert(sizeof(struct fake_head) <= HEAD_SIZE, "the head fits");

static struct fake_region *regions;
static pthread_mutex_t regions_mutex = PTHREAD_MUTEX_INITIALIZER;

bool fake_is_region(int fd)
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

static void prepare(struct fake_head *h)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	behind_init(&h->mutex, &attr);
	h->ready = true;
}

/* The file of a region's state.  Not kept open: programs close what they find. */
static int state_file(ino_t ino)
{
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s/.%lu", getenv("WEFT_FAKE_DIR"), (unsigned long)ino);
	fd = behind_open(name, O_RDWR | O_CREAT | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void *map_state(ino_t ino, size_t length, uint64_t offset)
{
	int fd = state_file(ino);
	void *p = behind_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	if (p == MAP_FAILED)
		abort();
	syscall(SYS_close, fd);
	return p;
}

static struct fake_region *open_state(const struct stat *st)
{
	struct fake_region *r = behind_memory(sizeof(*r));
	int fd = state_file(st->st_ino);

	if (!r || syscall(SYS_flock, fd, 2 /* LOCK_EX */) ||
	    syscall(SYS_ftruncate, fd, HOLDS_AT + HOLDS_ROOM * FAKE_OWNERS))
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

struct fake_region *fake_region_of(int fd)
{
	struct fake_region *r;
	struct stat st;

	if (fstat(fd, &st))
		abort();
	behind_lock(&regions_mutex);
	for (r = regions; r; r = r->next)
		if (r->ino == st.st_ino && r->dev == st.st_dev)
			break;
	if (!r) {
		r = open_state(&st);
		r->next = regions;
		regions = r;
	}
	behind_unlock(&regions_mutex);
	return r;
}

void *fake_map_words(struct fake_region *r, size_t length, uint64_t offset)
{
	return map_state(r->ino, length, WORDS_AT + offset);
}

void *fake_map_holds(struct fake_region *r, unsigned int owner, size_t length)
{
	return map_state(r->ino, length, HOLDS_AT + HOLDS_ROOM * owner);
}

static struct weft_holds *holds_of(struct fake_region *r, unsigned int owner)
{
	if (!r->holds[owner])
		r->holds[owner] = fake_map_holds(r, owner, HOLDS_ROOM);
	return r->holds[owner];
}

void fake_lock(struct fake_head *h)
{
	if (behind_lock(&h->mutex) == EOWNERDEAD)
		behind_recover(&h->mutex);
}

void fake_unlock(struct fake_head *h)
{
	behind_unlock(&h->mutex);
}

_Atomic uint64_t *fake_word_at(struct fake_region *r, uint32_t slot)
{
	return (_Atomic uint64_t *)&r->words[slot].word;
}

_Atomic uint64_t *fake_holder_at(struct fake_region *r, uint32_t slot)
{
	return (_Atomic uint64_t *)&r->words[slot].holder;
}

_Atomic uint32_t *fake_readers_at(struct fake_region *r, unsigned int owner, uint32_t slot)
{
	return (_Atomic uint32_t *)&holds_of(r, owner)->readers[slot];
}

_Atomic uint32_t *fake_entry_at(struct fake_region *r, unsigned int owner, unsigned int cell,
				unsigned int i)
{
	return (_Atomic uint32_t *)&holds_of(r, owner)->cell[cell].entry[i];
}

bool fake_listed(struct fake_region *r, uint32_t slot)
{
	unsigned int owner, i;

	for (owner = 1; owner <= WEFT_LIST_FILES; owner++)
		for (i = 0; r->head->owner_used[owner] &&
			    i < WEFT_LIST_CELLS * WEFT_HOLDS_ENTRIES; i++)
			if (*fake_entry_at(r, owner, 0, i) == ((slot + 1) | WEFT_ENTRY_LISTED))
				return true;
	return false;
}

void fake_tell(struct fake_slot *s, int n)
{
	atomic_fetch_add(&s->events, 1);
	syscall(SYS_futex, &s->events, FUTEX_WAKE, n, NULL, NULL, 0);
}

uint32_t *fake_slot(struct fake_head *h, uint64_t offset)
{
	uint64_t i = offset * 0x9E3779B97F4A7C15ull >> 40;

	for (;; i++) {
		uint32_t *entry = &h->hash[i % (FAKE_SLOTS * 2)];

		if (!*entry || h->slots[*entry - 1].offset == offset)
			return entry;
	}
}
