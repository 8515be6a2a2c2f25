// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order graph: edges are added, then a cycle is looked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

/**
 * order_node() - a new node
 * @o:		the graph
 */
uint32_t order_node(struct order *o)
{
	return o->nodes++;
}

/**
 * order_edge() - @from happened before @to
 * @o:		the graph
 * @from:	a node
 * @to:		another one
 */
void order_edge(struct order *o, uint32_t from, uint32_t to)
{
	if (o->edges == o->room) {
		o->room = o->room ? 2 * o->room : 1 << 16;
		o->from = realloc(o->from, o->room * sizeof(*o->from));
		o->to = realloc(o->to, o->room * sizeof(*o->to));
		if (!o->from || !o->to) {
			fputs("weft-check: out of memory\n", stderr);
			exit(2);
		}
	}
	o->from[o->edges] = from;
	o->to[o->edges++] = to;
}

/**
 * order_free() - free a graph
 * @o:		the graph
 */
void order_free(struct order *o)
{
	free(o->from);
	free(o->to);
	memset(o, 0, sizeof(*o));
}

/* The edges by their start: those of node n are next[first[n]..first[n+1]-1]. */
struct successors {
	uint64_t *first;
	uint32_t *next;
};

static void successors_init(struct successors *s, const struct order *o)
{
	uint64_t i, sum = 0, n;

	s->first = judge_alloc(o->nodes + 1ull, sizeof(*s->first));
	s->next = judge_alloc(o->edges, sizeof(*s->next));
	for (i = 0; i < o->edges; i++)
		s->first[o->from[i]]++;
	for (i = 0; i <= o->nodes; i++) {
		n = s->first[i];
		s->first[i] = sum;
		sum += n;
	}
	for (i = 0; i < o->edges; i++)
		s->next[s->first[o->from[i]]++] = o->to[i];
	/* Filling has moved each start to the next one: move them back. */
	for (i = o->nodes; i > 0; i--)
		s->first[i] = s->first[i - 1];
	s->first[0] = 0;
}

/*
 * Take away all nodes that nothing is before, again and again (Kahn).  Returns
 * the number of nodes left: those with a number in @left, which is how many
 * edges they have from others that are left.
 */
static uint32_t take_away(const struct order *o, const struct successors *s,
			  uint32_t *left)
{
	uint32_t *queue = judge_alloc(o->nodes, sizeof(*queue));
	uint32_t at = 0, end = 0, i;
	uint64_t e;

	for (e = 0; e < o->edges; e++)
		left[o->to[e]]++;
	for (i = 0; i < o->nodes; i++)
		if (!left[i])
			queue[end++] = i;
	while (at < end) {
		i = queue[at++];
		for (e = s->first[i]; e < s->first[i + 1]; e++)
			if (!--left[s->next[e]])
				queue[end++] = s->next[e];
	}
	free(queue);
	return o->nodes - end;
}

/* A shortest way from @start to itself among the nodes that are left. */
static uint32_t shortest(const struct order *o, const struct successors *s,
			 const uint32_t *left, uint32_t start, uint32_t *cycle,
			 uint32_t max)
{
	/* The start comes in twice: first and last. */
	uint32_t *queue = judge_alloc(o->nodes + 1ull, sizeof(*queue));
	uint32_t *back = judge_alloc(o->nodes, sizeof(*back));
	uint32_t at = 0, end = 0, n = 0, i, next;
	uint64_t e;

	memset(back, 0xff, o->nodes * sizeof(*back));
	queue[end++] = start;
	while (at < end && back[start] == NONE) {
		i = queue[at++];
		for (e = s->first[i]; e < s->first[i + 1]; e++) {
			next = s->next[e];
			if (!left[next] || back[next] != NONE)
				continue;
			back[next] = i;
			queue[end++] = next;
		}
	}
	/* Backwards from the start, so turn it round. */
	for (i = back[start]; n < max; i = back[i]) {
		cycle[n++] = i;
		if (i == start)
			break;
	}
	for (i = 0; i < n / 2; i++) {
		next = cycle[i];
		cycle[i] = cycle[n - 1 - i];
		cycle[n - 1 - i] = next;
	}
	free(queue);
	free(back);
	return n;
}

/**
 * order_cycle() - look for a cycle
 * @o:		the graph
 * @cycle:	filled with the nodes of one, as short as is easily found
 * @max:	nodes that there is room for
 *
 * Returns the number of nodes of the cycle, 0 if there is none.
 */
uint32_t order_cycle(const struct order *o, uint32_t *cycle, uint32_t max)
{
	struct successors s;
	uint32_t *left, *before, i, n = 0;
	uint64_t e;

	successors_init(&s, o);
	left = judge_alloc(o->nodes, sizeof(*left));
	if (take_away(o, &s, left)) {
		/* Something is before each node that is left: go back in circles. */
		before = judge_alloc(o->nodes, sizeof(*before));
		for (e = 0; e < o->edges; e++)
			if (left[o->from[e]] && left[o->to[e]])
				before[o->to[e]] = o->from[e];
		for (i = 0; !left[i]; i++)
			;
		for (e = 0; e < o->nodes; e++)
			i = before[i];
		free(before);
		n = shortest(o, &s, left, i, cycle, max);
	}
	free(s.first);
	free(s.next);
	free(left);
	return n;
}
