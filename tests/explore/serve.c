// SPDX-License-Identifier: GPL-2.0-only
/* Where the lines of a world are served; see serve.h. */
#include "life.h"
#include "network.h"
#include "serve.h"
#include "values.h"

#include "tests/stations.h"

/* It is in the switch from the beginning. */
static void install(struct world *w, const struct config *c, int i)
{
	struct weft_home_line *l = &w->home[i];

	l->place = WEFT_IN_SWITCH;
	w->slot[i].tag = world_key(c, i);
	w->slot[i].entry = l->e;
	memset(&l->e, 0, sizeof(l->e));
}

void serve_init(struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++) {
		struct weft_dir_entry *e = &w->home[i].e;

		weft_home_init(&w->home[i], world_key(c, i), HOME);
		/* locks may begin anywhere, and go round */
		if (c->locks)
			e->grant = 0u - 3 * WEFT_EPOCH_STEP;
		if (c->owned) {
			e->status = WEFT_M;
			e->copyset = weft_node_bit(1);
			e->grant = WEFT_GRANT_OWNED;
		}
		if (c->use_switch && (c->owned || c->deeds))
			install(w, c, i);
	}
	if (c->same_slot && weft_line_slot(world_key(c, 0)) != weft_line_slot(world_key(c, 1)))
		abort();
}

void serve_switch_recv(struct world *w, const struct config *c,
		       const struct flight *f)
{
	int i = world_line(c, f->line);
	u64 at = weft_line_slot(f->line);
	/* of the 65,536 slots only those of our lines exist */
	struct weft_switch sw = {
		.members = w->switch_members,
		.slots = &w->slot[c->same_slot ? 0 : i] - at,
	};
	struct weft_msg m;
	u32 targets;
	u8 src = f->src, list[WEFT_LANDING_LEN];

	stations_by_id(&sw);
	network_message(&m, f, list);
	switch (weft_switch_handle(&sw, m.src, &m, &targets)) {
	case WEFT_TO_NOBODY:
		break;
	case WEFT_TO_SENDER:
		network_post(w, &m, weft_is_blade(src) ? HOP_HOME : HOP_NODE, src, NULL);
		break;
	case WEFT_TO_HOME:
		network_post(w, &m, HOP_HOME, HOME, f->val);
		break;
	case WEFT_TO_NODES:
		for (u8 id = 1; id <= c->nodes; id++)
			if (targets & weft_node_bit(id))
				network_post(w, &m, HOP_NODE, id, f->val);
		break;
	}
}

static void serve_read(struct world *w, const struct config *c,
		       const struct weft_msg *read)
{
	int i = world_line(c, read->line);
	struct weft_landing landing;
	struct weft_msg m = *read;

	if (weft_home_reads_lost(&w->home[i], w->members, read))
		values_listed(w, c, i);
	m.len = 0;
	m.type = WEFT_MSG_DATA;
	m.flags &= WEFT_F_BUSY | WEFT_F_EXCL | WEFT_F_SWITCH;
	m.src = HOME;
	m.version = w->home_version[i];
	m.nonce = 0;
	m.provider = 0;
	m.holder = 0;
	if (weft_landing_unpack(&landing, read) && network_has_card(c, HOME))
		network_post_write(w, c, &m, (u8)weft_txn_member(read->txn));
	else
		network_post_data(w, c, &m, HOP_NODE, (u8)weft_txn_member(read->txn),
				  w->home_data[i]);
}

static void store(struct world *w, const struct config *c,
		  const struct flight *f)
{
	int i = world_line(c, f->line);
	struct weft_msg m;

	if (f->version > w->home_version[i]) {
		w->home_version[i] = f->version;
		memcpy(w->home_data[i], f->val, MAX_FRAGS);
		if (f->flags & WEFT_F_LENT)
			weft_home_saved(&w->home[i]);
	}
	network_header(&m, f);
	m.type = WEFT_MSG_WB_ACK;
	m.src = HOME;
	network_post(w, &m, HOP_NODE, (u8)weft_txn_member(f->txn), NULL);
}

