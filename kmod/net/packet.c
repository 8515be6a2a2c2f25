// SPDX-License-Identifier: GPL-2.0-only
/* A message as it came, see packet.h. */
#include <linux/percpu.h>
#include <linux/xxhash.h>

#include "net/config.h"
#include "net/packet.h"

/* Hash of a payload that lies in several pieces. */
static u32 scattered_psum(const struct weft_packet *packet)
{
	unsigned int len = packet->len - WEFT_WIRE_HDR_LEN;
	struct skb_seq_state seq;
	struct xxh64_state hash;
	unsigned int at = 0, n;
	const u8 *data;

	xxh64_reset(&hash, WEFT_WIRE_PSUM_SEED);
	skb_prepare_seq_read(packet->skb, packet->at + WEFT_WIRE_HDR_LEN,
			     packet->at + packet->len, &seq);
	while ((n = skb_seq_read(at, &data, &seq))) {
		/* a piece may go on behind what was asked for */
		n = min(n, len - at);
		xxh64_update(&hash, data, n);
		at += n;
	}
	return weft_wire_psum_fold(xxh64_digest(&hash));
}

/*
 * A payload in several pieces, with its trailer, in one: SipHash wants it so.  It is
 * no longer than a datagram.  Of the softirq of each processor.
 */
static u8 __percpu *whole;

int weft_packet_init(void)
{
	/* too much for what modules may have without asking */
	whole = __alloc_percpu(WEFT_MTU_MAX, sizeof(u64));
	return whole ? 0 : -ENOMEM;
}

void weft_packet_exit(void)
{
	free_percpu(whole);
}

/* The payload stays where it is. */
static int check_scattered(struct weft_packet *packet, const struct weft_key *key,
			   const void *hdr, u32 psum)
{
	u32 rest = packet->len - WEFT_WIRE_HDR_LEN;
	u8 *copy;

	if (!packet->msg.tagged) {
		if (scattered_psum(packet) != psum)
			return -EILSEQ;
		return weft_wire_check_tag(&packet->msg, hdr, hdr, key);
	}
	copy = this_cpu_ptr(whole);
	if (rest > WEFT_MTU_MAX ||
	    skb_copy_bits(packet->skb, (int)(packet->at + WEFT_WIRE_HDR_LEN), copy,
			  (int)rest))
		return -EBADMSG;
	return weft_wire_check_tag(&packet->msg, hdr, copy, key);
}

int weft_packet_parse(struct weft_packet *packet, const struct weft_key *key,
		      struct sk_buff *skb, u32 at)
{
	u8 room[WEFT_WIRE_HDR_LEN];
	const void *hdr;
	u32 psum;
	int err;

	packet->skb = skb;
	packet->at = at;
	packet->len = skb->len - at;
	hdr = skb_header_pointer(skb, (int)at, sizeof(room), room);
	if (!hdr)
		return -EBADMSG;
	packet->len = (u32)weft_wire_first(hdr, packet->len);
	/*
	 * One before it may wait for its landing, with a reference to the datagram, which
	 * nobody may change then.  What may stand here stays where it is.
	 */
	if (at && !weft_wire_joins(weft_wire_type(hdr)))
		return -EBADMSG;
	if (at + packet->len > skb_headlen(skb)) {
		err = weft_wire_unpack_header(&packet->msg, hdr, packet->len, &psum);
		if (err)
			return err;
		if (weft_msg_has_data(packet->msg.type))
			return check_scattered(packet, key, hdr, psum);
		if (skb_linearize(skb))
			return -ENOMEM;
	}
	return weft_wire_unpack(&packet->msg, skb->data + at, packet->len,
				key);
}

void weft_packet_copy(const struct weft_packet *packet, u32 from, void *dst,
		      u32 n)
{
	if (packet->msg.payload)
		memcpy(dst, packet->msg.payload + from, n);
	else
		/* within the message: weft_wire_unpack_header() saw to it */
		skb_copy_bits(packet->skb,
			      (int)(packet->at + WEFT_WIRE_HDR_LEN + from), dst,
			      (int)n);
}
