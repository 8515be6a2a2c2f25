// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which programs belong to weft-switchd: the one in the tree does; with any name or
 * number changed on which the two agree it is refused, and the sentence says what to
 * do.  To be run in the top of the tree.
 */
#include <stdlib.h>

#include <rte_common.h>

#include "frames.h"
#include "interface.h"
#include "p4names.h"

#define PROGRAM		"p4/generated/weft_pna.spec"
#define TEXT_MAX	(1 << 20)

/* A change of the text: each place where @from stands; and why it is refused. */
static const struct {
	const char *from, *to, *words;
} changes[] = {
	{ "# interface sha256 ", "# no interface ", "does not say which weft-switchd" },
	{ "# interface sha256 ", "# interface sha256 0", "for another version" },
	{ "# interface sha256 ", "# interface sha256 0\n# was ", "for another version" },
	{ "regarray members_version ", "regarray versions ", "array members_version of 1 cells" },
	{ "regarray members ", "regarray nodes ", "array members of 1 cells" },
	{ "regarray generation ", "regarray age ", "array generation of 65536 cells" },
	{ "regarray tag size 0x10000", "regarray tag size 0x8000", "array tag of 65536 cells" },
	{ "regarray tag size 0x10000", "regarray tag size 0x20000", "array tag of 65536 cells" },
	{ "regarray lock ", "regarray lock_line ", "array lock of" },
	{ "regarray grant ", "regarray grants ", "array grant of" },
	{ "regarray status ", "regarray state ", "array status of" },
	{ "regarray copyset ", "regarray copies ", "array copyset of" },
	{ "regarray counters size 0x40", "regarray counters size 0x20", "array counters of 64 cells" },
	{ "table " P4_TABLE_L2 " {", "table l2 {", "table " P4_TABLE_L2 " with" },
	{ "table " P4_TABLE_FLOOD " {", "table flood {", "table " P4_TABLE_FLOOD " with" },
	{ P4_ACTION_L2 "\n", "forward_to\n", "action " P4_ACTION_L2 "(" },
	{ "action " P4_ACTION_L2 " ", "action forward_to ", "action " P4_ACTION_L2 "(" },
	{ "bit<64> mask\n", "bit<64> ports\n", "action " P4_ACTION_FLOOD "(mask)" },
	{ "destination exact", "destination lpm", "one exact key" },
};

static char *read_program(void)
{
	char *text = calloc(1, TEXT_MAX);
	FILE *f = fopen(PROGRAM, "re");
	size_t len = 0;

	if (text && f)
		len = fread(text, 1, TEXT_MAX - 1, f);
	if (f)
		fclose(f);
	CHECK(len, "cannot read %s: run this in the top of the tree", PROGRAM);
	return text;
}

/* A copy with a text in the place of another, everywhere; *n: how often. */
static char *replaced(const char *text, const char *from, const char *to, unsigned int *n)
{
	char *copy = NULL;
	size_t len;
	const char *at;
	FILE *f = open_memstream(&copy, &len);

	*n = 0;
	if (!f)
		return NULL;
	while ((at = strstr(text, from))) {
		fprintf(f, "%.*s%s", (int)(at - text), text, to);
		text = at + strlen(from);
		++*n;
	}
	fputs(text, f);
	fclose(f);
	return copy;
}

static int verdict(const char *text, char *err)
{
	struct spec *spec = spec_parse(text, "x.spec", err);
	int code;

	CHECK(spec, "%s", err);
	code = spec ? interface_check(spec, "x.spec", err) : 0;
	spec_free(spec);
	return code;
}

int main(void)
{
	char err[ERR_MAX] = "", *text = read_program();
	unsigned int i, n;

	if (!text)
		return 1;
	CHECK(!verdict(text, err), "%s", err);
	for (i = 0; i < RTE_DIM(changes); i++) {
		char *changed = replaced(text, changes[i].from, changes[i].to, &n);

		CHECK(n, "the program has no '%s'", changes[i].from);
		err[0] = 0;
		CHECK(changed && verdict(changed, err), "accepted: %s", changes[i].to);
		CHECK(!strncmp(err, "x.spec ", 7) && strstr(err, changes[i].words) &&
		      strstr(err, "make p4"), "%s: '%s'", changes[i].to, err);
		free(changed);
	}
	free(text);
	return check_result();
}
