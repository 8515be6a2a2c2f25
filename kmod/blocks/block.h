/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block in the cache: a line of the protocol core (core/line.h) joined with the pages of the
 * page cache that hold its contents.  All files of blocks/ use it; fs/, locks/ and control/
 * through the functions of those.  Lock order, contexts and lifetimes: docs/kernel.md.
 */
#ifndef WEFT_BLOCK_H
#define WEFT_BLOCK_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/line.h"
#include "net/contents.h"
#include "net/recv.h"

struct page;
struct weft_cache;
struct weft_posted;
struct weft_region;

/*
 * Two rules hold for every block:
 *
 * - The page lock is the fence.  A thread that has locked a page of the block and has then seen
 *   weft_line_perm() >= p under @lock has permission p until it unlocks the page.  Only
 *   weft_line_revoked() gives permission away, under the locks of all pages of the block, when
 *   no mapping allows more than what stays.  While @waiting the same holds for
 *   weft_line_perm_yet(), since the mappings are removed later.
 * - A page is PageUptodate only while the permission is at least S.  The flag is cleared under
 *   the page lock before the mappings go, so filemap_map_pages() obeys the first rule, too.
 *
 * Minimum stay: a block is not revoked before @keep, so that the access that asked for it gets
 * done and two writers never starve each other.
 * - WEFT_GRACE_US from the grant until the program's fault or copy;
 * - hold_us (configuration) from that fault or copy on;
 * - up to WEFT_LATE times hold_us if the word that the program faulted for, to write, has not
 *   changed: the program has probably lost its processor on the way;
 * - WEFT_GUESS_US from a read fault to the write fault if the node guessed that the line is
 *   migratory.
 */
#define WEFT_GRACE_US		10000
#define WEFT_GUESS_US		1000
#define WEFT_LATE		4	/* times hold_us */
#define WEFT_PIN_WAIT_US	1000	/* between two looks at a page that a device has pinned */
#define WEFT_PIN_WAITS		1000	/* looks; then the block goes, and the write may be lost */

enum weft_block_phase {
	WEFT_BLOCK_NEW,		/* pages are being made */
	WEFT_BLOCK_LIVE,
	WEFT_BLOCK_DEAD,	/* being taken apart; still in the table of the region */
	WEFT_BLOCK_GONE,	/* removed from the table */
};

enum weft_flush {
	WEFT_FLUSH_NONE,
	WEFT_FLUSH_SOON,	/* as soon as no device writes into it */
	WEFT_FLUSH_NOW,
};

#define WEFT_SUCCESSORS_MAX	7	/* readers that a block is lent to; more readers ask */

/**
 * struct weft_successors - the next holders of a lock, who get the blocks that it guards
 * @reader: transactions by which readers expect the block
 * @n: number of readers
 * @writer: transaction of the writer after them, 0 for none
 */
struct weft_successors {
	u32 reader[WEFT_SUCCESSORS_MAX];
	u32 n;
	u32 writer;
};

enum weft_urged {
	WEFT_URGED_NOT,
	WEFT_URGED_NOW,		/* ask for the block in the next step */
	WEFT_URGED_ONCE,	/* asked; ask again when data that this node retained is settled */
};

/**
 * struct weft_bound - wishes of the lock that guards a block, see bound.h
 * @wish: permission to get as soon as the line is idle: expected under @txn, or asked for if
 *	@txn is 0.  WEFT_I: none
 * @txn: transaction of the request for the lock while the lock is still to come
 * @ours: this node owned the block when it made that request
 * @successors: lend and pass the block on to these as soon as the line is idle
 * @expected: counted in weft_cache.expected; no request has been sent
 * @urged: do not wait for the block any longer, enum weft_urged
 * @awaited: the block was expected and has not come yet
 * @unmet: times in a row that the block came otherwise than with the lock
 * @since: when the lock came without the block, ns; 0: it has not
 * @patience: wait for the block until then, ns; 0: without limit, the lock is still to come
 *
 * The rest belongs to guard learning (locks/learn.h):
 *
 * @lock: number of the lock that has learnt the block, or whose holder missed it last; 0: none;
 *	WEFT_NO_LOCK: a program without a lock missed it last
 * @learnt: @lock expects the block
 * @untried: the block came because of that, and no program has touched it since
 * @brought: and no request was sent for it
 * @saved: a program touched such a block since the lock was last given up
 * @rival: a program without @lock missed the block since then
 * @followers: nodes that were seen to expect the block with the lock
 * @passed: transaction that the block was passed on to, until its taking is known
 * @offered: requests for the lock that did not get the block, as their nodes were not known to
 *	expect it
 */
struct weft_bound {
	u8 wish;
	bool expected;
	u8 urged;
	bool awaited;
	bool ours;
	u8 unmet;
	u32 txn;
	struct weft_successors successors;
	u64 since;
	u64 patience;
	u32 lock;
	bool learnt;
	bool untried;
	bool brought;
	bool saved;
	bool rival;
	u32 followers;
	u32 passed;
	struct weft_successors offered;
};

