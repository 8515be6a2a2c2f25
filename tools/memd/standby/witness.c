// SPDX-License-Identifier: GPL-2.0-only
/* The witness, see witness.h. */
#include "standby/witness.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "standby/ask.h"
#include "standby/register.h"
#include "standby/stream.h"

#define LOOK_MS		250
#define STALL_MS	500	/* stood still itself: who was silent may have been heard else */
#define STRANGER_MS	5000	/* until HELLO and the first question */

/* A machine that asks. */
struct asker {
	struct stream s;
	u32 addr;
	u64 heard;
	bool known;	/* it has asked something: its HELLO was no old one */
};

static struct asker askers[WITNESS_CONNECTIONS];
static struct registers registers;

static void drop(struct asker *a)
{
	stream_close(&a->s);
	a->known = false;
}

static void accept_one(int listener, u64 now)
{
	struct asker *a = NULL;
	u32 addr, i;
	int fd = stream_accept(listener, &addr);

	if (fd < 0)
		return;
	for (i = 0; i < WITNESS_CONNECTIONS; i++)
		if (!a || (askers[i].s.fd < 0 && a->s.fd >= 0) ||
		    ((askers[i].s.fd < 0) == (a->s.fd < 0) && askers[i].heard < a->heard))
			a = &askers[i];
	drop(a);
	a->addr = addr;
	a->heard = now;
	if (stream_take(&a->s, fd))
		close(fd);
}

/*
 * What the same machine has left in an older connection is not read any more.  By its HELLO
 * alone, which may be an old one, nothing worse happens than that it connects again.
 */
static void take_hello(struct asker *a, const struct options *o)
{
	struct hello h = a->s.peer;
	u32 i;

	if (!weft_is_blade(h.blade)) {
		drop(a);
		return;
	}
	for (i = 0; i < WITNESS_CONNECTIONS; i++)
		if (&askers[i] != a && askers[i].s.fd >= 0 && askers[i].addr == a->addr &&
		    askers[i].s.greeted && askers[i].s.peer.rack == h.rack &&
		    askers[i].s.peer.blade == h.blade)
			drop(&askers[i]);
	h.role = STREAM_WITNESS;
	h.lease = o->lease;
	if (stream_hello(&a->s, &h))
		drop(a);
}

static void tell(const struct entry *e, const struct entry *was)
{
	if (e->view != was->view)
		log_say("rack %u, blade %u: %s serves, view %u", e->rack,
			e->blade - WEFT_BLADE_MIN + 1u, log_addr(e->owner), e->view);
	else if (e->complete != was->complete)
		log_say("rack %u, blade %u: %s serves, view %u, %s", e->rack,
			e->blade - WEFT_BLADE_MIN + 1u, log_addr(e->owner), e->view,
			e->complete ? "its twin has everything" : "alone");
}

/* Return: errno of the answer; a change is on the disk, or it was none. */
static u16 answer(struct asker *a, const struct record *r, struct entry *e, u64 now)
{
	struct question q = {
		.op = r->body[Q_OP],
		.view = get_unaligned_be32(r->body + Q_VIEW),
		.who = a->addr,
		.lease = get_unaligned_be32(r->body + Q_LEASE),
		.now = now,
	};
	struct entry was = *e;
	u16 err = register_change(e, &q);

	if (err || register_same(e, &was))
		return err;
	if (registers_write(&registers)) {
		log_say("cannot write to %s: %s", registers.path, strerror(errno));
		*e = was;
		return EIO;
	}
	tell(e, &was);
	return 0;
}

