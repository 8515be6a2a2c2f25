// SPDX-License-Identifier: GPL-2.0-only
/* weftctl down: take this node out of its rack. */
#include "base/fail.h"
#include "base/rack.h"
#include "command/commands.h"
#include "config/conf.h"
#include "config/mounting.h"
#include "kernel/kernel.h"
#include "kernel/mountpoint.h"

static const char *file;
static bool unmount, all;

static const struct argument options[] = {
	{ "file", .text = &file }, { "unmount", .flag = &unmount }, { "all", .flag = &all }, { 0 }
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

/* Unmount the mount point that the file names: "up" has mounted it. */
static int unmount_configured(const struct conf *c)
{
	if (!setting_given(&c->settings, SETTING_MOUNT) ||
	    !mountpoints_have(c->settings.mounting.path))
		return 0;
	return mounting_unmount(c->settings.mounting.path);
}

/* All racks that this machine is in, one after the other; the first failure ends it. */
static int leave_all(void)
{
	struct racks racks;
	int rc = kernel_racks(&racks);
	size_t i;

	for (i = 0; !rc && i < racks.len; i++) {
		rack_choose(racks.list[i].rack);
		rc = unmount_all();
		if (!rc)
			rc = kernel_config_clear();
	}
	return rc;
}

/* One: that of the file, or the one that --rack says, or the only one. */
static int leave_one(void)
{
	struct conf c = { 0 };
	bool there = false;
	int rc = 0;

	if (!unmount)
		rc = conf_need(file, "name one that there is, or give --unmount", &c, &there);

	/* before anything is unmounted */
	if (!rc)
		rc = kernel_choose_of(there ? &c.settings.config : NULL);
	if (!rc)
		rc = unmount ? unmount_all() : unmount_configured(&c);
	return rc ? rc : kernel_config_clear();
}

static int down(const struct reading *r)
{
	uint32_t rack;
	int rc = argument_none(r);

	if (!rc && file && unmount)
		rc = misuse("down", "with --unmount no file is read: leave --file out");
	if (!rc && all && (file || rack_chosen(&rack)))
		rc = misuse("down", "--all is about all racks: leave --file and --rack out");
	if (!rc)
		rc = kernel_open(false);
	if (rc)
		return rc;
	return all ? leave_all() : leave_one();
}

const struct command command_down = {
	.name = "down",
	.options = options,
	.run = down,
	.summary = "take this node out of its rack",
	.help = " [--file FILE | --unmount | --all]\n\n"
		"Unmounts what the configuration file says to mount, and takes the node out of\n"
		"its rack.  Fails while weft is mounted elsewhere, or programs use it.  The\n"
		"module stays loaded.\n\n"
		"  --file FILE  configuration file (" CONF_FILE "); of several racks it says\n"
		"               which one, unless --rack does\n"
		"  --unmount    unmount weft wherever it is mounted; no file is read\n"
		"  --all        the same for each rack that this machine is in\n",
};
