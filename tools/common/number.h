/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that people write: options, settings, commands.
 *
 * All of a text has to be the number: no blanks, no sign, nothing behind it.  A 0 in front
 * means nothing.  Each function returns 0, or -EINVAL if @text is no such number, or -ERANGE
 * if it is one that is not within @min to @max; @value is set if it returns 0, only.  What
 * to say then is the caller's.
 */
#ifndef WEFT_TOOLS_COMMON_NUMBER_H
#define WEFT_TOOLS_COMMON_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* A whole number of decimal digits. */
int number_decimal(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* The same of octal digits: permissions. */
int number_octal(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* As number_decimal(), or with 0x of hexadecimal digits. */
int number_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* The same as number_u64(), and a K, M, G or T behind it multiplies by 1024, 1024^2, ... */
int number_size(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* As strtod() has it, in the C locale, signs too; "nan" is not within anything. */
int number_real(const char *text, double min, double max, double *value);

#define NUMBER_SIZE_MAX	24

/* Writes what number_size() reads: with the largest letter that loses nothing. */
const char *number_size_text(uint64_t bytes, char text[NUMBER_SIZE_MAX]);

#endif /* WEFT_TOOLS_COMMON_NUMBER_H */
