// SPDX-License-Identifier: GPL-2.0-only
/* Messages to others, see send.h. */
#include "net/send.h"

#include "base/blade.h"
#include "base/log.h"
#include "call.h"
#include "flow.h"
#include "net/members.h"
#include "net/udp.h"
#include "wire.h"

void *send_buffer(struct memd *m)
{
	return udp_buffer(m->udp) + WEFT_WIRE_HDR_LEN;
}

static void send_with(struct memd *m, struct weft_msg *msg, u32 addr,
		      const struct weft_key *key, u64 *hash)
{
	u8 *buf = udp_buffer(m->udp), *payload = buf + WEFT_WIRE_HDR_LEN;
	size_t len;

	msg->rack = m->b->opt.rack;
	if (!msg->src)
		msg->src = m->b->opt.id;
	if (!addr) {
		count(m, NO_ADDRESS);
		return;
	}
	if (memd_suspended(m)) {
		count(m, SUSPENDED);
		return;
	}
	msg->payload = msg->len ? payload : NULL;
	if (!*hash)
		*hash = weft_wire_hash(msg->payload, msg->len, key);
	len = weft_wire_pack_hashed(msg, buf, payload + msg->len, key, memd_time(m), *hash);
	udp_send(m->udp, addr, weft_flow(msg->type, msg->line), len,
		 weft_wire_joins(msg->type));
	if (msg->type < MEMD_TYPES)
		m->stats.out[msg->type]++;
	if (log_verbose)
		log_note("to %s: %s line %llx txn %08x", log_addr(addr),
			 weft_msg_name(msg->type),
			 (unsigned long long)msg->line, msg->txn);
}

void send_hashed(struct memd *m, struct weft_msg *msg, u32 addr, u64 *hash)
{
	send_with(m, msg, addr, &m->b->key, hash);
}

void send_written(struct memd *m, struct weft_msg *msg, u32 addr)
{
	u64 hash = 0;

	send_with(m, msg, addr, &m->b->key, &hash);
}

static void copy_payload(struct memd *m, const struct weft_msg *msg)
{
	/* it is there already if this is not the first receiver */
	if (msg->len && msg->payload != send_buffer(m))
		memcpy(send_buffer(m), msg->payload, msg->len);
}

void send_message(struct memd *m, struct weft_msg *msg, u32 addr)
{
	copy_payload(m, msg);
	send_written(m, msg, addr);
}

void send_plain(struct memd *m, struct weft_msg *msg, u32 addr)
{
	u64 hash = 0;

	copy_payload(m, msg);
	send_with(m, msg, addr, NULL, &hash);
}

void send_to_member(struct memd *m, struct weft_msg *msg, u32 id)
{
	send_message(m, msg, id <= WEFT_BLADE_MAX ? m->b->members->by_id[id].addr : 0);
}

void send_call(struct memd *m, const struct weft_call *call, u32 txn, u32 nonce, u32 addr)
{
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL,
		.txn = txn,
		.nonce = nonce,
		.len = weft_call_pack(call, payload),
		.payload = payload,
	};

	send_message(m, &msg, addr);
}

void send_call_to(struct memd *m, const struct weft_call *call, u32 txn, u32 id)
{
	send_call(m, call, txn, 0, m->b->members->by_id[id].addr);
}
