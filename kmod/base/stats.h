/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters and histograms of a node in a rack: 64 bits, free running, one set for each processor.
 * Any layer counts, in any context; netlink and events read.  No rule of the protocol uses them.
 */
#ifndef WEFT_STATS_H
#define WEFT_STATS_H

#include <linux/irqflags.h>	/* that percpu.h needs and does not include */
#include <linux/percpu.h>
#include <linux/types.h>

#include "weft_hist.h"
#include "weft_wire.h"

struct weft_hists;

/* Enum and names of the counters.  A miss counts when it is served, by what the directory knew. */
#define WEFT_STATS(X) \
	X(MISS_READ_UNSHARED,	"miss_read_unshared") \
	X(MISS_READ_SHARED,	"miss_read_shared") \
	X(MISS_READ_MODIFIED,	"miss_read_modified") \
	X(MISS_WRITE_UNSHARED,	"miss_write_unshared") \
	X(MISS_WRITE_SHARED,	"miss_write_shared") \
	X(MISS_WRITE_MODIFIED,	"miss_write_modified") \
	X(MISS_UPGRADE,		"miss_upgrade") \
	X(MISS_FAILED,		"miss_failed") \
	/* read misses that asked to write at once, as the block seemed migratory; those after */ \
	/* which no program wrote */ \
	X(GUESSED,		"guessed") \
	X(GUESSED_WRONG,	"guessed_wrong") \
	X(MISS_BY_SWITCH,	"miss_by_switch") \
	X(MISS_BY_HOME,		"miss_by_home") \
	/* ... by readers, who gave back what the owner had lent them */ \
	X(MISS_BY_READERS,	"miss_by_readers") \
	/* round trips of the served misses, and their time */ \
	X(MISS_ROUND_TRIPS,	"miss_round_trips") \
	X(MISS_NSEC,		"miss_nsec") \
	/* programs */ \
	X(FAULT_READ,		"fault_read") \
	X(FAULT_WRITE,		"fault_write") \
	X(FAULT_WAITED,		"fault_waited") \
	X(FAULT_FAILED,		"fault_failed") \
	X(READ_BYTES,		"read_bytes") \
	X(WRITE_BYTES,		"write_bytes") \
	X(READ_AHEAD,		"read_ahead") \
	/* read-ahead delayed by a full window; windows cut for a loss */ \
	X(READ_AHEAD_HELD,	"read_ahead_held") \
	X(WINDOW_CUTS,		"window_cuts") \
	/* messages */ \
	X(MSG_SENT,		"msg_sent") \
	X(MSG_SENT_BYTES,	"msg_sent_bytes") \
	/* of those, to a node in this kernel; lost there as its inbox was full */ \
	X(MSG_IN_MEMORY,	"msg_in_memory") \
	X(MSG_INBOX_FULL,	"msg_inbox_full") \
	X(MSG_RECEIVED,		"msg_received") \
	X(MSG_RECEIVED_BYTES,	"msg_received_bytes") \
	X(MSG_BAD,		"msg_bad") \
	X(MSG_TORN,		"msg_torn") \
	/* not sent: the block changed before the message was encoded */ \
	X(MSG_OUTDATED,		"msg_outdated") \
	/* refused for their sender: another interface, another port, no member, not the */ \
	/* member that they name, the standby of a blade */ \
	X(MSG_INTERFACE,	"msg_other_interface") \
	X(MSG_PORT,		"msg_other_port") \
	X(MSG_STRANGER,		"msg_stranger") \
	X(MSG_FORGED,		"msg_forged") \
	X(MSG_TWIN,		"msg_twin") \
	/* refused for their tag: none, a wrong one, an old one */ \
	X(MSG_NO_KEY,		"msg_no_key") \
	X(MSG_WRONG_KEY,	"msg_wrong_key") \
	X(MSG_STALE,		"msg_stale") \
	X(MSG_OTHER_RACK,	"msg_other_rack") \
	X(MSG_OTHER_VERSION,	"msg_other_version") \
	X(MSG_UNKNOWN_LINE,	"msg_unknown_line") \
	X(MSG_UNKNOWN_PEER,	"msg_unknown_peer") \
	X(MSG_NO_MEMORY,	"msg_no_memory") \
	X(MSG_NO_ROUTE,		"msg_no_route") \
	X(RETRANSMISSIONS,	"retransmissions") \
	/* spurious retransmissions */ \
	X(NEEDLESS,		"needless") \
	X(NACKS,		"nacks") \
	X(CHASES,		"chases") \
	/* revocations */ \
	X(INVALIDATED,		"invalidated") \
	X(DOWNGRADED,		"downgraded") \
	X(REVOKED_MAPPED,	"revoked_mapped") \
	X(REVOKED_UNMAPPED,	"revoked_unmapped") \
	X(HELD_BACK,		"held_back") \
	/* held longer than hold_us, as the program had not written yet */ \
	X(HELD_LONGER,		"held_longer") \
	X(BLOCKS_IN,		"blocks_in") \
	X(BLOCKS_OUT,		"blocks_out") \
	/* landings: offered by requests; blocks that came, and went out, by one */ \
	X(LANDINGS_OFFERED,	"landings_offered") \
	X(BLOCKS_LANDED,	"blocks_landed") \
	X(BLOCKS_LANDED_OUT,	"blocks_landed_out") \
	/* blocks that this node's card read at a blade; remote handles (deeds) that were of */ \
	/* former contents; landings closed as the block came otherwise, mostly in messages */ \
	X(BLOCKS_READ,		"blocks_read") \
	X(DEEDS_OUTDATED,	"deeds_outdated") \
	X(LANDINGS_CLOSED,	"landings_closed") \
	X(WRITE_BACKS,		"write_backs") \
	/* write-through: blocks written home before their ownership moved, and those that */ \
	/* were not in time; the same of locks and what was modified under them */ \
	X(HOME_FIRST,		"home_first") \
	X(UNSAFE_BLOCKS,	"unsafe_blocks") \
	X(LOCK_HOME_FIRST,	"lock_home_first") \
	X(LOCK_UNSAFE,		"lock_unsafe") \
	/* blocks made as one folio, and those for which there was none */ \
	X(FOLIOS,		"folios") \
	X(FOLIOS_FAILED,	"folios_failed") \
	X(EVICTED_CLEAN,	"evicted_clean") \
	X(EVICTED_MODIFIED,	"evicted_modified") \
	/* memory pressure: blocks that the kernel asked to look at, and that were */ \
	X(SHRINK_ASKED,		"shrink_asked") \
	X(SHRINK_LOOKED,	"shrink_looked") \
	X(CACHE_FULL,		"cache_full") \
	X(BLOCKS_LOST,		"blocks_lost") \
	/* blocks with lost data that the policy refuses to programs */ \
	X(LOST_DENIED,		"lost_denied") \
	/* nodes that the first blade took for dead while this one was a member */ \
	X(NODES_DEAD,		"nodes_dead") \
	/* blades whose twins have taken over */ \
	X(BLADES_MOVED,		"blades_moved") \
	/* regions given back because they got other homes */ \
	X(REGIONS_MOVED,	"regions_moved") \
	/* locks: requests of programs to the kernel, and what they took */ \
	X(LOCK_ACQUIRES,	"lock_acquires") \
	X(LOCK_CACHED,		"lock_cached") \
	X(LOCK_REQUESTS,	"lock_requests") \
	X(LOCK_GRANTED,		"lock_granted") \
	X(LOCK_HANDED,		"lock_handed") \
	X(LOCK_WAITS_NSEC,	"lock_waits_nsec") \
	X(LOCK_RELEASES_DEAD,	"lock_releases_dead") \
	/* locks that came after their owner had died, and that nobody had mended since */ \
	X(LOCK_OWNERS_DIED,	"lock_owners_died") \
	/* blocks that locks guard: asked for when the lock had come, passed on with it, */ \
	/* come with it, expected with it in vain; waited for in vain, and how long that and */ \
	/* waiting for what came took */ \
	X(LOCK_BLOCKS_FETCHED,	"lock_blocks_fetched") \
	X(LOCK_BLOCKS_PASSED,	"lock_blocks_passed") \
	X(LOCK_BLOCKS_CAME,	"lock_blocks_came") \
	X(LOCK_BLOCKS_LATE,	"lock_blocks_late") \
	X(LOCK_BLOCKS_BROKEN,	"lock_blocks_broken") \
	X(LOCK_BLOCKS_NSEC,	"lock_blocks_nsec") \
	/* such blocks mapped for the thread that got the lock; those mapped in vain */ \
	X(LOCK_BLOCKS_MAPPED,	"lock_blocks_mapped") \
	X(LOCK_BLOCKS_UNUSED,	"lock_blocks_unused") \
	/* guard learning: blocks learnt, forgotten; misses saved; blocks that came, or were */ \
	/* passed on, in vain */ \
	X(LOCK_LEARNT,		"lock_learnt") \
	X(LOCK_FORGOTTEN,	"lock_forgotten") \
	X(LOCK_LEARNT_SAVED,	"lock_learnt_saved") \
	X(LOCK_LEARNT_USELESS,	"lock_learnt_useless") \
	/* catalog */ \
	X(CALLS,		"calls") \
	X(CALL_REPEATS,		"call_repeats") \
	X(CALL_TIMEOUTS,	"call_timeouts") \
	X(RECALLS,		"recalls") \
	X(SYNCS,		"syncs")

