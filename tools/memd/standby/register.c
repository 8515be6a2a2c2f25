// SPDX-License-Identifier: GPL-2.0-only
/* The witness's register, see register.h. */
#include "standby/register.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/flush.h"
#include "base/log.h"

#define SILENT_BY_HAND_MS	20000	/* that nobody is heard who says no lease */

static const char heading[] = "# weft-memd --be-witness: who serves; do not edit while it runs\n";

/* --- rules ------------------------------------------------------------------------ */

static bool is_owner(const struct entry *e, const struct question *q)
{
	return e->view && e->view == q->view && e->owner == q->who;
}

static u16 take(struct entry *e, const struct question *q)
{
	u32 lease = e->lease > q->lease ? e->lease : q->lease;

	/* the answer was lost */
	if (e->view == q->view + 1 && e->owner == q->who)
		return 0;
	if (!e->view || e->view != q->view || e->owner == q->who)
		return ESTALE;
	if (q->op == REGISTER_TAKE && (!e->complete || !e->lease))
		return ESTALE;
	if (q->now - e->heard <= (lease ? lease : SILENT_BY_HAND_MS))
		return EAGAIN;
	e->view++;
	e->owner = q->who;
	e->complete = false;
	e->heard = q->now;
	return 0;
}

u16 register_change(struct entry *e, const struct question *q)
{
	switch (q->op) {
	case REGISTER_LOOK:
		return 0;
	case REGISTER_CLAIM:
		if (!e->view && q->view) {
			e->view = q->view;
			e->owner = q->who;
			e->complete = false;
			e->lease = q->lease;
		}
		break;
	case REGISTER_TAKE:
	case REGISTER_TAKE_BY_HAND:
		return take(e, q);
	case REGISTER_BEAT:
	case REGISTER_ALONE:
	case REGISTER_COMPLETE:
		break;
	default:
		return EINVAL;
	}
	if (!is_owner(e, q))
		return ESTALE;
	e->heard = q->now;
	e->lease = q->lease;
	if (q->op == REGISTER_ALONE)
		e->complete = false;
	if (q->op == REGISTER_COMPLETE)
		e->complete = true;
	return 0;
}

bool register_same(const struct entry *a, const struct entry *b)
{
	return a->view == b->view && a->owner == b->owner && a->complete == b->complete &&
	       a->lease == b->lease;
}

/* --- the file ----------------------------------------------------------------------- */

struct entry *registers_of(struct registers *rs, u32 rack, u8 blade, u64 now)
{
	struct entry *e;
	u32 i;

	for (i = 0; i < rs->n; i++)
		if (rs->entry[i].rack == rack && rs->entry[i].blade == blade)
			return &rs->entry[i];
	if (rs->n == REGISTERS_MAX)
		return NULL;
	e = &rs->entry[rs->n++];
	*e = (struct entry){ .rack = rack, .blade = blade, .heard = now };
	return e;
}

static int read_line(struct registers *rs, const char *line, u64 now)
{
	unsigned int rack, blade, view, complete, lease;
	struct in_addr addr;
	char owner[32];
	struct entry *e;
	int end = 0;

	if (sscanf(line, "rack %u blade %u view %u owner %31s complete %u lease %u%n", &rack,
		   &blade, &view, owner, &complete, &lease, &end) != 6 ||
	    (line[end] && line[end] != '\n') || blade < WEFT_BLADE_MIN ||
	    blade > WEFT_BLADE_MAX || !view || complete > 1 ||
	    inet_pton(AF_INET, owner, &addr) != 1)
		return -1;
	e = registers_of(rs, rack, (u8)blade, now);
	if (!e || e->view)
		return -1;
	e->view = view;
	e->owner = ntohl(addr.s_addr);
	e->complete = complete;
	e->lease = lease;
	return 0;
}

int registers_read(struct registers *rs, const char *path, u64 now, char *err)
{
	FILE *f = fopen(path, "re");
	char line[256];
	int n = 0;

	memset(rs, 0, sizeof(*rs));
	rs->path = path;
	if (!f && errno == ENOENT)
		return 0;
	if (!f)
		return fail(err, "cannot open %s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		n++;
		if (line[0] == '#' || !read_line(rs, line, now))
			continue;
		fclose(f);
		return fail(err, "%s, line %d, is not what a witness writes: restore the file, or correct it after looking which machine of each blade serves",
			    path, n);
	}
	if (ferror(f)) {
		fclose(f);
		return fail(err, "cannot read %s: %s", path, strerror(errno));
	}
	fclose(f);
	return 0;
}

int registers_write(const struct registers *rs)
{
	char path[PATH_MAX];
	bool ok = true;
	FILE *f;
	u32 i;

	if (snprintf(path, sizeof(path), "%s.new", rs->path) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	f = fopen(path, "we");
	if (!f)
		return -1;
	ok &= fputs(heading, f) >= 0;
	for (i = 0; i < rs->n; i++) {
		const struct entry *e = &rs->entry[i];

		if (e->view)
			ok &= fprintf(f, "rack %u blade %u view %u owner %s complete %d lease %u\n",
				      e->rack, e->blade, e->view, log_addr(e->owner),
				      e->complete, e->lease) > 0;
	}
	ok &= !fflush(f) && !fsync(fileno(f));
	ok &= !fclose(f);
	if (!ok)
		return -1;
	if (rename(path, rs->path) || flush_name(rs->path)) {
		log_say("cannot bring the name of %s to the disk: %s; this witness ends, as nobody knows which of two registers the next one would read: mend the disk, then start it again",
			rs->path, strerror(errno));
		exit(EXIT_FAILURE);
	}
	return 0;
}
