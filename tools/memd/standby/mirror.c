// SPDX-License-Identifier: GPL-2.0-only
/* The primary of a blade with a standby, see mirror.h. */
#include "standby/mirror.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/blade.h"
#include "base/log.h"
#include "base/wake.h"
#include "standby/outgoing.h"
#include "standby/pair.h"
#include "standby/register.h"
#include "standby/stream.h"
#include "store/backing.h"

#define CONNECT_MS	500	/* between attempts to reach the standby, ... */
#define CONNECT_MAX_MS	16000	/* ... doubled up to that when it cannot take the copy */
#define HELLO_MS	2000	/* for its HELLO */
#define BEATS		8	/* in a lease, to the standby and to the witness */
#define BEAT_MAX_MS	1000
#define AHEAD_BYTES	(1u << 20)	/* of the copy in the queue */
#define DRAIN_MS	2000	/* at the end */

enum state { ALONE, COPYING, COMPLETING, COMPLETE, LOSING };

/* The thread, and what others see of it. */
struct mirror {
	struct memd *m;			/* the first thread of the blade */
	struct outgoing q;		/* what goes to the standby */
	u32 view;			/* the number of this machine's service */
	u32 lease;			/* milliseconds */
	pthread_t thread;		/* its own */
	int wake;			/* eventfd that wakes it */
	void (*wake_thread)(struct memd *m);	/* see mirror_start() */
	atomic_bool holding;		/* answers wait */
	atomic_ullong acked;		/* position up to which the standby has all */
	atomic_ullong suspensions;	/* for statistics */
	atomic_ullong witnessed;	/* for statistics: as @confirmed */
	atomic_bool is_complete;	/* for statistics */
	atomic_bool use_switch;		/* a P4 switch is in use */
	atomic_bool ending;		/* it is to end when the queue is empty */

	/* Only the thread uses these; times are milliseconds. */
	enum state state;		/* see mirror.h */
	struct stream s;		/* to the standby */
	bool attached;			/* that has begun to get the file */
	u64 tried;			/* when it was last called */
	u64 delay;			/* until it is called again */
	u64 heard;			/* when its last word came */
	u64 echoed;			/* when what it has answered was sent */
	u64 beat;			/* when the last beat to it was sent */
	u64 base;			/* position where the connection began */
	u64 copied;			/* up to which byte of the file */
	u64 complete_at;		/* position of COMPLETE */
	struct ask ask;			/* the witness */
	u64 confirmed;			/* when what it has answered was sent */
	u64 asked;			/* when the last question was sent */
	u64 told;			/* see pair_may_tell() */
	bool suspended;			/* said so */
};

static const struct options *options_of(const struct mirror *mr)
{
	return &mr->m->b->opt;
}

static u64 beat_ms(const struct mirror *mr)
{
	u64 ms = mr->lease / BEATS;

	return ms < BEAT_MAX_MS ? ms : BEAT_MAX_MS;
}

/* --- what others see ----------------------------------------------------------------- */

u64 mirror_position(const struct memd *m)
{
	return m->b->mirror ? m->b->mirror->q.position : 0;
}

bool mirror_has(const struct memd *m, u64 position)
{
	const struct mirror *mr = m->b->mirror;

	return !mr || !atomic_load(&mr->holding) || position <= atomic_load(&mr->acked);
}

bool mirror_holding(const struct memd *m)
{
	return m->b->mirror && atomic_load(&m->b->mirror->holding);
}

bool mirror_is_crowded(const struct memd *m)
{
	return m->b->mirror && m->b->mirror->q.bytes > OUTGOING_MAX / 2;
}

void mirror_look(const struct memd *m, struct mirror_state *s)
{
	struct mirror *mr = m->b->mirror;
	u64 acked, sent;

	memset(s, 0, sizeof(*s));
	if (!mr)
		return;
	acked = mr->q.acked_bytes;
	sent = mr->q.sent_bytes;
	s->complete = atomic_load(&mr->is_complete);
	s->behind = sent > acked ? sent - acked : 0;
	s->suspensions = atomic_load(&mr->suspensions);
	s->has_witness = options_of(mr)->witness;
	s->witness_ok = s->has_witness && boot_since(atomic_load(&mr->witnessed)) < mr->lease;
}

void mirror_switch(struct memd *m, bool use)
{
	if (m->b->mirror)
		atomic_store(&m->b->mirror->use_switch, use);
}

static void wake_all(struct mirror *mr)
{
	u32 i;

	for (i = 0; i < mr->m->b->threads; i++)
		mr->wake_thread(mr->m->b->thread[i]);
}

