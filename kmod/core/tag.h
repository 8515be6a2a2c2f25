/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key of a rack, the tags made with it, and the rack's clock.
 *
 * A tag is a keyed hash (SipHash-2-4) over what no switch rewrites: who has the key can
 * make one, nobody else can.  A stamp says when the message was sent by the rack's
 * clock, so that an old message that somebody recorded is told from a new one.  What
 * is covered, byte by byte, is in wire.c; why it is so in docs/protocol.md.
 *
 * SipHash because it is a keyed function by design, costs 1.5 cycles a byte, and is in
 * every kernel whatever its configuration.  In user space it comes from libsodium.
 */
#ifndef WEFT_CORE_TAG_H
#define WEFT_CORE_TAG_H

#include "types.h"

#ifdef __KERNEL__
#include <linux/siphash.h>

typedef siphash_key_t weft_sip_key;
#else
typedef struct {
	u8 bytes[16];
} weft_sip_key;
#endif

#define WEFT_KEY_LEN	32	/* bytes: 16 for headers, 16 for payloads */
#define WEFT_KEY_TEXT	(2 * WEFT_KEY_LEN)	/* hexadecimal digits in a file */

/**
 * struct weft_key - the key of the rack
 * @set: there is one; all else of a key that is all zeros is not used
 * @header: for what of the header is covered
 * @payload: for payloads
 * @nothing: the hash of a payload of 0 bytes, which most messages have
 */
struct weft_key {
	bool set;
	weft_sip_key header;
	weft_sip_key payload;
	u64 nothing;
};

/* Ticks of the rack's clock in a second, and how many a message may be old or ahead. */
#define WEFT_TICK_HZ		16
#define WEFT_TICKS_FRESH	(10 * WEFT_TICK_HZ)

/**
 * struct weft_stamp - a moment by the rack's clock
 * @epoch: the life of the first blade, which keeps the clock; 0: not heard of yet
 * @tick: since that life began, WEFT_TICK_HZ a second; wraps
 */
struct weft_stamp {
	u32 epoch;
	u32 tick;
};

/* Is what was sent at @sent to be believed at @now? */
static inline bool weft_stamp_fresh(struct weft_stamp now, struct weft_stamp sent)
{
	u32 apart = now.tick - sent.tick + WEFT_TICKS_FRESH;

	return now.epoch && now.epoch == sent.epoch &&
	       apart <= 2 * WEFT_TICKS_FRESH;
}

/**
 * weft_key_init() - make a key usable
 * @key: filled in
 * @bytes: what the key file says in hexadecimal digits
 */
void weft_key_init(struct weft_key *key, const u8 bytes[WEFT_KEY_LEN]);

/**
 * weft_key_parse() - read the text of a key file
 * @bytes: receives the key
 * @text: WEFT_KEY_TEXT hexadecimal digits and nothing else but a newline
 * @len: bytes of @text
 *
 * Return: 0 or -EINVAL.
 */
int weft_key_parse(u8 bytes[WEFT_KEY_LEN], const char *text, size_t len);

/* A number by which people compare the keys of two machines; tells nothing of the key. */
u32 weft_key_fingerprint(const struct weft_key *key);

/* Hash of a payload in one piece; @len may be 0. */
u64 weft_key_payload(const struct weft_key *key, const void *payload, size_t len);

/* Hash of what is covered of a header, @payload's hash included by the caller. */
u64 weft_key_header(const struct weft_key *key, const void *covered, size_t len);

#endif /* WEFT_CORE_TAG_H */