static void take_question(struct asker *a, const struct record *r, u64 now)
{
	struct entry *e, none = { 0 };
	u8 b[A_LEN] = { 0 };
	u16 err = ENOSPC;

	if (r->type != STREAM_ASK || r->len != Q_LEN) {
		drop(a);
		return;
	}
	a->known = true;
	e = registers_of(&registers, a->s.peer.rack, a->s.peer.blade, now);
	if (e)
		err = answer(a, r, e, now);
	else
		e = &none;
	put_unaligned_be16(err, b + A_ERR);
	b[A_OP] = r->body[Q_OP];
	b[A_FLAGS] = e->complete;
	put_unaligned_be32(e->view, b + A_VIEW);
	put_unaligned_be32(e->owner, b + A_OWNER);
	put_unaligned_be32(e->lease, b + A_LEASE);
	put_unaligned_be32((u32)(now - e->heard), b + A_SILENT);
	put_unaligned_be64(get_unaligned_be64(r->body + Q_STAMP), b + A_STAMP);
	if (stream_put(&a->s, STREAM_ANSWER, b, sizeof(b), NULL, 0))
		drop(a);
}

static void work(struct asker *a, const struct options *o, u64 now)
{
	int ended = stream_pull(&a->s), more;
	struct record r;

	while ((more = stream_next(&a->s, &r)) > 0) {
		a->heard = now;
		if (r.type == STREAM_HELLO)
			take_hello(a, o);
		else
			take_question(a, &r, now);
	}
	if (more < 0 && a->s.fd >= 0 && errno == EKEYREJECTED)
		log_warn("%s has another key than this witness, or none", log_addr(a->addr));
	if (more < 0 || ended || stream_push(&a->s))
		drop(a);
}

/* In the order of their HELLOs: who has a newer connection has none older any more. */
static void work_all(const struct options *o, u64 now)
{
	u32 i;

	for (i = 0; i < WITNESS_CONNECTIONS; i++)
		if (askers[i].s.fd >= 0 && !askers[i].s.greeted)
			work(&askers[i], o, now);
	for (i = 0; i < WITNESS_CONNECTIONS; i++)
		if (askers[i].s.fd >= 0)
			work(&askers[i], o, now);
}

int witness_run(const struct options *o, const struct weft_key *key, int signal_fd,
		int (*ready)(const struct options *o))
{
	struct pollfd p[WITNESS_CONNECTIONS + 2];
	u64 now = boot_ms(), before = now;
	char err[ERR_MAX];
	int listener;
	u32 i;

	if (registers_read(&registers, o->be_witness, now, err) ||
	    (registers_write(&registers) &&
	     fail(err, "cannot write to %s: %s", o->be_witness, strerror(errno)))) {
		log_say("%s", err);
		return 2;
	}
	listener = stream_listen(o->address, o->pair_port);
	p[0] = (struct pollfd){ .fd = signal_fd, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = listener, .events = POLLIN };
	if (listener < 0) {
		log_say("cannot listen at TCP port %u of %s: %s", o->pair_port,
			log_addr(o->address), strerror(errno));
		return 2;
	}
	for (i = 0; i < WITNESS_CONNECTIONS; i++)
		stream_init(&askers[i].s, key);
	if (ready(o))
		return 2;
	log_say("witness at %s, TCP port %u, with %u blades in %s", log_addr(o->address),
		o->pair_port, registers.n, registers.path);
	for (;;) {
		for (i = 0; i < WITNESS_CONNECTIONS; i++)
			p[2 + i] = stream_pollfd(&askers[i].s);
		if (poll(p, ARRAY_SIZE(p), LOOK_MS) < 0 && errno != EINTR) {
			log_say("waiting failed: %s", strerror(errno));
			return EXIT_FAILURE;
		}
		now = boot_ms();
		if (p[0].revents)
			break;
		for (i = 0; now - before > STALL_MS && i < registers.n; i++)
			registers.entry[i].heard = now;
		before = now;
		if (p[1].revents)
			accept_one(listener, now);
		work_all(o, now);
		for (i = 0; i < WITNESS_CONNECTIONS; i++)
			if (askers[i].s.fd >= 0 && !askers[i].known &&
			    now - askers[i].heard > STRANGER_MS)
				drop(&askers[i]);
	}
	log_say("witness ends");
	return EXIT_SUCCESS;
}
