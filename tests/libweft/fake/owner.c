// SPDX-License-Identifier: GPL-2.0-only
/* Open files of a region, and those that are gone; see owner.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Is somebody who lives about to change the word of the slot? */
static bool any_pending(struct fake_region *r, const bool *dead, uint32_t slot)
{
	unsigned int owner, cell;

	for (owner = 1; owner < FAKE_OWNERS; owner++)
		for (cell = 0; r->head->owner_used[owner] && !dead[owner] &&
			       cell < WEFT_HOLDS_THREADS; cell++)
			if (*fake_pending_at(r, owner, cell) == slot + 1)
				return true;
	return false;
}

/*
 * A thread died between changing the word and its count: the counts of those who
 * live tell what is right, once none of them is about to change anything; SLOW
 * keeps new ones away.  That settles it for all who are dead.
 */
static void reap_uncertain(struct fake_region *r, const bool *dead, uint32_t slot)
{
	_Atomic uint64_t *word = fake_word_at(r, slot);
	uint64_t readers = 0, w;
	unsigned int owner;

	atomic_fetch_or(word, WEFT_WORD_SLOW);
	while (any_pending(r, dead, slot))
		usleep(100);
	for (owner = 1; owner < FAKE_OWNERS; owner++) {
		if (!r->head->owner_used[owner])
			continue;
		if (dead[owner])
			*fake_readers_at(r, owner, slot) = 0;
		else
			readers += *fake_readers_at(r, owner, slot);
	}
	w = *word;
	atomic_fetch_sub(word, (w & WEFT_WORD_READERS) - readers * WEFT_WORD_READER);
}

/* Gives back what a file held that is gone. */
static void reap_slot(struct fake_region *r, unsigned int owner, uint32_t slot, bool uncertain,
		      const bool *dead)
{
	_Atomic uint64_t *word = fake_word_at(r, slot);
	struct fake_slot *s = &r->head->slots[slot];
	uint32_t n = *fake_readers_at(r, owner, slot);
	uint64_t w = *word;
	bool held = n || uncertain;

	if (uncertain)
		reap_uncertain(r, dead, slot);
	else
		atomic_fetch_sub(word, (uint64_t)n * WEFT_WORD_READER);
	*fake_readers_at(r, owner, slot) = 0;
	if ((w & WEFT_WORD_OWNER) >> WEFT_WORD_OWNER_SHIFT == owner) {
		atomic_fetch_and(word, ~WEFT_WORD_OWNER);
		held = true;
	}
	if (held) {
		if (!s->waiters)
			atomic_fetch_and(word, ~WEFT_WORD_SLOW);
		fake_tell(s);
	}
}

void fake_reap(struct fake_region *r, int fd, unsigned int own)
{
	struct fake_head *h = r->head;
	bool dead[FAKE_OWNERS] = { false };
	unsigned int owner, cell;
	uint32_t slot;

	for (owner = 1; owner < FAKE_OWNERS; owner++)
		dead[owner] = h->owner_used[owner] && gone(fd, own, owner);
	for (owner = 1; owner < FAKE_OWNERS; owner++) {
		if (!dead[owner])
			continue;
		for (slot = 0; slot < h->n_slots; slot++) {
			bool uncertain = false;

			for (cell = 0; cell < WEFT_HOLDS_THREADS; cell++)
				if (*fake_pending_at(r, owner, cell) == slot + 1)
					uncertain = true;
			reap_slot(r, owner, slot, uncertain, dead);
		}
		for (cell = 0; cell < WEFT_HOLDS_THREADS; cell++)
			*fake_pending_at(r, owner, cell) = 0;
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
