/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node's network card, as far as it writes blocks into the memory of others and lets
 * others write into this node's: the device that has the node's address, what is made of it,
 * and everything that the files of this folder keep of a node.
 *
 * Locks.  card->lock is the only one.  It is taken under a block's lock; the card's driver
 * has its own below it; nothing of the layers above is called with it.
 *
 * Who does what.  What sleeps is done by one work item, main.c, which is alone with all that
 * is made and destroyed: device, queues, connections, keys that cannot be taken back
 * otherwise.  Everybody else looks at @up and at states with the lock, hands requests to the
 * card, and wakes the mender.  What the card has done is told in softirq.
 *
 * Lifetime.  A card exists from the node's coming up until it goes down, with a device or
 * without.  It is freed when no posted buffer of it has a reference any more.
 */
#ifndef WEFT_RDMA_CARD_H
#define WEFT_RDMA_CARD_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core/hello.h"
#include "core/wire.h"
#include "net/outbox.h"
#include "net/peer.h"
#include "net/transport.h"

/* Pages of a block that lands, at most; larger blocks go in messages. */
#define WEFT_MR_PAGES	16
/* Blocks that may land at a time; for more there is no posted buffer. */
#define WEFT_MRS		256
/*
 * Requests of a connection that are not done, two for a block: as much as a peer can have
 * landings for; and of all of them.
 */
#define WEFT_CONN_WORK		(2 * WEFT_MRS)
#define WEFT_CARD_WORK		2048
/* Landings of a peer, and write-backs to it, that are remembered as used. */
#define WEFT_RECENT		64
/*
 * Buffers for what others send: a LANDED for each MR, write-back buffers that are free, what is
 * wrong.
 */
#define WEFT_INBOXES		(WEFT_MRS + 128)
#define WEFT_INBOX_LEN		256
/* Connections that others want and that were not looked at yet. */
#define WEFT_CALLERS_MAX	16

/* What the card does not do in that time it is not waited for: the queue is given up. */
#define WEFT_STUCK_MS		2000

/**
 * enum weft_mr_state - where a memory region is in its life
 * @WEFT_MR_IDLE: of no block
 * @WEFT_MR_MADE: of a block; its key is valid nowhere
 * @WEFT_MR_OPENING: the card registers the block's pages
 * @WEFT_MR_OPEN: others can write there
 * @WEFT_MR_CLOSING: the card takes the key back
 * @WEFT_MR_BAD: nobody knows whether others can write there: the mender deregisters it
 * @WEFT_MR_CLOSED: nobody can any more; references to the posted buffer are left
 */
enum weft_mr_state {
	WEFT_MR_IDLE,
	WEFT_MR_MADE,
	WEFT_MR_OPENING,
	WEFT_MR_OPEN,
	WEFT_MR_CLOSING,
	WEFT_MR_BAD,
	WEFT_MR_CLOSED,
};

/**
 * struct weft_mr - memory registration for one block at a time, and its posted buffer
 * @posted: as all see it, while @state is not IDLE
 * @card: whose
 * @list: in card->mrs_free, with @ib, or mrs_bare, without, while it is IDLE
 * @by_key: in card->keys, while there is @ib
 * @ib: of the device; NULL: there is none
 * @state: as above
 * @mapped: the block's pages are mapped for the device, as @sg has them
 * @unwanted: it is to be closed as soon as it is open
 * @home: where the request goes
 * @line: of the block
 * @tried: this node's card was asked to read the block
 * @made: ns, when the block was missed
 * @read: this node's card has read the block: @landed is to be handed in
 * @since: when the card was asked to do something, jiffies
 * @reg: tells that it has been registered
 * @inv: tells that the key was taken back
 * @out: the request that offers it, while it is OPENING
 * @payload: of @out
 * @landed: LANDED, as its home would have sent it
 * @sg: the pages
 */
struct weft_mr {
	struct weft_posted posted;
	struct weft_card *card;
	struct list_head list;
	struct hlist_node by_key;
	struct ib_mr *ib;
	enum weft_mr_state state;
	bool mapped;
	bool unwanted;
	bool read;
	bool tried;
	u8 home;
	u64 line;
	u64 made;
	unsigned long since;
	struct ib_cqe reg;
	struct ib_cqe inv;
	struct weft_outgoing out;
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg landed;
	struct scatterlist sg[WEFT_MR_PAGES];
};

/**
 * struct weft_regqp - a queue pair that leads nowhere, for registering and taking back
 * @qp: connected to itself
 * @broken: something of it has failed, or takes too long
 */
struct weft_regqp {
	struct ib_qp *qp;
	bool broken;
};

/* How far a connection is. */
enum weft_conn_state {
	WEFT_CONN_NONE,
	WEFT_CONN_ADDRESS,	/* where is it? */
	WEFT_CONN_ROUTE,	/* which way is it? */
	WEFT_CONN_CALLING,	/* we asked */
	WEFT_CONN_ACCEPTED,	/* it asked */
	WEFT_CONN_UP,
	WEFT_CONN_BROKEN,	/* the mender destroys it */
};

/**
 * struct weft_recent - the last WEFT_RECENT pairs of numbers that were used
 * @pair: a ring
 * @used: how many ever were, as far as that is below twice the size of the ring
 */
struct weft_recent {
	u64 pair[WEFT_RECENT][2];
	u32 used;
};

static inline bool weft_recent_has(const struct weft_recent *recent, u64 a, u64 b)
{
	u32 n = min_t(u32, recent->used, WEFT_RECENT), i;

	for (i = 0; i < n; i++) {
		if (recent->pair[i][0] == a && recent->pair[i][1] == b)
			return true;
	}
	return false;
}

