// SPDX-License-Identifier: GPL-2.0-only
/* Access to lines, see access.h. */
#include "lines/access.h"

#include "base/blade.h"
#include "base/log.h"
#include "lines/grace.h"
#include "net/send.h"
#include "wire.h"

/* Is there such a line in a region of that size? */
static bool inside(const struct region *r, u64 key)
{
	u64 index = weft_line_index(key);

	switch (weft_line_kind(key)) {
	case WEFT_KIND_PAGE:
		return index < region_blocks(r, r->size);
	case WEFT_KIND_LOCK:
		return index < r->size;
	default:
		return false;
	}
}

struct region *access_line(struct memd *m, u64 key)
{
	struct region *r = region_find_again(m->b->regions, m->hint, weft_line_region(key));

	if (!r || r->gone || !inside(r, key))
		return NULL;
	if (!region_is_home(m->b->regions, r, key) &&
	    !region_will_be_home(m->b->regions, r, key)) {
		log_warn("asked for a block of another blade: a node has other --homes than our --peers");
		return NULL;
	}
	return r;
}

struct region *access_block(struct memd *m, u64 key)
{
	return weft_line_kind(key) == WEFT_KIND_PAGE ? access_line(m, key) : NULL;
}

void access_refuse(struct memd *m, const struct weft_msg *msg, u16 why, u32 to)
{
	struct weft_msg nack = *msg;

	if (why == WEFT_WHY_NO_LINE)
		count(m, NO_LINE);
	nack.type = WEFT_MSG_NACK;
	nack.info = why;
	nack.flags = 0;
	nack.holder = 0;
	nack.len = 0;
	nack.payload = NULL;
	send_message(m, &nack, to);
}

u16 access_contents(struct memd *m, const struct region *r, u32 node)
{
	if (!access_node(r, node)) {
		count(m, NOT_ALLOWED);
		return WEFT_WHY_NO_LINE;
	}
	if (!(r->opens & weft_node_bit(node))) {
		count(m, NOT_OPENED);
		return WEFT_WHY_MOVING;
	}
	return 0;
}

u16 access_request(struct memd *m, const struct region *r, const struct weft_msg *msg)
{
	u32 node = weft_txn_member(msg->txn);
	u16 why;

	if (msg->type != WEFT_MSG_GETS && msg->type != WEFT_MSG_GETM &&
	    msg->type != WEFT_MSG_ACQUIRE)
		return 0;
	why = access_contents(m, r, msg->src);
	/* the answer goes to the node that the transaction is of */
	return why || node == msg->src ? why : access_contents(m, r, node);
}

bool access_write(struct memd *m, const struct region *r, u32 node)
{
	/* while all give back it is not known yet who has it open */
	if (r->opens & weft_node_bit(node) || (m->b->grace->active && access_node(r, node)))
		return true;
	if (access_node(r, node))
		count(m, NOT_OPENED);
	else
		count(m, NOT_ALLOWED);
	return false;
}
