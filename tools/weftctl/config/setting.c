// SPDX-License-Identifier: GPL-2.0-only
/* What "weftctl up" can be told, see setting.h. */
#include "config/setting.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "weft.h"
#include "weft_wire.h"

#define CACHE_MIN	(UINT64_C(256) << 10)	/* as kmod/fs/super.c has it */
#define CACHE_MAX	(UINT64_C(1) << 50)	/* more than any machine has */
#define BLOCK_MIN	4096

const struct setting settings_table[SETTINGS] = {
	[SETTING_NODE] = {
		"node", "1",
		"the number of this node, 1 to 32, which no other node of the rack has",
		true,
	},
	[SETTING_INTERFACE] = {
		"interface", "eth0",
		"the one that leads to the rack ('ip link' lists them)", true,
	},
	[SETTING_HOMES] = {
		"homes", "10.0.0.101, 10.0.0.102",
		"the addresses of the memory blades, in the order of their numbers", true,
	},
	[SETTING_RACK] = {
		"rack", "0", "the number of the rack, the same on all members", false,
	},
	[SETTING_JOINS] = {
		"joins", "0",
		"the number that the rack has for all others, if this machine is a node of it already under that",
		false,
	},
	[SETTING_ADDRESS] = {
		"address", "10.0.0.1", "an IPv4 address of the interface", false,
	},
	[SETTING_MTU] = {
		"mtu", "9000", "the longest datagram, in bytes", false,
	},
	[SETTING_TIMEOUT] = {
		"timeout", "30",
		"how long programs wait for the network, in seconds", false,
	},
	[SETTING_HOLD] = {
		"hold", "100",
		"how long a block stays after it came, in microseconds", false,
	},
	[SETTING_KEY] = {
		"key", "/etc/weft/key",
		"the file with the rack's key, the same on all members", false,
	},
	[SETTING_MOUNT] = {
		"mount", "/weft", "where the regions are", false,
	},
	[SETTING_CACHE] = {
		"cache", "1G", "memory for blocks of regions", false,
	},
	[SETTING_BLOCK] = {
		"block", "4K", "a power of two from 4K to 64K", false,
	},
	[SETTING_MODE] = {
		"mode", "1777", "permissions of the root directory", false,
	},
	[SETTING_UID] = {
		"uid", "0", "the number of the root directory's owner", false,
	},
	[SETTING_GID] = {
		"gid", "0", "the number of the root directory's group", false,
	},
};

static bool read_block(const char *text, uint32_t *block, struct why *why)
{
	char quoted[VALUE_QUOTED_MAX];
	uint64_t bytes;

	if (!value_size(text, BLOCK_MIN, WEFT_REGION_BLOCK_MAX, &bytes, why))
		return false;
	if (bytes & (bytes - 1)) {
		snprintf(why->text, sizeof(why->text), "%s is not a power of two",
			 value_quoted(text, quoted));
		return false;
	}
	*block = (uint32_t)bytes;
	return true;
}

static bool read_value(enum setting_id id, const char *text, struct settings *s,
		       struct why *why)
{
	struct config *c = &s->config;
	struct mounting *m = &s->mounting;

