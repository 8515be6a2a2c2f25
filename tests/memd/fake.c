// SPDX-License-Identifier: GPL-2.0-only
/* Nodes for the tests, see fake.h. */
#include "fake.h"

#define BACKOFF_MS	2
#define LIMIT_MS	(20000 * rig_scale())
#define TIME_MS		20

struct fake fakes[RIG_NODES + 1];
u32 fake_apart = 1;
u32 fake_view[RIG_BLADES];
u32 fake_timeout_ms = 10;
void (*fake_take_lock)(struct fake *f, const struct weft_msg *msg);
void (*fake_refuses)(struct fake *f);
void (*fake_fence_locks)(struct fake *f, u32 dead);
void (*fake_renew_locks)(struct fake *f, u32 blade, const struct weft_call *c);
void (*fake_idle)(void);

static void take(u32 id, const struct weft_msg *msg);

void fake_init(u32 blades)
{
	u32 i;

	for (i = 1; i <= RIG_NODES; i++) {
		fakes[i].id = i;
		fakes[i].at = i;
		fakes[i].life = 1000 + i;
		fakes[i].seq = 100;
		fakes[i].blades = blades;
	}
	rig_take = take;
}

static struct fake_region *region_of(struct fake *f, u32 id);

u32 fake_home(const struct fake *f, u64 key)
{
	const struct fake_region *r = region_of((struct fake *)f, weft_line_region(key));

	return WEFT_BLADE_MIN + weft_line_blade(key, r && r->homes ? r->homes :
						weft_first_homes(f->blades));
}

/* --- lines ------------------------------------------------------------------ */

static void send_block(struct fake *f, const struct fake_region *r,
		       const struct fake_line *fl, u32 to, struct weft_msg *m)
{
	u32 full = rig_fragment() < r->block ? rig_fragment() : r->block, offset;

	m->info = (u16)full;
	m->size = r->block;
	for (offset = 0; offset < r->block; offset += full) {
		m->offset = offset;
		m->len = r->block - offset < full ? r->block - offset : full;
		m->payload = fl->data + offset;
		rig_send(f->at, to, m);
	}
}

static void carry_out(struct fake *f, struct fake_region *r, struct fake_line *fl,
		      struct weft_out *out, const struct weft_msg *in)
{
	u32 i;

	if (in && out->effects & WEFT_DO_INSTALL) {
		CHECK_EQ(in->size, r->block);
		memcpy(fl->data + in->offset, in->payload, in->len);
	}
	if (out->effects & (WEFT_DO_PROTECT | WEFT_DO_REVOKE)) {
		struct weft_out more;

		weft_line_revoked(&fl->l, !f->keeps, ++f->seq, &more);
		carry_out(f, r, fl, &more, in);
	}
	for (i = 0; i < out->n; i++) {
		struct weft_send *s = &out->send[i];
		u32 to = s->to ? s->to : fake_home(f, fl->l.key);

		if (s->with_data)
			send_block(f, r, fl, to, &s->msg);
		else
			rig_send(f->at, to, &s->msg);
	}
	if (out->effects & WEFT_DO_FREE)
		memset(fl->data, 0xEE, r->block);
	if (out->effects & WEFT_DO_FAIL) {
		struct weft_out more;

		/* a copy of what is not there is good for nothing */
		fl->failed = true;
		weft_line_forget(&fl->l, &more);
	}
	if (out->effects & WEFT_DO_TIMER)
		fl->timer = now_ms() + (out->effects & WEFT_DO_BACKOFF ?
			BACKOFF_MS + rig_random(BACKOFF_MS) :
			fake_timeout_ms << (fl->l.tries < 4 ? fl->l.tries : 4));
	else if (weft_line_idle(&fl->l))
		fl->timer = 0;
}

static struct fake_region *region_of(struct fake *f, u32 id)
{
	u32 i;

	for (i = 0; i < FAKE_REGIONS; i++)
		if (f->region[i].id == id)
			return &f->region[i];
	return NULL;
}

static struct fake_region *owner(struct fake *f, const struct fake_line *fl)
{
	return region_of(f, weft_line_region(fl->l.key));
}

