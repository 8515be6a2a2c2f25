/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Locks of a region: ioctls of an open file of /weft, and the memory that
 * programs and the kernel share for them.
 *
 * A lock is named by its offset in the region; what stands there is neither read
 * nor written.  Programs of one node meet in a word of memory that is the node's
 * own.  A lock that is cached here, and not contended, is taken and left with
 * one compare-and-swap on its word; in all other cases the kernel is asked.
 *
 *	int fd = open("/weft/region", O_RDWR);
 *	struct weft_lock_open o = { .offset = 4096 };
 *	ioctl(fd, WEFT_IOC_LOCK_OPEN, &o);		(o.slot)
 *	words = mmap(NULL, WEFT_LOCKS_SIZE(n), PROT_READ | PROT_WRITE,
 *		     MAP_SHARED, fd, WEFT_LOCKS_WORDS);
 *	holds = mmap(..., WEFT_HOLDS_SIZE(n), ..., fd, WEFT_LOCKS_HOLDS);
 *
 * Both mappings need a file opened for writing; one that is only read takes its
 * locks by ioctl alone.  They may be longer than what is in use: pages appear as
 * slots are opened, and an access beyond the last opened slot's page is SIGBUS.
 *
 * The kernel believes nothing that it reads there.  A program that writes
 * nonsense can make those wait, or not exclude each other, who share the region
 * with it and whom it could do the same by writing nonsense into the region.
 */
#ifndef _UAPI_WEFT_H
#define _UAPI_WEFT_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* statfs(): f_type of a mounted weft. */
#define WEFT_SUPER_MAGIC	0x57656674

/* What a lock is wanted for, or held for. */
#define WEFT_LOCK_READ		1
#define WEFT_LOCK_WRITE		2

/*
 * The word of a lock, 64 bits of it:
 *
 *	0-1	what the node has: 0 nothing, 1 it may be read-locked, 2 also
 *		write-locked
 *	2	SLOW: ask the kernel to take it; tell the kernel when it was left
 *		and nobody holds it any more
 *	8-31	how many read-lock it
 *	32-47	owner number of the file through which it is write-locked, 0: nobody
 *	48-63	0
 *
 * Taking it to read, without the kernel: bits 0-1 are 1 or 2, SLOW and the owner
 * are 0; add WEFT_WORD_READER.  To write: bits 0-1 are 2, all above is 0; put in
 * the owner number of the own file.  Leaving: take the same away again; if SLOW
 * was set and neither readers nor owner are left, WEFT_IOC_LOCK_WAKE.
 */
#define WEFT_WORD_PERM		0x0000000000000003ull
#define WEFT_WORD_SLOW		0x0000000000000004ull
#define WEFT_WORD_READER	0x0000000000000100ull
#define WEFT_WORD_READERS	0x00000000FFFFFF00ull
#define WEFT_WORD_OWNER_SHIFT	32
#define WEFT_WORD_OWNER		0x0000FFFF00000000ull

struct weft_lock_word {
	__u64 word;
	__u64 unused[7];	/* a cache line of the processor each */
};

/*
 * What is held through one open file, so that the kernel can give it back when
 * the last process that has the file is gone.  Before a thread changes a word by
 * itself it writes slot + 1 to a cell of @pending that is its own, then it
 * changes the word, then its count in @readers, then it writes 0 to the cell:
 * also when it did not get the lock, and before it asks the kernel.  Other
 * threads change the same count: it is changed by atomic operations.  Writers
 * are known by the owner number in the word.
 *
 * After fork() both processes have the file: the child, if it wants to take
 * locks, opens the region anew (and closes and unmaps the inherited one).
 */
#define WEFT_HOLDS_THREADS	1024

__extension__ struct weft_holds {
	__u32 pending[WEFT_HOLDS_THREADS];

	__extension__ __u32 readers[];	/* by slot */
};

/* Offsets for mmap(); no region is that large. */
#define WEFT_LOCKS_WORDS	0x2000000000000000ull
#define WEFT_LOCKS_HOLDS	0x3000000000000000ull
#define WEFT_LOCKS_SIZE(n)	((n) * sizeof(struct weft_lock_word))
#define WEFT_HOLDS_SIZE(n)	(sizeof(struct weft_holds) + (n) * sizeof(__u32))
#define WEFT_LOCKS_MAX		1048576	/* slots of a region on a node */

