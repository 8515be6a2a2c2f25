// SPDX-License-Identifier: GPL-2.0-only
/* The queue, terms and messages of a lock at a node, see lock.h. */
#include "lock.h"

/* --- the queue ----------------------------------------------------------------------------- */

/* The node's place, or -1. */
static int queue_find(const struct weft_queue *q, u32 member)
{
	u32 i;

	for (i = 0; i < q->n; i++)
		if (weft_txn_member(q->txn[i]) == member)
			return (int)i;
	return -1;
}

/* Append the node of a transaction; a node that waits already keeps its place. */
static void queue_append(struct weft_queue *q, u32 txn, bool writer)
{
	u32 member = weft_txn_member(txn), bit = weft_node_bit(member);
	int at = queue_find(q, member);

	if (!bit)
		return;
	if (at < 0)
		at = (int)q->n++;
	q->txn[at] = txn;
	q->writers = writer ? q->writers | bit : q->writers & ~bit;
}

static bool queue_is_writer(const struct weft_queue *q, u32 i)
{
	return q->writers & weft_node_bit(weft_txn_member(q->txn[i]));
}

u32 weft_queue_readers(const struct weft_queue *q)
{
	u32 n = 0;

	while (n < q->n && !queue_is_writer(q, n))
		n++;
	return n;
}

/* Append the nodes of @from but those of the bits @but. */
static void queue_append_all(struct weft_queue *q, const struct weft_queue *from, u32 but)
{
	u32 i;

	for (i = 0; i < from->n; i++)
		if (!(weft_node_bit(weft_txn_member(from->txn[i])) & but))
			queue_append(q, from->txn[i], queue_is_writer(from, i));
}

/* Remove all but @members. */
static void queue_keep(struct weft_queue *q, u32 members)
{
	struct weft_queue old = *q;

	memset(q, 0, sizeof(*q));
	queue_append_all(q, &old, ~members);
}

void weft_queue_unpack(struct weft_queue *q, const struct weft_msg *msg)
{
	u32 i, n = msg->payload ? msg->len / 4 : 0;

	memset(q, 0, sizeof(*q));
	for (i = 0; i < n && i < WEFT_QUEUE_MAX; i++) {
		u32 txn = get_unaligned_be32((const u8 *)msg->payload + 4 * i);

		queue_append(q, txn, msg->nonce & weft_node_bit(weft_txn_member(txn)));
	}
}

/* --- the lock ------------------------------------------------------------------------------ */

static u32 me(const struct weft_lock *l)
{
	return weft_node_bit(l->self);
}

/* Is epoch @a after @b?  Epochs wrap. */
static bool later(u32 a, u32 b)
{
	return (int)(a - b) > 0;
}

/* Is permission to read of @epoch void, as this node has made way for a later term? */
static bool is_void(const struct weft_lock *l, u32 epoch)
{
	return l->floored && later(l->floor, epoch);
}

static void set_floor(struct weft_lock *l, u32 epoch)
{
	if (!l->floored || l->floor != epoch)
		l->floor_died = false;
	l->floored = true;
	l->floor = epoch;
}

void weft_lock_init(struct weft_lock *l, u64 key, u8 self)
{
	memset(l, 0, sizeof(*l));
	l->key = key;
	l->self = self;
}

u8 weft_lock_perm(const struct weft_lock *l)
{
	return l->revoking ? WEFT_I : l->state;
}

bool weft_lock_idle(const struct weft_lock *l)
{
	return !l->want && !l->revoking && !l->handing && !l->query &&
	       !(l->tenured && l->waiting_on);
}

/* --- messages --------------------------------------------------------------- */

static struct weft_msg *send(struct weft_lock *l, struct weft_lock_out *out,
			     u8 to, u8 type, u32 txn)
{
	struct weft_send *s = &out->send[out->n++];

	memset(s, 0, sizeof(*s));
	s->to = to;
	s->msg.type = type;
	s->msg.src = l->self;
	s->msg.txn = txn;
	s->msg.line = l->key;
	return &s->msg;
}

