// SPDX-License-Identifier: GPL-2.0-only
/* Open files of a region, and those that are gone; see owner.h. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "behind.h"
#include "owner.h"

#define POSITION	(1ll << 40)	/* of files that are known, plus the owner number */

static bool gone(int fd, unsigned int own, unsigned int owner)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = POSITION + owner, .l_len = 1,
	};

	return owner != own && !syscall(SYS_fcntl, fd, F_OFD_GETLK, &lock) &&
	       lock.l_type == F_UNLCK;
}

/* Who lives and reads, of the slot; false: one of them is just changing that. */
static bool count_readers(struct fake_region *r, const bool *dead, uint32_t slot,
			  uint64_t *readers)
{
	unsigned int owner, i;

	*readers = 0;
	for (owner = 1; owner < FAKE_OWNERS; owner++) {
		for (i = 0; r->head->owner_used[owner] && !dead[owner] &&
			    i < WEFT_HOLDS_THREADS * WEFT_HOLDS_ENTRIES; i++) {
			uint32_t entry = *fake_entry_at(r, owner, 0, i);

			if (entry == ((slot + 1) | WEFT_ENTRY_CHANGING))
				return false;
			*readers += entry == ((slot + 1) | WEFT_ENTRY_HELD);
		}
	}
	for (owner = 1; owner < FAKE_OWNERS; owner++)
		if (r->head->owner_used[owner] && !dead[owner])
			*readers += *fake_readers_at(r, owner, slot);
	return true;
}

/*
 * A thread died between changing the word and what says so: those who live tell what
 * is right, once none of them is about to change anything; SLOW keeps new ones away.
 * That settles it for all who are dead.
 */
static void reap_uncertain(struct fake_region *r, const bool *dead, uint32_t slot)
{
	_Atomic uint64_t *word = fake_word_at(r, slot);
	uint64_t readers, w;
	unsigned int owner, i;

	atomic_fetch_or(word, WEFT_WORD_SLOW);
	do {
		w = *word;
		while (!count_readers(r, dead, slot, &readers)) {
			usleep(100);
			w = *word;
		}
	} while (!atomic_compare_exchange_strong(word, &w, (w & ~WEFT_WORD_READERS) |
						 readers * WEFT_WORD_READER));
	for (owner = 1; owner < FAKE_OWNERS; owner++) {
		if (!r->head->owner_used[owner] || !dead[owner])
			continue;
		*fake_readers_at(r, owner, slot) = 0;
		for (i = 0; i < WEFT_HOLDS_THREADS * WEFT_HOLDS_ENTRIES; i++)
			if (*fake_entry_at(r, owner, 0, i) == ((slot + 1) | WEFT_ENTRY_HELD))
				*fake_entry_at(r, owner, 0, i) = 0;
	}
}

/* Gives back what a file held that is gone. */
static void reap_slot(struct fake_region *r, unsigned int owner, uint32_t slot, bool uncertain,
		      bool listed, const bool *dead)
{
	_Atomic uint64_t *word = fake_word_at(r, slot);
	struct fake_slot *s = &r->head->slots[slot];
	uint32_t n = *fake_readers_at(r, owner, slot);
	uint64_t w = *word;
	bool held = n || uncertain || listed;

	if (uncertain)
		reap_uncertain(r, dead, slot);
	else
		atomic_fetch_sub(word, (uint64_t)n * WEFT_WORD_READER);
	*fake_readers_at(r, owner, slot) = 0;
	if ((w & WEFT_WORD_OWNER) >> WEFT_WORD_OWNER_SHIFT == owner) {
		*fake_holder_at(r, slot) = 0;
		atomic_fetch_or(word, WEFT_WORD_DIED);
		atomic_fetch_and(word, ~WEFT_WORD_OWNER);
		held = true;
	}
	/* It may have left the lock and died before it told us, or while it waited. */
	if (held || w & (WEFT_WORD_SLOW | WEFT_WORD_TELL) || s->waiters) {
		s->waiters = 0;
		s->recount++;
		atomic_fetch_and(word, ~(WEFT_WORD_SLOW | WEFT_WORD_TELL));
		fake_tell(s, INT_MAX);
	}
}

