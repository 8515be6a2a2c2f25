/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * ioctls of an open file of /weft: locks of a region, with the memory that programs and the kernel
 * share for them; eventcounts; at the end policies, lost blocks and the access list of a region.
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
 * The kernel trusts nothing that it reads there.  A program that writes nonsense harms only the
 * programs that share the region: they may wait for ever, or not exclude each other; it could harm
 * them as well by writing nonsense into the region.
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
 *	3	LISTED: some readers may be in lists only, and in no count.
 *		Set by programs and the kernel, cleared by the kernel
 *	4	TELL: tell the kernel when it was left.  Written by the kernel
 *	5	DIED: its last writer died while it held it, see below.  Written by the kernel
 *	8-31	how many read-lock it, and are in no list
 *	32-47	owner number of the file through which it is write-locked, 0: nobody
 *	48-59	READS: how often it was read-locked lately without being write-locked.
 *		Written by programs, for themselves
 *	60-63	0
 *
 * Taking it to read, without the kernel: bits 0-1 are 1 or 2, SLOW, TELL, DIED and the owner are
 * 0; add WEFT_WORD_READER.  Or, if LISTED is set, only list it, see struct weft_holds.  To write:
 * bits 0-1 are 2, all above but TELL and READS is 0; put in the owner number of the own file,
 * clear READS, leave TELL.  Leaving: take the same away again; if SLOW or TELL was set and
 * neither readers nor owner are left, WEFT_IOC_LOCK_WAKE.
 *
 * LISTED may be set by whoever adds a reader: then readers need not change the word any
 * more, but the first one to write has to ask the kernel, which looks through all
 * lists.  It is worth it after a few thousand reads without a write.
 *
 * DIED: the process that held it to write ended without leaving it, or the holder's node died.
 * What the lock guards may be half changed or, if the node died, older than it was.  The kernel
 * sets DIED before any program can have the lock, and such a lock is taken by the kernel only, so
 * every holder can see it.  DIED stays, and goes with the lock to other nodes, until a holder
 * says that all is consistent again: WEFT_IOC_LOCK_MEND.
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
 * @holder:	for the process that holds it to write: which of its threads does, and whatever
 *		else.  Written by the holder only, which writes 0 before it leaves the lock.  The
 *		kernel writes 0 when it takes the lock away from a file that is gone
 * @event:	count of the events of this place, see struct weft_eventcount.  Written by the
 *	kernel
 * @waiting:	number of programs of this node that wait for the next event; too high if some were
 *		killed.  Written by programs, and by the kernel for programs that may only read
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
 *	CHANGING	the thread is about to change the word or a count in @readers, or has
 *			just done so: only the word and the counts tell which
 *	HELD		the slot is read-locked once, and counted in the word
 *	LISTED		the slot is read-locked once, and not counted in the word
 *
 * Counted: entry CHANGING, change the word, entry HELD; to leave it entry CHANGING, change the
 * word, entry 0.  With no entry to spare for as long: entry CHANGING, change the word, then the
 * count in @readers (an atomic operation), entry 0.  The kernel's ACQUIRE and RELEASE change
 * @readers.  In this order, each seen before the next.
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
 * @slot: out: its slot, the same for all of this node as long as somebody has the region open
 * @owner: out: the owner number of this file, 1 to 65535
 * @flags: out: WEFT_LOCK_LISTS: this file's read locks may be listed, see struct
 *	weft_holds.  WEFT_LIST_FILES files of a region may, so that the kernel has not too many
 *	lists to look through
 * @unused: 0
 *
 * The number of this ioctl changes with the layout of the shared memory, so that a library of
 * another version gets ENOTTY.
 *
 * Errors: EINVAL beyond the region's end; EFBIG beyond 64 GiB, where locks have no names; ENOSPC
 * no slot or owner number is left (files opened for reading only get the first half of the
 * slots), or the locks of all users together take as much of this node's memory as they may;
 * EDQUOT those of this user do, see weft(7); ENOMEM; ETIMEDOUT the rack does not answer.
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
 * @flags: WEFT_LOCK_TRY: do not wait for holders; a lock that nobody holds is still fetched, which
 *	takes the time of an answer.  A holder on another node sends none: ACQUIRE gives up after a
 *	few times that time, the next try of the same lock at once.  Or WEFT_LOCK_UNTIL: wait until
 *	@deadline_ns.  WEFT_LOCK_HEAR: ACQUIRE returns WEFT_LOCK_OWNER_DIED if it has got the lock
 *	and DIED is set, for programs that cannot read the word
 * @clock: CLOCK_REALTIME or CLOCK_MONOTONIC, for WEFT_LOCK_UNTIL
 * @deadline_ns: on that clock
 *
 * ACQUIRE changes the word and the count of readers itself.  Signals interrupt the wait.  Locks
 * are granted first come, first served, on a node and among nodes, but: in the first millisecond
 * of a writer's wait, other threads of its node may take the lock just when it is free; and a
 * node serves its own programs a bounded number of times before it hands the lock to another
 * node.
 *
 * Errors: EBUSY (TRY) somebody has it; ETIMEDOUT at the deadline; EINTR, EINVAL, EBADF no such
 * slot, EACCES WRITE through a file opened for reading only, EIO the rack does not answer, or the
 * region ends before the lock now; ENOLCK the region has as many locks as the memory blades keep
 * for it; ENOMEM.  RELEASE: EPERM it is not held through this file.  A read lock that is in an
 * entry of struct weft_holds only the program can leave.
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
 * A thread that gets a lock mostly goes on to use what it guards, so this node gets the blocks of
 * the ranges together with the lock.  Nothing else changes: blocks are coherent for all programs,
 * with the lock or without.
 *
 * A bind replaces the former bind of the lock on this node, through whichever file.  It ends when
 * the last file that has made it is closed, or when the slots go.  A block belongs to one lock at
 * most.  A bind through a file opened for reading only gives way to binds through others, and does
 * not replace them.
 *
 * Errors, which leave everything as it was: EBADF no such slot; EINVAL a range is empty, or does
 * not lie in the region; EEXIST a block belongs to another lock on this node; E2BIG more than
 * WEFT_BIND_MAX ranges or blocks; EFAULT; ENOMEM; ETIMEDOUT the rack does not answer.
 */
