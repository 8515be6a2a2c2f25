// SPDX-License-Identifier: GPL-2.0-only
/* A step of a story, see step.h. */
#include "step.h"

#include "blade.h"
#include "chance.h"
#include "disk.h"
#include "mutant.h"
#include "node.h"
#include "promise.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/lines/blocks.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/udp.h"

#define AT_A_TIME	4u	/* regions that there are */

static u32 tags;	/* that were given to contents */

static struct mregion *any_region(void)
{
	u32 first = chance_below(promised.n_regions), i;

	for (i = 0; i < promised.n_regions; i++) {
		struct mregion *mr = &promised.regions[(first + i) % promised.n_regions];

		if (mr->state == THERE && !mr->txn)
			return mr;
	}
	return NULL;
}

/* Send it; false: it was not taken up. */
static bool call(struct mregion *mr, struct weft_call *c)
{
	struct weft_call reply;

	mr->txn = blade_next_call(NODE);
	node_send(WEFT_MSG_CALL, mr->txn, c);
	if (node_outcome(mr->txn, &reply) != UNKNOWN)
		return true;
	mr->txn = 0;
	return false;
}

static void create(void)
{
	struct mregion *mr = &promised.regions[promised.n_regions];
	struct weft_call c = { .op = WEFT_CALL_CREATE, .valid = WEFT_CREATE_UNLIMITED };
	u32 i, n = 0;

	for (i = 0; i < promised.n_regions; i++)
		n += promised.regions[i].state != GONE;
	if (n >= AT_A_TIME || promised.n_regions == PROMISE_REGIONS)
		return;
	memset(mr, 0, sizeof(*mr));
	for (i = 0; i < PROMISE_BLOCKS; i++)
		mr->b[i].n = 1;
	snprintf(mr->name, sizeof(mr->name), "r%02u", promised.n_regions);
	mr->block = chance_below(3) ? 4096 : 16384;
	mr->blocks = chance_below(PROMISE_BLOCKS + 1);
	promise_add_size(mr, mr->blocks);
	mr->mode = mr->old_mode = chance_below(512);
	mr->state = ASKED;
	promised.n_regions++;
	c.block = mr->block;
	c.size = mr->blocks * mr->block;
	c.mode = mr->mode;
	c.name_len = (u16)strlen(mr->name);
	memcpy(c.name, mr->name, c.name_len);
	if (!call(mr, &c))
		promised.n_regions--;
	node_take_answers();
}

static void remove_region(struct mregion *mr)
{
	struct weft_call c = { .op = WEFT_CALL_UNLINK };

	c.name_len = (u16)strlen(mr->name);
	memcpy(c.name, mr->name, c.name_len);
	mr->state = REMOVING;
	if (!call(mr, &c))
		mr->state = THERE;
	node_take_answers();
}

static void set_size(struct mregion *mr)
{
	struct weft_call c = { .op = WEFT_CALL_SETATTR, .region = mr->id };
	u32 was = mr->blocks, k;

	if (mr->n_sizes == PROMISE_SIZES)
		return;
	mr->blocks = chance_below(PROMISE_BLOCKS + 1);
	if (mr->blocks == was)
		return;
	promise_add_size(mr, mr->blocks);
	c.valid = WEFT_SET_SIZE | WEFT_SET_UNLIMITED;
	c.size = mr->blocks * mr->block;
	for (k = mr->blocks; k < PROMISE_BLOCKS; k++)
		promise_add_content(&mr->b[k], 0);
	if (!call(mr, &c)) {
		for (k = mr->blocks; k < PROMISE_BLOCKS; k++)
			mr->b[k].n--;
		mr->blocks = was;
		mr->n_sizes--;
		return;
	}
	/* now it is written, if it is */
	mr->size[mr->n_sizes - 1].time = disk_time;
	for (k = mr->blocks; k < PROMISE_BLOCKS; k++)
		mr->b[k].time[mr->b[k].n - 1] = disk_time;
	node_take_answers();
}

static void set_mode(struct mregion *mr)
{
	struct weft_call c = { .op = WEFT_CALL_SETATTR, .region = mr->id };

	mr->mode = chance_below(512);
	c.valid = WEFT_SET_MODE;
	c.mode = mr->mode;
	if (!call(mr, &c))
		mr->mode = mr->old_mode;
	node_take_answers();
}

static void write_home(struct mregion *mr)
{
	u32 k = chance_below(mr->blocks), i, was, opens;
	struct region *r = region_find(blade.b->regions, mr->id);
	struct mblock *mb = &mr->b[k];
	static u8 data[16384];
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = NODE, .txn = weft_txn(NODE, 1),
		.line = weft_line_key(mr->id, WEFT_KIND_PAGE, k),
		.info = (u16)mr->block, .size = mr->block, .len = mr->block,
		.payload = data,
	};
	struct block *b = region_block(blade.b->regions, r, k, false);
	u64 before = blade.stats.count[STAT_WRITE];

	if (mb->n == PROMISE_VERSIONS - 2)
		return;
	msg.version = (b ? b->version : region_base(r, k)) + 1;
	for (i = 0; i < mr->block / 4; i++)
		put_unaligned_be32(tags + 1, data + (size_t)i * 4);
	was = b ? b->frame : 0;
	/* a region that is open would stay when it is removed */
	opens = r->opens;
	r->opens |= weft_node_bit(NODE);
	blocks_write(&blade, &msg);
	udp_flush(blade.udp);
	r->opens = opens;
	if (blade.stats.count[STAT_WRITE] == before)
		return;
	promise_add_content(mb, ++tags);
	mutant_clear(was);
}

void step_take(void)
{
	u32 what = chance_below(100);
	struct mregion *mr = promised.n_regions ? any_region() : NULL;

	if (what < 8 || !mr)
		create();
	else if (what < 11)
		remove_region(mr);
	else if (what < 17)
		set_size(mr);
	else if (what < 20)
		set_mode(mr);
	else if (what < 30)
		node_wait(chance_below(60));
	else if (what < 33)
		node_wait(2000 + chance_below(200));
	else if (what < 42)
		node_sync();
	else if (mr->blocks)
		write_home(mr);
	mutant_free();
	node_wait(chance_below(3));
}
