// SPDX-License-Identifier: GPL-2.0-only
/*
 * pthread_barrier_*(): inside regions a count in coherent memory, and an eventcount for
 * those who wait; elsewhere the C library's.
 */
#include "next.h"
#include "tools/common/clock.h"
#include "tools/libweft/internal.h"

/**
 * struct barrier - what a pthread_barrier_t in a region holds
 * @state:	rounds so far, and in the lower half who has arrived in this one
 * @count:	how many a round takes; 0: never initialised
 * @inside:	threads that may still look at @state
 */
struct barrier {
	_Atomic uint64_t state;
	uint32_t count;
	_Atomic uint32_t inside;
};

_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "it has to fit");

#define ROUND	(1ull << 32)

WEFT_SHIM int pthread_barrier_init(pthread_barrier_t *barrier,
				   const pthread_barrierattr_t *attr, unsigned int count)
{
	struct barrier *b = (struct barrier *)barrier;

	if (!weft_inside(barrier))
		return weft_next(pthread_barrier_init)(barrier, attr, count);
	if (!count || count > INT32_MAX)
		return EINVAL;
	atomic_store(&b->state, 0);
	atomic_store(&b->inside, 0);
	b->count = count;
	return 0;
}

WEFT_SHIM int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *)barrier;
	struct weft_await await = { 0 };
	uint64_t before;

	if (!weft_inside(barrier))
		return weft_next(pthread_barrier_wait)(barrier);
	if (!b->count)
		return EINVAL;
	atomic_fetch_add(&b->inside, 1);
	before = atomic_fetch_add(&b->state, 1);
	if ((uint32_t)before + 1 == b->count) {
		/* All are here: nobody else changes it now. */
		atomic_store(&b->state, (before & ~(ROUND - 1)) + ROUND);
		if (b->count > 1)
			weft_advance(b);
		atomic_fetch_sub(&b->inside, 1);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	weft_await_begin(&await, b);
	while ((atomic_load(&b->state) & ~(ROUND - 1)) == (before & ~(ROUND - 1)))
		weft_await(&await);
	weft_await_end(&await);
	atomic_fetch_sub(&b->inside, 1);
	return 0;
}

/*
 * By one who was released, while others have not seen yet that they are: they get the
 * time to look once more.  Who was killed while it waited is not waited for.
 */
WEFT_SHIM int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *)barrier;
	struct timespec deadline = clock_in_ms(CLOCK_MONOTONIC, WEFT_DESTROY_MS);
	struct weft_await await = { .clock = CLOCK_MONOTONIC, .deadline = &deadline };

	if (!weft_inside(barrier))
		return weft_next(pthread_barrier_destroy)(barrier);
	if ((uint32_t)atomic_load(&b->state))
		return EBUSY;
	/* Nobody tells us that one has left. */
	while (atomic_load(&b->inside) && weft_await(&await) != ETIMEDOUT)
		;
	b->count = 0;
	return 0;
}
