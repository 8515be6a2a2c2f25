// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often a lock goes from node to node, and whether all get equal turns.
 *
 * A process on each node takes the lock to write and adds to a counter that it guards,
 * for some time.  If another node added last, a turn begins.  The rate at which the
 * lock is taken says nothing of that: a node that has it can take it a thousand times
 * while a message is on its way.
 */
#include "arena.h"

#define WARM_UP		4
#define LOOK		256	/* most acquisitions until it looks at the clock again */
#define LOOK_NS		200000	/* fewer if they take longer than that */

/* What the lock guards. */
enum { COUNT, LAST };

/* Turns of this node, also those that other nodes end. */
struct turns {
	struct hist length;	/* acquisitions, where others have nanoseconds */
	struct hist period;	/* from the begin of one to that of the next */
	uint64_t begun;
	uint64_t acquires;	/* of the present one */
};

static _Atomic uint64_t *word(const struct lock *l, unsigned int which)
{
	return (_Atomic uint64_t *)l->data + which;
}

/* Returns whether another node was there before. */
static bool add(const struct lock *l)
{
	uint64_t me = l->place->node + 1;
	uint64_t count = atomic_load_explicit(word(l, COUNT), memory_order_relaxed);

	atomic_store_explicit(word(l, COUNT), count + 1, memory_order_relaxed);
	if (atomic_load_explicit(word(l, LAST), memory_order_relaxed) == me)
		return false;
	atomic_store_explicit(word(l, LAST), me, memory_order_relaxed);
	return true;
}

static void once(struct lock *l, struct turns *t)
{
	bool begins;

	l->kind->wrlock(l);
	begins = add(l);
	l->kind->unlock(l);
	/* to look at a clock each time would be most of what is measured */
	if (begins) {
		uint64_t now = now_ns();

		if (t->acquires)
			hist_add(&t->length, t->acquires);
		if (t->begun)
			hist_add(&t->period, now - t->begun);
		t->acquires = 0;
		t->begun = now;
	}
	t->acquires++;
}

static void print(struct json *j, const struct lockbench *b, const struct lock *l,
		  const char *who, const struct found *f)
{
	double seconds = (double)f->ns / 1e9;

	result_begin(j, b, "counter", l->kind->name);
	json_u64(j, "nodes", node.count);
	json_u64(j, "idle", b->idle);
	json_u64(j, "think_us", b->think_us);
	json_string(j, "node", who);
	json_fixed(j, "seconds", seconds);
	json_u64(j, "acquires", f->writes);
	json_real(j, "acquires_per_s", seconds > 0 ? (double)f->writes / seconds : 0);
	json_u64(j, "turns", f->data.count);
	json_real(j, "turns_per_s", seconds > 0 ? (double)f->data.count / seconds : 0);
	json_real(j, "turn_mean", hist_mean(&f->data));
	json_real(j, "turn_p50", hist_quantile(&f->data, 500));
	json_u64(j, "turn_max", f->data.max);
	times_json(j, "period", &f->lock);
}

static double per_turn(const struct found *all, uint64_t n)
{
	return all->data.count ? (double)n / (double)all->data.count : 0;
}

/* The first node adds up what all have found, and looks whether it can be. */
static void print_all(const struct lockbench *b, struct arena *a, struct lock *l,
		      struct found *all)
{
	uint64_t least_turns = ~0ull, least = ~0ull, count;
	unsigned int busy = node.count - b->idle;
	unsigned int k;
	struct json j;

	memset(all, 0, sizeof(*all));
	for (k = 0; k < node.count; k++) {
		const struct found *f = &a->found[k];

		hist_join(&all->lock, &f->lock);
		hist_join(&all->data, &f->data);
		all->writes += f->writes;
		all->written += f->written;
		if (f->ns > all->ns)
			all->ns = f->ns;
		tally_add(&all->grown, &f->grown);
		if (k < b->idle)
			continue;
		if (f->data.count < least_turns)
			least_turns = f->data.count;
		if (f->writes < least)
			least = f->writes;
	}
	l->kind->wrlock(l);
	count = atomic_load(word(l, COUNT));
	l->kind->unlock(l);
	if (count != all->written)
		node_die("lock %s: the counter says %llu, it was raised %llu times",
			 l->kind->name, (unsigned long long)count,
			 (unsigned long long)all->written);
	print(&j, b, l, "all", all);
	json_real(&j, "least_turns", all->data.count ? (double)least_turns * busy /
						       (double)all->data.count : 0);
	json_real(&j, "least_acquires", all->writes ? (double)least * busy /
						      (double)all->writes : 0);
	if (all->grown.len) {
		json_real(&j, "messages_per_turn", per_turn(all, tally_messages(&all->grown)));
		json_real(&j, "packets_sent_per_turn",
			  per_turn(all, tally_get(&all->grown, "packets_sent")));
		json_real(&j, "packets_received_per_turn",
			  per_turn(all, tally_get(&all->grown, "packets_received")));
	}
	tally_json(&j, all, all->data.count);
	json_end(&j);
}

