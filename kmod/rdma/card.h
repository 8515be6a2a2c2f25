/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node's network card (RDMA device): what is made of it, its lock and lifetime, and all that
 * the files of this folder keep of a node.  main.c makes and destroys it.  With card->lock no
 * layer above may be called.
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

/*
 * Locks.  card->lock is the only one of this folder.  It is taken inside a block's lock, and
 * outside those of the device's driver.
 *
 * Contexts.  The mender, one work item of each card (main.c), does all that sleeps, and is alone
 * with what it makes and destroys: device, queues, connections, MRs that cannot be taken back
 * otherwise.  All other contexts look at @up and at states with the lock, post work requests,
 * and wake the mender.  Completions come in softirq.
 *
 * Lifetime.  A card exists while its node is up, with a device or without.  It is freed when no
 * posted buffer of it has a reference any more.
 */

/* Pages of the largest block that lands; larger ones go in messages. */
#define WEFT_MR_PAGES	16
/* Blocks that may land at the same time; other requests offer no posted buffer. */
#define WEFT_MRS		256
/*
 * Work requests outstanding on a connection, two for a block: as many as a peer can have
 * landings for; and on all connections of a card.
 */
#define WEFT_CONN_WORK		(2 * WEFT_MRS)
#define WEFT_CARD_WORK		2048
/* Landings of a peer, and write-backs to it, that are remembered as used. */
#define WEFT_RECENT		64
/*
 * Receive buffers for messages of others: LANDED for each MR, notices of free write-back
 * buffers, and some for messages that should not come.
 */
#define WEFT_INBOXES		(WEFT_MRS + 128)
#define WEFT_INBOX_LEN		256
/* Connection requests that wait for the mender, at most. */
#define WEFT_CALLERS_MAX	16

/* ms; a queue pair with a work request that takes longer is given up. */
#define WEFT_STUCK_MS		2000

/**
 * enum weft_mr_state - the states of a memory region
 * @WEFT_MR_IDLE: belongs to no block
 * @WEFT_MR_MADE: belongs to a block; its key is not valid yet
 * @WEFT_MR_OPENING: the card is registering the block's pages
 * @WEFT_MR_OPEN: other members can write there
 * @WEFT_MR_CLOSING: the card is invalidating the key
 * @WEFT_MR_BAD: other members may or may not be able to write there: the mender deregisters it
 * @WEFT_MR_CLOSED: no member can write there; the posted buffer still has references
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
 * struct weft_mr - a memory region for one block at a time, and its posted buffer
 * @posted: as the other layers see it, while @state is not IDLE
 * @card: whose
 * @list: while it is IDLE in card->mrs_free, or without @ib in card->mrs_bare
 * @by_key: in card->keys, while there is an @ib
 * @ib: the device's MR; NULL: there is none
 * @state: see above
 * @mapped: @sg has the block's pages mapped for the device
 * @unwanted: close it as soon as it is open
 * @home: member that the request goes to
 * @line: of the block
 * @tried: this node's card was asked to read the block
 * @made: when the block was missed, ns
 * @read: this node's card has read the block: hand in @landed
 * @since: when a work request for it was posted, jiffies
 * @reg: completion of the registration
 * @inv: completion of the invalidation
 * @out: while it is OPENING: the request that offers it
 * @payload: payload of @out
 * @landed: LANDED as the home would have sent it
 * @sg: the block's pages
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
 * struct weft_regqp - the registration QP, see regqp.h
 * @qp: connected to itself
 * @broken: a work request has failed or takes too long
 */
struct weft_regqp {
	struct ib_qp *qp;
	bool broken;
};

/* States of a connection; conn.h has the transitions. */
enum weft_conn_state {
	WEFT_CONN_NONE,
	WEFT_CONN_ADDRESS,	/* the address is being resolved */
	WEFT_CONN_ROUTE,	/* the route is being resolved */
	WEFT_CONN_CALLING,	/* this node has asked the peer */
	WEFT_CONN_ACCEPTED,	/* the peer has asked, and is accepted */
	WEFT_CONN_UP,
	WEFT_CONN_BROKEN,	/* the mender is to destroy it */
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
 * struct weft_pace - how long misses of blocks of a home take
 * @asked: smoothed, if a program (the blade's, or a provider's) brings the block, ns
 * @direct: smoothed, if this node's card reads it, ns
 * @misses: misses for which both ways were open
 */
struct weft_pace {
	u64 asked;
	u64 direct;
	u32 misses;
};

/**
 * struct weft_conn - the connection to a member
 * @card: of this node
 * @peer: the member
 * @state: see above
 * @heard: an event for this state waits for the mender
 * @wanted: a block was to go by it
 * @id: of the connection manager; NULL: there is none.  Only the mender changes it, with the
 *	lock
 * @addr: the member's address when it was made
 * @said: private data of the peer
 * @said_len: bytes of @said
 * @busy: outstanding work requests
 * @wqes: struct weft_wqe that are outstanding, the oldest first
 * @life: raised when the blade has invalidated all keys by which this node reads there
 * @pace: of a blade: how long its blocks take
 * @since: when it came into @state, jiffies
 * @next_try: no attempt to connect before, jiffies
 * @failures: failed attempts in a row
 * @why: reason of the last failure, a sentence; NULL: there was none
 * @landings: key and address of landings that this node has written to
 * @wbufs: of a blade: its write-back buffers
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
 * struct weft_inbox_buffer - a receive buffer for one message
 * @cqe: completion of the receive
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
 * struct weft_fault - injected faults, for tests; see fault.h
 * @queues: the value of fail_queues that was last obeyed
 * @keys: the same of fail_keys
 * @told: completion of an injected invalidation
 */
struct weft_fault {
	u32 queues;
	u32 keys;
	struct ib_cqe told;
};

/**
 * struct weft_card - a node's card.  With @lock, but for what says otherwise
 * @node: the node
 * @net: the node's network namespace, to which its configuration has a reference
 * @addr: the node's address
 * @mend: the mender
 * @lock: see above
 * @up: there is a device, with queues
 * @gone: the device is being removed
 * @ended: the node goes down
 * @why: reason why there is no device, a sentence; or NULL.  The mender writes it, READ_ONCE
 * @listener: listens at the node's address.  The mender's, as all up to @sges
 * @device: the device with that address
 * @pd: protection domain
 * @cq: completions of all queues
 * @srq: shared receive queue, with @inboxes
 * @sges: scatter-gather entries of a work request
 * @regqp: the registration QP; @regqp.broken with the lock
 * @n_up: connections that are UP
 * @busy: outstanding work requests of all connections
 * @addr_next: address for the next landing; no landing has had it
 * @mrs_free: idle MRs that can be used
 * @mrs_bare: idle MRs without a device's MR
 * @n_out: posted buffers with references
 * @unused: woken when @n_out becomes 0
 * @deeds: table of deeds, see read.h; NULL: none
 * @fault: injected faults.  The mender's
 * @keys: MRs by key, without the part that counts
 * @callers: connection requests, struct caller of conn.c
 * @n_callers: length of @callers
 * @mrs: all MRs
 * @inboxes: receive buffers
 * @conns: connections by member
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

/* Run the mender now.  With the lock: @ended is set with it before the mender is cancelled. */
static inline void weft_card_wake(struct weft_card *card)
{
	lockdep_assert_held(&card->lock);
	if (!card->ended)
		mod_delayed_work(weft_menders, &card->mend, 0);
}

#endif /* WEFT_RDMA_CARD_H */