struct fake_line *fake_line(struct fake *f, u32 region, u32 index)
{
	struct fake_region *r = region_of(f, region);
	struct fake_line *fl;

	if (!r || index >= FAKE_LINES)
		CHECK_FAIL("node %u does not have region %u open", f->id, region);
	fl = &r->line[index];
	if (!fl->data) {
		weft_line_init(&fl->l, weft_line_key(region, WEFT_KIND_PAGE,
						     (u64)index * fake_apart),
			       (u8)f->id);
		fl->data = calloc(1, WEFT_REGION_BLOCK_MAX);
		if (!fl->data)
			CHECK_FAIL("out of memory");
	}
	return fl;
}

bool fake_want(struct fake *f, struct fake_line *fl, u8 perm)
{
	struct weft_out out;

	weft_line_want(&fl->l, perm, ++f->seq, &out);
	carry_out(f, owner(f, fl), fl, &out, NULL);
	return weft_line_perm(&fl->l) >= perm;
}

/* What everybody thinks of a line that does not come. */
static void show(u64 key)
{
	const struct weft_slot *w = &rig_switch.slots[weft_line_slot(key)];
	u32 n;

	for (n = 1; n <= RIG_NODES; n++) {
		struct fake_region *r = region_of(&fakes[n], weft_line_region(key));
		const struct weft_line *l;

		if (!r)
			continue;
		l = &r->line[weft_line_index(key) / fake_apart].l;
		fprintf(stderr, "node %u: state %u op %u txn %08x busy %d held %u for %08x grant %u owned %u version %llx acked %x of %x data %d fetching %d\n",
			n, l->state, l->op, l->txn, l->busy, l->held, l->held_txn,
			l->grant, l->owned, (unsigned long long)l->version, l->acked,
			l->copyset, l->in_whole, l->fetching);
	}
	if (w->tag == key)
		fprintf(stderr, "switch: lock %08x grant %u status %u copyset %x, members %x\n",
			w->entry.lock, w->entry.grant, w->entry.status,
			w->entry.copyset, rig_switch.members);
}

bool fake_get(struct fake *f, struct fake_line *fl, u8 perm)
{
	u64 end = now_ms() + LIMIT_MS;

	fl->failed = false;
	while (!fake_want(f, fl, perm)) {
		fake_step(1);
		if (fl->failed)
			return false;
		if (now_ms() <= end)
			continue;
		show(fl->l.key);
		CHECK_FAIL("node %u never gets line %llx", f->id,
			 (unsigned long long)fl->l.key);
	}
	return true;
}

bool fake_evict(struct fake *f, struct fake_line *fl, bool quiet)
{
	struct weft_out out;

	if (!weft_line_evict(&fl->l, quiet, ++f->seq, &out))
		return false;
	carry_out(f, owner(f, fl), fl, &out, NULL);
	return true;
}

bool fake_clean(struct fake *f, struct fake_line *fl)
{
	struct weft_out out;

	if (!weft_line_clean(&fl->l, ++f->seq, &out))
		return false;
	carry_out(f, owner(f, fl), fl, &out, NULL);
	return true;
}

u32 fake_expect(struct fake *f, struct fake_line *fl, u8 perm)
{
	u32 txn = weft_txn(f->id, ++f->seq);
	struct weft_out out;

	if (!weft_line_expect(&fl->l, perm, txn, &out))
		return 0;
	carry_out(f, owner(f, fl), fl, &out, NULL);
	return txn;
}

void fake_unexpect(struct fake *f, struct fake_line *fl)
{
	struct weft_out out;

	weft_line_unexpect(&fl->l, &out);
	carry_out(f, owner(f, fl), fl, &out, NULL);
}

bool fake_pass(struct fake *f, struct fake_line *fl, u32 txn, bool excl)
{
	struct weft_out out;

	if (excl ? !weft_line_pass(&fl->l, txn, &out) :
		   !weft_line_lend(&fl->l, txn, &out))
		return false;
	carry_out(f, owner(f, fl), fl, &out, NULL);
	return true;
}

/* --- messages --------------------------------------------------------------- */

