/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Locks of a region: ioctls of an open file of /weft, and the memory that
 * programs and the kernel share for them.  At the end, policies of a region.
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

/*
 * Bytes of a block of a region, a power of two: from WEFT_BLOCK_MIN (weft_wire.h) to this.
 * It is 64 fragments of 1 KiB, which any network carries; a message could name larger ones.
 */
#define WEFT_REGION_BLOCK_MAX	65536

/* What a lock is wanted for, or held for. */
#define WEFT_LOCK_READ		1
#define WEFT_LOCK_WRITE		2

/*
 * The word of a lock, 64 bits of it:
 *
 *	0-1	what the node has: 0 nothing, 1 it may be read-locked, 2 also
 *		write-locked.  Written by the kernel
 *	2	SLOW: ask the kernel to take it; tell the kernel when it was left.
 *		Written by the kernel
 *	3	LISTED: some who read-lock it may be in no count, but in lists only.
 *		Set by programs and the kernel, cleared by the kernel
 *	4	TELL: tell the kernel when it was left.  Written by the kernel
 *	5	DIED: who had it to write died with it, see below.  Written by the kernel
 *	8-31	how many read-lock it, and are in no list
 *	32-47	owner number of the file through which it is write-locked, 0: nobody
 *	48-59	READS: how often it was read-locked lately without being write-locked.
 *		Written by programs, for themselves
 *	60-63	0
 *
 * Taking it to read, without the kernel: bits 0-1 are 1 or 2, SLOW, TELL, DIED and the
 * owner are 0; add WEFT_WORD_READER.  Or, if LISTED is set, only list it, see
 * struct weft_holds.  To write: bits 0-1 are 2, all above but TELL and READS is 0; put
 * in the owner number of the own file, clear READS, leave TELL.  Leaving: take the
 * same away again; if SLOW or TELL was set and neither readers nor owner are left,
 * WEFT_IOC_LOCK_WAKE.
 *
 * LISTED may be set by whoever adds a reader: then readers need not change the word any
 * more, but the first one to write has to ask the kernel, which looks through all
 * lists.  It is worth it after a few thousand reads without a write.
 *
 * DIED: the process that had it to write ended without leaving it, or its node died and may
 * have held it; so what the lock guards may be half changed, or, if the node died, be older
 * than it was.  It is there when the lock can be had, so whoever has it can read it, and no
 * one takes such a lock without the kernel.  It stays, and goes with the lock to other
 * nodes, however many take and leave it, until somebody who has it says that all is right:
 * WEFT_IOC_LOCK_MEND.
 */
#define WEFT_WORD_PERM		0x0000000000000003ull
#define WEFT_WORD_SLOW		0x0000000000000004ull
#define WEFT_WORD_LISTED	0x0000000000000008ull
#define WEFT_WORD_TELL		0x0000000000000010ull
#define WEFT_WORD_DIED		0x0000000000000020ull
#define WEFT_WORD_READER	0x0000000000000100ull
#define WEFT_WORD_READERS	0x00000000FFFFFF00ull
#define WEFT_WORD_OWNER_SHIFT	32
#define WEFT_WORD_OWNER		0x0000FFFF00000000ull
#define WEFT_WORD_READ		0x0001000000000000ull
#define WEFT_WORD_READS		0x0FFF000000000000ull

/**
 * struct weft_lock_word - a lock on this node, a cache line of the processor
 * @word:	see above
 * @holder:	for the process that has it write-locked: by which of its threads, and
 *		whatever else.  Written only by who has it; 0 before it is left.  The kernel
 *		writes 0 when it takes the lock away from a file that is gone
 * @event:	count of the events of this place, see struct weft_eventcount.  Written by the kernel
 * @waiting:	how many programs of this node wait for the next one; more, if some were killed, or
 *		may only read.  Written by programs, and by the kernel for those that cannot
 */
struct weft_lock_word {
	__u64 word;
	__u64 holder;
	__u32 event;
	__u32 waiting;
	__u64 unused[5];
};

