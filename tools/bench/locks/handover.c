// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a contended lock takes from one node to the other.
 *
 * Two nodes take turns.  Each holds the lock for some time, leaves it, gives the
 * other time to have it, and asks for it again while the other holds it.  From
 * leaving it to having it again a node waits for two hand-overs, and for as long as
 * the other holds it, which the other measures: no clock is compared with another.
 *
 * What the lock guards counts who has had it.  So it is known which times belong
 * together, and what is left out: when a node was late, and the other had the lock
 * twice in a row.
 */
#include "arena.h"

#define WARM_UP		5

/* Of this node, by what the data said: when it had left the lock before, had it, ... */
struct times {
	uint64_t left;
	uint64_t locked;
	uint64_t used;
};

static struct times times[ARENA_HELD];

static uint64_t take(struct lock *l, struct times *t)
{
	uint64_t turn;

	l->kind->wrlock(l);
	t->locked = node_now_ns();
	arena_touch(l);
	t->used = node_now_ns();
	turn = arena_written(l);
	if (turn >= ARENA_HELD)
		node_die("lock %s: more hand-overs than there is room for", l->kind->name);
	times[turn] = *t;
	return turn;
}

/* This node has the lock, for the @turn-th time that anybody has. */
static void turns(const struct lockbench *b, struct lock *l, uint64_t turn, struct found *f)
{
	struct times t;
	uint64_t i;

	for (i = 0; i < b->count + WARM_UP; i++) {
		sleep_until(times[turn].used + b->hold_us * 1000ull);
		t.left = node_now_ns();
		f->touched[turn] = times[turn].used - times[turn].locked;
		f->held[turn] = t.left - times[turn].used;
		l->kind->unlock(l);
		sleep_until(t.left + b->hold_us * 500ull);
		turn = take(l, &t);
	}
}

static void report(const struct lockbench *b, struct arena *a, const struct lock *l,
		   struct found *both)
{
	const struct found *other = &a->found[1];
	uint64_t turn, wait, rest;
	unsigned int k;

	memset(both, 0, sizeof(*both));
	for (turn = 2 * WARM_UP; turn < ARENA_HELD; turn++) {
		if (!times[turn].left || !times[turn - 2].used || !other->held[turn - 1])
			continue;
		wait = times[turn].locked - times[turn].left;
		rest = other->touched[turn - 1] + other->held[turn - 1];
		if (wait < rest)
			node_die("lock %s: it was here before the other node left it",
				 l->kind->name);
		histogram_add(&both->lock, (wait - rest) / 2);
		wait = times[turn].used - times[turn].left;
		histogram_add(&both->data, (wait - other->held[turn - 1]) / 2);
	}
	if (both->lock.count < b->count / 2)
		node_die("lock %s: the nodes took turns %llu times only: give a longer --hold",
			 l->kind->name, (unsigned long long)both->lock.count);
	for (k = 0; k < 2; k++) {
		tally_add(&both->grown, &a->found[k].grown);
		both->datagrams += a->found[k].datagrams;
	}
	printf("{\"bench\":\"handover\",\"label\":\"%s\",\"lock\":\"%s\",\"pages\":%u,\"hold_us\":%u,\"count\":%llu",
	       b->label, l->kind->name, b->pages, b->hold_us,
	       (unsigned long long)both->lock.count);
	histogram_print(&both->lock, "one_way");
	histogram_print(&both->data, "with_data");
	tally_print(both, 2 * (b->count + WARM_UP));
	puts("}");
	fflush(stdout);
}

static void measure(const struct lockbench *b, struct arena *a, const struct lock_kind *kind,
		    unsigned int index, struct found *both)
{
	struct found *f = &a->found[node.number - 1];
	static struct tally before;
	struct times t = { 0 };
	struct lock_place place;
	uint64_t turn = 0;
	struct lock l;

	arena_lock(b, a, kind, index, &l, &place);
	memset(times, 0, sizeof(times));
	if (kind->init)
		kind->init(&l);
	/* The first node has it, and the other asks for it, before it is counted. */
	l.writes = true;
	if (node.number == 1)
		turn = take(&l, &t);
	node_meet();
	/* Nobody looks at what was found of the lock before any more. */
	memset(f, 0, sizeof(*f));
	if (b->count_messages)
		tally_read(&before);
	place.messages = 0;
	sleep_until(node_now_ns() + b->settle_ms * 1000000ull);
	if (node.number == 2)
		turn = take(&l, &t);
	turns(b, &l, turn, f);
	kind->unlock(&l);
	sleep_until(node_now_ns() + b->settle_ms * 1000000ull);
	f->datagrams = place.messages;
	if (b->count_messages)
		tally_read(&both->grown);
	tally_since(&both->grown, &before);
	f->grown = both->grown;
	node_meet();
	if (node.number == 1)
		report(b, a, &l, both);
}

/**
 * bench_handover() - measure each kind
 * @b: the options
 */
int bench_handover(const struct lockbench *b)
{
	struct found *both = malloc(sizeof(*both));
	struct arena *a;
	unsigned int i;

	if (node.count != 2 || !b->pages || b->count > ARENA_HELD / 2 - 2 * WARM_UP)
		node_die("handover: needs --nodes 2, --pages, and --count up to %d",
			 ARENA_HELD / 2 - 2 * WARM_UP);
	if (!both)
		node_die("out of memory");
	a = arena_open(b, "handover", arena_size(b, b->kinds_len));
	for (i = 0; i < b->kinds_len; i++)
		measure(b, a, b->kinds[i], i, both);
	node_meet();
	free(both);
	return 0;
}
