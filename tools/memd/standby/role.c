// SPDX-License-Identifier: GPL-2.0-only
/* The role of a machine of a pair, see role.h. */
#include "standby/role.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "standby/ask.h"
#include "standby/pair.h"
#include "standby/register.h"
#include "standby/standby.h"
#include "standby/stream.h"

#define LOOK_MS		500	/* between questions to witness and partner */
#define SEEN_MS		2000	/* what the partner has said holds for so long */
#define STOOD_MS	500	/* stood still itself: the partner may have said something */
#define PATIENCE_MS	5000	/* with --alone, for a witness that answers all the same */

/* The state of the search. */
struct finding {
	struct options *o;	/* command line */
	struct standby sb;	/* the copy */
	struct ask ask;		/* the witness */
	struct stream probe;	/* to the partner, to hear who it is */
	u64 probed;		/* millisecond */
	int listener;		/* where the partner calls */
	u64 began;		/* millisecond */
	u64 looked;		/* of the last question */
	/*
	 * Milliseconds from there until the witness may let this machine take over, as it said;
	 * 0: it has not
	 */
	u64 refused;
	u64 told;		/* of the last sentence */
	char *err;		/* why it ends; ERR_MAX bytes */
	bool failed;		/* it does */
	bool serves;		/* it is to serve: its record says how */
	bool stale;		/* the witness has said that this copy is */
	/*
	 * It may let this machine take over, as it was asked, and the answer has not come: until
	 * then the other machine must not hear anything that it may serve for
	 */
	bool taking;
};

static const char *partner_of(const struct finding *f)
{
	return log_addr(options_partner(f->o));
}

static void give_up(struct finding *f)
{
	f->failed = true;
}

/* It serves from here on; on the disk before anybody hears of it. */
static void serve(struct finding *f, u32 view, bool taken)
{
	struct pair_record r = {
		.there = true,
		.view = view,
		.primary = true,
		.taken = taken || f->sb.record.taken,
		.had_switch = taken ? f->sb.use_switch || f->sb.record.had_switch :
			      f->sb.record.had_switch,
	};

	if (pair_store(f->sb.fd, &r)) {
		fail(f->err, "cannot write to %s: %s", f->o->backing, strerror(errno));
		give_up(f);
		return;
	}
	f->sb.record = r;
	f->serves = true;
	if (taken)
		log_say("takes over from %s, view %u", partner_of(f), view);
}

/* The partner's HELLO, if it came lately; or NULL. */
static const struct hello *partner(const struct finding *f)
{
	return f->sb.asked_by && boot_since(f->sb.asked_by) < SEEN_MS ? &f->sb.partner : NULL;
}

/* Both have nothing: that one begins whose address is lower. */
static bool may_begin(const struct finding *f)
{
	const struct hello *h = partner(f);

	return h && h->flags & HELLO_BLANK && f->o->address < options_partner(f->o);
}

/* The other one may not have served since this one did. */
static bool is_newest(const struct finding *f)
{
	const struct hello *h = partner(f);

	return h && h->view <= f->sb.record.view &&
	       !(standby_is_unknown(&f->sb) && !(h->flags & HELLO_BLANK));
}

static void wait_for_partner(struct finding *f)
{
	if (f->sb.following || !pair_may_tell(&f->told))
		return;
	if (f->sb.record.there && !f->sb.record.primary)
		log_say("stands by for %s, view %u, %s: waiting for it%s", partner_of(f),
			f->sb.record.view, f->sb.record.complete ? "complete" : "not complete",
			f->o->witness ? "" : " (if it is off for good: start this one with --take-over)");
	else
		log_say("waiting for the twin (%s)%s", partner_of(f), f->sb.blank ?
			": neither begins a new rack before both are there" :
			", which may have taken over (if it is off for good, and has not: start this one with --alone)");
}

/* --- without a witness ---------------------------------------------------------------- */

static void decide_alone(struct finding *f)
{
	struct standby *sb = &f->sb;
	bool stood_by = sb->record.there && !sb->record.primary;
	u32 view = sb->record.view ? sb->record.view : 1;

	if (sb->following)
		return;
	if (stood_by) {
		if (f->o->take_over && sb->record.complete) {
			serve(f, sb->record.view + 1, true);
		} else if (f->o->take_over || f->o->alone) {
			fail(f->err, "%s is a copy of the twin's file%s: %s", f->o->backing,
			     sb->record.complete ? "" : " that is not complete",
			     sb->record.complete ? "--take-over is what lets it serve" :
			     "only the twin's own is");
			give_up(f);
		} else {
			wait_for_partner(f);
		}
		return;
	}
	if (f->o->take_over) {
		fail(f->err, "this machine did not stand by, there is nothing to take over: --alone lets it serve");
		give_up(f);
	} else if (f->o->alone || (sb->blank ? may_begin(f) : is_newest(f))) {
		serve(f, view, false);
	} else {
		wait_for_partner(f);
	}
}

/* --- with a witness ------------------------------------------------------------------- */

