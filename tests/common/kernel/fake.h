/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock interface of the kernel (uapi/weft.h), in user space: for tests without
 * a rack.  See fake.c.
 */
#ifndef WEFT_TESTS_COMMON_KERNEL_FAKE_H
#define WEFT_TESTS_COMMON_KERNEL_FAKE_H

#include <stdatomic.h>
#include <stdint.h>

/* What was asked of it, by all processes that have the region open. */
struct fake_counts {
	_Atomic uint64_t opens;
	_Atomic uint64_t acquires;
	_Atomic uint64_t waits;
	_Atomic uint64_t releases;
	_Atomic uint64_t wakes;
	/* Waiters that found a lock free which nobody had told them of. */
	_Atomic uint64_t late;
	/* Locks of which somebody said that all is right again after an owner's death. */
	_Atomic uint64_t mended;
	/* Open files that went away holding something. */
	_Atomic uint64_t reaped;
};

/* The files of @directory are regions from now on, for children as well. */
void fake_begin(const char *directory);

/* Of the region open as @fd. */
struct fake_counts *fake_counts(int fd);

/* The word of the lock at @offset, NULL: no slot. */
_Atomic uint64_t *fake_word(int fd, uint64_t offset);

/*
 * The same as it is now, without what programs only note in it; LISTED only if somebody
 * has listed the lock.
 */
uint64_t fake_state(int fd, uint64_t offset);

/* Takes the permission away, as another node would that wants the lock. */
void fake_take_away(int fd, uint64_t offset, unsigned int left);

/* Another node had the lock at @offset to write, and died: this one may have it next. */
void fake_node_dies(int fd, uint64_t offset);

/* The region's policy is this from now on: WEFT_POLICY_*. */
void fake_set_policy(int fd, uint32_t policy);

/* How many bytes the kernel was told that the lock at @offset guards. */
uint64_t fake_bound(int fd, uint64_t offset);

/* From now on it is a kernel that cannot be told. */
extern _Bool fake_old;

/* From now on the file may not be opened a second time: by its name, or in any way. */
#define FAKE_REFUSES_NAMES	1
#define FAKE_REFUSES_ALL	2
extern int fake_refuses;

/* From now on munmap() fails; mmap() of what is to replace something takes that away and fails. */
extern _Bool fake_keeps, fake_loses;

#endif /* WEFT_TESTS_COMMON_KERNEL_FAKE_H */
