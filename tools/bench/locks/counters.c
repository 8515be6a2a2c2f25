// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's counters, as weftctl -j stats prints them; enough of JSON for that.
 */
#include "bench.h"

/* Types of messages that have to do with other things than lines that are used. */
static const char *const housekeeping[] = {
	"add", "add_ack", "remove", "remove_ack", "drop", "drop_ack", "members",
	"members_ack", "count", "count_ack", "call", "reply",
};

static void add_one(struct counters *c, const char *prefix, const char *name, size_t len,
		    uint64_t value)
{
	struct counted *n;
	char text[sizeof(n->name)];
	uint64_t i;

	snprintf(text, sizeof(text), "%s%.*s", prefix, (int)len, name);
	for (i = 0; i < c->len; i++) {
		if (!strcmp(c->list[i].name, text)) {
			c->list[i].value += value;
			return;
		}
	}
	if (c->len == COUNTERS_MAX)
		node_die("more counters than there is room for");
	n = &c->list[c->len++];
	memcpy(n->name, text, sizeof(n->name));
	n->value = value;
}

/* The pairs of the object that begins at @text. */
static void add_object(struct counters *c, const char *prefix, const char *text)
{
	const char *name, *end = strchr(text, '}');

	while ((name = strchr(text, '"')) && (!end || name < end)) {
		text = strchr(++name, '"');
		if (!text || text[1] != ':')
			return;
		add_one(c, prefix, name, (size_t)(text - name), strtoull(text + 2, NULL, 10));
		text += 2;
	}
}

/**
 * counters_read() - all that there are now
 * @c: filled
 * @command: prints them; the first node asks for those of the memory blades as
 *	well, the others add " node"
 */
void counters_read(struct counters *c, const char *command)
{
	static char text[1 << 17];
	const char *at, *memory;
	char line[4096];
	size_t n;
	FILE *f;

	c->len = 0;
	if (!command)
		return;
	snprintf(line, sizeof(line), "%s%s", command, node.number == 1 ? "" : " node");
	f = popen(line, "r");
	if (!f)
		node_die("cannot run %s: %s", command, strerror(errno));
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	if (pclose(f))
		node_die("%s has failed", command);
	memory = strstr(text, "\"memory\":{");
	at = strstr(text, "\"counters\":{");
	if (!at || (memory && at > memory))
		node_die("%s does not print the counters of the node", command);
	add_object(c, "", at + strlen("\"counters\":{"));
	at = memory ? strstr(memory, "\"total\":{") : NULL;
	if (at)
		add_object(c, "home_", at + strlen("\"total\":{"));
}

uint64_t counters_get(const struct counters *c, const char *name)
{
	uint64_t i;

	for (i = 0; i < c->len; i++)
		if (!strcmp(c->list[i].name, name))
			return c->list[i].value;
	return 0;
}

void counters_since(struct counters *c, const struct counters *before)
{
	uint64_t i, len = 0, was;

	for (i = 0; i < c->len; i++) {
		was = counters_get(before, c->list[i].name);
		/* some of the home's tell how much there is, and may shrink */
		if (c->list[i].value <= was)
			continue;
		c->list[len] = c->list[i];
		c->list[len++].value -= was;
	}
	c->len = len;
}

void counters_add(struct counters *sum, const struct counters *c)
{
	uint64_t i;

	for (i = 0; i < c->len; i++)
		add_one(sum, "", c->list[i].name, strlen(c->list[i].name),
			c->list[i].value);
}

uint64_t counters_misses(const struct counters *c)
{
	static const char *const kinds[] = {
		"miss_read_unshared", "miss_read_shared", "miss_read_modified",
		"miss_write_unshared", "miss_write_shared", "miss_write_modified",
		"miss_upgrade",
	};
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		sum += counters_get(c, kinds[i]);
	return sum;
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

static uint64_t of_type(const struct counters *c, const char *by_node,
			const char *by_home, const char *type)
{
	char name[64];
	uint64_t n;

	snprintf(name, sizeof(name), "%s%s", by_node, type);
	n = counters_get(c, name);
	snprintf(name, sizeof(name), "%s%s", by_home, type);
	return n + counters_get(c, name);
}

uint64_t counters_messages(const struct counters *c)
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
