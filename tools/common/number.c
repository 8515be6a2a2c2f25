// SPDX-License-Identifier: GPL-2.0-only
/* Numbers that people write, see number.h. */
#include "tools/common/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char units[] = "KMGT";

/*
 * The digits that @text begins with, of @base or, if that is 0, of what they say.  Sets
 * @end behind them, to @text if there are none.  -ERANGE: 64 bits do not hold the number.
 */
static int digits(const char *text, int base, uint64_t *value, const char **end)
{
	char *behind;

	*end = text;
	/* strtoull() takes blanks and signs, too, and has 010 for 8. */
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	if (!base)
		base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
	errno = 0;
	*value = strtoull(text, &behind, base);
	*end = behind;
	return errno ? -ERANGE : 0;
}

static int whole(const char *text, int base, uint64_t min, uint64_t max, uint64_t *value)
{
	const char *end;
	uint64_t v;
	int err = digits(text, base, &v, &end);

	if (*end || end == text)
		return -EINVAL;
	if (err || v < min || v > max)
		return -ERANGE;
	*value = v;
	return 0;
}

int number_decimal(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	return whole(text, 10, min, max, value);
}

int number_octal(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	return whole(text, 8, min, max, value);
}

int number_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	return whole(text, 0, min, max, value);
}

int number_size(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned int shift = 0;
	const char *end, *unit;
	uint64_t v;
	int err = digits(text, 0, &v, &end);

	if (end == text)
		return -EINVAL;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	if (*end)
		return -EINVAL;
	if (err || v > UINT64_MAX >> shift || v << shift < min || v << shift > max)
		return -ERANGE;
	*value = v << shift;
	return 0;
}

int number_real(const char *text, double min, double max, double *value)
{
	char *end;
	double v;

	if (isspace((unsigned char)*text))
		return -EINVAL;
	v = strtod(text, &end);
	if (*end || end == text)
		return -EINVAL;
	if (!(v >= min && v <= max))
		return -ERANGE;
	*value = v;
	return 0;
}

const char *number_size_text(uint64_t bytes, char text[NUMBER_SIZE_MAX])
{
	int i = -1;

	while (bytes && !(bytes & 1023) && units[i + 1]) {
		bytes >>= 10;
		i++;
	}
	snprintf(text, NUMBER_SIZE_MAX, "%llu%.*s", (unsigned long long)bytes, i >= 0,
		 units + (i >= 0 ? i : 0));
	return text;
}
