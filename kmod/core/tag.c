// SPDX-License-Identifier: GPL-2.0-only
/* Keyed hashes of kernel and user space, see tag.h. */
#include "tag.h"

#ifdef __KERNEL__
static u64 hash(const weft_sip_key *key, const void *data, size_t len)
{
	return siphash(data, len, key);
}

static void set_half(weft_sip_key *key, const u8 *bytes)
{
	key->key[0] = get_unaligned_le64(bytes);
	key->key[1] = get_unaligned_le64(bytes + 8);
}
#else
#include <sodium/crypto_shorthash_siphash24.h>

static_assert(crypto_shorthash_siphash24_KEYBYTES == sizeof(weft_sip_key), "SipHash's key");
static_assert(crypto_shorthash_siphash24_BYTES == sizeof(u64), "SipHash's hash");

static u64 hash(const weft_sip_key *key, const void *data, size_t len)
{
	u8 out[crypto_shorthash_siphash24_BYTES];
	u64 v = 0;
	int i;

	crypto_shorthash_siphash24(out, data, len, key->bytes);
	/* little-endian, as the kernel's siphash() returns it */
	for (i = 7; i >= 0; i--)
		v = v << 8 | out[i];
	return v;
}

static void set_half(weft_sip_key *key, const u8 *bytes)
{
	memcpy(key->bytes, bytes, sizeof(key->bytes));
}
#endif

void weft_key_init(struct weft_key *key, const u8 bytes[WEFT_KEY_LEN])
{
	memset(key, 0, sizeof(*key));
	set_half(&key->header, bytes);
	set_half(&key->payload, bytes + WEFT_KEY_LEN / 2);
	key->nothing = hash(&key->payload, "", 0);
	key->set = true;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int weft_key_parse(u8 bytes[WEFT_KEY_LEN], const char *text, size_t len)
{
	u32 i;

	if (len && text[len - 1] == '\n')
		len--;
	if (len != WEFT_KEY_TEXT)
		return -EINVAL;
	for (i = 0; i < WEFT_KEY_LEN; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		bytes[i] = (u8)(high << 4 | low);
	}
	return 0;
}

u32 weft_key_fingerprint(const struct weft_key *key)
{
	/* no header has this length, so the hash is no tag */
	static const char what[] = "weft key";
	u64 v = hash(&key->header, what, sizeof(what));

	return (u32)(v ^ v >> 32);
}

u64 weft_key_payload(const struct weft_key *key, const void *payload, size_t len)
{
	return len ? hash(&key->payload, payload, len) : key->nothing;
}

u64 weft_key_header(const struct weft_key *key, const void *covered, size_t len)
{
	return hash(&key->header, covered, len);
}
