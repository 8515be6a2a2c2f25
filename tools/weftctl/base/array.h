/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists in memory of malloc() that grow. */
#ifndef WEFTCTL_ARRAY_H
#define WEFTCTL_ARRAY_H

#include <stdlib.h>

/*
 * Room for one more of @size bytes behind the @len that a list has, all of which were made room
 * for like that: it doubles at powers of two.  Return: the list, or NULL, then it is as it was.
 */
static inline void *array_more(void *list, size_t len, size_t size)
{
	return len & (len - 1) ? list : reallocarray(list, len ? 2 * len : 1, size);
}

#endif /* WEFTCTL_ARRAY_H */
