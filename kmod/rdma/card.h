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
#include "net/contents.h"
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

/* The states of a memory region. */
enum weft_mr_state {
	WEFT_MR_IDLE,		/* belongs to no block */
	WEFT_MR_MADE,		/* belongs to a block; its key is not valid yet */
	WEFT_MR_OPENING,	/* the card is registering the block's pages */
	WEFT_MR_OPEN,		/* other members can write there */
	WEFT_MR_CLOSING,	/* the card is invalidating the key */
	/* other members may or may not be able to write there: the mender deregisters it */
	WEFT_MR_BAD,
	WEFT_MR_CLOSED, /* no member can write there; the posted buffer still has references */
};

/* A memory region for one block at a time, and its posted buffer. */
struct weft_mr {
	struct weft_posted posted;	/* as the other layers see it, while @state is not IDLE */
	struct weft_card *card;
	/* while it is IDLE in card->mrs_free, or without @ib in card->mrs_bare */
	struct list_head list;
	struct hlist_node by_key;	/* in card->keys, while there is an @ib */
	struct ib_mr *ib;		/* the device's MR; NULL: there is none */
	enum weft_mr_state state;
	bool mapped;			/* @sg has the block's pages mapped for the device */
	bool unwanted;			/* close it as soon as it is open */
	bool read;			/* this node's card has read the block: hand in @landed */
	bool tried;			/* this node's card was asked to read the block */
	u8 home;			/* member that the request goes to */
	u64 line;
	u64 made;			/* when the block was missed, ns */
	unsigned long since;		/* when a work request for it was posted, jiffies */
	struct ib_cqe reg;		/* completion of the registration */
	struct ib_cqe inv;		/* completion of the invalidation */
	struct weft_outgoing out;	/* while it is OPENING: the request that offers it */
	u8 payload[WEFT_LANDING_LEN];	/* payload of @out */
	struct weft_msg landed;		/* LANDED as the home would have sent it */
	struct scatterlist sg[WEFT_MR_PAGES]; /* the block's pages */
};