#define WEFT_NO_LOCK	(~0u)

/**
 * struct weft_predict - what programs do with a block that comes with a lock, see predict.h
 * @come: the block has come with the lock, and has been neither mapped nor touched since
 * @looking: it was not mapped for the holder of the lock: page faults tell what programs do.
 *	@lock to write
 * @used: what they have done in this turn: WEFT_I for nothing, WEFT_S, WEFT_M
 * @usual: what they did in the last turn in which the kernel looked
 * @run: turns to map the block in after that look
 * @left: turns of @run that are left
 * @unsure: turns in which it was mapped to read, and may not have been used
 * @mapped: it was mapped to write in this turn
 * @same: it was mapped to write in the last turn, and the bytes compared equal afterwards
 * @whole: programs write elsewhere than at @at: compare a hash of the page, not the word
 * @at: byte at which programs usually begin the access of @usual
 * @was: that word, or the hash of its page, when the block was mapped
 */
struct weft_predict {
	bool come;
	bool looking;
	u8 used;
	u8 usual;
	u8 run;
	u8 left;
	u8 unsure;
	bool mapped;
	bool same;
	bool whole;
	u32 at;
	u64 was;
};

/* Messages parked for one block; more are dropped.  64 KiB at MTU 1500 have as many fragments. */
#define WEFT_PARKED_MAX		48

/**
 * struct weft_parked - a message that waits until a posted buffer is closed
 * @next: the message parked before it
 * @packet: the message, with a reference to the datagram
 */
struct weft_parked {
	struct weft_parked *next;
	struct weft_packet packet;
};

/**
 * struct weft_offer - the landing that the block's request has offered, see effects.h
 * @posted: the posted buffer until it is closed; with a reference
 * @closing: the closing has begun
 * @n: number of parked messages
 * @parked: the messages, newest first
 */
struct weft_offer {
	struct weft_posted *posted;
	bool closing;
	u8 n;
	struct weft_parked *parked;
};

/**
 * struct weft_block - a block in the cache
 * @line: state of the line
 * @lock: guards all fields but those that say otherwise, and the contents while no program has
 *	the block mapped; taken with bottom halves off
 * @phase: enum weft_block_phase; in any but LIVE messages are answered as for an unknown line
 * @dirty: modified since it was last written home; in state M only
 * @modified: programs of this node have modified it since its last write-back began
 * @used: a program used it since the eviction last looked; a hint without a lock
 * @free: state I and idle: the first choice of the eviction
 * @ahead: read ahead, and no thread has asked for it yet; a hint without a lock
 * @early: no thread waited when the transaction began
 * @waiting: the revocation waits for @keep
 * @taking: work that takes the pages away from programs is queued or runs
 * @guess: the request to write serves a program that wants to read
 * @fresh: granted to a program that has not come back for its access; read without the lock
 * @armed: @timer has a reference
 * @want: permission that threads of this node want, requested as soon as the line is idle:
 *	WEFT_I, WEFT_S, WEFT_M
 * @leave: the eviction wants the block to go, in the next step or not at all
 * @clean: write it home
 * @flush: its home begins anew and wants it, enum weft_flush
 * @forget: its home knows the line no more
 * @nowhere: the home said that it has no such line; read without the lock
 * @lost: the contents that came with @lost_txn are older than those that died with a node, and
 *	the region's policy refuses such contents: no program has permission, and the block is
 *	dropped as soon as the line is idle
 * @resending: the messages of this event are repetitions
 * @putting: counted in weft_cache.putting: on its way home
 * @owed: a device writes into it, and its home wants it; fs/recovery.c alone looks at this
 * @writable: programs may write to it
 * @sealed: but those of this node do not for now, see tail.h
 * @flying: counted as in flight from its home, see flight.h
 * @homing: it is here, but the home does not have it yet, and it stays in the window for that
 * @flushing: counted as in flight to its home
 * @from: home whose window counts @flying.  A region may get other homes meanwhile
 * @to: home whose window counts @flushing, and that @putting counts for, or did last
 * @losses: expirations of the retransmission timer in a row
 * @pin_waits: times that the revocation waited for a device
 * @pins: threads that are about to use the block, which keep the eviction off
 * @rounds: round trips of the transaction under way so far
 * @wakes: raised by each WEFT_DO_WAKE; waiters look at it without the lock
 * @fails: raised by each WEFT_DO_FAIL
 * @denials: raised when contents come that @lost is set for
 * @lost_txn: see @lost
 * @began: when the transaction under way began, ns
 * @asked: when its last request went out that was no repetition, ns
 * @dunned: when INV first went to the nodes that the line is lent to, ns
 * @repeated: when a request last went out as a repetition, ns
 * @doubt: round trip of a repeated request, ns, from its first copy; 0: none, or settled.  A
 *	second answer shows that the repetition was spurious and this the true round trip; if
 *	none comes, a copy was lost, and it says nothing
 * @doubt_txn: transaction of that request
 * @doubt_op: and its enum weft_op
 * @heard: when the revocation under way was asked for, ns
 * @keep: earliest time of a revocation, ns; 0: at any time
 * @late: latest end of the stay while the word at @watch has not changed, ns; 0: @keep
 * @was: that word before the write
 * @watch: byte of the block that a program is about to write to
 * @bound: wishes of the lock that guards it
 * @predict: what programs do with it that have that lock
 * @offer: landing of its request
 * @migratory: whether it is read and then written on each visit
 * @backoff_at: when to repeat a refused request, ns; 0: none was refused
 * @retry_at: when the retransmission timer expires, ns; 0: no answer is due, or @backoff_at
 * @look_at: when to look, before that, whether later requests have been answered, ns; 0: never
 * @through_until: when another node gets the block though it is not home, ns; 0: none waits
 * @ref: one for the table of the region, the armed timer, queued work and each thread that uses
 *	the pointer
 * @misses: permissions that came as requested
 * @contents: its bytes, for messages; the generation is raised under @lock
 * @cache: the cache of this node in the rack
 * @region: valid until the block has left the table of the region
 * @wait: for WEFT_DO_WAKE and for changes of @phase
 * @timer: expires at the first of @backoff_at, @retry_at, @look_at, @keep and @bound.patience;
 *	not stopped when they change, as its function looks at them
 * @take: takes the pages away from programs
 * @lru: in weft_cache.lru or .free, under weft_cache.lru_lock
 * @rcu: frees it a grace period after the last reference, as softirq looks blocks up
 * @nr_pages: pages of the block
 * @nr_folios: 1 if these are one folio, with one lock; else @nr_pages.  Constant once LIVE
 * @revocations: times that another node took the block, or the right to write it
 * @pages: a reference to each folio, put with the last reference to the block; constant once LIVE
 */
