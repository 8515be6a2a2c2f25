// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of tools/common/number.c: what is a number, what is within its limits, and what
 * is neither.
 */
#include "tools/common/number.h"

#include <errno.h>
#include <string.h>

#include "tests/common/check.h"

static const char *const none[] = {
	"", " ", "x", "-1", "+1", " 1", "1 ", "1x", "-0", ".", "1.", "1.0", "0x", "0xg", "0X",
	"1,2", "\t1", "1e3", "0b1", "-0x1", "0x-1", "KK", "K", "1KB", "1KK", "1P",
};

static void no_numbers(void)
{
	unsigned int i;
	uint64_t v = 42;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		CHECK_EQ(number_decimal(none[i], 0, UINT64_MAX, &v), -EINVAL);
		CHECK_EQ(number_u64(none[i], 0, UINT64_MAX, &v), -EINVAL);
		CHECK_EQ(number_size(none[i], 0, UINT64_MAX, &v), -EINVAL);
	}
	CHECK_EQ(number_decimal("0x1", 0, UINT64_MAX, &v), -EINVAL);
	CHECK_EQ(number_u64("1K", 0, UINT64_MAX, &v), -EINVAL);
	CHECK_EQ(number_octal("8", 0, UINT64_MAX, &v), -EINVAL);
	CHECK_EQ(number_octal("0o7", 0, UINT64_MAX, &v), -EINVAL);
	CHECK_EQ(v, 42);
}

/* All three have it for @wanted. */
static void is(const char *text, uint64_t wanted)
{
	uint64_t v = ~wanted;

	CHECK_EQ(number_decimal(text, wanted, wanted, &v), 0);
	CHECK_EQ(v, wanted);
	v = ~wanted;
	CHECK_EQ(number_u64(text, wanted, wanted, &v), 0);
	CHECK_EQ(v, wanted);
	v = ~wanted;
	CHECK_EQ(number_size(text, wanted, wanted, &v), 0);
	CHECK_EQ(v, wanted);
}

static void is_size(const char *text, uint64_t wanted)
{
	uint64_t v = ~wanted;

	CHECK_EQ(number_size(text, wanted, wanted, &v), 0);
	CHECK_EQ(v, wanted);
}

static void numbers(void)
{
	uint64_t v = 42;

	is("0", 0);
	is("1", 1);
	is("010", 10);
	is("09", 9);
	is("18446744073709551615", UINT64_MAX);
	CHECK_EQ(number_u64("0x10", 0, 100, &v), 0);
	CHECK_EQ(v, 16);
	CHECK_EQ(number_u64("0XfF", 0, 255, &v), 0);
	CHECK_EQ(v, 255);
	CHECK_EQ(number_octal("0640", 0, 07777, &v), 0);
	CHECK_EQ(v, 0640);
	CHECK_EQ(number_octal("7777", 0, 07777, &v), 0);
	CHECK_EQ(v, 07777);
	is_size("0x10K", 16384);
	is_size("1k", 1024);
	is_size("3M", 3 << 20);
	is_size("7g", 7ull << 30);
	is_size("8T", 8ull << 40);
	is_size("0T", 0);
	is_size("16777215T", 16777215ull << 40);
}

static void limits(void)
{
	uint64_t v = 42;

	CHECK_EQ(number_decimal("4", 5, 9, &v), -ERANGE);
	CHECK_EQ(number_decimal("10", 5, 9, &v), -ERANGE);
	CHECK_EQ(number_decimal("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
	CHECK_EQ(number_octal("10000", 0, 07777, &v), -ERANGE);
	CHECK_EQ(number_u64("0x10000000000000000", 0, UINT64_MAX, &v), -ERANGE);
	/* Too large a number with something behind it is no number at all. */
	CHECK_EQ(number_decimal("99999999999999999999x", 0, UINT64_MAX, &v), -EINVAL);
	CHECK_EQ(number_size("99999999999999999999", 0, UINT64_MAX, &v), -ERANGE);
	CHECK_EQ(number_size("16777216T", 0, UINT64_MAX, &v), -ERANGE);
	CHECK_EQ(number_size("18014398509481984K", 0, UINT64_MAX, &v), -ERANGE);
	CHECK_EQ(number_size("4K", 4097, 8192, &v), -ERANGE);
	CHECK_EQ(number_size("9K", 4097, 8192, &v), -ERANGE);
	CHECK_EQ(v, 42);
}

static void reals(void)
{
	static const char *const odd[] = { "", " 1", "1 ", "x", ".", "1.2.3", "1s", "0.5%" };
	unsigned int i;
	double v = 42;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		CHECK_EQ(number_real(odd[i], -1e300, 1e300, &v), -EINVAL);
	CHECK_EQ(number_real("nan", -1e300, 1e300, &v), -ERANGE);
	CHECK_EQ(number_real("inf", -1e300, 1e300, &v), -ERANGE);
	CHECK_EQ(number_real("-0.1", 0, 1, &v), -ERANGE);
	CHECK_EQ(number_real("1.01", 0, 1, &v), -ERANGE);
	CHECK(v == 42);
	CHECK_EQ(number_real("0.25", 0, 1, &v), 0);
	CHECK(v == 0.25);
	CHECK_EQ(number_real("1e-3", 0, 1, &v), 0);
	CHECK(v == 1e-3);
	CHECK_EQ(number_real("-2", -2, 1, &v), 0);
	CHECK(v == -2);
}

static void texts(void)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = {
		{ 0, "0" }, { 1, "1" }, { 1023, "1023" }, { 1024, "1K" }, { 1025, "1025" },
		{ 1 << 20, "1M" }, { 1536 << 10, "1536K" }, { 1ull << 30, "1G" },
		{ 1ull << 40, "1T" }, { 1ull << 50, "1024T" }, { 1ull << 63, "8388608T" },
		{ UINT64_MAX, "18446744073709551615" },
	};
	char text[NUMBER_SIZE_MAX];
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CHECK(!strcmp(number_size_text(sizes[i].bytes, text), sizes[i].text));
		is_size(text, sizes[i].bytes);
	}
}

int main(void)
{
	no_numbers();
	numbers();
	limits();
	reals();
	texts();
	return check_result();
}