static void recalled(struct fake *f, const struct weft_call *c)
{
	struct fake_region *r = region_of(f, c->region);
	struct weft_out out;
	u32 i;

	for (i = 0; r && i < FAKE_LINES; i++) {
		if (!r->line[i].data || (u64)i * fake_apart * r->block < c->size)
			continue;
		weft_line_forget(&r->line[i].l, &out);
		carry_out(f, r, &r->line[i], &out, NULL);
	}
}

/* A blade begins anew; what only we have goes there. */
static void renew(struct fake *f, u32 blade, const struct weft_call *c)
{
	struct weft_out out;
	u32 r, i;

	for (r = 0; r < FAKE_REGIONS; r++)
		for (i = 0; i < FAKE_LINES; i++) {
			struct fake_line *fl = &f->region[r].line[i];

			if (!fl->data || fake_home(f, fl->l.key) != blade)
				continue;
			if (c->valid & WEFT_RENEW_LATE)
				weft_line_forget(&fl->l, &out);
			else
				weft_line_return(&fl->l, ++f->seq, &out);
			carry_out(f, &f->region[r], fl, &out, NULL);
		}
}

/* Its lines have other homes: what only we have goes there. */
static void move(struct fake *f, struct fake_region *r, const struct weft_call *c)
{
	struct weft_out out;
	u32 i;

	r->homes = c->homes;
	for (i = 0; i < FAKE_LINES; i++) {
		struct fake_line *fl = &r->line[i];

		if (!fl->data)
			continue;
		weft_line_return(&fl->l, ++f->seq, &out);
		carry_out(f, r, fl, &out, NULL);
	}
}

/* Return: true if all of it is there. */
static bool has_moved(struct fake *f, u32 txn, const struct weft_call *c)
{
	struct fake_region *r = region_of(f, c->region);
	bool all = true;
	u32 i;

	if (!r)
		return true;
	CHECK(c->homes);
	if (r->moving != txn) {
		r->moving = txn;
		f->moves++;
		move(f, r, c);
		for (i = 0; i < RIG_BLADES; i++)
			f->move_claim[i] = fake_renew_locks && c->homes >> i & 1;
	}
	for (i = 0; i < RIG_BLADES; i++) {
		if (f->move_claim[i])
			fake_renew_locks(f, WEFT_BLADE_MIN + i, c);
		all &= !f->move_claim[i];
	}
	for (i = 0; i < FAKE_LINES; i++)
		all &= !r->line[i].data || !weft_line_returning(&r->line[i].l);
	return all;
}

/* Is anything still on its way there? */
static bool is_returning(const struct fake *f, u32 blade)
{
	u32 r, i;

	for (r = 0; r < FAKE_REGIONS; r++)
		for (i = 0; i < FAKE_LINES; i++) {
			const struct fake_line *fl = &f->region[r].line[i];

			if (fl->data && fake_home(f, fl->l.key) == blade &&
			    weft_line_returning(&fl->l))
				return true;
		}
	return false;
}

/* Nodes have died: nothing of theirs is taken, and what they had lent is given up. */
/* Return: false: something is left to do, and the blade asks again. */
static bool fence(struct fake *f, u32 txn, u32 dead)
{
	struct weft_out out;
	bool done = true;
	u32 r, i;

	if (f->fencing == txn)
		return true;
	f->fenced |= dead;
	for (r = 0; r < FAKE_REGIONS; r++)
		for (i = 0; i < FAKE_LINES; i++) {
			struct fake_line *fl = &f->region[r].line[i];

			if (!fl->data)
				continue;
			done &= weft_line_gone(&fl->l, dead, &out);
			carry_out(f, &f->region[r], fl, &out, NULL);
		}
	if (done)
		f->fencing = txn;
	return done;
}

/* An OPEN or CLOSE that is repeated until it is answered: open_txn is its number. */
static void call_of(struct fake *f, const struct fake_region *r, u16 op)
{
	struct weft_call c = { .op = op, .region = r->id };
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL, .src = (u8)f->id, .txn = r->open_txn,
		.len = weft_call_pack(&c, payload), .payload = payload,
	};

	rig_send(f->at, WEFT_BLADE_MIN, &msg);
}

/* The first blade has forgotten who has what open. */
static void forget_opens(struct fake *f)
{
	u32 i;

	for (i = 0; i < FAKE_REGIONS; i++)
		if (f->region[i].id)
			f->region[i].open_txn = weft_txn(f->id, ++f->seq);
}

