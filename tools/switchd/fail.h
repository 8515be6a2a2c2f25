/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How functions of the switch report an error: a negative errno, and a
 * sentence for people in a buffer of the caller.
 */
#ifndef WEFT_SWITCHD_FAIL_H
#define WEFT_SWITCHD_FAIL_H

#include <stdarg.h>
#include <stdio.h>

/* Every "char *err" parameter points to a buffer of this size, or is NULL. */
#define ERR_MAX		512

/**
 * fail() - note down why something does not work
 * @err: buffer of ERR_MAX bytes, or NULL
 * @code: negative errno
 * @fmt: the sentence, without a full stop or a newline
 *
 * Return: @code, so that callers can write "return fail(...)".
 */
__attribute__((format(printf, 3, 4)))
static inline int fail(char *err, int code, const char *fmt, ...)
{
	va_list args;

	if (err) {
		va_start(args, fmt);
		vsnprintf(err, ERR_MAX, fmt, args);
		va_end(args);
	}
	return code;
}

#endif /* WEFT_SWITCHD_FAIL_H */
