// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of tools/common/json.c: what is written, and that it is found again.
 */
#include "tools/common/json.h"

#include <math.h>
#include <string.h>

#include "tests/common/check.h"

static char *text;
static size_t size;

static FILE *begin(void)
{
	FILE *f;

	free(text);
	f = open_memstream(&text, &size);
	CHECK(f != NULL);
	return f;
}

/* What was written to @f is @wanted. */
static void is(FILE *f, const char *wanted)
{
	CHECK(!fclose(f));
	if (strcmp(text, wanted))
		printf("%s, not %s", text, wanted);
	CHECK(!strcmp(text, wanted));
}

static void fill(struct json *j)
{
	json_u64(j, "n", UINT64_MAX);
	json_array(j, "list");
	json_u64(j, NULL, 1);
	json_object(j, NULL);
	json_close(j);
	json_bool(j, NULL, true);
	json_close(j);
	json_null(j, "none");
	json_object(j, "in");
	json_fixed(j, "f", 1.5);
	json_ratio(j, "r", 2, 3);
	json_ratio(j, "no", 2, 0);
	json_end(j);
}

static void documents(void)
{
	FILE *f = begin();
	struct json j;

	json_begin(&j, f, false);
	fill(&j);
	is(f, "{\"n\":18446744073709551615,\"list\":[1,{},true],\"none\":null,\"in\":{\"f\":1.500,\"r\":0.667,\"no\":null}}\n");
	f = begin();
	json_begin(&j, f, true);
	json_u64(&j, "a", 1);
	json_array(&j, "b");
	json_end(&j);
	is(f, "{\n    \"a\": 1,\n    \"b\": []\n}\n");
	f = begin();
	json_start(&j, f, false);
	json_array(&j, NULL);
	json_u64(&j, NULL, 7);
	json_u64(&j, NULL, 8);
	json_close(&j);
	is(f, "[7,8]");
}

static void reals(void)
{
	FILE *f = begin();
	struct json j;

	json_start(&j, f, false);
	json_array(&j, NULL);
	json_real(&j, NULL, 0.1);
	json_real(&j, NULL, -1234567);
	json_real(&j, NULL, 3);
	json_real(&j, NULL, NAN);
	json_real(&j, NULL, INFINITY);
	json_close(&j);
	is(f, "[0.1,-1.23457e+06,3,null,null]");
}

static void strings(void)
{
	static const struct {
		const char *raw, *written;
	} all[] = {
		{ "", "\"\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\n\x01\x7f", "\"\\u000a\\u0001\\u007f\"" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		/* cut, longer than needed, a surrogate, beyond the last character */
		{ "\xc3", "\"\\u00c3\"" },
		{ "\xc0\xaf", "\"\\u00c0\\u00af\"" },
		{ "\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"" },
		{ "\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"" },
	};
	struct json j;
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		FILE *f = begin();

		json_start(&j, f, false);
		json_string(&j, NULL, all[i].raw);
		is(f, all[i].written);
	}
}

static void finding(void)
{
	static const char line[] =
		"{\"ab\":1,\"b\":{\"c\" : -2.5e1, \"d\":\"x\"},\"s\":\"c\",\"n\":null,\"t\":12x,\"l\":[3],\"z\":4}";
	double v = 42;

	CHECK(json_find(line, "b") == strstr(line, "{\"c\""));
	CHECK(!json_find(line, "a"));
	CHECK(!json_find(line, "x"));
	CHECK(!json_find("", "a"));
	CHECK(!json_find("\"a\"", "a"));
	CHECK(!json_find_real(line, "d", &v));
	CHECK(!json_find_real(line, "n", &v));
	CHECK(!json_find_real(line, "t", &v));
	CHECK(!json_find_real(line, "l", &v));
	CHECK(!json_find_real(line, "b", &v));
	CHECK(v == 42);
	CHECK(json_find_real(line, "ab", &v) && v == 1);
	CHECK(json_find_real(line, "c", &v) && v == -25);
	CHECK(json_find_real(line, "z", &v) && v == 4);
	CHECK(json_find_real("\"a\":5", "a", &v) && v == 5);
}

int main(void)
{
	documents();
	reals();
	strings();
	finding();
	free(text);
	return check_result();
}