/*
 * What is held to read through one open file, so that the kernel can give it back
 * when the last process that has the file is gone.  A thread that changes words
 * by itself has a cell of entries that nobody else puts anything into, a cache line.
 * An entry is 0 or the number of a slot, plus 1, with one of:
 *
 *	CHANGING	the thread is about to change the word, or a count in @readers, or
 *			has just done so: what is true of the two, only they can tell
 *	HELD		the slot is read-locked once, and counted in the word
 *	LISTED		the slot is read-locked once, and not counted in the word
 *
 * Counted: entry CHANGING, change the word, entry HELD; to leave it entry CHANGING,
 * change the word, entry 0.  With no entry to spare for as long: entry CHANGING,
 * change the word, then the count in @readers (an atomic operation), entry 0.  The
 * kernel's ACQUIRE and RELEASE change @readers.  In this order, each seen before the
 * next.
 *
 * Listed, if WEFT_LOCK_LISTS was said of the file and the cell is one of the first
 * WEFT_LIST_CELLS: entry LISTED, then a full barrier, then read the word: it is held
 * if LISTED is set, SLOW, TELL and DIED are not.  To leave it, and also if it is not held:
 * entry 0, a full barrier, read the word: if SLOW or TELL is set, WEFT_IOC_LOCK_WAKE.
 * The barriers' partner is the kernel's, between setting SLOW and looking through the
 * lists: either it sees the entry, or the thread sees SLOW.
 *
 * After fork() both processes have the file: the child, if it wants to take
 * locks, gets one of its own by WEFT_IOC_LOCK_FILE (and closes and unmaps the inherited one).
 */
#define WEFT_HOLDS_THREADS	1024
#define WEFT_HOLDS_ENTRIES	16	/* of a thread */
#define WEFT_LIST_CELLS		128

#define WEFT_ENTRY_SLOT		0x00FFFFFFu
#define WEFT_ENTRY_CHANGING	0x01000000u
#define WEFT_ENTRY_HELD		0x02000000u
#define WEFT_ENTRY_LISTED	0x03000000u

struct weft_cell {
	__u32 entry[WEFT_HOLDS_ENTRIES];
};

__extension__ struct weft_holds {
	struct weft_cell cell[WEFT_HOLDS_THREADS];

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
 * @flags: out: WEFT_LOCK_LISTS: this file's read locks may be listed, see struct
 *	weft_holds.  So many files of a region may as keeps short what the kernel has
 *	to look through: WEFT_LIST_FILES
 * @unused: 0
 *
 * This, WEFT_IOC_LOCK_OPEN's number, is what changes when the memory that is shared
 * with the kernel does: a library of another version gets ENOTTY.
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
	__u32 flags;
	__u32 unused;
};

#define WEFT_LOCK_LISTS		1
#define WEFT_LIST_FILES		32

/**
 * struct weft_lock_op - WEFT_IOC_LOCK_ACQUIRE, WEFT_IOC_LOCK_RELEASE
 * @slot: the lock
 * @mode: WEFT_LOCK_READ or WEFT_LOCK_WRITE
 * @flags: WEFT_LOCK_TRY: do not wait for others; what nobody holds anywhere is
 *	fetched all the same, which takes the time of an answer.  Who holds it on
 *	another node does not answer: that is known after a few times that time,
 *	and at once when it is tried again.  Or WEFT_LOCK_UNTIL: wait until
 *	@deadline_ns.  WEFT_LOCK_HEAR: ACQUIRE returns WEFT_LOCK_OWNER_DIED if it has
 *	got the lock and DIED is set, for those who cannot read the word
 * @clock: CLOCK_REALTIME or CLOCK_MONOTONIC, for WEFT_LOCK_UNTIL
 * @deadline_ns: on that clock
 *
 * ACQUIRE changes the word and the count of readers itself.  Waiting can be
 * interrupted by signals.  Whoever asked first gets it first, on this node, and
 * among nodes; but in its first millisecond of waiting to write, others of this node
 * that come along when the lock is just free may be faster, and a bounded number of
 * times this node serves its own before it lets others have the lock.
 *
 * Errors: EBUSY (TRY) somebody has it; ETIMEDOUT at the deadline; EINTR, EINVAL,
 * EBADF no such slot, EACCES WRITE through a file opened for reading only, EIO the
 * rack does not answer, or the region ends before the lock now; ENOLCK the region has as
 * many locks as the memory blades keep for it; ENOMEM.  RELEASE: EPERM it is not held
 * through this file.  A read lock that is in an entry of struct weft_holds only the
 * program can leave.
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
#define WEFT_LOCK_HEAR		4

#define WEFT_LOCK_OWNER_DIED	1

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

/*
 * Policies of a region, kept in the catalog: what weft does with it that a program cannot
 * see in the contents.  docs/failures.md has each promise.
 *
 *	DURABILITY	when what was modified is safe from the death of this node, and of
 *			the memory blade: one of
 *	  WRITE_BACK	when fsync() has returned, and when the block was evicted
 *	  RELEASE	also: what was modified under a lock, before another node has the lock
 *	  SYNC		fsync(), msync() and O_SYNC wait for the memory blades' disks
 *	  MIRROR	as WRITE_BACK, and what is safe is so at the memory blade's twin, too
 *	BLOCK		locks of a node that has died stay held; else they pass on
 *	SIGBUS		what only a node that has died had modified cannot be read any more; else
 *			it is what it was at home
 */