/* What is said of a slot in the entries of a file that is gone. */
#define SAYS_CHANGING	1
#define SAYS_LISTED	2

/* What is held is counted, as all else in that case is; what each says. */
static void read_entries(struct fake_region *r, unsigned int owner, uint8_t *says)
{
	unsigned int i;

	for (i = 0; i < WEFT_HOLDS_THREADS * WEFT_HOLDS_ENTRIES; i++) {
		_Atomic uint32_t *entry = fake_entry_at(r, owner, 0, i);
		uint32_t slot = (*entry & WEFT_ENTRY_SLOT) - 1;

		if (!*entry || slot >= r->head->n_slots)
			continue;
		switch (*entry & ~WEFT_ENTRY_SLOT) {
		case WEFT_ENTRY_HELD:
			/* If we are killed here it is uncertain. */
			*entry = (slot + 1) | WEFT_ENTRY_CHANGING;
			atomic_fetch_add(fake_readers_at(r, owner, slot), 1);
			*entry = 0;
			break;
		case WEFT_ENTRY_LISTED:
			says[slot] |= SAYS_LISTED;
			break;
		default:
			says[slot] |= SAYS_CHANGING;
		}
	}
}

static void reap_one(struct fake_region *r, unsigned int owner, const bool *dead)
{
	uint8_t *says = behind_memory(r->head->n_slots + 1);
	unsigned int i;
	uint32_t slot;

	if (!says)
		abort();
	read_entries(r, owner, says);
	/* What is listed is in the way as long as it is there. */
	for (i = 0; i < WEFT_HOLDS_THREADS * WEFT_HOLDS_ENTRIES; i++)
		if ((*fake_entry_at(r, owner, 0, i) & ~WEFT_ENTRY_SLOT) == WEFT_ENTRY_LISTED)
			*fake_entry_at(r, owner, 0, i) = 0;
	for (slot = 0; slot < r->head->n_slots; slot++)
		reap_slot(r, owner, slot, says[slot] & SAYS_CHANGING, says[slot] & SAYS_LISTED,
			  dead);
	for (i = 0; i < WEFT_HOLDS_THREADS * WEFT_HOLDS_ENTRIES; i++)
		*fake_entry_at(r, owner, 0, i) = 0;
	syscall(SYS_munmap, says, r->head->n_slots + 1);
}

void fake_reap(struct fake_region *r, int fd, unsigned int own)
{
	struct fake_head *h = r->head;
	bool dead[FAKE_OWNERS] = { false };
	unsigned int owner;

	for (owner = 1; owner < FAKE_OWNERS; owner++)
		dead[owner] = h->owner_used[owner] && gone(fd, own, owner);
	for (owner = 1; owner < FAKE_OWNERS; owner++) {
		if (!dead[owner])
			continue;
		reap_one(r, owner, dead);
		h->owner_used[owner] = false;
		dead[owner] = false;
		h->counts.reaped++;
	}
}

unsigned int fake_owner_of(int fd)
{
	off_t position = lseek(fd, 0, SEEK_CUR);

	return position > POSITION ? (unsigned int)(position - POSITION) : 0;
}

unsigned int fake_make_owner(struct fake_region *r, int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
	unsigned int owner = fake_owner_of(fd);

	if (owner)
		return owner;
	for (owner = 1; owner < FAKE_OWNERS && r->head->owner_used[owner]; owner++)
		;
	if (owner == FAKE_OWNERS)
		return 0;
	r->head->owner_used[owner] = true;
	lock.l_start = POSITION + owner;
	if (syscall(SYS_fcntl, fd, F_OFD_SETLK, &lock))
		abort();
	lseek(fd, POSITION + owner, SEEK_SET);
	return owner;
}
