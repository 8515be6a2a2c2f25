/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks for the unit tests: they count, and the first that fails ends the test.
 */
#ifndef WEFT_TESTS_UNIT_CHECK_H
#define WEFT_TESTS_UNIT_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static unsigned long checks;

#define CHECK(condition) do {						\
	checks++;							\
	if (!(condition)) {						\
		printf("not ok: %s:%d: %s\n", __FILE__, __LINE__,	\
		       #condition);					\
		exit(1);						\
	}								\
} while (0)

#define CHECK_EQ(a, b) do {						\
	unsigned long long a_ = (unsigned long long)(a);		\
	unsigned long long b_ = (unsigned long long)(b);		\
									\
	checks++;							\
	if (a_ != b_) {							\
		printf("not ok: %s:%d: %s is %#llx, not %#llx\n",	\
		       __FILE__, __LINE__, #a, a_, b_);			\
		exit(1);						\
	}								\
} while (0)

/* To end main() with: a test without checks is none. */
static inline int check_result(void)
{
	printf("%lu checks\n", checks);
	return !checks;
}

#endif /* WEFT_TESTS_UNIT_CHECK_H */
