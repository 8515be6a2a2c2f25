// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's trace, see trace.h; the events are those of kmod/base/trace.h. */
#include "view/trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "weft_wire.h"

#define COMM_COLUMNS	16	/* the kernel pads the names of processes to these */

__attribute__((format(printf, 2, 3)))
static void words(struct traced *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->words, sizeof(t->words), fmt, args);
	va_end(args);
}

/* --- Fields --------------------------------------------------------------- */

/* The value behind "KEY=", NULL without one. */
static const char *field(const char *fields, const char *key)
{
	size_t len = strlen(key);
	const char *at = fields;

	while ((at = strstr(at, key))) {
		if ((at == fields || at[-1] == ' ') && at[len] == '=')
			return at + len + 1;
		at += len;
	}
	return NULL;
}

static uint64_t number(const char *fields, const char *key, int base)
{
	const char *text = field(fields, key);

	return text ? strtoull(text, NULL, base) : 0;
}

/* Is the value of a field this word? */
static bool is(const char *fields, const char *key, const char *word)
{
	const char *text = field(fields, key);
	size_t len = strlen(word);

	return text && !strncmp(text, word, len) && (!text[len] || text[len] == ' ');
}

/* The member that a transaction "txn=MEMBER.SEQUENCE" is of. */
static uint32_t requester(const char *fields)
{
	return (uint32_t)number(fields, "txn", 10);
}

/* Peer of a message; the switch answers with the requester's own number. */
static const char *member(const struct traced *t, uint64_t id)
{
	if (!id || id > WEFT_BLADE_MAX || id == t->self)
		return "the switch";
	return text_member((uint32_t)id);
}

/* --- Events --------------------------------------------------------------- */

static void tell_miss(struct traced *t, const char *f)
{
	t->event = "miss";
	t->access = number(f, "write", 10) ? 'w' : 'r';
	t->has_at = true;
	t->at = number(f, "offset", 10);
	words(t, "%s of byte %" PRIu64 " has to wait", t->access == 'w' ? "write" : "read",
	      t->at);
}

static void tell_begin(struct traced *t, const char *f)
{
	t->event = "ask";
	t->access = is(f, "op", "GETM") ? 'w' : 'r';
	if (t->access == 'w' && is(f, "state", "S"))
		words(t, "asks to write what it may read");
	else
		words(t, "asks to %s", t->access == 'w' ? "write" : "read");
}

/* Copies that the miss met elsewhere, by its kind. */
static const char *kind(const char *f)
{
	static const char * const kinds[][2] = {
		{ "read_unshared",	"no other copy" },
		{ "read_shared",	"others read it" },
		{ "read_modified",	"another node had modified it" },
		{ "write_unshared",	"no other copy" },
		{ "write_shared",	"others had read it" },
		{ "write_modified",	"another node had modified it" },
		{ "upgrade",		"it had a copy to read" },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (is(f, "kind", kinds[i][0]))
			return kinds[i][1];
	}
	return "in another way";
}

static void tell_served(struct traced *t, const char *f)
{
	uint64_t rounds = number(f, "rounds", 10);

	t->event = "got";
	t->access = is(f, "state", "M") ? 'w' : 'r';
	t->has_took = true;
	t->took = number(f, "nsec", 10);
	words(t, "may %s now, after %s and %" PRIu64 " round trip%s: %s",
	      t->access == 'w' ? "write" : "read", text_duration((double)t->took),
	      rounds, rounds == 1 ? "" : "s", kind(f));
}

static void tell_retry(struct traced *t, const char *f)
{
	t->event = "again";
	if (is(f, "op", "-"))
		words(t, "asks the directory what became of what it gave away");
	else if (is(f, "op", "GETS") || is(f, "op", "GETM"))
		words(t, number(f, "nacks", 10) ? "asks again what was refused" :
						  "asks again: no answer came");
	else
		words(t, "sends again what nobody has confirmed");
}

static void tell_revoked(struct traced *t, const char *f)
{
	t->event = "lost";
	t->access = is(f, "state", "S") ? 'r' : 0;
	words(t, t->access ? "may only read from now on" : "has given it up");
}

static void tell_evict(struct traced *t, const char *f)
{
	(void)f;
	t->event = "evict";
	words(t, "leaves the cache");
}

static void tell_lock_granted(struct traced *t, const char *f)
{

	t->event = "lock_got";
	t->access = is(f, "state", "M") ? 'w' : 'r';
	t->has_took = true;
	t->took = number(f, "nsec", 10);
	words(t, "has the lock to %s, after %s", t->access == 'w' ? "write" : "read",
	      text_duration((double)t->took));
}

/* The lowest bit of a set of nodes, as its number. */
static uint32_t first_node(uint64_t set)
{
	return set ? (uint32_t)__builtin_ctzll(set) + 1 : 0;
}

