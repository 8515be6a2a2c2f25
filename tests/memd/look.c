// SPDX-License-Identifier: GPL-2.0-only
/*
 * memd-look: what a backing file has of a region, if the blade began with it now.
 *
 *	memd-look FILE REGION OFFSET...	the 64-bit numbers that stand there, as a node wrote them
 *
 * The blade is the real one in this process; the file is changed as by any start, so give it a
 * copy.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/common/argument.h"
#include "tests/common/check.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/store/frames.h"

static u64 number_at(struct memd *m, struct region *r, u64 at)
{
	struct block *b = region_block(m->b->regions, r, at / r->block, false);
	u64 value = 0;

	if (b && b->frame)
		CHECK(!frames_load(m->b->frames, b->frame, (u32)(at % r->block), &value,
				   sizeof(value)));
	return value;
}

int main(int argc, char **argv)
{
	struct options o = {
		.id = WEFT_BLADE_MIN, .memory = 1 << 30, .blades = 1, .peers = { 0x0A570065 },
	};
	static struct memd m;
	char err[ERR_MAX];
	struct region *r;
	int i;

	if (argc < 4) {
		fputs("usage: memd-look FILE REGION OFFSET...\n", stderr);
		return 2;
	}
	o.backing = argv[1];
	if (memd_init(&m, &o, NULL, err)) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	r = region_named(m.b->regions, argv[2], (u32)strlen(argv[2]));
	if (!r) {
		fprintf(stderr, "there is no region %s in %s\n", argv[2], argv[1]);
		return 1;
	}
	for (i = 3; i < argc; i++)
		printf("%llu%c", (unsigned long long)number_at(&m, r, argument_u32(argv[i])),
		       i + 1 < argc ? ' ' : '\n');
	return 0;
}
