// SPDX-License-Identifier: GPL-2.0-only
/* What "weftctl doctor" finds, see finding.h. */
#include "doctor/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char * const finding_names[FINDINGS] = {
#define FINDING(id, name)	[FOUND_##id] = #name,
	FINDINGS_ALL(FINDING)
#undef FINDING
};

void found(struct findings *f, enum finding_id id, uint32_t member, const char *fmt, ...)
{
	struct finding *list, *one;
	char text[1024], *tab, *all;
	va_list args;

	if (f->ignored >> id & 1)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	list = reallocarray(f->list, f->len + 1, sizeof(*list));
	if (list)
		f->list = list;
	tab = strchr(text, '\t');
	if (tab)
		*tab = 0;
	if (!list || asprintf(&all, "%s: %s", text, tab ? tab + 1 : "") < 0) {
		/* Better than to say that all is well. */
		fputs("weftctl: no memory to say all that is wrong\n", stderr);
		abort();
	}
	one = &list[f->len++];
	*one = (struct finding){ id, member, all, all + strlen(text) + 2 };
}

bool found_any(const struct findings *f, enum finding_id id, uint32_t member)
{
	size_t i;

	for (i = 0; i < f->len; i++) {
		if (f->list[i].id == id && (!member || f->list[i].member == member))
			return true;
	}
	return false;
}

void skip(struct findings *f, const char *what, const char *why)
{
	if (f->skipped_len < SKIPPED_MAX)
		f->skipped[f->skipped_len++] = (struct skipped){ what, why };
}

void findings_free(struct findings *f)
{
	while (f->len)
		free(f->list[--f->len].text);
	free(f->list);
	*f = (struct findings){ 0 };
}
