// SPDX-License-Identifier: GPL-2.0-only
/* The copy of the partner's file, see standby.h. */
#include "standby/standby.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/log.h"
#include "base/options.h"
#include "store/backing.h"

#define FLUSH_MS	2000
#define LOCK_MS		2000	/* a process that has just ended may have the file still */

int standby_open(struct standby *sb, const struct options *o, const struct weft_key *key,
		 char *err)
{
	u64 until = boot_ms() + LOCK_MS;
	struct stat st;

	memset(sb, 0, sizeof(*sb));
	sb->o = o;
	sb->lease = pair_lease(o);
	stream_init(&sb->s, key);
	stream_init(&sb->next, key);
	sb->fd = open(o->backing, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (sb->fd < 0)
		return fail(err, "cannot open %s: %s", o->backing, strerror(errno));
	while (flock(sb->fd, LOCK_EX | LOCK_NB)) {
		if (boot_ms() > until)
			return fail(err, "%s is in use: is another weft-memd running?",
				    o->backing);
		pause_ms(50);
	}
	if (fstat(sb->fd, &st) || !S_ISREG(st.st_mode))
		return fail(err, "%s is not a regular file", o->backing);
	if (flush_open(&sb->flush, sb->fd, false))
		return fail(err, "cannot open %s once more: %s", o->backing, strerror(errno));
	if (pair_load(sb->fd, &sb->record))
		return fail(err, "cannot read %s: %s", o->backing, strerror(errno));
	sb->blank = backing_is_blank(sb->fd, (u64)st.st_size);
	sb->heard = boot_ms();
	return 0;
}

static void end_flush(struct standby *sb)
{
	if (flush_end(&sb->flush))
		log_say("%s does not get to the disk: %s", sb->o->backing, strerror(errno));
}

void standby_close(struct standby *sb)
{
	if (sb->flush.running)
		end_flush(sb);
	flush_close(&sb->flush);
	stream_close(&sb->s);
	stream_close(&sb->next);
	if (sb->fd >= 0)
		close(sb->fd);
	sb->fd = -1;
}

bool standby_is_unknown(const struct standby *sb)
{
	return !sb->blank && !sb->record.there;
}

struct hello standby_hello(const struct standby *sb)
{
	return (struct hello){
		.rack = sb->o->rack,
		.blade = sb->o->id,
		.role = sb->record.there && !sb->record.primary ? STREAM_STANDBY :
			STREAM_UNDECIDED,
		.flags = (sb->blank ? HELLO_BLANK : 0) |
			 (sb->record.there ? 0 : HELLO_UNKNOWN),
		.view = sb->record.there ? sb->record.view : 0,
		.lease = sb->o->lease,
	};
}

/* --- contents ---------------------------------------------------------------------- */

static int write_zeros(int fd, u64 len, u64 at)
{
	static const u8 none[65536];
	u64 n;

	for (; len; at += n, len -= n) {
		n = len < sizeof(none) ? len : sizeof(none);
		if (flush_write(fd, none, n, at))
			return -1;
	}
	return 0;
}

/* Does a part of the file have what only concerns this machine? */
static bool touches_own(u64 at, u64 len)
{
	return (at < BACKING_USE_AT + BACKING_SECTOR && at + len > BACKING_USE_AT) ||
	       (at < BACKING_PAIR_AT + BACKING_SECTOR && at + len > BACKING_PAIR_AT);
}

/* The copy begins: of what was there nothing is left. */
static int begin(struct standby *sb)
{
	sb->record = (struct pair_record){ .there = true, .view = sb->s.peer.view };
	if (pair_store(sb->fd, &sb->record) || ftruncate(sb->fd, BACKING_PAGE) ||
	    write_zeros(sb->fd, BACKING_PAIR_AT, 0) ||
	    write_zeros(sb->fd, BACKING_PAGE - BACKING_PAIR_AT - BACKING_SECTOR,
			BACKING_PAIR_AT + BACKING_SECTOR))
		return -1;
	sb->blank = true;
	sb->count = 0;
	sb->bytes = 0;
	sb->stamp = 0;
	sb->following = true;
	/* the ACK says that the file is marked as incomplete */
	sb->owes = true;
	if (sb->s.peer.lease > sb->lease)
		sb->lease = sb->s.peer.lease;
	log_say("%s serves, view %u: %s becomes a copy of its file",
		log_addr(options_partner(sb->o)), sb->record.view, sb->o->backing);
	return 0;
}

static int zero(struct standby *sb, u64 at, u64 len)
{
	/* a hole, or where the file system makes none what is not there yet need not be */
	if (!fallocate(sb->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)len))
		return 0;
	return write_zeros(sb->fd, len, at);
}

static int complete(struct standby *sb)
{
	sb->record.complete = true;
	if (pair_store(sb->fd, &sb->record))
		return -1;
	log_say("%s is complete, view %u", sb->o->backing, sb->record.view);
	return 0;
}