static void send_acquire(struct weft_lock *l, bool excl, struct weft_lock_out *out)
{
	send(l, out, 0, WEFT_MSG_ACQUIRE, l->txn)->flags = excl ? WEFT_F_EXCL : 0;
	out->effects |= WEFT_DO_TIMER;
}

static void send_hand(struct weft_lock *l, struct weft_lock_out *out)
{
	struct weft_msg *m = send(l, out, 0, WEFT_MSG_HAND, weft_txn(l->self, 0));
	u32 i;

	for (i = 0; i < l->handed.n; i++)
		put_unaligned_be32(l->handed.txn[i], out->list + 4 * i);
	m->grant = l->handed_epoch;
	m->holder = l->handed_to;
	m->copyset = l->handed_readers;
	m->nonce = l->handed.writers;
	m->flags = l->handed_unmended ? WEFT_F_DIED : 0;
	m->payload = l->handed.n ? out->list : NULL;
	m->len = 4 * l->handed.n;
	out->effects |= WEFT_DO_TIMER;
}

static void send_query(struct weft_lock *l, struct weft_lock_out *out)
{
	send(l, out, 0, WEFT_MSG_QUERY, weft_txn(l->self, 0))->nonce = l->query;
	out->effects |= WEFT_DO_TIMER;
}

/* Ask the directory which node holds the queue: a message says that this one does. */
static void query(struct weft_lock *l, u32 fresh, struct weft_lock_out *out)
{
	if (!l->query)
		l->query = weft_txn(l->self, fresh);
	send_query(l, out);
}

/*
 * Tell the holder in term @epoch that this node does not have the lock.  Permission to read that
 * is still in flight to this node is older than that term, and void from now on.
 */
static void send_inv_ack(struct weft_lock *l, u32 txn, u32 epoch, u32 copyset,
			 bool died, struct weft_lock_out *out)
{
	struct weft_msg *m = send(l, out, (u8)weft_txn_member(txn), WEFT_MSG_INV_ACK, txn);

	if (!is_void(l, epoch)) {
		set_floor(l, epoch);
		l->floor_died |= died;
	}
	m->grant = epoch;
	m->copyset = copyset;
	/* repeat the news of the death, as the first answer may be lost */
	m->flags = died || (l->floor == epoch && l->floor_died) ? WEFT_F_DIED : 0;
}

static void send_hand_ack(struct weft_lock *l, const struct weft_msg *msg,
			  struct weft_lock_out *out)
{
	struct weft_msg *m;

	if (msg->src == l->self) {
		/* a hand-over to this node itself, behind readers */
		if (msg->grant == l->handed_epoch + WEFT_EPOCH_STEP)
			l->handing = false;
		return;
	}
	m = send(l, out, msg->src, WEFT_MSG_HAND_ACK, msg->txn);
	m->grant = msg->grant;
	m->holder = msg->holder;
}

/* --- transitions --------------------------------------------------------------- */

static void settle(struct weft_lock *l, struct weft_lock_out *out)
{
	if (!weft_lock_idle(l))
		out->effects |= WEFT_DO_TIMER;
	else if (l->state == WEFT_I && !l->tenured)
		out->effects |= WEFT_DO_FREE;
}

static void revoke(struct weft_lock *l, struct weft_lock_out *out)
{
	l->revoking = true;
	out->effects |= WEFT_DO_REVOKE;
}

static void granted(struct weft_lock *l, struct weft_lock_out *out)
{
	l->want = WEFT_I;
	l->nacks = 0;
	l->tries = 0;
	out->effects |= WEFT_DO_WAKE;
}

/*
 * The writer before the next one died with the lock; HANDED: a writer before the node that hands
 * over did, and nobody has mended that since.
 */
static bool tells_death(const struct weft_msg *msg)
{
	return msg->flags & WEFT_F_DIED;
}

/* News of the term that is about to begin; a node that has the lock has heard it. */
static void note_death(struct weft_lock *l, const struct weft_msg *msg)
{
	if (l->state != WEFT_M && tells_death(msg))
		l->died = true;
}

