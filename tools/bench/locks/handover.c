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
 * twice in a row, as it can with locks that nobody queues for.  If that is most of
 * the time, all is tried again in slower motion.
 */
#include "arena.h"

#define WARM_UP		5
#define TRIES		3	/* each with longer times than the one before */
#define LONGER		4

/*
 * Of this node, by what the data said then: when it had left the lock before, had
 * asked for it again, had it, had the data.
 */
struct times {
	uint64_t left;
	uint64_t asked;
	uint64_t locked;
	uint64_t used;
};

static struct times times[ARENA_HELD];

static uint64_t take(struct lock *l, struct times *t)
{
	uint64_t turn;

	l->kind->wrlock(l);
	t->locked = now_ns();
	arena_touch(l);
	t->used = now_ns();
	turn = arena_written(l);
	if (turn >= ARENA_HELD)
		node_die("lock %s: more hand-overs than there is room for", l->kind->name);
	times[turn] = *t;
	return turn;
}

/* This node has the lock, for the @turn-th time that anybody has. */
static void turns(struct lock *l, uint64_t count, uint64_t hold_ns, uint64_t turn,
		  struct found *f)
{
	struct times t;
	uint64_t i;

	for (i = 0; i < count; i++) {
		pause_until_ns(times[turn].used + hold_ns);
		t.left = now_ns();
		f->touched[turn] = times[turn].used - times[turn].locked;
		f->held[turn] = t.left - times[turn].used;
		l->kind->unlock(l);
		pause_until_ns(t.left + hold_ns / 2);
		t.asked = now_ns();
		turn = take(l, &t);
	}
}

/* Adds up what the first node has seen; how often the nodes took turns. */
static uint64_t sum_up(struct arena *a, const struct lock *l, struct found *both)
{
	const struct found *other = &a->found[1];
	uint64_t turn, wait, rest;
	unsigned int k;

	memset(both, 0, sizeof(*both));
	for (turn = 2 * WARM_UP; turn < ARENA_HELD; turn++) {
		const struct times *t = &times[turn];

		if (!t->left || !times[turn - 2].used || !other->held[turn - 1])
			continue;
		wait = t->locked - t->left;
		rest = other->touched[turn - 1] + other->held[turn - 1];
		if (wait < rest)
			node_die("lock %s: it was here before the other node left it",
				 l->kind->name);
		/* The other had left it before this node asked. */
		if (t->asked - t->left >= rest)
			continue;
		hist_add(&both->lock, (wait - rest) / 2);
		wait = t->used - t->left;
		hist_add(&both->data, (wait - other->held[turn - 1]) / 2);
	}
	for (k = 0; k < 2; k++) {
		tally_add(&both->grown, &a->found[k].grown);
		both->datagrams += a->found[k].datagrams;
	}
	return both->lock.count;
}

static void print(const struct lockbench *b, const struct lock *l, uint64_t hold_ns,
		  const struct found *both, uint64_t acquires)
{
	struct json j;

	result_begin(&j, b, "handover", l->kind->name);
	json_u64(&j, "pages", b->pages);
	json_u64(&j, "hold_us", hold_ns / 1000);
	json_u64(&j, "count", both->lock.count);
	times_json(&j, "one_way", &both->lock);
	times_json(&j, "with_data", &both->data);
	tally_json(&j, both, acquires);
	json_end(&j);
	fflush(stdout);
}

/* Returns whether the nodes took turns often enough. */
static bool measure(const struct lockbench *b, struct arena *a, const struct lock_kind *kind,
		    unsigned int index, unsigned int try, struct found *both)
{
	_Atomic uint64_t *good = &a->session.word[1 + index];
	struct found *f = &a->found[node.number - 1];
	uint64_t hold_ns = b->hold_us * 1000ull, count = b->count, turn = 0;
	static struct tally before;
	struct times t = { 0 };
	struct lock_place place;
	unsigned int i;
	struct lock l;

	for (i = 0; i < try; i++) {
		hold_ns *= LONGER;
		count = (count + 1) / 2;
	}
	count += WARM_UP;
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
	pause_until_ns(now_ns() + b->settle_ms * 1000000ull);
	if (node.number == 2)
		turn = take(&l, &t);
	turns(&l, count, hold_ns, turn, f);
	kind->unlock(&l);
	pause_until_ns(now_ns() + b->settle_ms * 1000000ull);
	f->datagrams = place.messages;
	if (b->count_messages)
		tally_read(&both->grown);
	tally_since(&both->grown, &before);
	f->grown = both->grown;
	node_meet();
	if (node.number == 1) {
		atomic_store(good, 1 + (sum_up(a, &l, both) >= (count - WARM_UP + 1) / 2));
		if (atomic_load(good) == 2 || try == TRIES - 1)
			print(b, &l, hold_ns, both, 2 * count);
	}
	node_meet();
	return atomic_load(good) == 2;
}

/**
 * bench_handover() - measure each kind
 * @b: the options
 */
int bench_handover(const struct lockbench *b)
{
	struct found *both = malloc(sizeof(*both));
	struct arena *a;
	unsigned int i, try;

	if (node.count != 2 || !b->pages || b->count > ARENA_HELD / 2 - 2 * WARM_UP)
		node_die("handover: needs --nodes 2, --pages, and --count up to %d",
			 ARENA_HELD / 2 - 2 * WARM_UP);
	if (!both)
		node_die("out of memory");
	a = arena_open(b, "handover", arena_size(b, TRIES * b->kinds_len));
	for (i = 0; i < b->kinds_len; i++)
		for (try = 0; try < TRIES; try++)
			if (measure(b, a, b->kinds[i], i * TRIES + try, try, both))
				break;
	node_meet();
	free(both);
	return 0;
}