#define WEFT_POLICY_DURABILITY	0x03
#define WEFT_POLICY_WRITE_BACK	0x00
#define WEFT_POLICY_RELEASE	0x01
#define WEFT_POLICY_SYNC	0x02
#define WEFT_POLICY_MIRROR	0x03
#define WEFT_POLICY_BLOCK	0x04
#define WEFT_POLICY_SIGBUS	0x08
#define WEFT_POLICY_ALL		0x0F

/**
 * struct weft_policy - WEFT_IOC_POLICY_GET, WEFT_IOC_POLICY_SET
 * @policy: WEFT_POLICY_*
 * @which: SET: which of them are to be changed: a sum of DURABILITY, BLOCK and SIGBUS, not
 *	0.  GET: out: ALL
 *
 * GET asks the catalog, as stat() does.  SET is for the owner of the file and who has
 * CAP_FOWNER; when it returns 0 all nodes that have the region open know of it.
 *
 * Errors: EINVAL no such policy; EPERM; EROFS; EBADF the file was opened with O_PATH;
 * EOPNOTSUPP SYNC, and a memory blade has no --backing file; EIO the catalog cannot be
 * written; EHOSTDOWN a memory blade is not there; ETIMEDOUT the rack does not answer, or a
 * node that has the region open does not: then the policy is set, and that node follows it
 * when it hears of it.
 */
struct weft_policy {
	__u32 policy;
	__u32 which;
};

/*
 * WEFT_IOC_LOCK_MEND: what the lock of this slot guards is right again, DIED goes.  By who
 * has the lock; the kernel does not look whether that is so.  To write, if it is a lock that
 * its users expect to tell of deaths.  Errors: EBADF no such slot; EACCES the file was opened
 * for reading only; EFAULT.
 */

/**
 * struct weft_eventcount - WEFT_IOC_EVENT_READ, _AWAIT, _ADVANCE: an eventcount (Reed and Kanodia,
 *	"Synchronization with Eventcounts and Sequencers", 1979) at the place of a lock
 * @slot: the lock's.  It is not to be used as a lock, too
 * @count: READ: out: how many events this node has heard of so far, modulo 2^32; AWAIT: that
 *	was read before
 * @flags: WEFT_LOCK_UNTIL: until @deadline_ns.  WEFT_EVENT_UNCOUNTED: this program cannot write to
 *	@waiting of the word: READ counts it there, until the slots go
 * @clock: CLOCK_REALTIME or CLOCK_MONOTONIC
 * @deadline_ns: on that clock
 *
 * For programs that wait until something in the region changes:
 *
 *	READ, look at what is waited for, and if it is not there AWAIT;
 *
 * and for who changes it: change it, then ADVANCE.  Whoever has READ before the change, on any
 * node, finds that AWAIT returns.  It may return without an ADVANCE, too.
 *
 * It is the lock: a node that READs has it cached to read from then on, and the node that
 * ADVANCEs gets it to write, by which all others lose it, and hear so (docs/protocol.md).  So,
 * as a program sees in the word: as long as bits 0-1 of the word are not 0, READ is not needed,
 * @event of the word is the count, read before the bits.  If they are 2 and @waiting is 0 nobody
 * waits anywhere, and ADVANCE is not needed, if a full barrier stands between the change and that
 * look, and who waits has one between counting itself in @waiting and its look.
 *
 * ADVANCE does not wait: the kernel goes on with it until all nodes have heard it, also when the
 * program has ended.
 *
 * Errors: EBADF no such slot; EINVAL; EFAULT; EINTR a signal came, AWAIT without a deadline goes
 * on after a handler with SA_RESTART; ETIMEDOUT at the deadline; EACCES ADVANCE through a file
 * that was opened for reading only; EOPNOTSUPP this node does not keep locks (keep of
 * docs/tuning.md).  READ also those of WEFT_IOC_LOCK_ACQUIRE.
 */
