// SPDX-License-Identifier: GPL-2.0-only
/* What blocks hold, and must hold; see values.h. */
#include "nodes.h"
#include "serve.h"
#include "values.h"

void values_write(struct world *w, const struct config *c, int n, int line)
{
	struct death *d = &w->death;

	w->truth[line] = c->deaths ? ++d->last[line] : w->truth[line] + 1;
	memset(w->data[n][line], w->truth[line], c->frags);
	if (c->deaths)
		d->mortal[line] = 0;
}

void values_die(struct world *w, const struct config *c, int n)
{
	struct death *d = &w->death;

	for (int i = 0; i < c->lines; i++) {
		d->mortal[i] |= d->owner[i] >> n & 1;
		/* the last heir takes it along, unless it is at home */
		if (d->heirs[i] == 1u << n)
			d->mortal[i] = 1;
		d->heirs[i] &= (u8)~(1u << n);
		/* who found what is left dies with it: others may find another value of before */
		if (!(d->fell[i] >> n & 1))
			continue;
		w->truth[i] = d->before[i];
		d->mortal[i] = 1;
		d->fell[i] = 0;
	}
}

void values_inherit(struct world *w, const struct config *c, int n)
{
	struct death *d = &w->death;

	for (int i = 0; i < c->lines; i++) {
		const struct weft_line *l = &w->line[n][i];

		if (!d->mortal[i] || l->state != WEFT_S || !l->loaned ||
		    !(d->heard[n] & 1u << (l->lender - 1)) || w->data[n][i][0] != w->truth[i])
			continue;
		d->heirs[i] |= (u8)(1u << n);
		d->mortal[i] = 0;
	}
}

void values_listed(struct world *w, const struct config *c, int line)
{
	if (c->deaths)
		w->death.listed |= (u8)(1u << line);
}

/* The home has what there is to have: nobody owns the line, or will. */
static bool at_home(const struct world *w, const struct config *c, int line)
{
	const struct weft_dir_entry *e = serve_entry(w, c, line);

	return e && !e->lock && e->status != WEFT_M && !w->life.asks;
}

/* An older value stands where the last one should: may it, and is it one? */
static bool falls_back(const struct world *w, const struct config *c, int line, const u8 *data)
{
	if (!w->death.mortal[line] || *data >= w->truth[line] || *data < w->death.floor[line])
		return false;
	for (int f = 1; f < c->frags; f++)
		if (data[f] != *data)
			return false;
	return true;
}

/* All others have to agree, which is checked next. */
static void fall_back(struct world *w, int line, u8 value)
{
	if (value < w->death.given[line] && !(w->death.listed & 1u << line))
		world_complain("what others had written is lost, and not listed as such");
	w->truth[line] = value;
	w->death.mortal[line] = 0;
	w->death.owner[line] = 0;
}

static void settle_line(struct world *w, const struct config *c, int line)
{
	struct death *d = &w->death;

	for (int n = 0; n < c->nodes; n++)
		if (values_perm(&w->line[n][line]) != WEFT_I &&
		    falls_back(w, c, line, w->data[n][line])) {
			d->before[line] = w->truth[line];
			d->fell[line] = (u8)(1u << n);
			fall_back(w, line, w->data[n][line][0]);
		}
	if (at_home(w, c, line)) {
		if (falls_back(w, c, line, w->home_data[line]))
			fall_back(w, line, w->home_data[line][0]);
		d->floor[line] = w->truth[line];
		d->owner[line] = d->mortal[line] = d->fell[line] = d->heirs[line] = 0;
	}
	for (int n = 0; n < c->nodes; n++) {
		if (w->line[n][line].state != WEFT_M)
			continue;
		if (d->owner[line] == 1u << n)
			continue;
		/* whoever had it before has given it away for good */
		d->owner[line] = (u8)(1u << n);
		d->mortal[line] = d->heirs[line] = 0;
		d->given[line] = w->truth[line];
		d->listed &= (u8)~(1u << line);
		d->fell[line] = 0;
	}
}

void values_settle(struct world *w, const struct config *c)
{
	if (!c->deaths)
		return;
	for (int i = 0; i < c->lines; i++)
		settle_line(w, c, i);
}

static bool is_last(const struct world *w, const struct config *c, int line, const u8 *data)
{
	for (int f = 0; f < c->frags; f++)
		if (data[f] != w->truth[line])
			return false;
	return true;
}

/* Somebody has the last value: what nobody asks for would be lost, and nobody see it. */
static bool is_there(const struct world *w, const struct config *c, int line)
{
	if (w->death.mortal[line] || is_last(w, c, line, w->home_data[line]))
		return true;
	for (int n = 0; n < c->nodes; n++)
		if (w->line[n][line].state != WEFT_I && is_last(w, c, line, w->data[n][line]))
			return true;
	return false;
}

static const char *check_line(const struct world *w, const struct config *c, int i)
{
	int readers = 0, writers = 0;

	if (at_home(w, c, i) && !is_last(w, c, i, w->home_data[i]))
		return "nobody owns the line, and the home does not have the last value";
	for (int n = 0; n < c->nodes; n++) {
		const struct weft_line *l = &w->line[n][i];
		u8 perm = values_perm(l);

		if (perm != WEFT_I && l->landing)
			return "programs see memory into which a card may write";
		if (l->held && l->landing)
			return "a card may write over data that others may still want";
		readers += perm == WEFT_S;
		writers += perm == WEFT_M;
		if (perm != WEFT_I && !is_last(w, c, i, w->data[n][i]))
			return "a node can read a value that is not the last one written";
	}
	if (writers > 1)
		return "two nodes can write";
	if (writers && readers)
		return "a node can write while another can read";
	if (c->deaths && world_at_rest(w, c) && !is_there(w, c, i))
		return "nobody has the last value, whose owner did not die";
	return NULL;
}

/*
 * Single writer or many readers, and everybody sees the last value written: those
 * who can read, and the home, unless there is an owner or will be one.
 */
const char *pages_check(const struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++) {
		const struct weft_dir_entry *e = serve_entry(w, c, i);
		const char *broken = check_line(w, c, i);

		if (broken)
			return broken;
		if (c->neat && e && e->lock && world_at_rest(w, c))
			return "the entry is locked, and nobody wants anything";
	}
	return NULL;
}
