// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscall(SYS_futex, ...) for words inside of regions: libraries that bring their own locks call
 * it, and the kernel's futex knows of no other machine.  Everything else goes to the kernel as it
 * is.  What does not call the C library's syscall() gets past us.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "next.h"
#include "tools/common/clock.h"
#include "tools/libweft/internal.h"
#include "tools/libweft/lock.h"

/* As the C library's, whose declaration has no parameters to say. */
long weft_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static long wait_for(const uint32_t *word, uint32_t expected, clockid_t clock,
		     const struct timespec *deadline)
{
	if (atomic_load((const _Atomic uint32_t *)word) != expected)
		return -EAGAIN;
	return -weft_wait(word, expected, clock, deadline);
}

/* FUTEX_WAIT says how long, not until when. */
static long wait_some(const uint32_t *word, uint32_t expected, const struct timespec *t)
{
	struct timespec deadline;

	if (!t)
		return wait_for(word, expected, 0, NULL);
	if (weft_no_time(t))
		return -EINVAL;
	deadline = clock_in_ms(CLOCK_MONOTONIC, 0);
	deadline.tv_sec += t->tv_sec + (deadline.tv_nsec + t->tv_nsec) / (long)NS_IN_S;
	deadline.tv_nsec = (deadline.tv_nsec + t->tv_nsec) % (long)NS_IN_S;
	return wait_for(word, expected, CLOCK_MONOTONIC, &deadline);
}

/* Whoever waits looks again: how many did, on all machines, nobody knows. */
static long wake(const uint32_t *word, uint32_t most)
{
	int error = most ? weft_wake(word) : 0;

	return error ? -error : most > 0;
}

static long futex(const uint32_t *word, long op, uint32_t value, const struct timespec *t,
		  uint32_t value3)
{
	static _Atomic bool said;

	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		return wait_some(word, value, t);
	case FUTEX_WAIT_BITSET:
		return !value3 ? -EINVAL :
		       wait_for(word, value, op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME :
							CLOCK_MONOTONIC, t);
	case FUTEX_WAKE_BITSET:
		if (!value3)
			return -EINVAL;
		/* fall through */
	case FUTEX_WAKE:
		return wake(word, value);
	default:
		weft_complain(&said, "weft: futex operation %d does not work in a region: only waiting and waking do",
			      (int)(op & FUTEX_CMD_MASK));
		return -ENOSYS;
	}
}

WEFT_SHIM long weft_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	if (number == SYS_futex && weft_inside((const void *)a))
		result = futex((const uint32_t *)a, b, (uint32_t)c, (const struct timespec *)d,
			       (uint32_t)f);
	else
		result = kernel(number, a, b, c, d, e, f);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}