/* Return: true if it knows again. */
static bool open_again(struct fake *f)
{
	bool all = true;
	u32 i;

	for (i = 0; i < FAKE_REGIONS; i++) {
		if (!f->region[i].open_txn)
			continue;
		call_of(f, &f->region[i], WEFT_CALL_OPEN);
		all = false;
	}
	return all;
}

/* It is not for this node any more.  Return: true when all is given back, and it is closed. */
static bool give_up_region(struct fake *f, u32 region)
{
	struct fake_region *r = region_of(f, region);
	bool left = false;
	u32 i;

	if (!r)
		return true;
	for (i = 0; i < FAKE_LINES; i++) {
		struct fake_line *fl = &r->line[i];

		if (!fl->data || (weft_line_idle(&fl->l) && fl->l.state == WEFT_I))
			continue;
		fake_evict(f, fl, false);
		left = true;
	}
	if (left)
		return false;
	if (r->closing && !r->open_txn) {
		r->closing = false;
		r->id = 0;
		return true;
	}
	if (!r->closing)
		r->open_txn = weft_txn(f->id, ++f->seq);
	r->closing = true;
	call_of(f, r, WEFT_CALL_CLOSE);
	return false;
}

static void answered(struct fake *f, u32 txn)
{
	u32 i;

	for (i = 0; i < FAKE_REGIONS; i++)
		if (f->region[i].open_txn == txn)
			f->region[i].open_txn = 0;
}

static void called(struct fake *f, const struct weft_msg *msg)
{
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg reply = {
		.type = WEFT_MSG_REPLY,
		.src = (u8)f->id,
		.txn = msg->txn,
	};
	u32 n = msg->src - WEFT_BLADE_MIN;
	struct weft_call c;

	CHECK(!weft_call_unpack(&c, msg->payload, msg->len));
	CHECK(c.op == WEFT_CALL_RECALLED || c.op == WEFT_CALL_RENEW ||
	      c.op == WEFT_CALL_CHANGED || c.op == WEFT_CALL_FENCE || c.op == WEFT_CALL_TWIN || c.op == WEFT_CALL_MOVE);
	f->last = *msg;
	if (f->deaf)
		return;
	if (c.op == WEFT_CALL_TWIN) {
		CHECK_EQ(c.node, msg->src);
		CHECK(n < RIG_BLADES && c.life >= fake_view[n]);
		/* all nodes are one machine: the first one that hears it moves the blade */
		if (c.life > fake_view[n] && c.addr != rig_addr(msg->src))
			rig_move(msg->src, c.addr);
		fake_view[n] = c.life;
	} else if (c.op == WEFT_CALL_RECALLED) {
		recalled(f, &c);
	} else if (c.op == WEFT_CALL_CHANGED) {
		f->changed = c;
		if (c.nodes && !(c.nodes & weft_node_bit(f->id))) {
			if (f->uses && fake_refuses)
				fake_refuses(f);
			if (f->uses)
				c.err = EBUSY;
			else if (!give_up_region(f, c.region))
				return;
		}
	} else if (c.op == WEFT_CALL_MOVE) {
		CHECK_EQ(msg->src, WEFT_BLADE_MIN);
		if (!has_moved(f, msg->txn, &c))
			return;
	} else if (c.op == WEFT_CALL_FENCE) {
		if (!fence(f, msg->txn, c.members))
			return;
		if (fake_fence_locks)
			fake_fence_locks(f, c.members);
	} else {
		if (f->renewing[n] != msg->txn) {
			f->renewing[n] = msg->txn;
			if (!n)
				forget_opens(f);
			f->renewals++;
			renew(f, msg->src, &c);
			f->claim_txn[n] = 1;
		}
		/* until all claims have come there */
		if (f->claim_txn[n] && fake_renew_locks)
			fake_renew_locks(f, msg->src, &c);
		else
			f->claim_txn[n] = 0;
		/* it is called again */
		if (is_returning(f, msg->src) || f->claim_txn[n])
			return;
		if (!n && !open_again(f))
			return;
		f->served += f->renewed[n] == msg->txn;
		f->renewed[n] = msg->txn;
	}
	reply.payload = payload;
	reply.len = weft_call_pack(&c, payload);
	rig_send(f->at, msg->src, &reply);
}

