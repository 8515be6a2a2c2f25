// SPDX-License-Identifier: GPL-2.0-only
/* The network of a world; see network.h. */
#include "death.h"
#include "network.h"

static void put_flight(struct world *w, const struct flight *f)
{
	int i = w->flights;

	if (!death_hears(w, f))
		return;
	if (i == MAX_FLIGHT) {
		world_complain("more messages in flight than the model has room for");
		return;
	}
	while (i > 0 && memcmp(&w->flight[i - 1], f, sizeof(*f)) > 0) {
		w->flight[i] = w->flight[i - 1];
		i--;
	}
	w->flight[i] = *f;
	w->flights++;
}

void network_take(struct world *w, int i)
{
	w->flights--;
	memmove(&w->flight[i], &w->flight[i + 1],
		(size_t)(w->flights - i) * sizeof(w->flight[0]));
	memset(&w->flight[w->flights], 0, sizeof(w->flight[0]));
}

static void to_flight(struct flight *f, const struct weft_msg *m, u8 hop, u8 to)
{
	struct weft_landing landing;

	memset(f, 0, sizeof(*f));
	f->line = m->line;
	f->version = m->version;
	f->txn = m->txn;
	f->copyset = m->copyset;
	f->provider = m->provider;
	f->holder = m->holder;
	f->nonce = m->nonce;
	f->grant = m->grant;
	f->offset = m->offset;
	f->info = m->info;
	f->type = m->type;
	f->flags = m->flags;
	f->src = m->src;
	f->status = m->status;
	f->size = (u8)m->size;
	f->hop = hop;
	f->to = to;
	f->used = 1;
	f->lands = weft_landing_unpack(&landing, m);
	for (u32 i = 0; !f->lands && i < m->len / 4 && i < MAX_NODES; i++)
		f->list[i] = get_unaligned_be32((const u8 *)m->payload + 4 * i);
}

void network_header(struct weft_msg *m, const struct flight *f)
{
	memset(m, 0, sizeof(*m));
	m->line = f->line;
	m->version = f->version;
	m->txn = f->txn;
	m->copyset = f->copyset;
	m->provider = f->provider;
	m->holder = f->holder;
	m->nonce = f->nonce;
	m->grant = f->grant;
	m->offset = f->offset;
	m->info = f->info;
	m->type = f->type;
	m->flags = f->flags;
	m->src = f->src;
	m->status = f->status;
	m->size = f->size;
}

/* There is one landing of a transaction at most, so its name is all there is to know. */
static void offer(struct weft_msg *m, u8 *payload)
{
	struct weft_landing landing = { .key = m->txn };

	weft_landing_pack(&landing, payload);
	m->payload = payload;
	m->len = WEFT_LANDING_LEN;
}

void network_message(struct weft_msg *m, const struct flight *f, u8 *list)
{
	network_header(m, f);
	if (f->lands)
		offer(m, list);
	for (int i = 0; i < MAX_NODES && f->list[i]; i++) {
		put_unaligned_be32(f->list[i], list + 4 * i);
		m->payload = list;
		m->len += 4;
	}
}

void network_post(struct world *w, const struct weft_msg *m, u8 hop, u8 to,
		  const u8 *val)
{
	struct flight f;

	to_flight(&f, m, hop, to);
	if (val)
		memcpy(f.val, val, MAX_FRAGS);
	put_flight(w, &f);
}

void network_post_data(struct world *w, const struct config *c,
		       const struct weft_msg *m, u8 hop, u8 to, const u8 *val)
{
	for (u8 i = 0; i < c->frags; i++) {
		struct weft_msg part = *m;
		u8 one[MAX_FRAGS] = { val[i] };

		part.info = 1;
		part.offset = i;
		part.size = c->frags;
		network_post(w, &part, hop, to, one);
	}
}

/* The card has yet to read what it writes: the provider's data of that moment. */
void network_post_write(struct world *w, const struct config *c, const struct weft_msg *m,
			u8 to)
{
	struct weft_msg write = *m;
	u8 payload[WEFT_LANDING_LEN];

	write.type = MSG_WRITE;
	write.size = c->frags;
	offer(&write, payload);
	network_post(w, &write, HOP_NODE, to, NULL);
}

bool network_has_card(const struct config *c, u8 member)
{
	return c->landings == LAND_ALL ||
	       c->landings == (weft_is_blade(member) ? LAND_HOME : LAND_NODES);
}

void network_send(struct world *w, const struct config *c, const struct weft_send *s,
		  const u8 *data)
{
	u8 first = c->use_switch ? HOP_SWITCH : HOP_HOME;
	u8 hop = s->to ? HOP_NODE : first, payload[WEFT_LANDING_LEN];
	struct weft_msg m = s->msg;

	if (!s->with_data && s->landing.key)
		offer(&m, payload);
	if (m.type == MSG_FETCH)
		network_post(w, &m, HOP_NODE, m.src, NULL);
	else if (!s->with_data)
		network_post(w, &m, hop, s->to, NULL);
	else if (s->landing.key && network_has_card(c, s->msg.src))
		network_post_write(w, c, &s->msg, s->to);
	else if (s->msg.type == WEFT_MSG_WB)
		network_post(w, &s->msg, HOP_HOME, HOME, data);
	else
		network_post_data(w, c, &s->msg, hop, s->to, data);
}
