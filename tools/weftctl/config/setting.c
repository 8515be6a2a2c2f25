// SPDX-License-Identifier: GPL-2.0-only
/* Settings of "weftctl up", see setting.h. */
#include "config/setting.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "weft.h"
#include "weft_wire.h"

#define CACHE_MIN	(UINT64_C(256) << 10)	/* as kmod/fs/super.c has it */
#define CACHE_MAX	(UINT64_C(1) << 50)	/* more than any machine has */
#define BLOCK_MIN	4096

#define CONFIG(member)		offsetof(struct settings, config.member)
#define MOUNTING(member)	offsetof(struct settings, mounting.member)

const struct setting settings_table[SETTINGS] = {
	[SETTING_NODE] = {
		"node", "1", "the number of this node, 1 to 32, which no other node of the rack has",
		true, .kind = SETTING_KIND_U32, .offset = CONFIG(id), WEFT_NODE_MIN, WEFT_NODE_MAX,
	},
	[SETTING_INTERFACE] = {
		"interface", "eth0", "the one that leads to the rack ('ip link' lists them)",
		true, .kind = SETTING_KIND_INTERFACE, .offset = CONFIG(ifname),
	},
	[SETTING_HOMES] = {
		"homes", "10.0.0.101, 10.0.0.102",
		"the addresses of the memory blades, in the order of their numbers",
		true, .kind = SETTING_KIND_HOMES,
	},
	[SETTING_RACK] = {
		"rack", "0", "the number of the rack, the same on all members",
		false, .kind = SETTING_KIND_U32, .offset = CONFIG(rack), 0, UINT32_MAX,
	},
	[SETTING_JOINS] = {
		"joins", "0",
		"the number that the rack has for all others, if this machine is a node of it already under that",
		false, .kind = SETTING_KIND_U32, .offset = CONFIG(joins), 0, UINT32_MAX,
		.is_set = CONFIG(joins_set),
	},
	[SETTING_ADDRESS] = {
		"address", "10.0.0.1", "an IPv4 address of the interface",
		false, .kind = SETTING_KIND_ADDRESS, .offset = CONFIG(address),
	},
	[SETTING_MTU] = {
		"mtu", "9000", "the longest datagram, in bytes",
		false, .kind = SETTING_KIND_U32, .offset = CONFIG(mtu), WEFT_MTU_MIN, WEFT_MTU_MAX,
	},
	[SETTING_TIMEOUT] = {
		"timeout", "30", "how long programs wait for the network, in seconds",
		false, .kind = SETTING_KIND_SECONDS, .offset = CONFIG(timeout_ms), WEFT_TIMEOUT_MS_MIN,
		WEFT_TIMEOUT_MS_MAX, .key = "timeout_ms",
	},
	[SETTING_HOLD] = {
		"hold", "100", "how long a block stays after it came, in microseconds",
		false, .kind = SETTING_KIND_U32, .offset = CONFIG(hold_us), 0, WEFT_HOLD_US_MAX, "hold_us",
		CONFIG(hold_set),
	},
	[SETTING_KEY] = {
		"key", "/etc/weft/key", "the file with the rack's key, the same on all members",
		false, .kind = SETTING_KIND_PATH, .offset = CONFIG(key_path),
	},
	[SETTING_MOUNT] = {
		"mount", "/weft", "where the regions are",
		false, .kind = SETTING_KIND_PATH, .offset = MOUNTING(path),
	},
	[SETTING_CACHE] = {
		"cache", "1G", "memory for blocks of regions",
		false, .kind = SETTING_KIND_BYTES, .offset = MOUNTING(cache), CACHE_MIN, CACHE_MAX,
	},
	[SETTING_BLOCK] = {
		"block", "4K", "a power of two from 4K to 64K",
		false, .kind = SETTING_KIND_BLOCK, .offset = MOUNTING(block), BLOCK_MIN, WEFT_REGION_BLOCK_MAX,
	},
	[SETTING_MODE] = {
		"mode", "1777", "permissions of the root directory",
		false, .kind = SETTING_KIND_OCTAL, .offset = MOUNTING(mode),
	},
	/* The last number is nobody's. */
	[SETTING_UID] = {
		"uid", "0", "the number of the root directory's owner",
		false, .kind = SETTING_KIND_U32, .offset = MOUNTING(uid), 0, UINT32_MAX - 1,
	},
	[SETTING_GID] = {
		"gid", "0", "the number of the root directory's group",
		false, .kind = SETTING_KIND_U32, .offset = MOUNTING(gid), 0, UINT32_MAX - 1,
	},
};

