/* SPDX-License-Identifier: GPL-2.0-only */
/* What this node says as a card is connected, and whom it believes (core/hello.h). */
#ifndef WEFT_GREET_H
#define WEFT_GREET_H

#include <linux/types.h>

struct weft_hello;
struct weft_node;

/**
 * weft_greet_say() - who this node is
 * @to: member that it means
 * @buf: WEFT_HELLO_LEN bytes
 *
 * Any context.
 */
void weft_greet_say(struct weft_node *node, u8 to, void *buf);

/**
 * weft_greet_check() - who is it?
 * @said: what was said
 * @len: bytes of it
 * @addr: by whom; 0: by nobody that we know
 * @must_be: member; 0: any
 * @hello: receives what was said, if nothing is wrong with it
 *
 * Any context.  Return: NULL; else what is wrong, a sentence.
 */
const char *weft_greet_check(struct weft_node *node, const void *said, size_t len,
			     __be32 addr, u8 must_be, struct weft_hello *hello);

#endif /* WEFT_GREET_H */