/* Each type of message has a counter sent and one received. */
#define WEFT_STATS_TYPES	66	/* WEFT_MSG_REPLY + 1 */

enum weft_stat {
#define X(id, name) WEFT_STAT_##id,
	WEFT_STATS(X)
#undef X
	WEFT_STAT_SENT_TYPE,
	WEFT_STAT_RECEIVED_TYPE = WEFT_STAT_SENT_TYPE + WEFT_STATS_TYPES,
	WEFT_STAT_COUNT = WEFT_STAT_RECEIVED_TYPE + WEFT_STATS_TYPES,
};

struct weft_stats {
	u64 value[WEFT_STAT_COUNT];
};

/**
 * struct weft_counters - what a node counts
 * @stats: counters of each processor
 * @hists: histograms of each processor
 */
struct weft_counters {
	struct weft_stats __percpu *stats;
	struct weft_hists __percpu *hists;
};

/* Any context. */
static inline void weft_stat_add(const struct weft_counters *c, unsigned int stat, u64 n)
{
	this_cpu_add(c->stats->value[stat], n);
}

static inline void weft_stat_inc(const struct weft_counters *c, unsigned int stat)
{
	weft_stat_add(c, stat, 1);
}

/* Sums over all processors, into WEFT_STAT_COUNT values. */
void weft_stats_get(const struct weft_counters *c, u64 *value);

