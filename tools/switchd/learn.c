// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learning which station is behind which port.
 */
#include "learn.h"

#include "p4names.h"

#define GROUP_BIT	(1ull << 40)

static uint64_t mac_read(const uint8_t *p)
{
	uint64_t mac = 0;
	int i;

	for (i = 0; i < 6; i++)
		mac = mac << 8 | p[i];
	return mac;
}

static int *bucket_of(struct learn *l, uint64_t mac)
{
	uint64_t h = mac * 0x9e3779b97f4a7c15ull;

	return &l->bucket[(h >> 40) % LEARN_BUCKETS];
}

static struct station *find(const struct learn *l, uint64_t mac)
{
	int i = *bucket_of((struct learn *)l, mac);

	while (i >= 0 && l->station[i].mac != mac)
		i = l->station[i].next;
	return i < 0 ? NULL : (struct station *)&l->station[i];
}

static void clear(struct learn *l)
{
	unsigned int i;

	for (i = 0; i < LEARN_BUCKETS; i++)
		l->bucket[i] = -1;
	l->n = 0;
	l->n_changed = 0;
}

void learn_init(struct learn *l, const struct pipeline *pl)
{
	memset(l, 0, sizeof(*l));
	l->max = LEARN_MAX;
	if (pl && pipeline_table_size(pl, P4_TABLE_L2) < l->max)
		l->max = pipeline_table_size(pl, P4_TABLE_L2);
	clear(l);
}

/* Takes a station out of its bucket; the place can be used for another one. */
static void unlink_station(struct learn *l, const struct station *s)
{
	int *i = bucket_of(l, s->mac);

	while (&l->station[*i] != s)
		i = &l->station[*i].next;
	*i = s->next;
}

/* A place for a new station, or NULL. */
static struct station *place(struct learn *l, uint64_t now)
{
	unsigned int i;

	if (l->n < l->max)
		return &l->station[l->n++];
	if (l->n_gone == LEARN_GONE_MAX)
		return NULL;
	for (i = 0; i < l->n; i++) {
		struct station *s = &l->station[i];

		if (s->seen + LEARN_AGE_NS >= now)
			continue;
		if (s->port != s->written)
			l->n_changed--;
		if (s->written >= 0)
			l->gone[l->n_gone++] = s->mac;
		unlink_station(l, s);
		return s;
	}
	return NULL;
}

void learn_frame(struct learn *l, const uint8_t *frame, unsigned int port, uint64_t now)
{
	uint64_t mac = mac_read(frame + 6);
	struct station *s;
	int *bucket;

	if (!mac || mac & GROUP_BIT)
		return;
	s = find(l, mac);
	if (s) {
		s->seen = now;
		if (s->port == (int)port)
			return;
		l->n_moves++;
		if (s->port == s->written)
			l->n_changed++;
		s->port = (int)port;
		if (s->port == s->written)
			l->n_changed--;
		return;
	}
	s = place(l, now);
	if (!s) {
		l->n_refused++;
		return;
	}
	bucket = bucket_of(l, mac);
	*s = (struct station) {
		.mac = mac, .seen = now, .port = (int)port, .written = -1,
		.next = *bucket,
	};
	*bucket = (int)(s - l->station);
	l->n_changed++;
}

int learn_lookup(const struct learn *l, const uint8_t *mac)
{
	const struct station *s = find(l, mac_read(mac));

	return s ? s->port : -1;
}

/* Deletions first: a full table has room only then. */
static int commit_gone(struct learn *l, struct pipeline *pl, char *err)
{
	unsigned int i;
	int code = 0;

	if (!l->n_gone)
		return 0;
	for (i = 0; i < l->n_gone && !code; i++)
		code = pipeline_l2_delete(pl, l->gone[i], err);
	if (!code)
		code = pipeline_commit(pl, err);
	if (!code)
		l->n_gone = 0;
	return code;
}

int learn_commit(struct learn *l, struct pipeline *pl, uint64_t now, char *err)
{
	unsigned int i;
	int code = commit_gone(l, pl, err);

	for (i = 0; i < l->n && !code; i++)
		if (l->station[i].port != l->station[i].written)
			code = pipeline_l2_set(pl, l->station[i].mac,
					       (unsigned int)l->station[i].port, err);
	if (!code)
		code = pipeline_commit(pl, err);
	l->next_commit = now + (code ? LEARN_RETRY_NS : LEARN_COMMIT_NS);
	if (code)
		return code;
	for (i = 0; i < l->n; i++)
		l->station[i].written = l->station[i].port;
	l->n_changed = 0;
	return 0;
}

int learn_forget(struct learn *l, struct pipeline *pl, char *err)
{
	unsigned int i;
	int code = 0;

	for (i = 0; i < l->n && pl && !code; i++)
		if (l->station[i].written >= 0)
			code = pipeline_l2_delete(pl, l->station[i].mac, err);
	if (pl && !code)
		code = commit_gone(l, pl, err);
	if (pl && !code)
		code = pipeline_commit(pl, err);
	if (!code)
		clear(l);
	return code;
}