/* Somebody with the key has another idea of the time: ask the first blade. */
static void ask_time(struct fake *f)
{
	struct weft_call c = {
		.op = WEFT_CALL_PEERS, .node = f->id, .life = f->life,
	};
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL, .src = (u8)f->id,
		.txn = weft_txn(f->id, ++f->seq), .nonce = rig_random(~0u),
		.len = weft_call_pack(&c, payload), .payload = payload,
	};

	if (now_ms() - f->time_asked < TIME_MS)
		return;
	f->time_asked = now_ms();
	f->time_txn = msg.txn;
	f->time_nonce = msg.nonce;
	rig_send(f->at, WEFT_BLADE_MIN, &msg);
}

/*
 * A blade's twin that has taken over has a clock of its own: it is asked where it says that it
 * is, as nodes do that try both addresses.
 */
static void look_at_twin(const struct weft_msg *msg)
{
	struct weft_call c;

	if (msg->type == WEFT_MSG_CALL && msg->src == WEFT_BLADE_MIN &&
	    !weft_call_unpack(&c, msg->payload, msg->len) && c.op == WEFT_CALL_TWIN &&
	    c.life > fake_view[0] && c.addr != rig_addr(WEFT_BLADE_MIN))
		rig_move(WEFT_BLADE_MIN, c.addr);
}

/* Is it to be believed now?  Answers to our questions set the clock. */
static bool is_fresh(struct fake *f, const struct weft_msg *msg)
{
	bool answer = msg->type == WEFT_MSG_REPLY && msg->src == WEFT_BLADE_MIN &&
		      ((msg->txn == f->call_txn && msg->nonce == f->call_nonce) ||
		       (msg->txn == f->time_txn && msg->nonce == f->time_nonce));

	if (!rig_key.set)
		return true;
	if (answer)
		rig_clock_set(msg->stamp);
	if (weft_stamp_fresh(rig_stamp(), msg->stamp))
		return true;
	look_at_twin(msg);
	ask_time(f);
	return false;
}

static void take(u32 id, const struct weft_msg *msg)
{
	struct fake *f = &fakes[id];
	u32 n = msg->src - WEFT_BLADE_MIN;
	struct fake_region *r;
	struct fake_line *fl, none;
	struct weft_out out;

	if (f->dead || !is_fresh(f, msg))
		return;
	switch (msg->type) {
	case WEFT_MSG_CALL:
		called(f, msg);
		return;
	case WEFT_MSG_REPLY:
		if (n < RIG_BLADES && msg->txn == f->claim_txn[n])
			f->claim_txn[n] = 0;
		if (n < RIG_BLADES && msg->txn == f->move_claim[n])
			f->move_claim[n] = 0;
		answered(f, msg->txn);
		if (msg->txn == f->call_txn && msg->nonce == f->call_nonce && !f->replied) {
			CHECK(!weft_call_unpack(&f->reply, msg->payload, msg->len));
			f->replied = true;
		}
		return;
	default:
		break;
	}
	/* what it is told is for its former life */
	if (f->booting || f->fenced & weft_node_bit(msg->src))
		return;
	if (fake_take_lock && weft_line_kind(msg->line) == WEFT_KIND_LOCK) {
		fake_take_lock(f, msg);
		return;
	}
	f->last = *msg;
	f->last.payload = NULL;
	r = region_of(f, weft_line_region(msg->line));
	if (r && weft_line_index(msg->line) / fake_apart < FAKE_LINES) {
		fl = fake_line(f, r->id, (u32)weft_line_index(msg->line) / fake_apart);
		CHECK_EQ(fl->l.key, msg->line);
		weft_line_recv(&fl->l, msg, ++f->seq, &out);
		carry_out(f, r, fl, &out, msg);
		return;
	}
	/* a line that it knows nothing of: answered all the same */
	memset(&none, 0, sizeof(none));
	weft_line_init(&none.l, msg->line, (u8)f->id);
	weft_line_recv(&none.l, msg, ++f->seq, &out);
	out.effects = 0;
	carry_out(f, NULL, &none, &out, msg);
}