	switch (id) {
	case SETTING_NODE:
		return value_u32(text, WEFT_NODE_MIN, WEFT_NODE_MAX, &c->id, why);
	case SETTING_INTERFACE:
		return value_interface(text, c->ifname, why);
	case SETTING_HOMES:
		return value_blades(text, c->homes, c->twins, WEFT_HOMES_MAX,
				    &c->homes_len, why);
	case SETTING_RACK:
		return value_u32(text, 0, UINT32_MAX, &c->rack, why);
	case SETTING_JOINS:
		c->joins_set = true;
		return value_u32(text, 0, UINT32_MAX, &c->joins, why);
	case SETTING_ADDRESS:
		return value_address(text, &c->address, why);
	case SETTING_MTU:
		return value_u32(text, WEFT_MTU_MIN, WEFT_MTU_MAX, &c->mtu, why);
	case SETTING_TIMEOUT:
		return value_seconds(text, WEFT_TIMEOUT_MS_MIN, WEFT_TIMEOUT_MS_MAX,
				     &c->timeout_ms, why);
	case SETTING_HOLD:
		c->hold_set = true;
		return value_u32(text, 0, WEFT_HOLD_US_MAX, &c->hold_us, why);
	case SETTING_KEY:
		return value_path(text, c->key_path, why);
	case SETTING_MOUNT:
		return value_path(text, m->path, why);
	case SETTING_CACHE:
		return value_size(text, CACHE_MIN, CACHE_MAX, &m->cache, why);
	case SETTING_BLOCK:
		return read_block(text, &m->block, why);
	case SETTING_MODE:
		return value_mode(text, &m->mode, why);
	case SETTING_UID:
		/* The last number is nobody's. */
		return value_u32(text, 0, UINT32_MAX - 1, &m->uid, why);
	case SETTING_GID:
		return value_u32(text, 0, UINT32_MAX - 1, &m->gid, why);
	case SETTINGS:
		break;
	}
	return false;
}

bool setting_read(enum setting_id id, const char *text, struct settings *s,
		  struct why *why)
{
	struct settings read = *s;

	why->text[0] = 0;
	if (!read_value(id, text, &read, why))
		return false;
	read.given |= UINT32_C(1) << id;
	*s = read;
	return true;
}

static void print_address(struct in_addr a, FILE *out)
{
	char text[INET_ADDRSTRLEN];

	fputs(inet_ntop(AF_INET, &a, text, sizeof(text)), out);
}

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

const char *setting_home(const struct config *c, unsigned int i, char text[SETTING_HOME_MAX])
{
	char home[INET_ADDRSTRLEN] = "?", twin[INET_ADDRSTRLEN] = "?";

	inet_ntop(AF_INET, &c->homes[i], home, sizeof(home));
	inet_ntop(AF_INET, &c->twins[i], twin, sizeof(twin));
	if (c->twins[i].s_addr)
		snprintf(text, SETTING_HOME_MAX, "%s/%s", home, twin);
	else
		snprintf(text, SETTING_HOME_MAX, "%s", home);
	return text;
}

void setting_print(enum setting_id id, const struct settings *s, FILE *out)
{
	const struct config *c = &s->config;
	const struct mounting *m = &s->mounting;
	char text[SETTING_HOME_MAX];
	unsigned int i;

	switch (id) {
	case SETTING_NODE:
		fprintf(out, "%u", c->id);
		break;
	case SETTING_INTERFACE:
		fputs(c->ifname, out);
		break;
	case SETTING_HOMES:
		for (i = 0; i < c->homes_len; i++)
			fprintf(out, "%s%s", i ? ", " : "", setting_home(c, i, text));
		break;
	case SETTING_RACK:
		fprintf(out, "%u", c->rack);
		break;
	case SETTING_JOINS:
		fprintf(out, "%u", c->joins);
		break;
	case SETTING_ADDRESS:
		print_address(c->address, out);
		break;
	case SETTING_MTU:
		fprintf(out, "%u", c->mtu);
		break;
	case SETTING_TIMEOUT:
		print_milli(c->timeout_ms, out);
		break;
	case SETTING_HOLD:
		fprintf(out, "%u", c->hold_us);
		break;
	case SETTING_KEY:
		fputs(c->key_path, out);
		break;
	case SETTING_MOUNT:
		fputs(m->path, out);
		break;
	case SETTING_CACHE:
		print_bytes(m->cache, out);
		break;
	case SETTING_BLOCK:
		print_bytes(m->block, out);
		break;
	case SETTING_MODE:
		fprintf(out, "%o", m->mode);
		break;
	case SETTING_UID:
		fprintf(out, "%u", m->uid);
		break;
	case SETTING_GID:
		fprintf(out, "%u", m->gid);
		break;
	case SETTINGS:
		break;
	}
}

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

/* What other programs, and the options of this one's forerunners, call them. */
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