struct weft_eventcount {
	__u32 slot;
	__u32 count;
	__u32 flags;
	__u32 clock;
	__s64 deadline_ns;
};

/**
 * struct weft_lost - WEFT_IOC_LOST_ACCEPT: what is lost of the region is well as it is
 * @blocks: out: how many blocks were lost until now
 *
 * They are what was last written home, and are listed no more.  For the owner of the file and
 * who has CAP_FOWNER.
 *
 * Errors: EPERM; EROFS; EBADF the file was opened with O_PATH; EINTR; ETIMEDOUT a memory
 * blade does not answer: what others have is accepted.
 */
struct weft_lost {
	__u64 blocks;
};

/**
 * struct weft_nodes - WEFT_IOC_NODES_GET, WEFT_IOC_NODES_SET: which nodes may use the region
 * @nodes: bit n-1 is node n; 0: all of them
 * @users: out, SET with EBUSY: of those that are to lose it, the ones that have it open, or do
 *	not answer (ETIMEDOUT)
 *
 * GET asks the catalog, as stat() does.  SET is for the owner of the file and who has
 * CAP_FOWNER.  When it has returned 0 no other node has anything of the region, and none gets
 * anything; open() fails there with EACCES.  Otherwise it is as it was.
 *
 * Errors: EBUSY; EPERM; EROFS; EBADF the file was opened with O_PATH; EOPNOTSUPP a memory blade
 * was started again since the region was made, and the P4 switch may have lines of it that
 * nobody can name: copy it to a new one; EIO the catalog cannot be written; EHOSTDOWN a memory
 * blade is not there; ETIMEDOUT.
 */
struct weft_nodes {
	__u32 nodes;
	__u32 users;
};

#define WEFT_EVENT_UNCOUNTED	8

/*
 * WEFT_IOC_LOCK_FILE: one more open file of a region, for locks alone, with the rights of one
 * that the process has: no name is looked up, and no right is asked for again.  The argument
 * is 0: of this file; or an address at which the process has a file of the same mount mapped
 * shared: of that.  Works on directories, too, with an address.  Returns a file descriptor, with
 * O_CLOEXEC.  Errors: EINVAL nothing of the mount is mapped there so, or a directory with 0; EINTR;
 * EMFILE, ENFILE, ENOMEM; those of open().
 */

#define WEFT_IOC_MAGIC		'W'
#define WEFT_IOC_LOCK_OPEN	_IOWR(WEFT_IOC_MAGIC, 12, struct weft_lock_open)
#define WEFT_IOC_LOCK_ACQUIRE	_IOW(WEFT_IOC_MAGIC, 2, struct weft_lock_op)
#define WEFT_IOC_LOCK_RELEASE	_IOW(WEFT_IOC_MAGIC, 3, struct weft_lock_op)
#define WEFT_IOC_LOCK_WAKE	_IOW(WEFT_IOC_MAGIC, 4, __u32)
#define WEFT_IOC_LOCK_BIND	_IOW(WEFT_IOC_MAGIC, 5, struct weft_lock_bind)
#define WEFT_IOC_POLICY_GET	_IOR(WEFT_IOC_MAGIC, 6, struct weft_policy)
#define WEFT_IOC_POLICY_SET	_IOW(WEFT_IOC_MAGIC, 7, struct weft_policy)
#define WEFT_IOC_LOCK_MEND	_IOW(WEFT_IOC_MAGIC, 8, __u32)
#define WEFT_IOC_LOST_ACCEPT	_IOR(WEFT_IOC_MAGIC, 9, struct weft_lost)
#define WEFT_IOC_NODES_GET	_IOR(WEFT_IOC_MAGIC, 10, struct weft_nodes)
#define WEFT_IOC_NODES_SET	_IOWR(WEFT_IOC_MAGIC, 11, struct weft_nodes)
#define WEFT_IOC_EVENT_READ	_IOWR(WEFT_IOC_MAGIC, 13, struct weft_eventcount)
#define WEFT_IOC_EVENT_AWAIT	_IOW(WEFT_IOC_MAGIC, 14, struct weft_eventcount)
#define WEFT_IOC_EVENT_ADVANCE	_IOW(WEFT_IOC_MAGIC, 15, __u32)
#define WEFT_IOC_LOCK_FILE	_IO(WEFT_IOC_MAGIC, 16)

#endif /* _UAPI_WEFT_H */
