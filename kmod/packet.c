// SPDX-License-Identifier: GPL-2.0-only
/* A message as it came, see packet.h. */
#include <linux/xxhash.h>

#include "packet.h"

/* Hash of a payload that lies in several pieces. */
static u32 scattered_psum(struct sk_buff *skb)
{
	struct skb_seq_state seq;
	struct xxh64_state hash;
	unsigned int at = 0, n;
	const u8 *data;

	xxh64_reset(&hash, WEFT_WIRE_PSUM_SEED);
	skb_prepare_seq_read(skb, WEFT_WIRE_HDR_LEN, skb->len, &seq);
	while ((n = skb_seq_read(at, &data, &seq))) {
		xxh64_update(&hash, data, n);
		at += n;
	}
	return weft_wire_psum_fold(xxh64_digest(&hash));
}

int weft_packet_parse(struct weft_packet *packet, struct sk_buff *skb)
{
	u32 psum;
	int err;

	packet->skb = skb;
	if (skb->len < WEFT_WIRE_HDR_LEN)
		return -EBADMSG;
	if (!pskb_may_pull(skb, WEFT_WIRE_HDR_LEN))
		return -ENOMEM;
	if (skb_is_nonlinear(skb)) {
		err = weft_wire_unpack_linear(&packet->msg, skb->data, skb->len,
					      &psum);
		if (err)
			return err;
		if (weft_msg_has_data(packet->msg.type))
			return scattered_psum(skb) == psum ? 0 : -EBADMSG;
		if (skb_linearize(skb))
			return -ENOMEM;
	}
	return weft_wire_unpack(&packet->msg, skb->data, skb->len);
}

void weft_packet_copy(const struct weft_packet *packet, u32 from, void *dst,
		      u32 n)
{
	if (packet->msg.payload)
		memcpy(dst, packet->msg.payload + from, n);
	else
		/* within the datagram: weft_wire_unpack_linear() saw to it */
		skb_copy_bits(packet->skb, WEFT_WIRE_HDR_LEN + (int)from, dst,
			      (int)n);
}