void fake_step(int ms)
{
	struct weft_out out;
	u64 now;
	u32 n, r, i;

	if (fake_idle)
		fake_idle();
	rig_pump(ms);
	now = now_ms();
	for (n = 1; n <= RIG_NODES; n++)
		for (r = 0; r < FAKE_REGIONS; r++)
			for (i = 0; i < FAKE_LINES; i++) {
				struct fake_line *fl = &fakes[n].region[r].line[i];

				if (!fl->timer || fl->timer > now || fakes[n].dead)
					continue;
				fl->timer = 0;
				weft_line_timeout(&fl->l, &out);
				carry_out(&fakes[n], &fakes[n].region[r], fl,
					  &out, NULL);
			}
}

static bool all_idle(void)
{
	u32 n, r, i;

	for (n = 1; n <= RIG_NODES; n++)
		for (r = 0; r < FAKE_REGIONS; r++)
			for (i = 0; i < FAKE_LINES; i++) {
				struct fake_line *fl = &fakes[n].region[r].line[i];

				if (fl->data && !fakes[n].dead && !weft_line_idle(&fl->l))
					return false;
			}
	return true;
}

void fake_settle(void)
{
	u64 end = now_ms() + LIMIT_MS;

	while (!all_idle()) {
		fake_step(1);
		if (now_ms() > end)
			CHECK_FAIL("some line does not come to rest");
	}
}

void fake_evict_all(void)
{
	bool again = true;
	u64 end = now_ms() + LIMIT_MS;
	u32 n, r, i;

	while (again) {
		again = false;
		for (n = 1; n <= RIG_NODES; n++)
			for (r = 0; r < FAKE_REGIONS; r++)
				for (i = 0; i < FAKE_LINES; i++) {
					struct fake_line *fl = &fakes[n].region[r].line[i];

					if (!fl->data || (weft_line_idle(&fl->l) &&
							  fl->l.state == WEFT_I))
						continue;
					again = true;
					fake_evict(&fakes[n], fl, false);
				}
		fake_step(1);
		if (now_ms() > end)
			CHECK_FAIL("some line cannot be evicted");
	}
}

/* --- calls ------------------------------------------------------------------ */

static void send_call(struct fake *f, u32 blade, const struct weft_call *c)
{
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL,
		.src = (u8)f->id,
		.txn = f->call_txn,
		.nonce = f->call_nonce,
		.len = weft_call_pack(c, payload),
		.payload = payload,
	};

	rig_send(f->at, blade, &msg);
}

void fake_call_begin(struct fake *f, u32 blade, const struct weft_call *c)
{
	f->call_txn = weft_txn(f->id, ++f->seq);
	f->call_nonce = rig_random(~0u);
	f->replied = false;
	send_call(f, blade, c);
}

static int call_once(struct fake *f, u32 blade, const struct weft_call *c, int ms)
{
	u64 end = now_ms() + (u64)ms, next = now_ms() + 30;

	fake_call_begin(f, blade, c);
	while (!f->replied && now_ms() < end) {
		if (now_ms() >= next) {
			send_call(f, blade, c);
			next = now_ms() + 30;
		}
		fake_step(1);
	}
	return f->replied ? f->reply.err : -1;
}

int fake_call(struct fake *f, u32 blade, struct weft_call *c, int ms)
{
	u32 tries = 0;
	int err;

	do
		err = call_once(f, blade, c, ms);
	while (err == WEFT_CALL_WRONG_TIME && tries++ < WEFT_CALL_TRIES);
	if (err >= 0)
		*c = f->reply;
	return err;
}

void fake_open_all(struct fake *f)
{
	struct weft_call c;
	u32 i;

	for (i = 0; i < FAKE_REGIONS; i++)
		if (f->region[i].id)
			fake_call_region(f, WEFT_CALL_OPEN, f->region[i].id, &c);
}

int fake_join(struct fake *f)
{
	struct weft_call c = {
		.op = WEFT_CALL_JOIN, .node = f->id, .life = f->life,
		.addr = rig_addr(f->at),
	};
	int err = fake_call(f, WEFT_BLADE_MIN, &c, LIMIT_MS);

	if (err)
		return err;
	CHECK(c.members & weft_node_bit(f->id));
	fake_open_all(f);
	return 0;
}