/* Return: 0; -1: it is not what it should be, or cannot be done. */
static int apply(struct standby *sb, const struct record *r)
{
	u64 at = r->len >= 8 ? get_unaligned_be64(r->body) : 0, len = 0;
	int ret = -1;

	if (r->type == STREAM_COMPLETE && !r->len && !sb->record.complete)
		ret = complete(sb);
	if (r->type == STREAM_WRITE && r->len > 8) {
		len = r->len - 8;
		if (!touches_own(at, len) && at + len > at)
			ret = flush_write(sb->fd, r->body + 8, len, at);
		sb->bytes += len;
	}
	if (r->type == STREAM_ZERO && r->len == 16) {
		len = get_unaligned_be64(r->body + 8);
		if (len && len < 1ull << 48 && at < 1ull << 48 && !touches_own(at, len))
			ret = zero(sb, at, len);
	}
	sb->blank = false;
	sb->dirty = true;
	sb->count++;
	sb->owes = true;
	return ret;
}

/* --- records ------------------------------------------------------------------------ */

static void drop(struct standby *sb)
{
	if (sb->following)
		log_say("the stream of %s has ended, %s", log_addr(options_partner(sb->o)),
			sb->record.complete ? "and was complete" : "and was not complete");
	sb->following = false;
	stream_close(&sb->s);
}

/* Does the machine that says so serve, as far as is known here? */
static bool may_begin(const struct standby *sb)
{
	const struct hello *h = &sb->s.peer;

	if (h->role != STREAM_PRIMARY || h->rack != sb->o->rack || h->blade != sb->o->id ||
	    !h->view || standby_is_unknown(sb))
		return false;
	return !sb->record.there || h->view > sb->record.view ||
	       (h->view == sb->record.view && !sb->record.primary);
}

static int take(struct standby *sb, const struct record *r)
{
	sb->heard = boot_ms();
	if (r->type == STREAM_BEGIN)
		return may_begin(sb) ? begin(sb) : -1;
	if (!sb->following)
		return -1;
	if (r->type != STREAM_BEAT)
		return apply(sb, r);
	if (r->len != 12)
		return -1;
	sb->stamp = get_unaligned_be64(r->body);
	sb->use_switch = get_unaligned_be32(r->body + 8);
	sb->owes = true;
	return 0;
}

static int acknowledge(struct standby *sb)
{
	u8 b[24];

	if (!sb->owes)
		return 0;
	put_unaligned_be64(sb->count, b);
	put_unaligned_be64(sb->bytes, b + 8);
	put_unaligned_be64(sb->stamp, b + 16);
	sb->owes = false;
	return stream_put(&sb->s, STREAM_ACK, b, sizeof(b), NULL, 0);
}

static void hear(struct standby *sb)
{
	int ended = stream_pull(&sb->s), more, bad = 0;
	struct record r;

	while (!bad && (more = stream_next(&sb->s, &r)) > 0)
		bad = take(sb, &r);
	if (bad && sb->following)
		log_say("cannot write to %s, or what came was not right: %s", sb->o->backing,
			strerror(errno));
	if (bad || more < 0 || acknowledge(sb) || stream_push(&sb->s) || ended)
		drop(sb);
}

static void greet(struct standby *sb)
{
	struct hello h = standby_hello(sb);

	if ((sb->next.peer.role == STREAM_UNDECIDED || sb->next.peer.role == STREAM_STANDBY) &&
	    sb->next.peer.rack == sb->o->rack && sb->next.peer.blade == sb->o->id) {
		sb->asked_by = boot_ms();
		sb->partner = sb->next.peer;
	}
	if (stream_hello(&sb->next, &h) || stream_push(&sb->next))
		stream_close(&sb->next);
}

/* The other connection: when it says more than HELLO it is the one. */
static void hear_next(struct standby *sb)
{
	int ended = stream_pull(&sb->next), more;
	struct record r;

	more = stream_next(&sb->next, &r);
	if (more > 0 && r.type == STREAM_HELLO) {
		greet(sb);
		return;
	}
	if (more < 0 && sb->next.fd >= 0 && errno == EKEYREJECTED)
		log_warn("the twin (%s) does not have this rack's key",
			 log_addr(options_partner(sb->o)));
	if (more > 0) {
		drop(sb);
		sb->s = sb->next;
		stream_init(&sb->next, sb->s.key);
		if (take(sb, &r)) {
			drop(sb);
			return;
		}
		hear(sb);
	} else if (more < 0 || ended || stream_push(&sb->next)) {
		stream_close(&sb->next);
	}
}

void standby_take(struct standby *sb, int fd)
{
	if (stream_take(&sb->next, fd))
		close(fd);
}

static void flush(struct standby *sb)
{
	if (sb->flush.running) {
		if (flush_over(&sb->flush))
			end_flush(sb);
		return;
	}
	if (!sb->dirty || boot_since(sb->flushed) < FLUSH_MS)
		return;
	sb->dirty = false;
	sb->flushed = boot_ms();
	flush_begin(&sb->flush, 0, 0);
}

void standby_work(struct standby *sb)
{
	if (sb->next.fd >= 0)
		hear_next(sb);
	if (sb->s.fd >= 0)
		hear(sb);
	flush(sb);
}