/* @sender, @val: of the message that it follows from, if it does. */
static void do_home_out(struct world *w, const struct config *c,
			const struct weft_home_out *out, u8 sender, const u8 *val)
{
	if (out->lost)
		world_complain("the switch lost a line");
	if (out->to_switch)
		network_post(w, &out->sw, HOP_SWITCH, 0, NULL);
	if (out->chase)
		network_post(w, &out->msg_chase, HOP_NODE, out->chase, NULL);
	switch (out->dest) {
	case WEFT_TO_NOBODY:
		break;
	case WEFT_TO_SENDER:
		network_post(w, &out->msg, HOP_NODE, sender, NULL);
		break;
	case WEFT_TO_HOME:
		serve_read(w, c, &out->msg);
		break;
	case WEFT_TO_NODES:
		for (u8 id = 1; id <= c->nodes; id++)
			if (out->targets & weft_node_bit(id))
				network_post(w, &out->msg, HOP_NODE, id, val);
		break;
	}
}

/* A line that is in the switch is asked for, and looked at when it is here. */
static void look_for_dead(struct world *w, const struct config *c, int i,
			  struct weft_home_out *out)
{
	struct weft_home_line *l = &w->home[i];
	u32 fresh = w->seq[MAX_NODES] + 1;
	enum weft_gone gone = weft_home_gone(l, w->members, true, fresh, out);

	if (gone == WEFT_GONE_ASKS) {
		w->death.asked |= (u8)(1u << i);
	} else {
		w->death.gone &= (u8)~(1u << i);
		w->death.asked &= (u8)~(1u << i);
	}
	if (gone == WEFT_GONE_LOST)
		values_listed(w, c, i);
	if (l->txn == weft_txn(HOME, fresh))
		w->seq[MAX_NODES]++;
}

void serve_home_recv(struct world *w, const struct config *c,
		     const struct flight *f)
{
	int i = world_line(c, f->line);
	struct weft_home_line *l = &w->home[i];
	struct weft_home_out out;
	u8 list[WEFT_LANDING_LEN];
	struct weft_msg m;

	if (!life_hears(w, f))
		return;
	if (f->type == WEFT_MSG_WB) {
		store(w, c, f);
		return;
	}
	network_message(&m, f, list);
	if (f->type == WEFT_MSG_READ) {
		serve_read(w, c, &m);
		return;
	}
	weft_home_recv(l, w->members, c->use_switch, &m,
		       w->seq[MAX_NODES] + 1, &out);
	if (l->txn == weft_txn(HOME, w->seq[MAX_NODES] + 1))
		w->seq[MAX_NODES]++;
	do_home_out(w, c, &out, f->src, f->val);
	if (out.moved && l->place == WEFT_AT_HOME && w->death.asked & 1u << i) {
		look_for_dead(w, c, i, &out);
		do_home_out(w, c, &out, 0, NULL);
	}
	l->tries = WEFT_CHASE_AFTER - 1;
	l->full = 0;
}

void serve_actions(const struct world *w, const struct config *c, struct action *a,
		   int *k)
{
	for (int i = 0; i < c->lines; i++) {
		const struct weft_home_line *l = &w->home[i];

		if (l->place == WEFT_IN_SWITCH && w->recalls)
			world_add(a, k, ACT_RECALL, 0, i, 0);
		if (l->place != WEFT_IN_SWITCH && l->place != WEFT_AT_HOME &&
		    (w->spurious || world_silent(w, c, i)))
			world_add(a, k, ACT_HOME_TIMEOUT, 0, i, 0);
	}
}

void serve_step(struct world *w, const struct config *c, const struct action *a)
{
	struct weft_home_line *l = &w->home[a->line];
	u32 fresh = w->seq[MAX_NODES] + 1;
	struct weft_home_out out;

	if (a->kind == ACT_GONE) {
		look_for_dead(w, c, a->line, &out);
	} else if (a->kind == ACT_RECALL) {
		w->recalls--;
		weft_home_recall(l, fresh, &out);
		w->seq[MAX_NODES]++;
	} else {
		if (!world_silent(w, c, a->line))
			w->spurious--;
		weft_home_timeout(l, &out);
	}
	do_home_out(w, c, &out, 0, NULL);
	l->tries = WEFT_CHASE_AFTER - 1;
}

/* Wipe what is left over from what is done; see world_step(). */
void serve_tidy(struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++) {
		struct weft_home_line *h = &w->home[i];

		if (h->place == WEFT_IN_SWITCH)
			memset(&h->e, 0, sizeof(h->e));
		if (h->place == WEFT_IN_SWITCH || h->place == WEFT_AT_HOME)
			h->txn = 0;
	}
}

/* A lock that nobody holds may stay: the next request chases it away. */
bool serve_at_rest(const struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++)
		if (w->home[i].place != WEFT_IN_SWITCH &&
		    w->home[i].place != WEFT_AT_HOME)
			return false;
	return true;
}