int fake_leave(struct fake *f)
{
	struct weft_call c = {
		.op = WEFT_CALL_LEAVE, .node = f->id, .life = f->life,
	};

	return fake_call(f, WEFT_BLADE_MIN, &c, LIMIT_MS);
}

int fake_create(struct fake *f, const char *name, u64 size, u32 block, u32 *region)
{
	struct weft_call c = {
		.op = WEFT_CALL_CREATE, .mode = 0640, .uid = 7, .gid = 8,
		.block = block, .valid = 1, .size = size,
	};
	int err;

	c.name_len = (u16)strlen(name);
	memcpy(c.name, name, c.name_len);
	err = fake_call(f, WEFT_BLADE_MIN, &c, LIMIT_MS);
	if (!err)
		*region = c.region;
	return err;
}

int fake_open(struct fake *f, u32 region, u32 block)
{
	struct weft_call c = { .op = WEFT_CALL_OPEN, .region = region };
	int err = fake_call(f, WEFT_BLADE_MIN, &c, LIMIT_MS);
	struct fake_region *r = region_of(f, 0);

	if (err)
		return err;
	CHECK(r);
	r->id = region;
	r->block = block;
	r->homes = c.homes;
	return 0;
}

int fake_set_size(struct fake *f, u32 region, u64 size)
{
	struct weft_call c = {
		.op = WEFT_CALL_SETATTR, .region = region,
		.valid = WEFT_SET_SIZE, .size = size,
	};

	return fake_call(f, WEFT_BLADE_MIN, &c, LIMIT_MS);
}

int fake_spread(struct fake *f, u32 region, u32 homes)
{
	struct weft_call c = { .op = WEFT_CALL_SPREAD, .region = region, .homes = homes };

	return fake_call(f, WEFT_BLADE_MIN, &c, LIMIT_MS);
}

bool fake_moved(u32 region, u32 homes)
{
	u64 end = now_ms() + LIMIT_MS;
	struct weft_call c;

	do {
		if (!fake_call_region(&fakes[1], WEFT_CALL_GETATTR, region, &c) && c.homes == homes &&
		    !(c.valid & WEFT_REGION_FROZEN))
			return true;
		fake_step(5);
	} while (now_ms() < end);
	return false;
}

u64 fake_stat(struct fake *f, u32 blade, const char *name)
{
	struct weft_call c = { .op = WEFT_CALL_STATS };
	u32 i;

	do {
		c.op = WEFT_CALL_STATS;
		c.list_len = 0;
		CHECK_EQ(fake_call(f, blade, &c, LIMIT_MS), 0);
		for (i = 0; i + 9 <= c.list_len; i += 9u + c.list[i + 8])
			if (strlen(name) == c.list[i + 8] &&
			    !memcmp(name, c.list + i + 9, c.list[i + 8]))
				return get_unaligned_be64(c.list + i);
	} while (c.cookie);
	CHECK_FAIL("blade %u has no counter %s", blade, name);
}

int fake_call_named(struct fake *f, u16 op, const char *name, struct weft_call *c)
{
	memset(c, 0, sizeof(*c));
	c->op = op;
	c->name_len = (u16)strlen(name);
	memcpy(c->name, name, c->name_len);
	return fake_call(f, WEFT_BLADE_MIN, c, LIMIT_MS);
}

int fake_call_region(struct fake *f, u16 op, u32 region, struct weft_call *c)
{
	memset(c, 0, sizeof(*c));
	c->op = op;
	c->region = region;
	return fake_call(f, WEFT_BLADE_MIN, c, LIMIT_MS);
}

void fake_fill(struct fake *f, struct fake_line *fl, u8 value)
{
	CHECK(fake_get(f, fl, WEFT_M));
	memset(fl->data, value, WEFT_REGION_BLOCK_MAX);
}

bool fake_is_filled(const struct fake_line *fl, u32 size, u8 value)
{
	u32 i;

	for (i = 0; i < size; i++)
		if (fl->data[i] != value)
			return false;
	return true;
}
