// SPDX-License-Identifier: GPL-2.0-only
/* What is said as cards are connected, see greet.h. */
#include <linux/export.h>

#include "core/hello.h"
#include "net/clock.h"
#include "net/greet.h"
#include "net/node.h"
#include "net/peer.h"

void weft_greet_say(struct weft_node *node, u8 to, void *buf)
{
	struct weft_hello hello = {
		.from = node->id, .to = to, .rack = node->rack,
		.stamp = weft_clock_read(&node->clock),
	};

	weft_hello_pack(&hello, buf, &node->key);
}
EXPORT_SYMBOL_GPL(weft_greet_say);

const char *weft_greet_check(struct weft_node *node, const void *said, size_t len,
			     __be32 addr, u8 must_be, struct weft_hello *hello)
{
	if (weft_hello_unpack(hello, said, len, &node->key))
		return "it speaks another version, or has another key";
	if (hello->rack != node->rack || hello->to != node->id)
		return "it means another node";
	if (node->key.set && !weft_stamp_fresh(weft_clock_read(&node->clock), hello->stamp))
		return "what it says is old";
	if (!addr || addr != weft_peer_addr(&node->peers, hello->from))
		return "no member has its number and address";
	if (must_be && must_be != hello->from)
		return "it is another member";
	return NULL;
}
EXPORT_SYMBOL_GPL(weft_greet_check);