/* Begin to read, with permission that is older than any term after @epoch. */
static void begin_read(struct weft_lock *l, u32 epoch)
{
	l->state = WEFT_S;
	l->died = false;
	l->epoch = epoch;
	/* our terms up to @epoch are over; also keeps the epochs that are compared close */
	set_floor(l, epoch);
	l->last = epoch;
	l->ended = true;
}

/* The holder of the queue has the lock when the last reader has let go. */
static void check_enter(struct weft_lock *l, struct weft_lock_out *out)
{
	if (!l->tenured || l->waiting_on || l->state == WEFT_M)
		return;
	l->state = WEFT_M;
	if (l->want)
		granted(l, out);
	if (l->queue.n)
		revoke(l, out);
}

static void begin_term(struct weft_lock *l, u32 epoch, u32 waiting_on)
{
	l->tenured = true;
	l->died = false;
	l->epoch = epoch;
	set_floor(l, epoch);
	l->waiting_on = waiting_on & ~me(l);
	l->query = 0;
	/* an earlier hand-over of this node has gone round and come back */
	l->handing = false;
}

/* May this node be the holder in this term, by what it remembers? */
static bool may_begin(const struct weft_lock *l, u32 epoch)
{
	return !l->tenured && (!l->ended || later(epoch, l->last));
}

static void enqueue(struct weft_lock *l, u32 txn, bool writer, struct weft_lock_out *out)
{
	queue_append(&l->queue, txn, writer);
	if (l->tenured && l->state == WEFT_M)
		revoke(l, out);
}

void weft_lock_want(struct weft_lock *l, u8 perm, u32 fresh, struct weft_lock_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (weft_lock_perm(l) >= perm || l->want)
		return;
	l->want = perm;
	l->txn = weft_txn(l->self, fresh);
	l->tries = 0;
	l->nacks = 0;
	if (!l->tenured)
		send_acquire(l, perm == WEFT_M, out);
	else if (l->state == WEFT_M)
		queue_append(&l->queue, l->txn, perm == WEFT_M);
	/* else this node is the next holder already */
}

/* Choose the next in the queue: the readers at its head, and the first writer. */
static void choose(struct weft_lock *l)
{
	const struct weft_queue *q = &l->handed;
	u32 i;

	l->handed_to = 0;
	l->handed_readers = 0;
	for (i = 0; i < q->n; i++) {
		u32 bit = weft_node_bit(weft_txn_member(q->txn[i]));

		if (queue_is_writer(q, i)) {
			l->handed_to = bit;
			break;
		}
		l->handed_readers |= bit;
	}
	/* without a writer the old holder keeps a copy to read, too */
	if (!l->handed_to && (l->handed_readers || l->state == WEFT_S))
		l->handed_readers |= me(l);
}

u32 weft_lock_successors(const struct weft_lock *l, u32 *writer)
{
	u32 n = weft_queue_readers(&l->handed);

	*writer = n < l->handed.n ? l->handed.txn[n] : 0;
	return n;
}

/* End our term: the directory hands the lock to the nodes that wait. */
static void hand_over(struct weft_lock *l, struct weft_lock_out *out)
{
	l->handed = l->queue;
	l->handed_epoch = l->epoch;
	l->handed_unmended = l->unmended;
	l->unmended = false;
	l->handing = true;
	choose(l);
	memset(&l->queue, 0, sizeof(l->queue));
	l->state = WEFT_I;
	l->tenured = false;
	l->ended = true;
	l->last = l->epoch;
	l->tries = 0;
	send_hand(l, out);
}

static void pass_on(struct weft_lock *l, struct weft_lock_out *out)
{
	if (l->queue.n && weft_txn_member(l->queue.txn[0]) == l->self &&
	    queue_is_writer(&l->queue, 0)) {
		/* this node's own turn again */
		queue_keep(&l->queue, ~me(l));
		granted(l, out);
		if (l->queue.n)
			revoke(l, out);
		return;
	}
	hand_over(l, out);
}