u64 weft_stat_get(const struct weft_counters *c, unsigned int stat);

/*
 * Name of a counter for netlink; NULL for a type of message that does not exist.  @buf: room for a
 * name that is put together, 32 bytes suffice.
 */
const char *weft_stat_name(unsigned int stat, char *buf, size_t size);

/*
 * Histograms of durations, always on; weft_hist.h has the buckets.  What begins and ends one:
 *
 * miss_*	the transaction begins for a program, or for reading ahead; the permission is
 *		here.  By kind, as the counters of the same names
 * lock_acquire	ACQUIRE for a lock is sent; the permission is here.  Not for locks that the node
 *		has already
 * lock_hand_over  a node that has a lock to write hears that another node waits; the message
 *		that hands it over is made.  Mostly the time that programs hold the lock
 * lock_yield	the same for a lock that this node has to read
 * invalidation	another node wants a block for itself; the answer is made.  Includes the minimum
 *		stay and the unmapping.  If the cache was giving the block up, it begins there
 * downgrade	the same for a block of which a copy to read may stay
 */

#define WEFT_HISTS(X) \
	/* in the order of the counters WEFT_STAT_MISS_* */ \
	X(MISS_READ_UNSHARED,	"miss_read_unshared") \
	X(MISS_READ_SHARED,	"miss_read_shared") \
	X(MISS_READ_MODIFIED,	"miss_read_modified") \
	X(MISS_WRITE_UNSHARED,	"miss_write_unshared") \
	X(MISS_WRITE_SHARED,	"miss_write_shared") \
	X(MISS_WRITE_MODIFIED,	"miss_write_modified") \
	X(MISS_UPGRADE,		"miss_upgrade") \
	X(LOCK_ACQUIRE,		"lock_acquire") \
	X(LOCK_HAND_OVER,	"lock_hand_over") \
	X(LOCK_YIELD,		"lock_yield") \
	X(INVALIDATION,		"invalidation") \
	X(DOWNGRADE,		"downgrade")

enum weft_hist {
#define X(id, name) WEFT_HIST_##id,
	WEFT_HISTS(X)
#undef X
	WEFT_HIST_COUNT,
};

/**
 * struct weft_hist_data - one histogram
 * @nsec: sum of all durations
 * @bucket: number of durations in each bucket
 */
struct weft_hist_data {
	u64 nsec;
	u64 bucket[WEFT_HIST_BUCKETS];
};

struct weft_hists {
	struct weft_hist_data hist[WEFT_HIST_COUNT];
};

/* Allocate counters and histograms, all 0.  Return: 0 or -ENOMEM. */
int weft_counters_init(struct weft_counters *c);
void weft_counters_exit(struct weft_counters *c);

/* Any context. */
static inline void weft_hist_add(const struct weft_counters *c, enum weft_hist hist, u64 nsec)
{
	this_cpu_inc(c->hists->hist[hist].bucket[weft_hist_bucket(nsec)]);
	this_cpu_add(c->hists->hist[hist].nsec, nsec);
}

/* Sums over all processors, into WEFT_HIST_COUNT histograms. */
void weft_hist_get(const struct weft_counters *c, struct weft_hist_data *data);

const char *weft_hist_name(enum weft_hist hist);

#endif /* WEFT_STATS_H */
