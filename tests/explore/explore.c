// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-explore: runs the real protocol core through every interleaving of a
 * small rack, breadth first, and checks in every state
 *
 *   - one writer or many readers,
 *   - whoever can read, reads the last value written,
 *   - no call asks for more than its interface has room for,
 *
 * and afterwards that from every state some continuation ends in a state where
 * nothing is outstanding: no deadlock, no request that can never finish.
 *
 * A violation is printed with the shortest trace that leads to it.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "world.h"

static const struct config configs[] = {
#include "configs.h"
};

#define N_CONFIGS	((int)(sizeof(configs) / sizeof(configs[0])))

/* How a state was first reached. */
struct origin {
	u32 parent;
	struct action action;
};

/* A place in the table of states. */
struct place {
	u64 hash;		/* 0: it is free */
	u32 number;
};

/* What was allocated for one configuration the next one uses, too; but for the table. */
struct search {
	const struct config *c;
	u32 stride, used;	/* bytes of a node's lines or lock, and of those in use */
	struct place *table;	/* open addressing */
	u64 places;
	struct origin *origin;
	u32 states;
	u8 *rest;		/* at rest, by state */
	u8 *degree;		/* transitions from it, by state, for those @expanded */
	u32 expanded;
	u32 *edge;		/* where they lead to, in the order of states */
	u64 edges;
	u32 room;		/* of those arrays by state, and of @edge */
	u64 edge_room;
	struct chunk *head, *tail, *spare;	/* queue of states to expand */
};

/* A piece of the queue: records of number, length, and a packed world. */
#define CHUNK_BYTES	(1u << 20)

struct chunk {
	struct chunk *next;
	u32 read, write;
	u8 bytes[CHUNK_BYTES];
};

static void *grow(void *p, u64 n, size_t size)
{
	p = realloc(p, n * size);
	if (!p) {
		fprintf(stderr, "weft-explore: out of memory: take a smaller configuration\n");
		exit(2);
	}
	return p;
}

/*
 * Every look-up is a cache miss at a random place of hundreds of megabytes, and with
 * small pages one of the page tables, too.
 */
static struct place *make_table(u64 places)
{
	size_t len = places * sizeof(struct place);
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	madvise(p, len, MADV_HUGEPAGE);
	return p;
}

static struct place *find(struct search *s, u64 hash)
{
	u64 k = hash >> 1 & (s->places - 1);

	while (s->table[k].hash && s->table[k].hash != hash)
		k = (k + 1) & (s->places - 1);
	return &s->table[k];
}

static void grow_table(struct search *s)
{
	struct place *old = s->table;
	u64 n = s->places;

	s->places = n ? n * 2 : 1 << 16;
	s->table = make_table(s->places);
	for (u64 i = 0; i < n; i++)
		if (old[i].hash)
			*find(s, old[i].hash) = old[i];
	if (n)
		munmap(old, n * sizeof(*old));
}

/*
 * A world is what its nodes have, of which a configuration uses less than there is room
 * for, and the tail, up to the last message in flight.  What is not used is neither
 * copied nor compared.
 */
static u32 tail_len(const struct world *w)
{
	return (u32)(offsetof(struct world, flight) + w->flights * sizeof(w->flight[0]) -
		     offsetof(struct world, home));
}

static u32 packed_len(const struct search *s, const struct world *w)
{
	return s->c->nodes * s->used + tail_len(w);
}

static void pack(const struct search *s, const struct world *w, u8 *bytes)
{
	for (u32 n = 0; n < s->c->nodes; n++)
		memcpy(bytes + n * s->used, (const u8 *)w + n * s->stride, s->used);
	memcpy(bytes + s->c->nodes * s->used, &w->home, tail_len(w));
}

static void unpack(const struct search *s, struct world *w, const u8 *bytes, u32 len)
{
	u32 nodes = s->c->nodes * s->used;

	for (u32 n = 0; n < s->c->nodes; n++)
		memcpy((u8 *)w + n * s->stride, bytes + n * s->used, s->used);
	memcpy(&w->home, bytes + nodes, len - nodes);
}

static void copy(const struct search *s, struct world *to, const struct world *w)
{
	for (u32 n = 0; n < s->c->nodes; n++)
		memcpy((u8 *)to + n * s->stride, (const u8 *)w + n * s->stride, s->used);
	memcpy(&to->home, &w->home, tail_len(w));
}

/* A world that was reached. */
struct found {
	struct world w;
	u64 hash;
};