void weft_lock_revoked(struct weft_lock *l, struct weft_lock_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (!l->revoking)
		return;
	l->revoking = false;
	if (l->state == WEFT_M) {
		pass_on(l, out);
		return;
	}
	l->state = WEFT_I;
	if (l->yielding)
		send_inv_ack(l, l->yield_txn, l->yield, l->yield_copyset,
			     l->yield_died || l->unmended, out);
	l->yielding = false;
	l->unmended = false;
	settle(l, out);
}

/*
 * This node reads on while the hand-over is under way: before the directory hears of it no other
 * node can have the lock, and afterwards this node counts among the readers.
 */
bool weft_lock_share(struct weft_lock *l, struct weft_lock_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (!l->revoking || l->state != WEFT_M || !l->queue.n || l->queue.writers)
		return false;
	l->revoking = false;
	hand_over(l, out);
	begin_read(l, l->handed_epoch + WEFT_EPOCH_STEP);
	if (l->want == WEFT_S)
		granted(l, out);
	return true;
}

bool weft_lock_evict(struct weft_lock *l, struct weft_lock_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (!weft_lock_idle(l) || l->state == WEFT_I)
		return false;
	revoke(l, out);
	return true;
}

/* --- messages that come ---------------------------------------------------------- */

/*
 * Give the lock up for the next holder, who waits for INV_ACK with @txn.  @successor: its own
 * transaction, if known.
 */
static void yield_to(struct weft_lock *l, const struct weft_msg *msg, u32 txn,
		     u32 successor, struct weft_lock_out *out)
{
	l->yielding = true;
	l->yield = msg->grant;
	l->yield_txn = txn;
	l->successor = successor;
	l->yield_copyset = msg->copyset;
	l->yield_died = tells_death(msg);
	revoke(l, out);
}

static void recv_grant(struct weft_lock *l, const struct weft_msg *msg,
		       struct weft_lock_out *out)
{
	/* the answer to a holder: no reader is left to wait for */
	if (l->tenured && msg->status == WEFT_M && msg->grant == l->epoch) {
		note_death(l, msg);
		l->waiting_on = 0;
		check_enter(l, out);
		return;
	}
	if (msg->txn != l->txn || !l->want || l->tenured)
		return;
	if (msg->status == WEFT_M) {
		if (l->want != WEFT_M || !may_begin(l, msg->grant))
			return;
		begin_term(l, msg->grant, 0);
		l->died = tells_death(msg);
		check_enter(l, out);
	} else if (l->want == WEFT_S && l->state == WEFT_I) {
		if (is_void(l, msg->grant)) {
			/* a writer has overtaken it: ask again at once */
			send_acquire(l, false, out);
			return;
		}
		begin_read(l, msg->grant);
		l->died = tells_death(msg);
		granted(l, out);
		settle(l, out);
	}
}

static void recv_inv(struct weft_lock *l, const struct weft_msg *msg, struct weft_lock_out *out)
{
	/* this node holds the queue: the INV is of an earlier term */
	if (l->tenured)
		return;
	if (l->state == WEFT_I) {
		send_inv_ack(l, msg->txn, msg->grant, msg->copyset, tells_death(msg), out);
		settle(l, out);
		return;
	}
	/* older than our permission */
	if (!later(msg->grant, l->epoch))
		return;
	yield_to(l, msg, msg->txn, msg->txn, out);
}

static void recv_inv_ack(struct weft_lock *l, const struct weft_msg *msg,
			 struct weft_lock_out *out)
{
	if (l->want == WEFT_M && msg->txn == l->txn && may_begin(l, msg->grant))
		begin_term(l, msg->grant, msg->copyset);
	if (!l->tenured || msg->grant != l->epoch)
		return;
	/* before check_enter(), so that programs that enter now hear of it */
	note_death(l, msg);
	/* the answer leaves out nodes that have left or died since, which acknowledge nothing */
	l->waiting_on &= msg->copyset & ~weft_node_bit(msg->src);
	check_enter(l, out);
	settle(l, out);
}

static void relay(struct weft_lock *l, const struct weft_msg *msg, struct weft_lock_out *out)
{
	send(l, out, 0, WEFT_MSG_ACQUIRE, msg->txn)->flags =
		(msg->flags & WEFT_F_EXCL) | WEFT_F_RELAY;
}