/* The registration QP, see regqp.h. */
struct weft_regqp {
	struct ib_qp *qp;	/* connected to itself */
	bool broken;		/* a work request has failed or takes too long */
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

/* The last WEFT_RECENT pairs of numbers that were used. */
struct weft_recent {
	u64 pair[WEFT_RECENT][2];
	u32 used; /* how many ever were, as far as that is below twice the size of the ring */
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

/* Write-back buffers of a blade for blocks of this node, see wbuf.h. */
struct weft_wbufs {
	struct weft_landing first; /* where the first one is; the others follow */
	u32 n;		/* how many there are */
	u32 free;	/* bits: buffers that this node may write to */
	u32 theirs;	/* bits: buffers whose block the blade has not taken yet */
	/* line and version of blocks that were written to one lately */
	struct weft_recent blocks;
};

/* How long misses of blocks of a home take. */
struct weft_pace {
	/* smoothed, if a program (the blade's, or a provider's) brings the block, ns */
	u64 asked;
	u64 direct;	/* smoothed, if this node's card reads it, ns */
	u32 misses;	/* misses for which both ways were open */
};

/* The connection to a member. */
struct weft_conn {
	struct weft_card *card;
	u8 peer;
	enum weft_conn_state state;
	bool heard;		/* an event for this state waits for the mender */
	bool wanted;		/* a block was to go by it */
	/*
	 * of the connection manager; NULL: there is none.  Only the mender changes it, with the
	 * lock
	 */
	struct rdma_cm_id *id;
	__be32 addr;		/* the member's address when it was made */
	u8 said[WEFT_HELLO_LEN]; /* private data of the peer */
	u8 said_len;		/* bytes of @said */
	u32 busy;		/* outstanding work requests */
	struct list_head wqes;	/* struct weft_wqe that are outstanding, the oldest first */
	/* raised when the blade has invalidated all keys by which this node reads there */
	u32 life;
	struct weft_pace pace;	/* of a blade: how long its blocks take */
	unsigned long since;	/* when it came into @state, jiffies */
	unsigned long next_try;	/* no attempt to connect before, jiffies */
	u32 failures;		/* failed attempts in a row */
	const char *why;	/* reason of the last failure, a sentence; NULL: there was none */
	/* key and address of landings that this node has written to */
	struct weft_recent landings;
	struct weft_wbufs wbufs; /* of a blade: its write-back buffers */
};

/* A receive buffer for one message. */
struct weft_inbox_buffer {
	struct ib_cqe cqe;	/* completion of the receive */
	struct weft_card *card;
	u8 *data;		/* WEFT_INBOX_LEN bytes */
	u64 dma;		/* the device's address of it */
};

struct weft_deed_note;

/* Injected faults, for tests; see fault.h. */
struct weft_fault {
	u32 queues;		/* the value of fail_queues that was last obeyed */
	u32 keys;		/* the same of fail_keys */
	struct ib_cqe told;	/* completion of an injected invalidation */
};

/* A node's card.  With @lock, but for what says otherwise. */
struct weft_card {
	struct weft_node *node;
	/* the node's network namespace, to which its configuration has a reference */
	struct net *net;
	__be32 addr;			/* the node's address */
	struct delayed_work mend;
	spinlock_t lock;
	bool up;			/* there is a device, with queues */
	bool gone;			/* the device is being removed */
	bool ended;			/* the node goes down */
	/*
	 * reason why there is no device, a sentence; or NULL.  The mender writes it, READ_ONCE
	 */
	const char *why;
	/* listens at the node's address.  The mender's, as all up to @sges */
	struct rdma_cm_id *listener;
	struct ib_device *device;	/* the device with that address */
	struct ib_pd *pd;		/* protection domain */
	struct ib_cq *cq;		/* completions of all queues */
	struct ib_srq *srq;		/* shared receive queue, with @inboxes */
	u32 sges;			/* scatter-gather entries of a work request */
	struct weft_regqp regqp;	/* the registration QP; @regqp.broken with the lock */
	u32 n_up;			/* connections that are UP */
	u32 busy;			/* outstanding work requests of all connections */
	u64 addr_next;			/* address for the next landing; no landing has had it */
	struct list_head mrs_free;	/* idle MRs that can be used */
	struct list_head mrs_bare;	/* idle MRs without a device's MR */
	u32 n_out;			/* posted buffers with references */
	wait_queue_head_t unused;	/* woken when @n_out becomes 0 */
	struct weft_deed_note *deeds;	/* table of deeds, see read.h; NULL: none */
	struct weft_fault fault;	/* injected faults.  The mender's */
	DECLARE_HASHTABLE(keys, 8);	/* MRs by key, without the part that counts */
	struct list_head callers;	/* connection requests, struct caller of conn.c */
	u32 n_callers;			/* length of @callers */
	struct weft_mr mrs[WEFT_MRS];
	struct weft_inbox_buffer inboxes[WEFT_INBOXES]; /* receive buffers */
	struct weft_conn conns[WEFT_PEERS_MAX]; /* connections by member */
};

/* List the pages of a block.  Return: how many. */
static inline u32 weft_card_list(struct scatterlist *sg, const struct weft_contents *contents)
{
	u32 i, n = contents->size >> PAGE_SHIFT;

	sg_init_table(sg, n);
	for (i = 0; i < n; i++)
		sg_set_page(&sg[i], contents->pages[i], PAGE_SIZE, 0);
	return n;
}

extern struct workqueue_struct *weft_menders;

/* Run the mender now.  With the lock: @ended is set with it before the mender is cancelled. */
static inline void weft_card_wake(struct weft_card *card)
{
	lockdep_assert_held(&card->lock);
	if (!card->ended)
		mod_delayed_work(weft_menders, &card->mend, 0);
}

#endif /* WEFT_RDMA_CARD_H */