/* --- Reading ---------------------------------------------------------------- */

static bool read_block(const char *text, uint64_t min, uint64_t max, uint32_t *block,
		       struct why *why)
{
	uint64_t bytes;

	if (!value_size(text, min, max, &bytes, why))
		return false;
	if (bytes & (bytes - 1)) {
		snprintf(why->text, sizeof(why->text), "%s is not a power of two",
			 value_quoted(text));
		return false;
	}
	*block = (uint32_t)bytes;
	return true;
}

static bool read_value(const struct setting *t, const char *text, struct settings *s,
		       struct why *why)
{
	void *to = (char *)s + t->offset;

	switch (t->kind) {
	case SETTING_KIND_U32:
		return value_u32(text, (uint32_t)t->min, (uint32_t)t->max, to, why);
	case SETTING_KIND_OCTAL:
		return value_mode(text, to, why);
	case SETTING_KIND_SECONDS:
		return value_seconds(text, (uint32_t)t->min, (uint32_t)t->max, to, why);
	case SETTING_KIND_BYTES:
		return value_size(text, t->min, t->max, to, why);
	case SETTING_KIND_BLOCK:
		return read_block(text, t->min, t->max, to, why);
	case SETTING_KIND_ADDRESS:
		return value_address(text, to, why);
	case SETTING_KIND_INTERFACE:
		return value_interface(text, to, why);
	case SETTING_KIND_PATH:
		return value_path(text, to, why);
	case SETTING_KIND_HOMES:
		break;
	}
	return value_blades(text, s->config.homes, s->config.twins, WEFT_HOMES_MAX,
			    &s->config.homes_len, why);
}

bool setting_read(enum setting_id id, const char *text, struct settings *s, struct why *why)
{
	struct settings read = *s;

	why->text[0] = 0;
	if (!read_value(&settings_table[id], text, &read, why))
		return false;
	if (settings_table[id].is_set)
		*((char *)&read + settings_table[id].is_set) = true;
	read.given |= UINT32_C(1) << id;
	*s = read;
	return true;
}

/* --- Printing --------------------------------------------------------------- */

static void print_milli(uint32_t ms, FILE *out)
{
	if (ms % 1000)
		fprintf(out, "%u.%03u", ms / 1000, ms % 1000);
	else
		fprintf(out, "%u", ms / 1000);
}

static void print_bytes(uint64_t bytes, FILE *out)
{
	static const char * const units[] = { "", "K", "M", "G", "T" };
	unsigned int i = 0;

	while (bytes && !(bytes & 1023) && i < 4) {
		bytes >>= 10;
		i++;
	}
	fprintf(out, "%" PRIu64 "%s", bytes, units[i]);
}

const char *setting_home(const struct config *c, unsigned int i)
{
	return text_format("%s%s%s", text_address(c->homes[i]), c->twins[i].s_addr ? "/" : "",
			   c->twins[i].s_addr ? text_address(c->twins[i]) : "");
}

/* Where the value of a kind is that is such a number, or such characters. */
static const void *place(enum setting_id id, const struct settings *s)
{
	return (const char *)s + settings_table[id].offset;
}

static uint64_t number(enum setting_id id, const struct settings *s)
{
	return settings_table[id].kind == SETTING_KIND_BYTES ?
	       *(const uint64_t *)place(id, s) : *(const uint32_t *)place(id, s);
}

void setting_print(enum setting_id id, const struct settings *s, FILE *out)
{
	unsigned int i;

	switch (settings_table[id].kind) {
	case SETTING_KIND_U32:
		fprintf(out, "%" PRIu64, number(id, s));
		break;
	case SETTING_KIND_OCTAL:
		fprintf(out, "%" PRIo64, number(id, s));
		break;
	case SETTING_KIND_SECONDS:
		print_milli((uint32_t)number(id, s), out);
		break;
	case SETTING_KIND_BYTES:
	case SETTING_KIND_BLOCK:
		print_bytes(number(id, s), out);
		break;
	case SETTING_KIND_ADDRESS:
		fputs(text_address(*(const struct in_addr *)place(id, s)), out);
		break;
	case SETTING_KIND_INTERFACE:
	case SETTING_KIND_PATH:
		fputs(place(id, s), out);
		break;
	case SETTING_KIND_HOMES:
		for (i = 0; i < s->config.homes_len; i++)
			fprintf(out, "%s%s", i ? ", " : "", setting_home(&s->config, i));
		break;
	}
}