/* The directory takes this node for the holder of the queue. */
static void recv_enqueue(struct weft_lock *l, const struct weft_msg *msg,
			 u32 fresh, struct weft_lock_out *out)
{
	bool self = weft_txn_member(msg->txn) == l->self;
	bool excl = msg->flags & WEFT_F_EXCL;

	if (l->tenured) {
		if (!self)
			enqueue(l, msg->txn, excl, out);
	} else if (!may_begin(l, msg->grant)) {
		/*
		 * Handed over already: send the request back to the directory, once, as the
		 * directory may not have heard of the hand-over yet.
		 */
		if (!self && !(msg->flags & WEFT_F_RELAY))
			relay(l, msg, out);
	} else if (l->want == WEFT_M && !self) {
		/* the answer to our ACQUIRE, which makes this node the holder, is in flight */
		queue_append(&l->queue, msg->txn, excl);
	} else {
		/* a late copy of an ACQUIRE may have made this node the holder */
		query(l, fresh, out);
	}
}

static void recv_info(struct weft_lock *l, const struct weft_msg *msg,
		      u32 fresh, struct weft_lock_out *out)
{
	if (!l->query || msg->nonce != l->query)
		return;
	l->query = 0;
	if (msg->holder == me(l) && may_begin(l, msg->grant)) {
		begin_term(l, msg->grant, msg->copyset);
		note_death(l, msg);
		if (!l->want)
			l->txn = weft_txn(l->self, fresh);
		if (l->waiting_on)
			send_acquire(l, true, out);
		check_enter(l, out);
	}
	settle(l, out);
}

/* The copy of HANDED for the next holder. */
static void handed_queue(struct weft_lock *l, const struct weft_msg *msg,
			 u32 fresh, struct weft_lock_out *out)
{
	struct weft_queue list, late;
	int at;

	weft_queue_unpack(&list, msg);
	at = queue_find(&list, l->self);
	if (l->tenured && msg->grant == l->epoch) {
		/* the term has begun, but the queue may be news */
		note_death(l, msg);
		queue_append_all(&l->queue, &list, msg->copyset | me(l));
		if (l->state == WEFT_M && l->queue.n)
			revoke(l, out);
	} else if (l->want == WEFT_M && at >= 0 && list.txn[at] == l->txn &&
		   may_begin(l, msg->grant)) {
		late = l->queue;
		memset(&l->queue, 0, sizeof(l->queue));
		queue_append_all(&l->queue, &list, msg->copyset | me(l));
		queue_append_all(&l->queue, &late, me(l));
		begin_term(l, msg->grant, msg->copyset);
		note_death(l, msg);
		check_enter(l, out);
	} else if (may_begin(l, msg->grant)) {
		/* not for our present request: ask whether it is a late copy */
		query(l, fresh, out);
		return;
	}
	send_hand_ack(l, msg, out);
	settle(l, out);
}

/* The copy of HANDED for readers, who read until the next holder's turn. */
static void handed_reader(struct weft_lock *l, const struct weft_msg *msg,
			  struct weft_lock_out *out)
{
	u32 epoch = msg->holder ? msg->grant - WEFT_EPOCH_STEP : msg->grant;
	u32 holder = weft_txn(__builtin_ctz(msg->holder | 1u << 31) + 1, 0);
	bool current = !is_void(l, epoch) && l->state == WEFT_I && !l->tenured;
	struct weft_queue list;
	u32 n;
	int at;

	weft_queue_unpack(&list, msg);
	n = weft_queue_readers(&list);
	at = queue_find(&list, l->self);
	if (current && l->want == WEFT_S && at >= 0 && list.txn[at] == l->txn) {
		begin_read(l, epoch);
		note_death(l, msg);
		granted(l, out);
		if (msg->holder)
			yield_to(l, msg, holder, n < list.n ? list.txn[n] : 0, out);
	} else if (l->state == WEFT_I && !l->tenured && msg->holder) {
		/* this node does not want it any more, but the next holder waits for its answer */
		send_inv_ack(l, holder, msg->grant, msg->copyset, tells_death(msg), out);
	}
	settle(l, out);
}

