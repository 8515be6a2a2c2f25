// SPDX-License-Identifier: GPL-2.0-only
/* What blades say, see words.h. */
#include "words.h"

#include "tests/common/check.h"

#define WORDS_MAX	65536u

static struct words {
	size_t len;
	char text[WORDS_MAX];
} here, apart, *words = &here;

static void begin(struct words *where)
{
	words = where;
	words->len = 0;
	words->text[0] = 0;
}

static ssize_t add(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	if (len < WORDS_MAX - words->len) {
		memcpy(words->text + words->len, text, len);
		words->len += len;
		words->text[words->len] = 0;
	}
	return (ssize_t)len;
}

void words_keep(void)
{
	stderr = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = add });
	CHECK(stderr && !setvbuf(stderr, NULL, _IONBF, 0));
}

void words_begin(void)
{
	begin(&here);
}

void words_begin_apart(void)
{
	begin(&apart);
}

void words_end_apart(void)
{
	words = &here;
}

bool words_have(const char *text)
{
	return strstr(words->text, text);
}

void words_print(void)
{
	printf("%s\n", words->text);
	fflush(stdout);
}