static void tell_lock_handed(struct traced *t, const char *f)
{
	uint64_t to = number(f, "to", 16), readers = number(f, "readers", 16);

	t->event = "lock_handed";
	t->access = to ? 'w' : readers ? 'r' : 0;
	t->node = first_node(to ? to : readers);
	if (t->node)
		words(t, "hands the lock on to node %u, to %s; %" PRIu64 " more wait",
		      t->node, to ? "write" : "read", number(f, "queue", 10));
	else
		words(t, "gives the lock back: nobody waits");
}

/* Orders of the directory in words; other messages by their names. */
static void tell_recv(struct traced *t, const char *f)
{

	t->node = requester(f);
	if (!strncmp(f, "INV ", 4)) {
		t->event = "wanted";
		t->access = 'w';
		words(t, "%s wants to write", member(t, t->node));
	} else if (!strncmp(f, "FWD ", 4)) {
		t->event = "wanted";
		t->access = 'r';
		words(t, "%s wants to read", member(t, t->node));
	} else if (!strncmp(f, "NACK ", 5)) {
		t->event = "refused";
		t->node = 0;
		words(t, "is refused for now: another node is busy with it");
	} else {
		t->event = "received";
		t->node = 0;
		words(t, "receives %.*s from %s", (int)strcspn(f, " "), f,
		      member(t, number(f, "peer", 10)));
	}
}

static void tell_send(struct traced *t, const char *f)
{

	t->event = "sent";
	words(t, "sends %.*s to %s", (int)strcspn(f, " "), f,
	      member(t, number(f, "peer", 10)));
}

static const struct {
	const char *name;
	void (*tell)(struct traced *t, const char *fields);
	bool lock;
} events[] = {
	{ "miss: ", tell_miss, false }, { "begin: ", tell_begin, false },
	{ "served: ", tell_served, false }, { "retry: ", tell_retry, false },
	{ "revoked: ", tell_revoked, false }, { "evict: ", tell_evict, false },
	{ "lock_granted: ", tell_lock_granted, true },
	{ "lock_handed: ", tell_lock_handed, true },
	{ "recv: ", tell_recv, false }, { "send: ", tell_send, false },
};

/* --- The line ------------------------------------------------------------- */

/* "line=REGION:INDEX" and whether it is a lock. */
static bool read_name(struct traced *t, const char *fields, bool lock)
{
	const char *text = field(fields, "line");
	char *end;

	if (!text)
		return false;
	t->region = (uint32_t)strtoull(text, &end, 10);
	if (*end != ':')
		return false;
	t->index = strtoull(end + 1, NULL, 10);
	t->lock = lock || number(fields, "lock", 10);
	return true;
}

/* "SECONDS.MICROSECONDS: " in front of the event. */
static bool read_time(struct traced *t, const char *text)
{
	uint64_t seconds, fraction;
	char *end;

	seconds = strtoull(text, &end, 10);
	if (end == text || *end != '.' || !isdigit((unsigned char)end[1]))
		return false;
	fraction = strtoull(end + 1, &end, 10);
	t->usec = seconds * 1000000 + fraction;
	return *end == ':';
}

static void read_comm(struct traced *t, const char *line)
{
	size_t skip = strspn(line, " ");
	size_t n;

	if (skip >= COMM_COLUMNS)
		skip = COMM_COLUMNS - 1;
	n = COMM_COLUMNS - skip;
	memcpy(t->comm, line + skip, n);
	t->comm[n] = 0;
}

/*
 * "            COMM-PID     [CPU] FLAGS TIME: weft_EVENT: FIELDS": the third flag says
 * whether a softirq, or worse, is running in the place of the process.
 */
static bool read_front(struct traced *t, const char *line, const char *event)
{
	const char *at;
	char *end;

	if (strlen(line) < COMM_COLUMNS + 2 || line[COMM_COLUMNS] != '-')
		return false;
	read_comm(t, line);
	t->pid = (int32_t)strtol(line + COMM_COLUMNS + 1, &end, 10);
	at = strstr(end, "] ");
	if (end == line + COMM_COLUMNS + 1 || !at || at > event || strlen(at) < 8)
		return false;
	at += 2;
	t->by_process = at[2] == '.' && t->pid;
	at += strcspn(at, " ");
	return read_time(t, at + strspn(at, " "));
}

enum trace_line traceline_read(const char *line, uint32_t self, struct traced *t, uint64_t *lost)
{
	static const char mark[] = ": weft_";
	const char *event;
	size_t i, len;

