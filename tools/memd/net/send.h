/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages to others, for all layers above: they get the sender, the rack and a tag, and wait in
 * the socket until the event loop flushes it (udp.h).
 */
#ifndef WEFT_MEMD_SEND_H
#define WEFT_MEMD_SEND_H

#include "types.h"

struct memd;
struct weft_call;
struct weft_msg;

/* Send to an address; src and rack are set, unless src is set already. */
void send_message(struct memd *m, struct weft_msg *msg, u32 addr);

/* The same without a tag: for who has another key, or none. */
void send_plain(struct memd *m, struct weft_msg *msg, u32 addr);

/* Send to a member, if its address is known. */
void send_to_member(struct memd *m, struct weft_msg *msg, u32 id);

/* A call under @txn, to an address; to a member. */
void send_call(struct memd *m, const struct weft_call *call, u32 txn, u32 nonce, u32 addr);
void send_call_to(struct memd *m, const struct weft_call *call, u32 txn, u32 id);

/* The same in two steps: write the payload where this says, then send. */
void *send_buffer(struct memd *m);
void send_written(struct memd *m, struct weft_msg *msg, u32 addr);

/* The same with its hash, see weft_wire_hash(); @hash 0: not known yet, it is filled in. */
void send_hashed(struct memd *m, struct weft_msg *msg, u32 addr, u64 *hash);

#endif /* WEFT_MEMD_SEND_H */
