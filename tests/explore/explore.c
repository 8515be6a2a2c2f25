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
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

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

struct search {
	const struct config *c;
	u64 *hash;		/* open addressing: hash of a state, 0 for none */
	u32 *number;		/* ... and its number */
	u64 slots;
	struct origin *origin;
	u32 states, room;
	u32 (*edge)[2];
	u64 edges, edge_room;
	u8 *rest;		/* at rest, by state */
	struct chunk *head, *tail, *spare;	/* queue of states to expand */
};

/* A piece of the queue: records of number, length, and a world's used bytes. */
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

static void rehash(struct search *s)
{
	u64 old = s->slots, *hash = s->hash;
	u32 *number = s->number;

	s->slots = old ? old * 2 : 1 << 16;
	s->hash = calloc(s->slots, sizeof(*s->hash));
	s->number = calloc(s->slots, sizeof(*s->number));
	if (!s->hash || !s->number)
		exit(2);
	for (u64 i = 0; i < old; i++) {
		u64 k = hash[i] & (s->slots - 1);

		if (!hash[i])
			continue;
		while (s->hash[k])
			k = (k + 1) & (s->slots - 1);
		s->hash[k] = hash[i];
		s->number[k] = number[i];
	}
	free(hash);
	free(number);
}

static size_t world_len(const struct world *w)
{
	return offsetof(struct world, flight) +
	       w->flights * sizeof(w->flight[0]);
}

/* Number of a state; *fresh if it is new. */
static u32 intern(struct search *s, const struct world *w, u32 parent,
		  const struct action *a, bool *fresh)
{
	u64 h = XXH3_64bits(w, world_len(w)) | 1, k;

	if ((u64)s->states * 2 >= s->slots)
		rehash(s);
	for (k = h >> 1 & (s->slots - 1); s->hash[k]; k = (k + 1) & (s->slots - 1)) {
		if (s->hash[k] == h) {
			*fresh = false;
			return s->number[k];
		}
	}
	if (s->states == s->room) {
		s->room = s->room ? s->room * 2 : 1 << 16;
		s->origin = grow(s->origin, s->room, sizeof(*s->origin));
		s->rest = grow(s->rest, s->room, 1);
	}
	s->hash[k] = h;
	s->number[k] = s->states;
	s->origin[s->states].parent = parent;
	if (a)
		s->origin[s->states].action = *a;
	s->rest[s->states] = world_at_rest(w, s->c);
	*fresh = true;
	return s->states++;
}

static void push(struct search *s, const struct world *w, u32 id)
{
	u32 len = (u32)world_len(w);
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
	memcpy(c->bytes + c->write + 8, w, len);
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
	memset(w, 0, sizeof(*w));
	memcpy(w, c->bytes + c->read + 8, len);
	c->read += 8 + len;
	return true;
}

static void add_edge(struct search *s, u32 from, u32 to)
{
	if (s->edges == s->edge_room) {
		s->edge_room = s->edge_room ? s->edge_room * 2 : 1 << 16;
		s->edge = grow(s->edge, s->edge_room, sizeof(*s->edge));
	}
	s->edge[s->edges][0] = from;
	s->edge[s->edges++][1] = to;
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

/* States that cannot come to rest any more, by a search backwards. */
static u32 stuck(struct search *s)
{
	u64 *first = calloc((u64)s->states + 2, sizeof(*first));
	u32 *from = malloc((s->edges + 1) * sizeof(*from));
	u32 *todo = malloc((u64)s->states * sizeof(*todo));
	u32 n = 0, bad = UINT32_MAX;

	if (!first || !from || !todo)
		exit(2);
	for (u64 e = 0; e < s->edges; e++)
		first[s->edge[e][1] + 2]++;
	for (u32 i = 0; i < s->states; i++)
		first[i + 2] += first[i + 1];
	for (u64 e = 0; e < s->edges; e++)
		from[first[s->edge[e][1] + 1]++] = s->edge[e][0];
	for (u32 i = 0; i < s->states; i++)
		if (s->rest[i])
			todo[n++] = i;
	while (n) {
		u32 i = todo[--n];

		for (u64 e = first[i]; e < first[i + 1]; e++) {
			if (!s->rest[from[e]]) {
				s->rest[from[e]] = 1;
				todo[n++] = from[e];
			}
		}
	}
	for (u32 i = 0; i < s->states && bad == UINT32_MAX; i++)
		if (!s->rest[i])
			bad = i;
	free(first);
	free(from);
	free(todo);
	return bad;
}

static bool expand(struct search *s, const struct world *w, u32 id)
{
	struct action a[MAX_ACTIONS];
	int n = world_actions(w, s->c, a);

	for (int i = 0; i < n; i++) {
		struct world v = *w;
		const char *wrong = world_step(&v, s->c, &a[i]);
		bool fresh;
		u32 to;

		if (wrong) {
			printf("VIOLATION in %s: %s\n", s->c->name, wrong);
			trace(s, id, &a[i]);
			return false;
		}
		to = intern(s, &v, id, &a[i], &fresh);
		add_edge(s, id, to);
		if (fresh)
			push(s, &v, to);
	}
	return true;
}

static void free_chunks(struct chunk *c)
{
	while (c) {
		struct chunk *next = c->next;

		free(c);
		c = next;
	}
}

/* Returns 0, 1 for a violation, 2 if the limit was met. */
static int explore(const struct config *c, u32 limit)
{
	struct search s = { .c = c };
	struct world w;
	struct timespec t0, t1;
	bool fresh;
	int res = 0;
	u32 id = 0, depth = 0;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	world_init(&w, c);
	push(&s, &w, intern(&s, &w, 0, NULL, &fresh));
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
	clock_gettime(CLOCK_MONOTONIC, &t1);
	if (res == 2)
		trace(&s, s.states - 1, NULL);
	for (; id && id < s.states; id = s.origin[id].parent)
		depth++;
	printf("%-24s %9u states %10llu transitions  depth %3u  %6.1f s  %s\n",
	       c->name, s.states, (unsigned long long)s.edges, depth,
	       (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9,
	       res == 0 ? "ok" : res == 1 ? "VIOLATION" : "limit met: not complete");
	fflush(stdout);
	free(s.hash);
	free(s.number);
	free(s.origin);
	free(s.rest);
	free(s.edge);
	free_chunks(s.head);
	free_chunks(s.spare);
	return res;
}

static int usage(void)
{
	fprintf(stderr,
		"Usage: weft-explore [--full] [--limit STATES] [CONFIGURATION ...]\n"
		"Explores the configurations of the usual run, all of them (--full), or those named:\n");
	for (int i = 0; i < N_CONFIGS; i++)
		fprintf(stderr, "  %s%s\n", configs[i].name, configs[i].full ? " (--full)" : "");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "full", no_argument, NULL, 'f' },
		{ "limit", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	u32 limit = 400000000;
	bool full = false;
	int o, res = 0, ran = 0;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 'f')
			full = true;
		else if (o == 'l')
			limit = (u32)strtoul(optarg, NULL, 10);
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
		o = explore(&configs[i], limit);
		if (o)
			res = o;
	}
	if (!ran)
		return usage();
	return res;
}