/* Begin to look it up: the memory answers while the next world is made. */
static void prepare(struct search *s, struct found *f)
{
	u64 hash[MAX_NODES + 1];

	for (u32 n = 0; n < s->c->nodes; n++)
		hash[n] = XXH3_64bits((const u8 *)&f->w + n * s->stride, s->used);
	hash[s->c->nodes] = XXH3_64bits(&f->w.home, tail_len(&f->w));
	f->hash = XXH3_64bits(hash, (s->c->nodes + 1) * sizeof(hash[0])) | 1;
	if (s->places)
		__builtin_prefetch(&s->table[f->hash >> 1 & (s->places - 1)]);
}

/* Number of a state; *fresh if it is new. */
static u32 intern(struct search *s, const struct found *f, u32 parent,
		  const struct action *a, bool *fresh)
{
	struct place *p;

	if ((u64)s->states * 4 >= s->places * 3)
		grow_table(s);
	p = find(s, f->hash);
	*fresh = !p->hash;
	if (p->hash)
		return p->number;
	if (s->states == s->room) {
		s->room = s->room ? s->room * 2 : 1 << 16;
		s->origin = grow(s->origin, s->room, sizeof(*s->origin));
		s->rest = grow(s->rest, s->room, 1);
		s->degree = grow(s->degree, s->room, 1);
	}
	p->hash = f->hash;
	p->number = s->states;
	s->origin[s->states].parent = parent;
	if (a)
		s->origin[s->states].action = *a;
	s->rest[s->states] = world_at_rest(&f->w, s->c);
	return s->states++;
}

static void push(struct search *s, const struct found *f, u32 id)
{
	u32 len = packed_len(s, &f->w);
	struct chunk *c = s->tail;

	if (!c || c->write + 8 + len > CHUNK_BYTES) {
		c = s->spare;
		if (c)
			s->spare = c->next;
		else
			c = grow(NULL, 1, sizeof(*c));
		c->next = NULL;
		c->read = c->write = 0;
		if (s->tail)
			s->tail->next = c;
		else
			s->head = c;
		s->tail = c;
	}
	memcpy(c->bytes + c->write, &id, 4);
	memcpy(c->bytes + c->write + 4, &len, 4);
	pack(s, &f->w, c->bytes + c->write + 8);
	c->write += 8 + len;
}

static bool pop(struct search *s, struct world *w, u32 *id)
{
	struct chunk *c = s->head;
	u32 len;

	if (c && c->read == c->write && c->next) {
		s->head = c->next;
		c->next = s->spare;
		s->spare = c;
		c = s->head;
	}
	if (!c || c->read == c->write)
		return false;
	memcpy(id, c->bytes + c->read, 4);
	memcpy(&len, c->bytes + c->read + 4, 4);
	unpack(s, w, c->bytes + c->read + 8, len);
	c->read += 8 + len;
	return true;
}

static void add_edge(struct search *s, u32 to)
{
	if (s->edges == s->edge_room) {
		s->edge_room = s->edge_room ? s->edge_room * 2 : 1 << 16;
		s->edge = grow(s->edge, s->edge_room, sizeof(*s->edge));
	}
	s->edge[s->edges++] = to;
	s->degree[s->expanded]++;
}

/* Replay the actions that led to state @id, and then @last. */
static void trace(struct search *s, u32 id, const struct action *last)
{
	struct action *path;
	struct world w;
	u32 n = 0;

	for (u32 i = id; i; i = s->origin[i].parent)
		n++;
	path = calloc(n + 1, sizeof(*path));
	if (!path)
		exit(2);
	for (u32 i = id, k = n; i; i = s->origin[i].parent)
		path[--k] = s->origin[i].action;
	world_init(&w, s->c);
	for (u32 k = 0; k < n; k++) {
		printf("%3u. ", k + 1);
		world_print_action(&w, &path[k]);
		world_step(&w, s->c, &path[k]);
	}
	if (last) {
		printf("%3u. ", n + 1);
		world_print_action(&w, last);
		world_step(&w, s->c, last);
	}
	world_print(&w, s->c);
	free(path);
}

/*
 * The first state that cannot come to rest any more.  What leads to a state that can is
 * one that can; most transitions lead to states with higher numbers, so that going
 * through all of them backwards a few times is enough.
 */
static u32 stuck(struct search *s)
{
	bool again = true;

	while (again) {
		const u32 *to = s->edge + s->edges;

		again = false;
		for (u32 i = s->states; i-- > 0; ) {
			bool rest = s->rest[i];

			to -= s->degree[i];
			for (u32 k = 0; !rest && k < s->degree[i]; k++)
				rest = s->rest[to[k]];
			again |= rest && !s->rest[i];
			s->rest[i] = rest;
		}
	}
	for (u32 i = 0; i < s->states; i++)
		if (!s->rest[i])
			return i;
	return UINT32_MAX;
}

