/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key of a rack, the keyed hashes made with it, and stamps of the rack's clock.  wire.c and
 * hello.c make and check tags with it; hosts load the key.  wire.c says which bytes are covered,
 * docs/protocol.md why.
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

/*
 * A tag is SipHash-2-4 over all that no switch rewrites: only holders of the key can make one.
 * A stamp says when a message was sent, so that a recorded message does not count again later.
 * SipHash is keyed by design, takes 1.5 cycles a byte, and is part of every kernel; in user space
 * it comes from libsodium.
 */

#define WEFT_KEY_LEN	32	/* bytes: 16 for headers, 16 for payloads */
#define WEFT_KEY_TEXT	(2 * WEFT_KEY_LEN)	/* hexadecimal digits in a file */

/**
 * struct weft_key - the key of a rack; zeroed if the rack has none
 * @set: there is a key
 * @header: hashes the covered part of headers
 * @payload: hashes payloads
 * @nothing: the hash of 0 bytes, the payload of most messages
 */
struct weft_key {
	bool set;
	weft_sip_key header;
	weft_sip_key payload;
	u64 nothing;
};

/* Ticks of the rack's clock a second, and the ticks that a message may be old or ahead. */
#define WEFT_TICK_HZ		16
#define WEFT_TICKS_FRESH	(10 * WEFT_TICK_HZ)

/**
 * struct weft_stamp - a moment of the rack's clock
 * @epoch: life of the first blade, which keeps the clock; 0: not known yet
 * @tick: WEFT_TICK_HZ a second since that life began; wraps
 */
struct weft_stamp {
	u32 epoch;
	u32 tick;
};

/* May a message that was sent at @sent count at @now? */
static inline bool weft_stamp_fresh(struct weft_stamp now, struct weft_stamp sent)
{
	u32 apart = now.tick - sent.tick + WEFT_TICKS_FRESH;

	return now.epoch && now.epoch == sent.epoch && apart <= 2 * WEFT_TICKS_FRESH;
}

/* Make a key of the bytes that a key file has in hexadecimal digits. */
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

/* A number to compare the keys of two machines by; does not disclose the key. */
u32 weft_key_fingerprint(const struct weft_key *key);

/* Hash of a payload; @len may be 0. */
u64 weft_key_payload(const struct weft_key *key, const void *payload, size_t len);

/* Hash of the covered part of a header, which includes the hash of the payload. */
u64 weft_key_header(const struct weft_key *key, const void *covered, size_t len);

#endif /* WEFT_CORE_TAG_H */