/* Nobody has claimed the blade. */
static void claim(struct finding *f)
{
	struct standby *sb = &f->sb;
	bool stood_by = sb->record.there && !sb->record.primary;

	if (!stood_by && (f->o->alone || standby_is_unknown(sb) ||
			  (sb->blank ? may_begin(f) : is_newest(f))))
		ask_send(&f->ask, REGISTER_CLAIM, sb->record.view ? sb->record.view : 1,
			 f->o->lease);
	else
		wait_for_partner(f);
}

/* The register says that this machine serves. */
static void take_own(struct finding *f, const struct told *t)
{
	struct standby *sb = &f->sb;

	if (sb->following) {
		if (pair_may_tell(&f->told))
			log_say("%s makes a copy, but the witness (%s) says that this machine serves: is another machine's address given to it?",
				partner_of(f), log_addr(f->o->witness));
		return;
	}
	if (sb->record.there && !sb->record.primary) {
		/* this machine took over, and ended before it could note that */
		if (sb->record.complete && t->view == sb->record.view + 1) {
			serve(f, t->view, true);
			return;
		}
		fail(f->err, "the witness says that this machine serves, but %s is a copy that is not complete: is it the right file?",
		     f->o->backing);
		give_up(f);
		return;
	}
	if (sb->blank && !f->o->alone && !(partner(f) && partner(f)->flags & HELLO_BLANK)) {
		if (pair_may_tell(&f->told))
			log_say("the witness says that this machine serves, but there is nothing in %s: restore it, or start with --alone to begin a new rack",
				f->o->backing);
		return;
	}
	if (sb->record.there && sb->record.view > t->view) {
		fail(f->err, "the witness knows view %u, %s is of view %u: its register is an old one, correct it",
		     t->view, f->o->backing, sb->record.view);
		give_up(f);
		return;
	}
	/* before anything is answered the partner must not be able to take over */
	if (t->complete)
		ask_send(&f->ask, REGISTER_ALONE, t->view, f->o->lease);
	else
		serve(f, t->view, false);
}

/* The register says that the partner serves. */
static void take_other(struct finding *f, const struct told *t)
{
	struct standby *sb = &f->sb;

	if (standby_is_unknown(sb)) {
		fail(f->err, "%s serves, but %s has regions of its own: name another file, or remove it if they are not needed",
		     partner_of(f), f->o->backing);
		give_up(f);
		return;
	}
	if (!f->o->take_over) {
		wait_for_partner(f);
		return;
	}
	if (!sb->record.there || sb->record.primary || !sb->record.complete ||
	    sb->record.view != t->view) {
		fail(f->err, "%s is no complete copy of what %s has in view %u: it cannot take over",
		     f->o->backing, partner_of(f), t->view);
		give_up(f);
		return;
	}
	f->taking = true;
	ask_send(&f->ask, REGISTER_TAKE_BY_HAND, t->view, f->o->lease);
}

static void take_told(struct finding *f, const struct told *t)
{
	f->refused = t->err == EAGAIN && t->silent <= f->sb.lease ? f->sb.lease - t->silent + 1 : 0;
	if (t->op == REGISTER_TAKE || t->op == REGISTER_TAKE_BY_HAND) {
		if (!t->err) {
			serve(f, t->view, true);
		} else if (t->err == EAGAIN && t->op == REGISTER_TAKE_BY_HAND) {
			if (pair_may_tell(&f->told))
				log_say("the witness has heard %s %u ms ago: waiting, as it may serve still",
					partner_of(f), t->silent);
		} else if (t->err != EAGAIN && !f->stale) {
			f->stale = true;
			log_say("does not take over: the witness says that %s serves, view %u, and that this copy has not everything",
				log_addr(t->owner), t->view);
		}
		return;
	}
	if (!t->view)
		claim(f);
	else if (t->owner == f->o->address)
		take_own(f, t);
	else
		take_other(f, t);
}

/* Nothing was heard of the machine that serves for a lease, and this one has all it had. */
static bool may_take(const struct finding *f)
{
	const struct standby *sb = &f->sb;

	return f->o->lease && sb->record.there && !sb->record.primary && sb->record.complete &&
	       sb->record.here && boot_since(sb->heard) > sb->lease;
}

/* Milliseconds between questions.  When the machine that serves has just died each one counts. */
static u64 look_ms(const struct finding *f)
{
	if (!may_take(f))
		return LOOK_MS;
	return f->refused && f->refused < LOOK_MS / 5 ? f->refused : LOOK_MS / 5;
}

