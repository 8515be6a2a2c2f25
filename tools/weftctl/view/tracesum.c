// SPDX-License-Identifier: GPL-2.0-only
/* Who used the blocks that were traced, see tracesum.h. */
#include "view/tracesum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

uint64_t trace_offset(const struct regions *known, uint32_t region, uint64_t index,
		      bool lock)
{
	const struct region *r = regions_by_id(known, region);

	return lock || !r ? index : index * r->block;
}

void trace_place(char place[TRACE_PLACE_MAX], const struct regions *known,
		 uint32_t region, uint64_t index, bool lock)
{
	const struct region *r = regions_by_id(known, region);
	uint64_t offset = trace_offset(known, region, index, lock);

	if (r && *r->name)
		snprintf(place, TRACE_PLACE_MAX, "%s:%" PRIu64, r->name, offset);
	else
		snprintf(place, TRACE_PLACE_MAX, "%" PRIu32 ":%" PRIu64, region, offset);
}

static bool is_of(const struct user *u, const struct traced *t)
{
	return u->region == t->region && u->index == t->index &&
	       u->access == t->access && u->node == t->node &&
	       (t->node || u->pid == t->pid);
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
	char place[TRACE_PLACE_MAX], safe[TEXT_SAFE_MAX], who[64];
	size_t i;

	sort(u);
	if (!u->len)
		puts("nobody had to wait for it, and no other node wanted it");
	else
		printf("%-24s %-24s %-6s %8s  %s\n", "BLOCK", "WHO", "TO", "TIMES", "BYTES");
	for (i = 0; i < u->len; i++) {
		const struct user *one = &u->list[i];

		trace_place(place, known, one->region, one->index, false);
		printf("%-24s ", text_safe(place, safe, sizeof(safe)));
		if (one->node)
			snprintf(who, sizeof(who), "node %" PRIu32, one->node);
		else
			snprintf(who, sizeof(who), "%s[%" PRId32 "]", one->comm, one->pid);
		printf("%-24s %-6s %8" PRIu64 "  ", text_safe(who, safe, sizeof(safe)),
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
