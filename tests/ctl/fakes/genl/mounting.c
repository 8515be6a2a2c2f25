// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounting for tests of weftctl: writes down what would be mounted, in the file
 * WEFT_FAKE_LOG.  In scenario "no-join" mounting fails.  WEFT_FAKE_MOUNTS has
 * the mount points that there are, with colons between them; one that ends in @N is
 * of rack N.
 *
 * Linked instead of tools/weftctl/config/mounting.c and kernel/mountpoint.c.
 */
#include "tools/weftctl/config/mounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/weftctl/base/fail.h"
#include "tools/weftctl/base/rack.h"
#include "tools/weftctl/kernel/kernel.h"
#include "tools/weftctl/kernel/mountpoint.h"

static FILE *open_log(void)
{
	const char *path = getenv("WEFT_FAKE_LOG");

	return path ? fopen(path, "a") : NULL;
}

int mounting_mount(const struct settings *s)
{
	const char *scenario = getenv("WEFT_FAKE");
	FILE *f = open_log();
	enum setting_id id;

	if (f) {
		fprintf(f, "mount %s", s->mounting.path);
		if (s->config.rack)
			fprintf(f, " rack=%u", s->config.rack);
		for (id = 0; id < SETTINGS; id++) {
			if (!setting_of_mount(id) || !setting_given(s, id))
				continue;
			fprintf(f, " %s=", settings_table[id].name);
			setting_print(id, s, f);
		}
		fputc('\n', f);
		fclose(f);
	}
	if (scenario && !strcmp(scenario, "no-join"))
		return fail("cannot mount %s: another node has the id 3", s->mounting.path);
	return 0;
}

int mounting_unmount(const char *path)
{
	FILE *f = open_log();

	if (f) {
		fprintf(f, "umount %s\n", path);
		fclose(f);
	}
	return 0;
}

void mountpoints_read(struct mountpoints *m)
{
	const char *list = getenv("WEFT_FAKE_MOUNTS");
	uint32_t rack;
	char of[16];
	size_t n, at;

	*m = (struct mountpoints){ 0 };
	for (; list && *list; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		at = strcspn(list, ":@");
		snprintf(of, sizeof(of), "@%u", rack_chosen(&rack) ? rack : 0);
		if (at < n && rack_chosen(&rack) &&
		    (strlen(of) != n - at || memcmp(of, list + at, n - at)))
			continue;
		m->list = reallocarray(m->list, m->len + 1, sizeof(*m->list));
		m->list[m->len++] = strndup(list, at);
	}
}

void mountpoints_free(struct mountpoints *m)
{
	while (m->len)
		free(m->list[--m->len]);
	free(m->list);
	m->list = NULL;
}
