/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block in the cache: what this node has of a region, or asks for.
 *
 * A struct weft_block joins a line of the protocol core (core/line.h) with the
 * page-cache pages of its block.  Lock order, contexts and lifetimes are in
 * docs/kernel.md; the two rules that everything leans on:
 *
 * - The page lock is the fence.  Who has locked a page of the block and then
 *   seen weft_line_perm() >= p under @lock has p until it unlocks the page:
 *   permission is given away by weft_line_revoked() only, under the locks of all
 *   pages of the block and with no mapping left that allows more.  While @waiting
 *   that is so for weft_line_perm_yet(), too: mappings are looked for later.
 * - A page is PageUptodate only while the permission is at least S.  It is
 *   cleared under the page lock, before the mappings go, so that
 *   filemap_map_pages() obeys the first rule, too.
 *
 * A block stays with a program for a moment after it got it (@keep), so that
 * the access that asked for it gets done and two writers never starve each
 * other: up to WEFT_GRACE_US from the grant to the program's fault or copy, and
 * hold_us (configuration) from there; WEFT_LATE times as long if the word that the program
 * faulted for, to write, is still as it was, for then it has not come so far (its processor
 * may be somebody else's); if it was asked for to write as a program wanted to
 * read it, WEFT_GUESS_US from the fault to read to the one to write.
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

#define WEFT_GRACE_US		10000
#define WEFT_GUESS_US		1000
#define WEFT_LATE		4	/* times hold_us */
#define WEFT_PIN_WAIT_US	1000
#define WEFT_PIN_WAITS		1000

enum weft_block_phase {
	WEFT_BLOCK_NEW,		/* pages are being made */
	WEFT_BLOCK_LIVE,
	WEFT_BLOCK_DEAD,	/* being taken apart; still in the region's table */
	WEFT_BLOCK_GONE,	/* no longer there */
};

enum weft_flush {
	WEFT_FLUSH_NONE,
	WEFT_FLUSH_SOON,	/* as soon as no device writes into it */
	WEFT_FLUSH_NOW,
};

#define WEFT_SUCCESSORS_MAX	7	/* readers that are lent a block with a lock; others ask */

/**
 * struct weft_successors - who has a lock next, and with it what it guards
 * @reader: transactions of readers, which expect the block with these names
 * @n: how many
 * @writer: of the writer after them, 0: there is none
 */
struct weft_successors {
	u32 reader[WEFT_SUCCESSORS_MAX];
	u32 n;
	u32 writer;
};

enum weft_urged {
	WEFT_URGED_NOT,
	WEFT_URGED_NOW,		/* ask */
	WEFT_URGED_ONCE,	/* asked; again when what we gave away ourselves is settled */
};

/**
 * struct weft_bound - what the lock that guards a block wants of it, see guarded.h
 * @wish: permission, as soon as the line is idle: it is to be expected with @txn, or
 *	asked for if that is 0.  WEFT_I: nothing
 * @txn: of the lock's request, while the lock is still to come
 * @ours: the block was this node's to write when that request was made
 * @successors: the block is to be lent and passed on to these as soon as the line is idle
 * @expected: counted in weft_cache.expected: nothing was asked yet
 * @urged: it is not to be waited for any longer, enum weft_urged
 * @awaited: it was expected, and has not come yet
 * @unmet: how often in a row it came otherwise than it was expected
 * @since: when the lock came that it should have come with, ns; 0: it has not
 * @patience: until when it is waited for, ns; 0: for ever, the lock is still to come
 *
 * Of a guard that nobody has said, but programs let see (locks/learn.h):
 *
 * @lock: the lock that it follows: with which it was missed last, or that has learnt it;
 *	0: none was seen, WEFT_NO_LOCK: it was missed without one
 * @learnt: that lock expects it
 * @untried: it came for that reason, and no program has touched it since
 * @brought: ... and was not asked for
 * @saved: ... and was touched, since the lock last looked
 * @rival: it was missed without the lock, since the lock last looked
 * @followers: nodes that were seen to expect it with the lock
 * @passed: the request that it was passed on to, until that is known to have taken it
 * @offered: requests for the lock which it was not passed on to, as nobody had seen that
 *	their nodes expect it
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
 * @come: it has come with the lock, and neither was mapped for who has that nor touched
 * @looking: ... and was not mapped for who has the lock: what programs do is seen.  @lock to
 *	write
 * @used: ... and is this, since it came: WEFT_I: nothing, WEFT_S, WEFT_M
 * @usual: the same, when the kernel last looked
 * @run: in so many turns it was to be mapped, after the kernel had looked
 * @left: in so many turns of these it is still to be
 * @unsure: in so many turns it was mapped to read, and whether that was of use is not known
 * @mapped: it was mapped to write since it came
 * @same: ... last time, and seemed not to be written to
 * @whole: that was wrong: all of the page is to be compared, not the word at @at
 * @at: byte at which programs usually begin, of the accesses that @usual names
 * @was: the word that it is in, or a hash of the page, when it was mapped
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

/* Of one block; more are lost.  The fragments of 64 KiB at MTU 1500. */
#define WEFT_PARKED_MAX		48

/**
 * struct weft_parked - a message that waits until a posted buffer is closed
 * @next: another one
 * @packet: it, with a reference to the datagram
 */
struct weft_parked {
	struct weft_parked *next;
	struct weft_packet packet;
};

/**
 * struct weft_offer - the landing that its request has offered, see effects.h
 * @posted: it is not closed yet; with a reference
 * @closing: it is to be closed
 * @n: messages that wait for that
 * @parked: them, the last one first
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
 * @lock: @line, the contents of the block while nobody has it mapped, and all
 *	below that says so.  Taken with bottom halves off
 * @phase: enum weft_block_phase; in any but LIVE the line is as good as unknown.
 *	@lock
 * @pins: threads that are about to use the block; it is not evicted.  @lock
 * @dirty: modified since it was last written home; in state M only.  @lock
 * @used: a program used it since the eviction last looked.  No lock: a hint
 * @free: state I and idle: first choice for the eviction.  @lock
 * @ahead: nobody asked for it yet, it was read ahead.  No lock: a hint
 * @early: the transaction under way began when nobody waited for it.  @lock
 * @waiting: revocation waits for @keep.  @lock
 * @taking: pages are being taken away from programs, or are about to be.  @lock
 * @guess: it asks to write what a program wants to read.  @lock
 * @losses: time-outs of the retransmission timer in a row.  @lock
 * @rounds: requests of the transaction under way so far.  @lock
 * @wakes: raised by each WEFT_DO_WAKE; what waiters look at.  @lock to write
 * @fails: raised by each WEFT_DO_FAIL.  @lock to write
 * @resending: messages that go out now are repetitions.  @lock
 * @asked: when the last request of it went out that was no repetition, ns.  @lock
 * @dunned: when those were first told to give the block back to whom it is lent, ns.
 *	@lock
 * @repeated: when a request last went out as a repetition, ns.  @lock
 * @doubt: how long a request that was repeated took, ns, counted from its first
 *	copy; 0: none did, or it is settled.  If both copies are answered the
 *	repetition was needless, and this is how slow the rack is; if not, one of
 *	them was lost, and it says nothing.  @lock
 * @doubt_txn: its transaction.  @lock
 * @doubt_op: what it was for, enum weft_op.  @lock
 * @began: when the transaction under way began, ns.  @lock
 * @heard: when the revocation under way was asked for, ns.  @lock
 * @keep: not to be revoked before, ns; 0: at any time.  @lock
 * @late: until when it stays if the word @watch has not changed, ns; 0: no longer than
 *	@keep.  @lock
 * @watch: byte of the block that a program is about to write to.  @lock
 * @was: the word that it is in, before that.  @lock
 * @fresh: a program got it and did not come back for its access yet.  @lock to
 *	write
 * @pin_waits: how often revocation waited for a device.  @lock
 * @armed: @timer has a reference.  @lock
 * @nowhere: the home said that it has no such line.  @lock to write
 * @lost: what came with the transaction @lost_txn is older than what a dead node had, and
 *	the region's policy is that nobody gets that: no program has access, whatever the
 *	permission, and the block is dropped as soon as the line is idle.  @lock
 * @denials: raised each time that such contents come.  @lock to write
 * @putting: counted in weft_cache.putting.  @lock
 * @owed: a device writes into it, and its home is to have it: see recovery.c, whose
 *	work alone looks at this
 * @want: what threads of this node want to do: WEFT_I, WEFT_S, WEFT_M.  It is asked for as
 *	soon as the line is idle.  @lock
 * @leave: the eviction wants it to go, now or not at all.  @lock
 * @clean: it is to be written home.  @lock
 * @modified: by programs of this node since it was last home, or on its way there.  @lock
 * @through_until: when another node gets it though it is not home, ns; 0: none waits for that.
 *	@lock
 * @flush: its home begins anew and wants it, enum weft_flush.  @lock
 * @forget: its home does not know it any more.  @lock
 * @bound: what the lock that guards it wants.  @lock
 * @predict: what programs do with it that have that lock.  @lock
 * @offer: where its request says that it may land.  @lock
 * @migratory: is it read, then written, each time that it comes?  @lock
 * @backoff_at: when to repeat a refused request, ns; 0: none was.  @lock
 * @retry_at: when to send again, ns; 0: nothing is to be answered, or @backoff_at.  @lock
 * @look_at: when to see, before that, whether what was asked for later is here, ns; 0: not
 *	again.  @lock
 * @ref: the region's table has one, so has the armed timer, queued work and each
 *	thread that looks
 * @misses: how often the permission came that was asked for.  @lock
 * @contents: its bytes, for messages; its generation is raised under @lock
 * @writable: programs may write to it.  @lock
 * @sealed: ... and those of this node do not for now, see tail.h.  @lock
 * @flying: it counts as under way to this node, see flight.h.  @lock
 * @homing: ... though it is here, as its home is still to have it.  @lock
 * @flushing: ... from it to its home.  @lock
 * @from: the home in whose window it is as @flying.  @lock
 * @to: ... as @flushing, and which @putting counts for; the last one that it did.  A region may
 *	get other homes meanwhile.  @lock
 * @cache: that it is in
 * @region: that it is of; valid until the block left its table
 * @wait: for WEFT_DO_WAKE and for changes of @phase
 * @timer: for the first of @backoff_at, @retry_at, @look_at, @keep and @bound.patience.  Not
 *	stopped when they go: it looks at them itself
 * @take: takes the block away from the programs
 * @lru: in weft_cache.lru or .free, under weft_cache.lru_lock
 * @rcu: of the lookup in softirq
 * @nr_pages: pages of the block
 * @nr_folios: 1: these are one folio, which has one lock; else each is one.  Constant once
 *	LIVE
 * @revocations: how often another node took the block, or the right to write it.
 *	@lock
 * @pages: them, a reference to each folio that is kept as long as the line; constant once
 *	LIVE
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
 * What a wait of @slice jiffies, begun at @began, took longer because this machine stood still, as
 * a paused guest does: nobody has waited then.  0: it was woken in time, or about.
 */
static inline unsigned long weft_stood_still(unsigned long began, long slice)
{
	long late = (long)(jiffies - began) - slice;

	return late > HZ ? late : 0;
}

void weft_block_put(struct weft_block *blk);

/* For a new block, whose size is known. */
void weft_block_init_contents(struct weft_block *blk);

/* Its bytes, for a message: with a reference to the block.  Any context. */
struct weft_contents *weft_block_contents(struct weft_block *blk);

/* And back. */
struct weft_block *weft_block_of_contents(struct weft_contents *contents);

/**
 * weft_block_find() - look a block up
 *
 * Any context.  Return: the block with a reference, LIVE or not, or NULL.
 */
struct weft_block *weft_block_find(struct weft_region *region, u64 index);

/* The first block at or after *index, with a reference; *index is set to it. */
struct weft_block *weft_block_next(struct weft_region *region, u64 *index);

/* Another phase; whoever waits for one looks again. */
void weft_block_set_phase(struct weft_block *blk, u8 phase);

/* Something happened that threads wait for: see @wakes. */
void weft_block_wake(struct weft_block *blk) __must_hold(&blk->lock);

#endif /* WEFT_BLOCK_H */