struct weft_block {
	struct weft_line line;
	spinlock_t lock;
	u8 phase;
	bool dirty;
	bool modified;
	bool used;
	bool free;
	bool ahead;
	bool early;
	bool waiting;
	bool taking;
	bool guess;
	bool fresh;
	bool armed;
	u8 want;
	bool leave;
	bool clean;
	u8 flush;
	bool forget;
	bool nowhere;
	bool lost;
	bool resending;
	bool putting;
	bool owed;
	bool writable;
	bool sealed;
	bool flying;
	bool homing;
	bool flushing;
	u8 from;
	u8 to;
	u8 losses;
	u16 pin_waits;
	u32 pins;
	u32 rounds;
	u32 wakes;
	u32 fails;
	u32 denials;
	u32 lost_txn;
	u64 began;
	u64 asked;
	u64 dunned;
	u64 repeated;
	u64 doubt;
	u32 doubt_txn;
	u8 doubt_op;
	u64 heard;
	u64 keep;
	u64 late;
	u64 was;
	u32 watch;
	struct weft_bound bound;
	struct weft_predict predict;
	struct weft_offer offer;
	struct weft_migratory migratory;
	u64 backoff_at;
	u64 retry_at;
	u64 look_at;
	u64 through_until;
	refcount_t ref;
	u32 misses;
	struct weft_contents contents;
	struct weft_cache *cache;
	struct weft_region *region;
	wait_queue_head_t wait;
	struct hrtimer timer;
	struct work_struct take;
	struct list_head lru;
	struct rcu_head rcu;
	u32 nr_pages;
	u32 nr_folios;
	u32 revocations;
	struct page *pages[];
};

/*
 * How much longer than its @slice jiffies a wait begun at @began took because this machine stood
 * still, as a paused guest does.  0: it did not.
 */
static inline unsigned long weft_stood_still(unsigned long began, long slice)
{
	long late = (long)(jiffies - began) - slice;

	return late > HZ ? late : 0;
}

void weft_block_put(struct weft_block *blk);

/* Of a new block, whose number of pages is set. */
void weft_block_init_contents(struct weft_block *blk);

/* The block's bytes for a message, with a reference to the block.  Any context. */
struct weft_contents *weft_block_contents(struct weft_block *blk);

/* The block that contents belong to. */
struct weft_block *weft_block_of_contents(struct weft_contents *contents);

/* The block with a reference, LIVE or not, or NULL.  Any context. */
struct weft_block *weft_block_find(struct weft_region *region, u64 index);

/* The first block at or after *index, with a reference; *index is set to its own. */
struct weft_block *weft_block_next(struct weft_region *region, u64 *index);

/* Change the phase and wake all that wait for it. */
void weft_block_set_phase(struct weft_block *blk, u8 phase);

/* Raise @wakes and wake all waiters. */
void weft_block_wake(struct weft_block *blk) __must_hold(&blk->lock);

#endif /* WEFT_BLOCK_H */
