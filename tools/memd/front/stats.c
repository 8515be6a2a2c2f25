// SPDX-License-Identifier: GPL-2.0-only
/* The list of counters, see stats.h. */
#include "front/stats.h"

#include <ctype.h>
#include <stdio.h>

#include "base/blade.h"
#include "lines/lines.h"
#include "lines/p4.h"
#include "lines/quota.h"
#include "lines/region.h"
#include "net/members.h"
#include "net/udp.h"
#include "rdma/rdma.h"
#include "standby/mirror.h"
#include "store/backing.h"
#include "store/frames.h"

#define NAME(id, name)	name,

static const char * const names[MEMD_STATS_N] = { MEMD_STATS(NAME) };

/* One page of the list: entries before @from are passed over. */
struct page {
	struct weft_call *reply;
	u64 from;
	u64 n;
	bool full;
};

static void add(struct page *page, const char *name, u64 value)
{
	struct weft_call *reply = page->reply;
	size_t len = strlen(name);
	u8 *p = reply->list + reply->list_len;

	if (page->n++ < page->from || page->full)
		return;
	if (reply->list_len + 9 + len > WEFT_CALL_LIST_MAX) {
		page->full = true;
		reply->cookie = page->n - 1;
		return;
	}
	put_unaligned_be64(value, p);
	p[8] = (u8)len;
	memcpy(p + 9, name, p[8]);
	reply->list_len = (u16)(reply->list_len + 9 + len);
}

/* Of all threads together. */
struct sums {
	u64 known;
	u64 at[LINE_PLACES];
	u64 sent;
	u64 sent_bytes;
	u64 dropped;
	u64 not_received;
	struct stats stats;
};

static void add_all(u64 *to, const u64 *from, u32 n)
{
	while (n--)
		*to++ += *from++;
}

static void sum_up(const struct blade *b, struct sums *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < b->threads; i++) {
		const struct memd *m = b->thread[i];

		s->known += m->lines->known;
		add_all(s->at, m->lines->at, LINE_PLACES);
		s->sent += m->udp->sent;
		s->sent_bytes += m->udp->sent_bytes;
		s->dropped += m->udp->dropped;
		s->not_received += udp_not_received(m->udp);
		add_all(s->stats.count, m->stats.count, MEMD_STATS_N);
		add_all(s->stats.in, m->stats.in, MEMD_TYPES);
		add_all(s->stats.out, m->stats.out, MEMD_TYPES);
	}
}

/* Seconds since a message was last refused for who sent it, 1 at least; 0: never. */
static u64 refused_ago(const struct memd *m)
{
	u64 last = 0;
	u32 i;

	for (i = 0; i < m->b->threads; i++)
		if (m->b->thread[i]->stats.refused > last)
			last = m->b->thread[i]->stats.refused;
	return last ? (m->timers.now - last) / 1000 + 1 : 0;
}

static void add_state(struct memd *m, const struct sums *s, struct page *page)
{
	u64 moving = s->at[WEFT_ADDING] + s->at[WEFT_REMOVING] +
		     s->at[WEFT_DROPPING];
	u64 in_switch = s->at[WEFT_IN_SWITCH];
	u32 blade = options_blade(&m->b->opt);
	struct mirror_state standby;
	struct rdma_state rdma;

	mirror_look(m, &standby);
	rdma_state(m, &rdma);
	add(page, "nodes", (u64)__builtin_popcount(members_joined(m->b->members)));
	add(page, "switch", m->b->p4->in_use);
	add(page, "regions", m->b->regions->n);
	add(page, "region_numbers_left", quota_numbers_left(m));
	add(page, "memory_bytes", m->b->opt.memory);
	add(page, "reserved_bytes", m->b->regions->reserved[blade]);
	add(page, "used_bytes", (u64)m->b->frames->used * FRAME_SIZE);
	add(page, "lines_at_home", s->known - in_switch - moving);
	add(page, "lines_in_switch", in_switch);
	add(page, "lines_moving", moving);
	add(page, "locks", quota_locks(m));
	add(page, "locks_max", m->b->opt.locks);
	add(page, "sent", s->sent);
	add(page, "sent_bytes", s->sent_bytes);
	add(page, "not_sent", s->dropped);
	add(page, "not_received", s->not_received);
	add(page, "blades", m->b->regions->blades);
	add(page, "threads", m->b->threads);
	add(page, "ready", m->b->ready);
	add(page, "file_refuses", __atomic_load_n(&m->b->backing->refuses, __ATOMIC_RELAXED));
	add(page, "file_failed", m->b->backing->failed);
	add(page, "refused_ago_s", refused_ago(m));
	add(page, "twin", options_partner(&m->b->opt) != 0);
	add(page, "view", m->b->opt.role.view);
	add(page, "twin_complete", standby.complete);
	add(page, "twin_behind_bytes", standby.behind);
	if (standby.has_witness)
		add(page, "witness_ok", standby.witness_ok);
	add(page, "suspensions", standby.suspensions);
	add(page, "rdma", rdma.listening);
	add(page, "rdma_connections", rdma.connections);
	add(page, "rdma_registered_bytes", rdma.bytes);
	add(page, "rdma_under_way", rdma.in_flight);
}

static void add_types(struct page *page, const char *prefix, const u64 *counts)
{
	char name[64], *p;
	u32 type;

	for (type = 0; type < MEMD_TYPES; type++) {
		const char *text = weft_msg_name((u8)type);

		/* all there are, whether counted yet or not: pages have to fit */
		if (*text == '?')
			continue;
		snprintf(name, sizeof(name), "%s_%s", prefix, text);
		for (p = name; *p; p++)
			*p = (char)tolower(*p);
		add(page, name, counts[type]);
	}
}

void stats_list(struct memd *m, struct weft_call *reply, u64 from)
{
	struct page page = { .reply = reply, .from = from };
	struct sums sums;
	u32 i;

	sum_up(m->b, &sums);
	reply->cookie = 0;
	add_state(m, &sums, &page);
	for (i = 0; i < MEMD_STATS_N; i++)
		add(&page, names[i], sums.stats.count[i]);
	add_types(&page, "in", sums.stats.in);
	add_types(&page, "out", sums.stats.out);
}
