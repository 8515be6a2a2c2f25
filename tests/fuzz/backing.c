// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: a backing file with anything in its log and in the records of its
 * frames, with right sums as a rule.  Either it is refused, or what came of it
 * can be used, and read again.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/base/log.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/store/backing.h"
#include "tools/memd/store/frames.h"

#define LOG_HEADER	12	/* see journal.c */
#define RECORD_MAX	330

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct memd m;

/*
 * Input: a byte for the number of frame records, which are of 8 bytes; then log
 * records: length of the body, type, body.
 */
static size_t write_frames(struct backing *b, const u8 *data, size_t size)
{
	u32 n = size ? data[0] % 64 : 0, i;
	u8 page[FRAME_SIZE] = { 0 };
	size_t used = size ? 1 : 0;

	for (i = 0; i < n && used + 8 <= size; i++, used += 8) {
		u8 *r = page + (size_t)i * FRAME_RECORD;
		const u8 *d = data + used;

		put_unaligned_be32(d[0] & 15, r);
		put_unaligned_be64(d[1] & 0xC0 ? d[1] & 0x3F : get_unaligned_be64(d),
				   r + 8);
		put_unaligned_be64((u64)(d[2] & 1) << 32 | d[3], r + 16);
		if (d[4] > 3)
			put_unaligned_be32(weft_wire_psum(r, FRAME_RECORD), r + 4);
		CHECK(!backing_write(b, &d[5], 1, backing_frame_at(i + 1)));
	}
	CHECK(!backing_write(b, page, sizeof(page), backing_record_at(1)));
	return used;
}

/* A record of a region that makes sense, of 8 bytes.  Return: length of its body. */
static u32 put_region(u8 *rec, const u8 *d)
{
	u8 *b = rec + LOG_HEADER;

	memset(b, 0, 42);
	rec[2] = 1 + (d[7] & 1);
	b[3] = d[0] & 15;
	put_unaligned_be32(4096u << d[1] % 6, b + 16);
	b[23] = d[2] & 1;
	put_unaligned_be64((u64)d[3] * 4096 + d[4], b + 24);
	b[40] = d[5] > 200;
	b[41] = (d[7] & 1) == 0;
	b[42] = 'a' + (d[6] & 7);
	if (!(d[7] & 2))
		return 42u + b[41];
	/* one cut */
	memset(b + 42 + b[41], 0, 12);
	b[42 + b[41] + 3] = 1 + (d[7] >> 7);
	b[42 + b[41] + 11] = d[4] & 7;
	return 54u + b[41];
}

static void write_log(struct backing *b, const u8 *data, size_t size)
{
	u64 at = backing_log_at(b->generation);
	u8 rec[RECORD_MAX];

	while (size >= 3) {
		u32 body = data[0] % 128, used;

		data += 2;
		size -= 2;
		if (body > size)
			body = (u32)size;
		used = body;
		memset(rec, 0, sizeof(rec));
		rec[2] = data[-1] & 7;
		put_unaligned_be32(b->generation, rec + 4);
		memcpy(rec + LOG_HEADER, data, body);
		/* numbers of regions that frames can have */
		if (body >= 4 && data[-1] & 0x80)
			memset(rec + LOG_HEADER, 0, 3);
		if (body >= 8 && data[-1] & 0x10)
			body = put_region(rec, data);
		put_unaligned_be16((u16)(LOG_HEADER + body), rec);
		if ((data[-1] & 0x60) != 0x60)
			put_unaligned_be32(weft_wire_psum(rec, LOG_HEADER + body),
					   rec + 8);
		CHECK(!backing_write(b, rec, LOG_HEADER + body, at));
		at += LOG_HEADER + body;
		data += used;
		size -= used;
	}
}

/* Everything that it says it has can be read. */
static void use(void)
{
	static u8 block[WEFT_REGION_BLOCK_MAX];
	u64 used = 0;
	u32 i, k;

	for (i = 0; i < m.b->regions->n; i++) {
		struct region *r = m.b->regions->by_id[i];
		u64 mine = 0;

		CHECK(r->id && r->id <= WEFT_REGION_MAX && r->id < m.b->regions->next_id);
		for (k = 0; k < 256 && k < region_blocks(r, r->size); k++) {
			struct block *b = region_block(m.b->regions, r, k, false);

			if (!b || !b->frame)
				continue;
			CHECK(!frames_load(m.b->frames, b->frame, 0, block, r->block));
			mine += r->block;
		}
		CHECK(mine == r->used);
		used += mine;
	}
	CHECK(used == (u64)m.b->frames->used * FRAME_SIZE);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct options o = {
		.id = WEFT_BLADE_MIN, .memory = 1 << 20, .blades = 1,
	};
	int fd = memfd_create("backing", MFD_CLOEXEC);
	struct backing b;
	char path[32], err[ERR_MAX];
	size_t used;
	u64 kept;
	u32 n;

	CHECK(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.backing = path;
	log_silent = true;
	CHECK(!backing_open(&b, &o, err));
	used = write_frames(&b, data, size);
	write_log(&b, data + used, size - used);
	backing_close(&b);
	if (memd_init(&m, &o, NULL, err)) {
		CHECK(*err && !strchr(err, '\n'));
	} else {
		use();
		n = m.b->regions->n;
		kept = m.b->frames->used;
		memd_exit(&m);
		CHECK(!memd_init(&m, &o, NULL, err));
		use();
		CHECK(n == m.b->regions->n && kept == m.b->frames->used);
	}
	memd_exit(&m);
	close(fd);
	return 0;
}