void setting_json(enum setting_id id, const struct settings *s, struct json *j)
{
	const struct setting *t = &settings_table[id];
	const char *key = t->key ? t->key : t->name;
	unsigned int i;

	switch (t->kind) {
	case SETTING_KIND_U32:
	case SETTING_KIND_SECONDS:
	case SETTING_KIND_BYTES:
	case SETTING_KIND_BLOCK:
		json_u64(j, key, number(id, s));
		break;
	case SETTING_KIND_OCTAL:
		json_string(j, key, text_format("%" PRIo64, number(id, s)));
		break;
	case SETTING_KIND_ADDRESS:
		json_string(j, key, text_address(*(const struct in_addr *)place(id, s)));
		break;
	case SETTING_KIND_INTERFACE:
	case SETTING_KIND_PATH:
		json_string(j, key, place(id, s));
		break;
	case SETTING_KIND_HOMES:
		json_array(j, key);
		for (i = 0; i < s->config.homes_len; i++)
			json_string(j, NULL, setting_home(&s->config, i));
		json_close(j);
		break;
	}
}

/* --- Names ------------------------------------------------------------------ */

enum setting_id setting_find(const char *name)
{
	enum setting_id id;

	for (id = 0; id < SETTINGS; id++) {
		if (!strcmp(settings_table[id].name, name))
			break;
	}
	return id;
}

#define NAME_MAX_LIKE	16

/* Letters that must be added, taken away or changed to make @a of @b. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[NAME_MAX_LIKE + 1], i, j, before, least;
	size_t len = strlen(b);

	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		before = row[0];
		row[0] = i + 1;
		for (j = 0; j < len; j++) {
			least = before + (a[i] != b[j]);
			before = row[j + 1];
			if (before + 1 < least)
				least = before + 1;
			if (row[j] + 1 < least)
				least = row[j] + 1;
			row[j + 1] = least;
		}
	}
	return row[len];
}

/* Names that other programs, and earlier versions of this one, have for them. */
static const struct {
	const char *name;
	enum setting_id id;
} others[] = {
	{ "id", SETTING_NODE }, { "device", SETTING_INTERFACE },
	{ "dev", SETTING_INTERFACE }, { "blades", SETTING_HOMES },
	{ "peers", SETTING_HOMES }, { "ip", SETTING_ADDRESS },
	{ "size", SETTING_CACHE }, { "where", SETTING_MOUNT },
	{ "mountpoint", SETTING_MOUNT },
};

enum setting_id setting_like(const char *name)
{
	enum setting_id id, like = SETTINGS;
	unsigned int least = 3, d;
	char lower[NAME_MAX_LIKE + 1];
	size_t i, len = strlen(name);

	if (!len || len > NAME_MAX_LIKE)
		return SETTINGS;
	for (i = 0; i <= len; i++)
		lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(others[i].name, lower))
			return others[i].id;
	}
	for (id = 0; id < SETTINGS; id++) {
		d = distance(lower, settings_table[id].name);
		/* A word of three letters is like any other after two changes. */
		if (d < least && d < strlen(settings_table[id].name) - 1) {
			least = d;
			like = id;
		}
	}
	return like;
}

enum setting_id settings_missing(const struct settings *s)
{
	enum setting_id id;

	for (id = 0; id < SETTINGS; id++) {
		if (settings_table[id].needed && !setting_given(s, id))
			break;
	}
	return id;
}

enum setting_id settings_useless(const struct settings *s)
{
	enum setting_id id;

	if (setting_given(s, SETTING_MOUNT))
		return SETTINGS;
	for (id = 0; id < SETTINGS; id++) {
		if (setting_of_mount(id) && setting_given(s, id))
			break;
	}
	return id;
}