	*t = (struct traced){ .self = self };
	event = strstr(line, "[LOST ");
	if (!strncmp(line, "CPU:", 4) && event) {
		*lost = strtoull(event + 6, NULL, 10);
		return TRACE_LOST;
	}
	/* A process may be called as an event is: not beyond its columns. */
	event = strlen(line) > COMM_COLUMNS ? strstr(line + COMM_COLUMNS, mark) : NULL;
	if (!event || !read_front(t, line, event))
		return TRACE_OTHER;
	event += sizeof(mark) - 1;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		len = strlen(events[i].name);
		if (strncmp(event, events[i].name, len))
			continue;
		if (!read_name(t, event + len, events[i].lock))
			return TRACE_OTHER;
		events[i].tell(t, event + len);
		/* Other events find any process running. */
		if (events[i].tell != tell_miss && events[i].tell != tell_begin)
			t->by_process = false;
		return TRACE_EVENT;
	}
	return TRACE_OTHER;
}

uint64_t trace_offset(const struct regions *known, uint32_t region, uint64_t index, bool lock)
{
	const struct region *r = regions_by_id(known, region);

	return lock || !r ? index : index * r->block;
}

const char *trace_place(const struct regions *known, uint32_t region, uint64_t index, bool lock)
{
	const struct region *r = regions_by_id(known, region);
	uint64_t offset = trace_offset(known, region, index, lock);

	if (r && *r->name)
		return text_format("%s:%" PRIu64, r->name, offset);
	return text_format("%" PRIu32 ":%" PRIu64, region, offset);
}

static bool is_of(const struct user *u, const struct traced *t)
{
	return u->region == t->region && u->index == t->index &&
	       u->access == t->access && u->node == t->node && (t->node || u->pid == t->pid);
}

void users_add(struct users *u, const struct traced *t)
{
	struct user *user;
	size_t i;

	/* Others ask by message; of our own we know the byte. */
	if (t->lock || !(t->has_at || !strcmp(t->event, "wanted")))
		return;
	for (i = 0; i < u->len && !is_of(&u->list[i], t); i++)
		;
	if (i == USERS_MAX) {
		u->more++;
		return;
	}
	user = &u->list[i];
	if (i == u->len) {
		u->len++;
		*user = (struct user){
			.region = t->region, .index = t->index, .access = t->access,
			.node = t->node, .pid = t->pid, .first = t->at, .last = t->at,
		};
		memcpy(user->comm, t->comm, sizeof(user->comm));
	}
	user->count++;
	if (t->at < user->first)
		user->first = t->at;
	if (t->at > user->last)
		user->last = t->at;
}

/* By block; who used it most first. */
static int compare(const void *a, const void *b)
{
	const struct user *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->count == y->count ? 0 : x->count > y->count ? -1 : 1;
}

static void sort(struct users *u)
{
	qsort(u->list, u->len, sizeof(u->list[0]), compare);
}

void users_print(struct users *u, const struct regions *known)
{
	const char *place, *who;
	size_t i;

	sort(u);
	if (!u->len)
		puts("nobody had to wait for it, and no other node wanted it");
	else
		printf("%-24s %-24s %-6s %8s  %s\n", "BLOCK", "WHO", "TO", "TIMES", "BYTES");
	for (i = 0; i < u->len; i++) {
		const struct user *one = &u->list[i];

		place = trace_place(known, one->region, one->index, false);
		if (one->node)
			who = text_format("node %" PRIu32, one->node);
		else
			who = text_format("%s[%" PRId32 "]", one->comm, one->pid);
		printf("%-24s %-24s %-6s %8" PRIu64 "  ", text_safe(place), text_safe(who),
		       one->access == 'w' ? "write" : "read", one->count);
		if (one->node)
			puts("(trace there)");
		else if (one->first == one->last)
			printf("%" PRIu64 "\n", one->first);
		else
			printf("%" PRIu64 "..%" PRIu64 "\n", one->first, one->last);
	}
	if (u->more)
		printf("and %" PRIu64 " times others, for whom there is no room here\n",
		       u->more);
}

void users_json(struct json *j, struct users *u, const struct regions *known)
{
	const struct region *r;
	size_t i;

	sort(u);
	json_array(j, "users");
	for (i = 0; i < u->len; i++) {
		const struct user *one = &u->list[i];

		r = regions_by_id(known, one->region);
		json_object(j, NULL);
		json_u64(j, "region", one->region);
		json_text(j, "name", r ? r->name : "");
		json_u64(j, "offset", trace_offset(known, one->region, one->index, false));
		json_string(j, "access", one->access == 'w' ? "write" : "read");
		json_u64(j, "times", one->count);
		if (one->node) {
			json_u64(j, "node", one->node);
		} else {
			json_string(j, "comm", one->comm);
			json_u64(j, "pid", (uint64_t)one->pid);
			json_u64(j, "first_byte", one->first);
			json_u64(j, "last_byte", one->last);
		}
		json_close(j);
	}
	json_close(j);
	json_u64(j, "others", u->more);
}
