// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of one program calculate in vector registers and take the processor from each other:
 * whoever gets another one's registers comes to another sum.
 *
 *	rack-floats
 *
 * Exit status 0 if all sums are right.
 */
#include <pthread.h>
#include <stdint.h>

#include "tests/common/check.h"

#define THREADS	4
#define TURNS	20000

typedef uint64_t vector __attribute__((vector_size(16)));

/* What a thread works on stays in registers while others run: it does not call anything. */
static vector sum_of(uint64_t seed, bool alone)
{
	vector sum = { seed, seed + 1 };

	for (int i = 0; i < TURNS; i++) {
		sum = sum * 6364136223846793005u + seed;
		if (!alone) {
			long result;

			asm volatile("syscall" : "=a" (result), "+x" (sum)
				     : "a" (24l /* sched_yield */) : "rcx", "r11", "memory");
		}
	}
	return sum;
}

static void *work(void *arg)
{
	uint64_t seed = (uintptr_t)arg;
	vector sum = sum_of(seed, false), right = sum_of(seed, true);

	for (int i = 0; i < 2; i++)
		CHECK_EQ(sum[i], right[i]);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i * 1000 + 1)))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return check_result();
}