/**
 * struct weft_lock_open - WEFT_IOC_LOCK_OPEN: get the slot of a lock
 * @offset: of the lock in the region, in bytes; less than the region's size
 * @slot: out: its slot, the same for all of this node as long as somebody has the
 *	region open
 * @owner: out: the owner number of this file, 1 to 65535
 *
 * Errors: EINVAL beyond the region's end; EFBIG beyond 64 GiB, where locks have no
 * names; ENOSPC no slot or owner number is left (files opened for reading only get
 * the first half of the slots), or the locks of all users together take as much of this
 * node's memory as they may; EDQUOT those of this user do, see weft(7); ENOMEM; ETIMEDOUT
 * the rack does not answer.
 */
struct weft_lock_open {
	__u64 offset;
	__u32 slot;
	__u32 owner;
};

/**
 * struct weft_lock_op - WEFT_IOC_LOCK_ACQUIRE, WEFT_IOC_LOCK_RELEASE
 * @slot: the lock
 * @mode: WEFT_LOCK_READ or WEFT_LOCK_WRITE
 * @flags: WEFT_LOCK_TRY: do not wait for others; what nobody holds anywhere is
 *	fetched all the same, which takes the time of an answer.  Who holds it on
 *	another node does not answer: that is known after a few times that time,
 *	and at once when it is tried again.  Or WEFT_LOCK_UNTIL: wait until
 *	@deadline_ns
 * @clock: CLOCK_REALTIME or CLOCK_MONOTONIC, for WEFT_LOCK_UNTIL
 * @deadline_ns: on that clock
 *
 * ACQUIRE changes the word and the count of readers itself.  Waiting can be
 * interrupted by signals.  Whoever asked first gets it first, on this node, and
 * among nodes; a bounded number of times this node serves its own before it lets
 * others have the lock.
 *
 * Errors: EBUSY (TRY) somebody has it; ETIMEDOUT at the deadline; EINTR, EINVAL,
 * EBADF no such slot, EACCES WRITE through a file opened for reading only, EIO the
 * rack does not answer, or the region ends before the lock now; ENOLCK the region has as
 * many locks as the memory blades keep for it; ENOMEM.  RELEASE: EPERM it is not held through this file.
 */
struct weft_lock_op {
	__u32 slot;
	__u32 mode;
	__u32 flags;
	__u32 clock;
	__s64 deadline_ns;
};

#define WEFT_LOCK_TRY		1
#define WEFT_LOCK_UNTIL		2

/**
 * struct weft_lock_range - a piece of a region
 * @offset: where it begins, in bytes
 * @length: in bytes, 1 or more
 */
struct weft_lock_range {
	__u64 offset;
	__u64 length;
};

/* What a lock guards: so many ranges, and so many blocks of the region, at most. */
#define WEFT_BIND_MAX		256

/**
 * struct weft_lock_bind - WEFT_IOC_LOCK_BIND: say what a lock guards
 * @slot: the lock
 * @n: how many ranges; 0: forget what was said
 * @ranges: address of an array of struct weft_lock_range; they may overlap
 *
 * Whoever gets the lock mostly goes on to what it guards: this node then gets the
 * blocks that the ranges touch together with the lock.  That is all that it
 * changes: blocks are coherent for everybody, with the lock or without.
 *
 * Replaces what was said of this lock before, through whatever file of this node,
 * and is forgotten when the last file is closed that said so, or when the slots
 * go.  A block belongs to one lock at most.  What was said through a file opened for
 * reading only makes way for what is said through others, and changes nothing of that.
 *
 * Errors, which leave everything as it was: EBADF no such slot; EINVAL a range is
 * empty, or does not lie in the region; EEXIST a block belongs to another lock on
 * this node; E2BIG more than WEFT_BIND_MAX ranges or blocks; EFAULT; ENOMEM;
 * ETIMEDOUT the rack does not answer.
 */
struct weft_lock_bind {
	__u32 slot;
	__u32 n;
	__u64 ranges;
};

#define WEFT_IOC_MAGIC		'W'
#define WEFT_IOC_LOCK_OPEN	_IOWR(WEFT_IOC_MAGIC, 1, struct weft_lock_open)
#define WEFT_IOC_LOCK_ACQUIRE	_IOW(WEFT_IOC_MAGIC, 2, struct weft_lock_op)
#define WEFT_IOC_LOCK_RELEASE	_IOW(WEFT_IOC_MAGIC, 3, struct weft_lock_op)
#define WEFT_IOC_LOCK_WAKE	_IOW(WEFT_IOC_MAGIC, 4, __u32)
#define WEFT_IOC_LOCK_BIND	_IOW(WEFT_IOC_MAGIC, 5, struct weft_lock_bind)

#endif /* _UAPI_WEFT_H */