static inline void weft_recent_add(struct weft_recent *recent, u64 a, u64 b)
{
	u64 *pair = recent->pair[recent->used % WEFT_RECENT];

	pair[0] = a;
	pair[1] = b;
	/* never below the size of the ring again: all of it stays remembered */
	if (++recent->used == 2 * WEFT_RECENT)
		recent->used = WEFT_RECENT;
}

/**
 * struct weft_wbufs - write-back buffers of a blade for blocks of this node, see wbuf.h
 * @first: where the first one is; the others follow
 * @n: how many there are
 * @free: bits: buffers that this node may write to
 * @theirs: bits: buffers whose block the blade has not taken yet
 * @blocks: line and version of blocks that were written to one lately
 */
struct weft_wbufs {
	struct weft_landing first;
	u32 n;
	u32 free;
	u32 theirs;
	struct weft_recent blocks;
};

/**
 * struct weft_pace - how long a miss takes of a block of this home
 * @asked: ns, if somebody's program brings it
 * @direct: ns, by this node's card alone
 * @misses: that could have gone either way
 */
struct weft_pace {
	u64 asked;
	u64 direct;
	u32 misses;
};

/**
 * struct weft_conn - the connection to a member
 * @card: of this node
 * @peer: member
 * @state: how far it is
 * @heard: an event has come that the mender is to look at, for this state
 * @wanted: there was something for it
 * @id: of the connection manager; NULL: there is none.  The mender changes it, with the lock
 * @addr: of the member, when it was made
 * @said: what the member has said
 * @said_len: bytes of it
 * @busy: requests that are not done
 * @wqes: what is under way, in the order in which it began
 * @life: of the keys by which this node reads there: raised when the blade has taken them back
 * @pace: of a blade
 * @since: when it got into this state, jiffies
 * @next_try: not before, jiffies
 * @failures: in a row
 * @why: the last one, a sentence; NULL: there was none
 * @landings: key and address of landings that this node has written to
 * @wbufs: of a blade
 */
struct weft_conn {
	struct weft_card *card;
	u8 peer;
	enum weft_conn_state state;
	bool heard;
	bool wanted;
	struct rdma_cm_id *id;
	__be32 addr;
	u8 said[WEFT_HELLO_LEN];
	u8 said_len;
	u32 busy;
	struct list_head wqes;
	u32 life;
	struct weft_pace pace;
	unsigned long since;
	unsigned long next_try;
	u32 failures;
	const char *why;
	struct weft_recent landings;
	struct weft_wbufs wbufs;
};

/**
 * struct weft_inbox_buffer - for one message that comes by the card
 * @cqe: tells that it has come
 * @card: whose
 * @data: WEFT_INBOX_LEN bytes
 * @dma: the device's address of it
 */
struct weft_inbox_buffer {
	struct ib_cqe cqe;
	struct weft_card *card;
	u8 *data;
	u64 dma;
};

struct weft_deed_note;

/**
 * struct weft_fault - faults for tests, see fault.h
 * @queues: value of fail_queues that was seen last
 * @keys: of fail_keys
 * @told: tells that a key was taken back
 */
struct weft_fault {
	u32 queues;
	u32 keys;
	struct ib_cqe told;
};

/**
 * struct weft_card - see above
 * @node: whose
 * @net: its network namespace, which its configuration holds
 * @addr: its address
 * @mend: see above
 * @lock: all that says no other
 * @up: there is a device, and all that is made of it
 * @gone: the device is going
 * @ended: the node goes down
 * @why: there is no device, a sentence, or NULL.  READ_ONCE, the mender writes it
 * @listener: the node's address; the mender's, as all up to @sges
 * @device: that has it
 * @pd: protection domain
 * @cq: what the device has done
 * @srq: @inboxes
 * @sges: pieces of a request
 * @regqp: @regqp.broken: with the lock
 * @n_up: connections that are UP
 * @busy: requests of all connections that are not done
 * @addr_next: the device's address of the next landing: none was used before
 * @mrs_free: that can be used
 * @mrs_bare: that have no registration
 * @n_out: posted buffers that somebody has a reference to
 * @unused: @n_out is 0
 * @deeds: a table, see read.h; NULL: there is none
 * @fault: the mender's
 * @keys: MRs by their keys, without the part that changes
 * @callers: those who want a connection, struct caller of conn.c
 * @n_callers: how many
 * @mrs: all of them
 * @inboxes: buffers
 * @conns: by member
 */
struct weft_card {
	struct weft_node *node;
	struct net *net;
	__be32 addr;
	struct delayed_work mend;
	spinlock_t lock;
	bool up;
	bool gone;
	bool ended;
	const char *why;
	struct rdma_cm_id *listener;
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	u32 sges;
	struct weft_regqp regqp;
	u32 n_up;
	u32 busy;
	u64 addr_next;
	struct list_head mrs_free;
	struct list_head mrs_bare;
	u32 n_out;
	wait_queue_head_t unused;
	struct weft_deed_note *deeds;
	struct weft_fault fault;
	DECLARE_HASHTABLE(keys, 8);
	struct list_head callers;
	u32 n_callers;
	struct weft_mr mrs[WEFT_MRS];
	struct weft_inbox_buffer inboxes[WEFT_INBOXES];
	struct weft_conn conns[WEFT_PEERS_MAX];
};

extern struct workqueue_struct *weft_menders;

/* Run the mender now.  With the lock: @ended is set with it before the last run is waited for. */
static inline void weft_card_wake(struct weft_card *card)
{
	lockdep_assert_held(&card->lock);
	if (!card->ended)
		mod_delayed_work(weft_menders, &card->mend, 0);
}

#endif /* WEFT_RDMA_CARD_H */
