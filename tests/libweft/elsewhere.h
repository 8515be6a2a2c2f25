/* SPDX-License-Identifier: GPL-2.0-only */
/* What a lock looks like to another thread. */
#ifndef WEFT_TESTS_LIBWEFT_ELSEWHERE_H
#define WEFT_TESTS_LIBWEFT_ELSEWHERE_H

#include <pthread.h>

#include "tests/common/child.h"

struct elsewhere {
	int (*function)(void *lock);
	void *lock;
	int result;
};

static inline void *elsewhere_run(void *arg)
{
	struct elsewhere *e = arg;

	e->result = e->function(e->lock);
	return NULL;
}

/* What @function returns in another thread. */
static inline int elsewhere(int (*function)(void *lock), void *lock)
{
	struct elsewhere e = { function, lock, -1 };
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, elsewhere_run, &e));
	CHECK(!pthread_join(t, NULL));
	return e.result;
}

#endif /* WEFT_TESTS_LIBWEFT_ELSEWHERE_H */
