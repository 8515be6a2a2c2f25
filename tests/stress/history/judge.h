/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the checker: the order graph over all accesses, and the judgement of a
 * single location.
 */
#ifndef WEFT_TESTS_STRESS_JUDGE_H
#define WEFT_TESTS_STRESS_JUDGE_H

#include "history.h"

#define NONE UINT32_MAX

/**
 * struct order - a directed graph that must not have cycles
 * @nodes:	number of nodes
 * @edges:	number of edges
 * @from:	of each edge
 * @to:		of each edge
 * @room:	edges that there is room for
 */
struct order {
	uint32_t nodes;
	uint64_t edges;
	uint32_t *from;
	uint32_t *to;
	uint64_t room;
};

/* order.c */
uint32_t order_node(struct order *o);
void order_edge(struct order *o, uint32_t from, uint32_t to);
uint32_t order_cycle(const struct order *o, uint32_t *cycle, uint32_t max);
void order_free(struct order *o);

/**
 * struct judge - a judgement under way
 * @h:		what is judged
 * @v:		what is said about it
 * @base:	number of the first access of each thread; accesses are numbered
 *		thread by thread and are the first nodes of @order
 * @order:	what must have happened before what, over all locations
 */
struct judge {
	const struct history *h;
	struct verdict *v;
	uint32_t base[HISTORY_THREADS + 1];
	struct order order;
};

/* verdict.c */
void *judge_alloc(size_t count, size_t size);
uint32_t judge_thread(const struct judge *j, uint32_t event);
const struct history_record *judge_record(const struct judge *j, uint32_t event);
void judge_say(struct judge *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void judge_say_event(struct judge *j, uint32_t event);

/* location.c */
bool judge_location(struct judge *j, uint32_t offset, const uint32_t *events,
		    uint32_t count);

#endif /* WEFT_TESTS_STRESS_JUDGE_H */