struct weft_lock_bind {
	__u32 slot;
	__u32 n;
	__u64 ranges;
};

/*
 * Policies of a region, kept in the catalog; docs/failures.md has each promise.
 *
 *	DURABILITY	when modifications survive the death of this node, and of the memory
 *			blade: one of
 *	  WRITE_BACK	when fsync() has returned, and when the block was evicted
 *	  RELEASE	also: modifications under a lock, before another node has the lock
 *	  SYNC		fsync(), msync() and O_SYNC wait for the memory blades' disks
 *	  MIRROR	as WRITE_BACK, and at the memory blade's twin as well
 *	BLOCK		locks of a node that has died stay held; else other nodes get them
 *	SIGBUS		blocks whose last modifications died with their owner cannot be read any
 *			more; else they have the contents of the home
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
 * @which: SET: policies to change, a sum of DURABILITY, BLOCK and SIGBUS, not 0.  GET: out: ALL
 *
 * GET asks the catalog, as stat() does.  SET is for the owner of the file and who has
 * CAP_FOWNER; when it returns 0 all nodes that have the region open know of it.
 *
 * Errors: EINVAL no such policy; EPERM; EROFS; EBADF the file was opened with O_PATH; EOPNOTSUPP
 * SYNC, and a memory blade has no --backing file; EIO the catalog cannot be written; EHOSTDOWN a
 * memory blade is not there; ETIMEDOUT the rack does not answer, or a node that has the region
 * open does not: then the policy is set, and that node follows it when it hears of it.
 */
struct weft_policy {
	__u32 policy;
	__u32 which;
};

/*
 * WEFT_IOC_LOCK_MEND: what the lock of this slot guards is consistent again: clear DIED.  For a
 * holder of the lock, to write if its users rely on DIED; the kernel does not check that.
 * Errors: EBADF no such slot; EACCES the file was opened for reading only; EFAULT.
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
 * A program that waits until something in the region changes does
 *
 *	READ, look whether it has changed, and if not AWAIT;
 *
 * the program that changes it changes it and then does ADVANCE.  AWAIT then returns to every
 * program, on any node, that did READ before the change.  It may also return without an ADVANCE.
 *
 * The lock carries it: READ caches the lock at the node to read, and ADVANCE gets it to write, by
 * which all other nodes lose it, and count an event (docs/protocol.md).  So as long as bits 0-1
 * of the word are not 0, READ is not needed: @event of the word, read before the bits, is the
 * count.  If they are 2 and @waiting is 0, nobody waits anywhere and ADVANCE is not needed,
 * provided that a full barrier stands between the change and that look, and that waiters have one
 * between counting themselves in @waiting and their look.
 *
 * ADVANCE does not wait: the kernel goes on with it until all nodes have heard it, even when the
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
 * struct weft_lost - WEFT_IOC_LOST_ACCEPT: accept that blocks of the region are lost
 * @blocks: out: number of blocks that were lost until now
 *
 * They have the contents that were last written home, and are not listed any more.  For the owner
 * of the file and CAP_FOWNER.
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
 * @users: out, SET with EBUSY or ETIMEDOUT: of the nodes that are to lose it, those that have it
 *	open, or do not answer
 *
 * GET asks the catalog, as stat() does.  SET is for the owner of the file and CAP_FOWNER.  When
 * it has returned 0, no other node has anything of the region or gets anything of it; open()
 * fails there with EACCES.  After an error nothing has changed.
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
 * that the process has: no name is looked up, and no right is asked for again.  The argument is
 * 0: of this file; or an address at which the process has a file of the same mount mapped shared:
 * of that.  Works on directories, too, with an address.  Returns a file descriptor, with
 * O_CLOEXEC.  Errors: EINVAL nothing of the mount is mapped there so, or a directory with 0;
 * EINTR; EMFILE, ENFILE, ENOMEM; those of open().
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
