// SPDX-License-Identifier: GPL-2.0-only
/* Counters of the kernel and of the memory blades, and what follows from them. */
#include "bench.h"

/* Types of messages that have to do with other things than lines that are used. */
static const char *const housekeeping[] = {
	"add", "add_ack", "remove", "remove_ack", "drop", "drop_ack", "members",
	"members_ack", "count", "count_ack", "call", "reply",
};

/**
 * tally_one() - add to a counter
 * @c: the counters
 * @prefix: before its name
 * @name: of the counter
 * @value: to add
 */
void tally_one(struct tally *c, const char *prefix, const char *name, uint64_t value)
{
	struct counted *n;
	char text[sizeof(n->name)];
	uint64_t i;

	snprintf(text, sizeof(text), "%s%s", prefix, name);
	for (i = 0; i < c->len; i++) {
		if (!strcmp(c->list[i].name, text)) {
			c->list[i].value += value;
			return;
		}
	}
	if (c->len == TALLY_MAX)
		node_die("more counters than there is room for");
	n = &c->list[c->len++];
	memcpy(n->name, text, sizeof(n->name));
	n->value = value;
}

uint64_t tally_get(const struct tally *c, const char *name)
{
	uint64_t i;

	for (i = 0; i < c->len; i++)
		if (!strcmp(c->list[i].name, name))
			return c->list[i].value;
	return 0;
}

void tally_since(struct tally *c, const struct tally *before)
{
	uint64_t i, len = 0, was;

	for (i = 0; i < c->len; i++) {
		was = tally_get(before, c->list[i].name);
		/* some of the home's tell how much there is, and may shrink */
		if (c->list[i].value <= was)
			continue;
		c->list[len] = c->list[i];
		c->list[len++].value -= was;
	}
	c->len = len;
}

void tally_add(struct tally *sum, const struct tally *c)
{
	uint64_t i;

	for (i = 0; i < c->len; i++)
		tally_one(sum, "", c->list[i].name, c->list[i].value);
}

uint64_t tally_misses(const struct tally *c)
{
	static const char *const kinds[] = {
		"miss_read_unshared", "miss_read_shared", "miss_read_modified",
		"miss_write_unshared", "miss_write_shared", "miss_write_modified",
		"miss_upgrade",
	};
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		sum += tally_get(c, kinds[i]);
	return sum;
}

void tally_packets(struct tally *c)
{
	FILE *f = fopen("/proc/net/dev", "re");
	unsigned long long received, sent;
	char line[512], name[32];

	if (!f)
		node_die("cannot count packets: /proc/net/dev: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %31[^:]: %*u %llu %*u %*u %*u %*u %*u %*u %*u %llu", name,
			   &received, &sent) != 3 || !strcmp(name, "lo"))
			continue;
		tally_one(c, "", "packets_received", received);
		tally_one(c, "", "packets_sent", sent);
	}
	fclose(f);
}

static bool is_housekeeping(const char *type)
{
	unsigned int i;

	for (i = 0; i < sizeof(housekeeping) / sizeof(*housekeeping); i++)
		if (!strcmp(type, housekeeping[i]))
			return true;
	return false;
}

/* If a name begins like this, the rest of it. */
static const char *rest_of(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) ? NULL : name + len;
}

static uint64_t of_type(const struct tally *c, const char *by_node,
			const char *by_home, const char *type)
{
	char name[64];
	uint64_t n;

	snprintf(name, sizeof(name), "%s%s", by_node, type);
	n = tally_get(c, name);
	snprintf(name, sizeof(name), "%s%s", by_home, type);
	return n + tally_get(c, name);
}

uint64_t tally_messages(const struct tally *c)
{
	static const char *const prefixes[] = {
		"sent_", "home_out_", "received_", "home_in_",
	};
	uint64_t sum = 0, i, sent, got;
	const char *type, *other;
	unsigned int k, before;

	for (i = 0; i < c->len; i++) {
		for (k = 0; k < 4; k++) {
			type = rest_of(c->list[i].name, prefixes[k]);
			if (type)
				break;
		}
		if (k == 4 || is_housekeeping(type))
			continue;
		/* each type at the first of its counters */
		for (before = 0; before < i; before++) {
			for (k = 0; k < 4; k++) {
				other = rest_of(c->list[before].name, prefixes[k]);
				if (other && !strcmp(other, type))
					break;
			}
			if (k < 4)
				break;
		}
		if (before < i)
			continue;
		sent = of_type(c, "sent_", "home_out_", type);
		got = of_type(c, "received_", "home_in_", type);
		sum += sent > got ? sent : got;
	}
	return sum;
}
