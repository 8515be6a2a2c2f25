// SPDX-License-Identifier: GPL-2.0-only
/* weftctl down: take this node out of its rack. */
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "conf.h"
#include "fail.h"
#include "kernel.h"
#include "mounting.h"
#include "mountpoint.h"
#include "weftctl.h"

enum {
	LETTER_FILE = 256,
};

/* Whatever is seen from here, the last that was mounted first. */
static int unmount_all(void)
{
	struct mountpoints m;
	int rc = 0;
	size_t i;

	mountpoints_read(&m);
	for (i = m.len; i && !rc; i--)
		rc = mounting_unmount(m.list[i - 1]);
	mountpoints_free(&m);
	return rc;
}

/* Whether weft is mounted at @path; names may lead there by links. */
static bool is_mounted(const char *path)
{
	char *real = realpath(path, NULL);
	struct mountpoints m;
	bool found = false;
	size_t i;

	if (!real)
		return false;
	mountpoints_read(&m);
	for (i = 0; i < m.len; i++)
		found |= !strcmp(m.list[i], real);
	mountpoints_free(&m);
	free(real);
	return found;
}

/* Without a file it is empty. */
static int read_file(const char *file, struct conf *c, bool *there)
{
	const char *name = file ? file : CONF_FILE;

	*there = false;
	switch (conf_read(name, c)) {
	case CONF_GOOD:
		*there = true;
		return 0;
	case CONF_ABSENT:
		return file ? fail("there is no file %s: name one that there is, or give --unmount",
				   name) : 0;
	case CONF_WRONG:
		fail("%s", c->error);
		return EXIT_USAGE;
	case CONF_UNREADABLE:
		break;
	}
	return fail("%s", c->error);
}

/* What "up" has mounted by the file. */
static int unmount_configured(const struct conf *c)
{
	if (!setting_given(&c->settings, SETTING_MOUNT) ||
	    !is_mounted(c->settings.mounting.path))
		return 0;
	return mounting_unmount(c->settings.mounting.path);
}

static int down(int argc, char **argv)
{
	static const struct option options[] = {
		{ "file", required_argument, NULL, LETTER_FILE },
		{ "unmount", no_argument, NULL, 'u' },
		ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY, ARGUMENT_RACK, { 0 }
	};
	const struct reading r = { &command_down, argc, argv, options };
	const char *file = NULL;
	bool unmount = false, there = false;
	struct conf c = { 0 };
	int letter, rc;

	while ((letter = argument_next(&r)) != -1) {
		if (letter == LETTER_FILE)
			file = optarg;
		else if (letter == 'u')
			unmount = true;
		else
			return argument_stop(&r, letter);
	}
	rc = argument_none(&r);
	if (!rc && file && unmount)
		rc = misuse("down", "with --unmount no file is read: leave --file out");
	if (!rc)
		rc = kernel_open(false);
	if (!rc && !unmount)
		rc = read_file(file, &c, &there);
	/* before anything is unmounted */
	if (!rc)
		rc = kernel_choose_of(there ? &c.settings.config : NULL);
	if (!rc)
		rc = unmount ? unmount_all() : unmount_configured(&c);
	return rc ? rc : kernel_config_clear();
}

const struct command command_down = {
	.name = "down",
	.run = down,
	.summary = "take this node out of its rack",
	.help = " [--file FILE | --unmount]\n\n"
		"Unmounts what the configuration file says to mount, and takes the node out of\n"
		"its rack.  Fails while weft is mounted elsewhere, or programs use it.  The\n"
		"module stays loaded.\n\n"
		"  --file FILE  configuration file (" CONF_FILE "); of several racks it says\n"
		"               which one, unless --rack does\n"
		"  --unmount    unmount weft wherever it is mounted; no file is read\n",
};