/* How long this machine may serve without hearing anything more. */
static void set_until(struct mirror *mr)
{
	u64 from = mr->echoed > mr->confirmed ? mr->echoed : mr->confirmed, until;

	until = atomic_load(&mr->holding) && mr->ask.to ? from + (u64)mr->lease * 8 / 10 :
		BLADE_FOR_EVER;
	atomic_store(&mr->m->b->until, until);
	if (boot_ms() < until) {
		if (mr->suspended) {
			log_say("goes on: the %s answers again",
				mr->echoed > mr->confirmed ? "twin" : "witness");
			mr->suspended = false;
			wake_all(mr);
		}
		return;
	}
	if (mr->suspended)
		return;
	mr->suspended = true;
	atomic_fetch_add(&mr->suspensions, 1);
	log_say("suspended: neither the twin (%s) nor the witness (%s) has answered for %u ms, so that the twin may have taken over: nothing is answered until one of them does",
		log_addr(options_partner(options_of(mr))), log_addr(mr->ask.to),
		(unsigned int)((u64)mr->lease * 8 / 10));
}

static void hold(struct mirror *mr, bool holding)
{
	if (holding) {
		atomic_store(&mr->acked, mr->base + mr->q.acked);
		atomic_store(&mr->holding, true);
		set_until(mr);
		return;
	}
	atomic_store(&mr->holding, false);
	set_until(mr);
	wake_all(mr);
}

static void deposed(struct mirror *mr, u32 view)
{
	log_say("the twin (%s) serves, view %u: this machine ends its service and stands by",
		log_addr(options_partner(options_of(mr))), view);
	/* the other threads do not send anything any more, whatever they are at */
	atomic_store(&mr->m->b->until, 0);
	pair_begin_anew();
}

/* --- the standby ---------------------------------------------------------------------- */

/* It is gone, or too slow. */
static void lose(struct mirror *mr, const char *why)
{
	outgoing_detach(&mr->q);
	stream_close(&mr->s);
	mr->attached = false;
	mr->tried = boot_ms();
	if (mr->state != ALONE && mr->state != LOSING)
		log_say("the twin (%s) %s", log_addr(options_partner(options_of(mr))), why);
	if (mr->state == COPYING) {
		mr->state = ALONE;
		mr->delay = mr->delay * 2 < CONNECT_MAX_MS ? mr->delay * 2 : CONNECT_MAX_MS;
	}
	if (mr->state == COMPLETING || mr->state == COMPLETE)
		mr->state = LOSING;
	atomic_store(&mr->is_complete, false);
}

/*
 * The witness, or the standby itself, knows that it has not everything, or nobody takes over
 * but by hand.
 */
static void go_alone(struct mirror *mr)
{
	if (mr->state != LOSING)
		return;
	log_say("goes on alone, view %u: its twin has not everything", mr->view);
	mr->state = mr->attached ? COPYING : ALONE;
	hold(mr, false);
}

static void call_standby(struct mirror *mr, u64 now)
{
	const struct options *o = options_of(mr);
	struct hello h = {
		.rack = o->rack, .blade = o->id, .role = STREAM_PRIMARY, .view = mr->view,
		.lease = o->lease,
	};

	if (mr->s.fd >= 0 && boot_since(mr->tried) > HELLO_MS)
		stream_close(&mr->s);
	if (mr->s.fd >= 0 || boot_since(mr->tried) < mr->delay || atomic_load(&mr->ending))
		return;
	mr->tried = now;
	if (stream_call(&mr->s, o->address, options_partner(o), o->pair_port, &h))
		stream_close(&mr->s);
}

/* Its HELLO: the copy begins. */
static void greeted(struct mirror *mr)
{
	const struct options *o = options_of(mr);
	const struct hello *h = &mr->s.peer;
	const char *standby = log_addr(options_partner(o));

	if (h->rack != o->rack || h->blade != o->id) {
		if (pair_may_tell(&mr->told))
			log_say("%s is of another rack or blade: it cannot be this one's twin", standby);
		stream_close(&mr->s);
		return;
	}
	if (h->view > mr->view || h->role == STREAM_PRIMARY) {
		stream_close(&mr->s);
		if (!mr->ask.to && h->view > mr->view)
			deposed(mr, h->view);
		return;
	}
	if (h->flags & HELLO_UNKNOWN && !(h->flags & HELLO_BLANK)) {
		if (pair_may_tell(&mr->told))
			log_say("the file of %s has regions of its own: it is not made a copy of this one's",
				standby);
		stream_close(&mr->s);
		return;
	}
	if (stream_put(&mr->s, STREAM_BEGIN, NULL, 0, NULL, 0)) {
		stream_close(&mr->s);
		return;
	}
	log_say("the twin (%s) is there: it gets a copy of %s", standby, mr->m->b->backing->path);
	if (mr->state == ALONE)
		mr->state = COPYING;
	mr->attached = true;
	mr->copied = 0;
	mr->heard = boot_ms();
	mr->base = outgoing_attach(&mr->q);
}