/*
 * Nodes that do not take the lock have it open first, or else the first node: which node that
 * is makes a difference to some locks.
 */
static void open_in_turn(const struct lockbench *b, struct lock *l)
{
	bool first = node.number <= (b->idle ? b->idle : 1);

	if (!first)
		node_meet();
	if (l->kind->init)
		l->kind->init(l);
	if (first)
		node_meet();
}

/* What is counted beside acquisitions. */
static void look(const struct lockbench *b, struct tally *c)
{
	if (!b->count_messages)
		return;
	tally_read(c);
	tally_packets(c);
}

/**
 * struct clock_looks - to look at a clock each time would be most of what is measured
 * @next: acquisition before which it is looked at
 * @stride: acquisitions until then
 * @looked: when it was last
 */
struct clock_looks {
	uint64_t next;
	uint64_t stride;
	uint64_t looked;
};

static bool is_time(struct clock_looks *c, const struct turns *t, uint64_t acquires, uint64_t end)
{
	uint64_t now;

	if (t->begun >= end)
		return false;
	if (acquires < c->next)
		return true;
	now = now_ns();
	c->stride = now - c->looked > LOOK_NS || !c->stride ? 1 : 2 * c->stride;
	if (c->stride > LOOK)
		c->stride = LOOK;
	c->next = acquires + c->stride;
	c->looked = now;
	return now < end;
}

static void measure(const struct lockbench *b, struct arena *a, struct found *all,
		    const struct lock_kind *kind, unsigned int index)
{
	struct found *f = &a->found[node.number - 1];
	uint64_t start, end, i;
	static struct tally before;
	static struct turns t;
	bool idle = node.number <= b->idle;
	struct clock_looks c = { 0 };
	struct lock_place place;
	struct lock l;
	struct json j;
	char who[16];

	arena_lock(b, a, kind, index, &l, &place);
	open_in_turn(b, &l);
	l.writes = true;
	memset(&t, 0, sizeof(t));
	for (i = 0; !idle && i < WARM_UP; i++)
		once(&l, &t);
	memset(f, 0, sizeof(*f));
	memset(&t, 0, sizeof(t));
	f->written = i;
	node_meet();
	start = now_ns() + b->settle_ms * 1000000ull;
	look(b, &before);
	pause_until_ns(start);
	end = start + (uint64_t)(b->seconds * 1e9);
	c.looked = start;
	for (i = 0; !idle && (b->count ? i < b->count : is_time(&c, &t, i, end)); i++) {
		once(&l, &t);
		if (b->think_us)
			pause_us(b->think_us);
	}
	if (t.acquires)
		hist_add(&t.length, t.acquires);
	f->ns = now_ns() - start;
	/* The others may still be at it: nothing is touched until they are through. */
	pause_until_ns(end + b->settle_ms * 1000000ull);
	look(b, &all->grown);
	tally_since(&all->grown, &before);
	f->grown = all->grown;
	f->lock = t.period;
	f->data = t.length;
	f->writes = i;
	f->written += i;
	snprintf(who, sizeof(who), "%u", node.number);
	print(&j, b, &l, who, f);
	json_end(&j);
	node_meet();
	if (node.number == 1)
		print_all(b, a, &l, all);
	fflush(stdout);
	node_meet();
}

/**
 * bench_counter() - measure each kind
 * @b: the options
 */
int bench_counter(const struct lockbench *b)
{
	struct arena *a = arena_open(b, "counter", arena_size(b, b->kinds_len));
	struct found *all = malloc(sizeof(*all));
	unsigned int i;

	if (!all)
		node_die("out of memory");
	if (b->idle >= node.count)
		node_die("--idle %u: one of %u nodes has to take the lock", b->idle, node.count);
	for (i = 0; i < b->kinds_len; i++)
		measure(b, a, all, b->kinds[i], i);
	node_meet();
	free(all);
	return 0;
}
