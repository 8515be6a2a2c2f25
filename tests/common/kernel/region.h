/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions: the files of the directory WEFT_FAKE_DIR.  The state of one, for all
 * processes, is a file beside it: what the kernel knows of its locks, the words and,
 * by owner, the holds that libweft maps.
 */
#ifndef WEFT_TESTS_COMMON_KERNEL_REGION_H
#define WEFT_TESTS_COMMON_KERNEL_REGION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/common/kernel/fake.h"
#include "weft.h"

#define FAKE_SLOTS	(1u << 18)
#define FAKE_OWNERS	1024

struct fake_slot {
	uint64_t offset;
	uint64_t bound;			/* bytes that it guards */

	_Atomic uint64_t since;		/* when who waits began to, or the last one got it, ns */
	_Atomic uint32_t waiters;
	_Atomic uint32_t recount;	/* grows when some may be dead: those who live say so */
	_Atomic uint32_t events;	/* a futex: something may have become free */
};

struct fake_head {
	pthread_mutex_t mutex;
	bool ready;
	uint32_t n_slots;
	_Atomic uint32_t policy;	/* WEFT_POLICY_* */
	bool owner_used[FAKE_OWNERS];
	struct fake_counts counts;
	uint32_t hash[FAKE_SLOTS * 2];	/* slot + 1 */
	struct fake_slot slots[FAKE_SLOTS];
};

struct fake_region {
	dev_t dev;
	ino_t ino;
	struct fake_head *head;
	struct weft_lock_word *words;
	struct weft_holds *holds[FAKE_OWNERS];
	struct fake_region *next;
};

bool fake_is_region(int fd);
struct fake_region *fake_region_of(int fd);

/* What libweft maps: of the words, and of an owner's holds. */
void *fake_map_words(struct fake_region *r, size_t length, uint64_t offset);
void *fake_map_holds(struct fake_region *r, unsigned int owner, size_t length);

/* Killed processes leave it as it was: nothing that is done under it is harmed by that. */
void fake_lock(struct fake_head *h);
void fake_unlock(struct fake_head *h);

_Atomic uint64_t *fake_word_at(struct fake_region *r, uint32_t slot);
_Atomic uint64_t *fake_holder_at(struct fake_region *r, uint32_t slot);
_Atomic uint32_t *fake_readers_at(struct fake_region *r, unsigned int owner, uint32_t slot);
_Atomic uint32_t *fake_entry_at(struct fake_region *r, unsigned int owner, unsigned int cell,
				unsigned int i);

/* Does one of those who may list it have the lock in a list? */
bool fake_listed(struct fake_region *r, uint32_t slot);

/* Wakes so many of those who wait for the lock. */
void fake_tell(struct fake_slot *s, int n);

/* Where the hash has the slot of a lock, or will have it: 0, none; or the slot + 1. */
uint32_t *fake_slot(struct fake_head *h, uint64_t offset);

#endif /* WEFT_TESTS_COMMON_KERNEL_REGION_H */