static void take_ack(struct mirror *mr, const struct record *r)
{
	u64 count = get_unaligned_be64(r->body);

	mr->heard = boot_ms();
	/* BEGIN is done: it cannot take over before it has all again */
	go_alone(mr);
	if (get_unaligned_be64(r->body + 16))
		mr->echoed = get_unaligned_be64(r->body + 16);
	mr->q.acked = count;
	mr->q.acked_bytes = get_unaligned_be64(r->body + 8);
	if (mr->base + count > atomic_load(&mr->acked)) {
		atomic_store(&mr->acked, mr->base + count);
		wake_all(mr);
	}
}

static void hear_standby(struct mirror *mr)
{
	int ended, more;
	struct record r;

	if (mr->s.fd < 0)
		return;
	ended = stream_pull(&mr->s);
	while ((more = stream_next(&mr->s, &r)) > 0) {
		if (r.type == STREAM_HELLO)
			greeted(mr);
		else if (r.type == STREAM_ACK && r.len == 24 && mr->attached)
			take_ack(mr, &r);
		else
			break;
	}
	if (more > 0 || more < 0 || ended) {
		if (more < 0 && errno == EKEYREJECTED && pair_may_tell(&mr->told))
			log_say("the twin (%s) does not have this rack's key",
				log_addr(options_partner(options_of(mr))));
		lose(mr, "has gone");
	}
}

/* Has it been heard lately that nobody has taken over?  Else this machine would be suspended. */
static bool is_confirmed(const struct mirror *mr)
{
	u64 from = mr->echoed > mr->confirmed ? mr->echoed : mr->confirmed;

	return !mr->ask.to || boot_since(from) < mr->lease / 2;
}

/* A part of the file, unless enough is in flight. */
static void copy(struct mirror *mr)
{
	int fd = mr->m->b->backing->fd;
	off_t data;
	u32 n;

	while (mr->state == COPYING && mr->q.bytes < AHEAD_BYTES) {
		data = lseek(fd, (off_t)mr->copied, SEEK_DATA);
		if (data < 0 && errno == ENXIO) {
			if (!is_confirmed(mr))
				return;
			/* before the witness can know of it everything waits */
			hold(mr, true);
			mr->complete_at = outgoing_put(&mr->q, STREAM_COMPLETE, NULL, 0, 0);
			mr->state = COMPLETING;
			return;
		}
		if (data < 0) {
			log_say("cannot read %s: %s", mr->m->b->backing->path, strerror(errno));
			lose(mr, "does not get a copy");
			return;
		}
		n = STREAM_PIECE - (u32)((u64)data % STREAM_PIECE);
		if (outgoing_copy(&mr->q, fd, n, (u64)data)) {
			lose(mr, "does not get a copy: the file cannot be read");
			return;
		}
		mr->copied = (u64)data + n;
	}
}

static void beat_standby(struct mirror *mr, u64 now)
{
	u8 b[12];

	if (boot_since(mr->beat) < beat_ms(mr))
		return;
	put_unaligned_be64(now, b);
	put_unaligned_be32(atomic_load(&mr->use_switch), b + 8);
	/* without room for a beat the records that wait serve as one */
	if (stream_has_room(&mr->s) && !stream_put(&mr->s, STREAM_BEAT, b, sizeof(b), NULL, 0))
		mr->beat = now;
}

static void is_complete(struct mirror *mr)
{
	mr->state = COMPLETE;
	mr->delay = CONNECT_MS;
	atomic_store(&mr->is_complete, true);
	log_say("the twin (%s) has everything, view %u",
		log_addr(options_partner(options_of(mr))), mr->view);
}

static void tend_standby(struct mirror *mr, u64 now)
{
	if (mr->state == LOSING && !mr->ask.to)
		go_alone(mr);
	if (!mr->attached)
		call_standby(mr, now);
	hear_standby(mr);
	if (!mr->attached) {
		if (mr->s.fd >= 0 && stream_push(&mr->s))
			stream_close(&mr->s);
		return;
	}
	if (mr->q.over)
		lose(mr, "is too slow: more waits for it than is kept");
	else if (boot_since(mr->heard) > mr->lease)
		lose(mr, "does not answer");
	if (mr->s.fd < 0)
		return;
	copy(mr);
	beat_standby(mr, now);
	if (outgoing_pump(&mr->q, &mr->s) || stream_push(&mr->s)) {
		lose(mr, "has gone");
		return;
	}
	if (mr->state == COMPLETING && !mr->ask.to && atomic_load(&mr->acked) >= mr->complete_at)
		is_complete(mr);
}

/* --- the witness ---------------------------------------------------------------------- */