/* Our hand-over to readers only, this node among them: it is done. */
static void handed_all(struct weft_lock *l, const struct weft_msg *msg,
		       struct weft_lock_out *out)
{
	if (!l->handing || l->handed_to || msg->grant != l->handed_epoch + WEFT_EPOCH_STEP)
		return;
	l->handing = false;
	if (msg->copyset & me(l) && l->state == WEFT_I && !is_void(l, msg->grant)) {
		begin_read(l, msg->grant);
		note_death(l, msg);
		if (l->want == WEFT_S)
			granted(l, out);
	}
	settle(l, out);
}

static void recv_handed(struct weft_lock *l, const struct weft_msg *msg,
			u32 fresh, struct weft_lock_out *out)
{
	if (msg->holder == me(l))
		handed_queue(l, msg, fresh, out);
	else if (msg->src == l->self && !msg->holder)
		handed_all(l, msg, out);
	else if (msg->copyset & me(l))
		handed_reader(l, msg, out);
}

static void recv_hand_ack(struct weft_lock *l, const struct weft_msg *msg,
			  struct weft_lock_out *out)
{
	if (!l->handing || msg->holder != l->handed_to ||
	    msg->grant != l->handed_epoch + WEFT_EPOCH_STEP)
		return;
	l->handing = false;
	settle(l, out);
}

static void recv_nack(struct weft_lock *l, const struct weft_msg *msg,
		      struct weft_lock_out *out)
{
	if (l->handing && msg->info == WEFT_WHY_NOT_MEMBER && msg->grant == l->handed_epoch) {
		/* a node has left the rack: choose again, if the hand-over still counts */
		queue_keep(&l->handed, msg->copyset);
		choose(l);
		send_hand(l, out);
		return;
	}
	if (l->want && msg->txn == l->txn &&
	    (msg->info == WEFT_WHY_NO_LINE || msg->info == WEFT_WHY_FULL)) {
		l->want = WEFT_I;
		out->effects |= WEFT_DO_FAIL | WEFT_DO_WAKE;
		settle(l, out);
		return;
	}
	if (weft_lock_idle(l))
		return;
	if (l->nacks < 255)
		l->nacks++;
	out->effects |= WEFT_DO_TIMER | WEFT_DO_BACKOFF;
}

void weft_lock_recv(struct weft_lock *l, const struct weft_msg *msg, u32 fresh,
		    struct weft_lock_out *out)
{
	out->effects = 0;
	out->n = 0;
	switch (msg->type) {
	case WEFT_MSG_GRANT:
		recv_grant(l, msg, out);
		break;
	case WEFT_MSG_INV:
		recv_inv(l, msg, out);
		break;
	case WEFT_MSG_INV_ACK:
		recv_inv_ack(l, msg, out);
		break;
	case WEFT_MSG_ENQUEUE:
		recv_enqueue(l, msg, fresh, out);
		break;
	case WEFT_MSG_INFO:
		recv_info(l, msg, fresh, out);
		break;
	case WEFT_MSG_HANDED:
		recv_handed(l, msg, fresh, out);
		break;
	case WEFT_MSG_HAND_ACK:
		recv_hand_ack(l, msg, out);
		break;
	case WEFT_MSG_NACK:
		recv_nack(l, msg, out);
		break;
	default:
		break;
	}
}

void weft_lock_gone(struct weft_lock *l, u32 dead, struct weft_lock_out *out)
{
	out->effects = 0;
	out->n = 0;
	queue_keep(&l->queue, ~dead);
	if (!l->tenured || !(l->waiting_on & dead))
		return;
	l->waiting_on &= ~dead;
	check_enter(l, out);
	settle(l, out);
}

void weft_lock_timeout(struct weft_lock *l, struct weft_lock_out *out)
{
	out->effects = 0;
	out->n = 0;
	if (l->tries < 255)
		l->tries++;
	if (l->handing)
		send_hand(l, out);
	if (l->query)
		send_query(l, out);
	if (l->tenured ? l->waiting_on : l->want)
		send_acquire(l, l->tenured || l->want == WEFT_M, out);
}