/* Action @a of state @id has led to @f. */
static void reach(struct search *s, u32 id, const struct action *a, const struct found *f)
{
	bool fresh;
	u32 to = intern(s, f, id, a, &fresh);

	add_edge(s, to);
	if (fresh)
		push(s, f, to);
}

static bool expand(struct search *s, const struct world *w, u32 id)
{
	static struct found next[2];
	struct action a[MAX_ACTIONS];
	int n = world_actions(w, s->c, a);

	if (id != s->expanded)	/* the queue is in order */
		abort();
	s->degree[id] = 0;
	for (int i = 0; i < n; i++) {
		struct found *f = &next[i & 1];
		const char *wrong;

		copy(s, &f->w, w);
		wrong = world_step(&f->w, s->c, &a[i]);
		if (!wrong)
			prepare(s, f);
		if (i)
			reach(s, id, &a[i - 1], &next[!(i & 1)]);
		if (wrong) {
			printf("VIOLATION in %s: %s\n", s->c->name, wrong);
			trace(s, id, &a[i]);
			return false;
		}
	}
	if (n)
		reach(s, id, &a[n - 1], &next[!(n & 1)]);
	s->expanded++;
	return true;
}

static void begin(struct search *s, const struct config *c)
{
	s->c = c;
	s->states = s->expanded = 0;
	s->edges = 0;
	if (c->locks) {
		s->stride = s->used = sizeof(struct weft_lock);
	} else {
		s->stride = MAX_LINES * sizeof(struct weft_line);
		s->used = c->lines * (u32)sizeof(struct weft_line);
	}
}

static void end(struct search *s)
{
	munmap(s->table, s->places * sizeof(*s->table));
	s->table = NULL;
	s->places = 0;
	if (s->head) {
		s->tail->next = s->spare;
		s->spare = s->head;
	}
	s->head = s->tail = NULL;
}

/*
 * Returns 0, 1 for a violation, 2 if the limit was met; with @enough that is well, and only
 * what never ends has not been looked for.
 */
static int explore(const struct config *c, u32 limit, bool enough)
{
	static struct search s;
	static struct found first;
	struct world w = { 0 };
	double begun = now_seconds(), took;
	bool fresh;
	int res = 0;
	u32 id = 0, depth = 0;

	begin(&s, c);
	world_init(&first.w, c);
	prepare(&s, &first);
	push(&s, &first, intern(&s, &first, 0, NULL, &fresh));
	while (!res && pop(&s, &w, &id)) {
		if (!expand(&s, &w, id))
			res = 1;
		else if (s.states > limit)
			res = 2;
	}
	if (!res) {
		u32 bad = stuck(&s);

		if (bad != UINT32_MAX) {
			printf("VIOLATION in %s: a request that can never finish\n", c->name);
			trace(&s, bad, NULL);
			res = 1;
		}
	}
	took = now_seconds() - begun;
	if (res == 2 && !enough)
		trace(&s, s.states - 1, NULL);
	for (; id && id < s.states; id = s.origin[id].parent)
		depth++;
	printf("%-24s %9u states %10llu transitions  depth %3u  %6.1f s  %s\n",
	       c->name, s.states, (unsigned long long)s.edges, depth,
	       took,
	       res == 0 ? "ok" : res == 1 ? "VIOLATION" :
	       enough ? "ok, as far as that" : "limit met: not complete");
	fflush(stdout);
	end(&s);
	return res == 2 && enough ? 0 : res;
}

static int usage(void)
{
	fprintf(stderr,
		"Usage: weft-explore [--full] [--limit STATES | --first STATES] [CONFIGURATION ...]\n"
		"Explores the configurations of the usual run, all of them (--full), or those named.\n"
		"It fails where there are more states than the limit; with --first it goes no further,\n"
		"and what takes the fewest steps has been seen.\n");
	for (int i = 0; i < N_CONFIGS; i++)
		fprintf(stderr, "  %s%s\n", configs[i].name, configs[i].full ? " (--full)" : "");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "full", no_argument, NULL, 'f' },
		{ "limit", required_argument, NULL, 'l' },
		{ "first", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	u32 limit = 400000000;
	bool full = false, first = false;
	int o, res = 0, ran = 0;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 'f')
			full = true;
		else if (o == 'l' || o == 'n')
			limit = argument_u32(optarg), first = o == 'n';
		else
			return usage();
	}
	for (int i = 0; i < N_CONFIGS && res != 1; i++) {
		bool named = false;

		for (int k = optind; k < argc; k++)
			named |= !strcmp(argv[k], configs[i].name);
		if (optind < argc ? !named : configs[i].full && !full)
			continue;
		ran++;
		o = explore(&configs[i], limit, first);
		if (o)
			res = o;
	}
	if (!ran)
		return usage();
	return res;
}