static void take_told(struct mirror *mr, const struct told *t)
{
	const struct options *o = options_of(mr);

	if (t->view && (t->owner != o->address || t->view != mr->view)) {
		if (t->view >= mr->view) {
			deposed(mr, t->view);
		} else if (pair_may_tell(&mr->told)) {
			log_say("the witness (%s) knows an older view, %u: its file is not what it was",
				log_addr(o->witness), t->view);
		}
		return;
	}
	if (t->err)
		return;
	mr->confirmed = t->asked;
	atomic_store(&mr->witnessed, t->asked);
	if (t->op == REGISTER_ALONE)
		go_alone(mr);
	if (t->op == REGISTER_COMPLETE && mr->state == COMPLETING)
		is_complete(mr);
	/* the witness has lost its file, and has heard anew who serves: tell it again */
	if (!t->complete && mr->state == COMPLETE)
		mr->state = COMPLETING;
}

static void tend_witness(struct mirror *mr, u64 now)
{
	u8 op = REGISTER_BEAT;
	struct told t;

	if (ask_answer(&mr->ask, &t)) {
		take_told(mr, &t);
		/* the witness has lost its file: claim the blade again */
		if (!t.view && ask_ready(&mr->ask))
			ask_send(&mr->ask, REGISTER_CLAIM, mr->view, options_of(mr)->lease);
	}
	if (mr->state == LOSING)
		op = REGISTER_ALONE;
	if (mr->state == COMPLETING && atomic_load(&mr->acked) >= mr->complete_at)
		op = REGISTER_COMPLETE;
	if ((op == REGISTER_BEAT && boot_since(mr->asked) < beat_ms(mr)) || !ask_ready(&mr->ask))
		return;
	/* the last question is answered: do not repeat it too often */
	if (op != REGISTER_BEAT && boot_since(mr->asked) < 10)
		return;
	mr->asked = now;
	ask_send(&mr->ask, op, mr->view, options_of(mr)->lease);
}

/* --- the thread ------------------------------------------------------------------------ */

static void rest(struct mirror *mr)
{
	struct pollfd p[] = {
		{ .fd = mr->wake, .events = POLLIN },
		stream_pollfd(&mr->s), stream_pollfd(&mr->ask.s),
	};
	int ms = mr->lease < 2000 ? 10 : 50;

	if (mr->state == COPYING && !stream_is_behind(&mr->s))
		ms = 1;
	/* after that, look once more: a piece that came before has woken nobody */
	atomic_store(&mr->q.asleep, true);
	if (!mr->q.bytes || !stream_has_room(&mr->s))
		poll(p, ARRAY_SIZE(p), ms);
	atomic_store(&mr->q.asleep, false);
	wake_heard(mr->wake);
}

static void *run(void *arg)
{
	struct mirror *mr = arg;
	u64 drain = 0, now;

	for (;;) {
		now = boot_ms();
		if (mr->ask.to)
			tend_witness(mr, now);
		tend_standby(mr, now);
		set_until(mr);
		if (atomic_load(&mr->ending)) {
			if (!drain)
				drain = now;
			if ((mr->state != COMPLETE && mr->state != COMPLETING) ||
			    atomic_load(&mr->acked) >= mr->q.position ||
			    now - drain > DRAIN_MS)
				return NULL;
		}
		rest(mr);
	}
}

static void ship(void *shipper, const void *buf, size_t len, u64 at)
{
	struct mirror *mr = shipper;

	outgoing_write(&mr->q, buf, len, at);
	if (atomic_exchange(&mr->q.asleep, false))
		wake_up(mr->wake);
}

int mirror_start(struct memd *m, void (*wake)(struct memd *m), char *err)
{
	const struct options *o = &m->b->opt;
	struct mirror *mr;
	int why;

	if (!options_partner(o))
		return 0;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return fail(err, "not enough memory");
	mr->m = m;
	mr->wake_thread = wake;
	mr->view = o->role.view;
	mr->lease = pair_lease(o);
	mr->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	mr->delay = CONNECT_MS;
	outgoing_init(&mr->q);
	stream_init(&mr->s, &m->b->key);
	ask_init(&mr->ask, o, &m->b->key, STREAM_PRIMARY);
	m->b->mirror = mr;
	m->b->backing->shipper = mr;
	m->b->backing->ship = ship;
	why = mr->wake < 0 ? errno : pthread_create(&mr->thread, NULL, run, mr);
	return why ? fail(err, "cannot begin the thread for the twin: %s", strerror(why)) : 0;
}

void mirror_stop(struct memd *m)
{
	struct mirror *mr = m->b->mirror;

	if (!mr)
		return;
	atomic_store(&mr->ending, true);
	wake_up(mr->wake);
	pthread_join(mr->thread, NULL);
	m->b->backing->ship = NULL;
	m->b->mirror = NULL;
	atomic_store(&m->b->until, BLADE_FOR_EVER);
	stream_close(&mr->s);
	ask_close(&mr->ask);
	outgoing_detach(&mr->q);
	close(mr->wake);
	free(mr);
}