static void ask_witness(struct finding *f)
{
	u64 now = boot_ms();
	bool silent = boot_since(f->sb.heard) > f->sb.lease;
	struct told t;

	if (ask_answer(&f->ask, &t)) {
		/* also to a later question: then the witness has not read the first one */
		f->taking = false;
		take_told(f, &t);
		return;
	}
	if (!f->ask.s.greeted) {
		if (f->o->alone && boot_since(f->began) > PATIENCE_MS &&
		    (!f->sb.record.there || f->sb.record.primary))
			serve(f, f->sb.record.view ? f->sb.record.view : 1, false);
		else if ((!f->sb.following || silent) && boot_since(f->began) > LOOK_MS &&
			 pair_may_tell(&f->told))
			log_say("the witness (%s) does not answer: waiting for it%s",
				log_addr(f->o->witness),
				f->sb.record.there && !f->sb.record.primary ? "" :
				" (if it and the twin are off for good: start with --alone)");
	}
	if (!ask_ready(&f->ask) || boot_since(f->looked) < look_ms(f))
		return;
	if (f->sb.following && !silent && !f->taking)
		return;
	f->looked = now;
	if (may_take(f) && !f->stale && !f->taking) {
		f->taking = true;
		ask_send(&f->ask, REGISTER_TAKE, f->sb.record.view, f->o->lease);
		return;
	}
	ask_send(&f->ask, REGISTER_LOOK, 0, f->o->lease);
}

/* --- the loop --------------------------------------------------------------------------- */

/* Call the partner, to hear its HELLO.  A partner that serves calls this machine. */
static void look_at_partner(struct finding *f)
{
	u64 now = boot_ms();
	struct record r;
	int ended;

	if (f->probe.fd >= 0) {
		ended = stream_push(&f->probe) || stream_pull(&f->probe);
		if (stream_next(&f->probe, &r) > 0 && r.type == STREAM_HELLO &&
		    f->probe.peer.rack == f->o->rack && f->probe.peer.blade == f->o->id) {
			f->sb.asked_by = now;
			f->sb.partner = f->probe.peer;
			ended = true;
		}
		if (ended || boot_since(f->probed) > SEEN_MS)
			stream_close(&f->probe);
		return;
	}
	if (f->sb.following || boot_since(f->probed) < LOOK_MS ||
	    (f->sb.record.there && !f->sb.record.primary))
		return;
	f->probed = now;
	{
		struct hello h = standby_hello(&f->sb);

		if (stream_call(&f->probe, f->o->address, options_partner(f->o),
				f->o->pair_port, &h))
			stream_close(&f->probe);
	}
}

static void accept_partner(struct finding *f)
{
	u32 from;
	int fd = stream_accept(f->listener, &from);

	if (fd < 0)
		return;
	if (from == options_partner(f->o)) {
		standby_take(&f->sb, fd);
		return;
	}
	log_warn("%s calls at TCP port %u, and is not this blade's twin", log_addr(from),
		 f->o->pair_port);
	close(fd);
}

static int wait_for_all(struct finding *f, int signal_fd)
{
	struct pollfd p[] = {
		{ .fd = signal_fd, .events = POLLIN },
		stream_pollfd(&f->probe), stream_pollfd(&f->ask.s),
		/* while this machine asks to take over, the partner's messages wait */
		{ .fd = f->listener, .events = POLLIN },
		stream_pollfd(&f->sb.s), stream_pollfd(&f->sb.next),
	};

	poll(p, f->taking ? 3 : ARRAY_SIZE(p), may_take(f) ? 5 : f->sb.lease < 2000 ? 20 : 50);
	return p[0].revents ? -1 : 0;
}

static enum role_result find(struct finding *f, int signal_fd)
{
	u64 before = boot_ms();

	while (!f->serves && !f->failed) {
		if (wait_for_all(f, signal_fd))
			return ROLE_END;
		if (!f->taking) {
			accept_partner(f);
			/* first read what came while this machine stood still */
			if (boot_since(before) > STOOD_MS)
				f->sb.heard = boot_ms();
			standby_work(&f->sb);
			look_at_partner(f);
		}
		before = boot_ms();
		if (f->sb.following && boot_since(f->sb.heard) < f->sb.lease / 2)
			f->stale = false;
		if (f->o->witness)
			ask_witness(f);
		else
			decide_alone(f);
	}
	return f->failed ? ROLE_FAIL : ROLE_SERVE;
}

enum role_result role_find(struct options *o, const struct weft_key *key, int signal_fd,
			   int (*ready)(const struct options *o), char *err)
{
	struct finding f = { .o = o, .err = err };
	enum role_result result = ROLE_FAIL;

	if (!options_partner(o))
		return ROLE_SERVE;
	if (standby_open(&f.sb, o, key, err))
		return ROLE_FAIL;
	f.listener = stream_listen(o->address, o->pair_port);
	f.began = boot_ms();
	stream_init(&f.probe, key);
	ask_init(&f.ask, o, key, STREAM_UNDECIDED);
	if (f.listener < 0)
		fail(err, "cannot listen at TCP port %u of %s: %s", o->pair_port,
		     log_addr(o->address), strerror(errno));
	else if (ready(o))
		fail(err, "cannot go to the background");
	else
		result = find(&f, signal_fd);
	o->role = (struct role){
		.view = f.sb.record.view,
		.taken = f.sb.record.taken,
		.had_switch = f.sb.record.had_switch,
	};
	standby_close(&f.sb);
	stream_close(&f.probe);
	ask_close(&f.ask);
	if (f.listener >= 0)
		close(f.listener);
	return result;
}
