// SPDX-License-Identifier: GPL-2.0-only
/* weftctl up: make this machine a node of a rack. */
#include <stdio.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/rack.h"
#include "command/commands.h"
#include "config/conf.h"
#include "config/keyfile.h"
#include "config/mounting.h"
#include "kernel/kernel.h"
#include "kernel/module.h"
#include "tools/common/json.h"

/* Settings of the command line. */
struct order {
	const char *text[SETTINGS];	/* value of each setting, NULL if it is not there */
	struct settings given;	/* the settings that are */
};

static struct order order;
static const char *file;
static bool check, no_mount;

static int take_setting(const struct reading *r, const char *name, char *text)
{
	enum setting_id id = setting_find(name);
	struct why why;

	if (!setting_read(id, text, &order.given, &why))
		return misuse(r->command->name, "--%s: %s", name, why.text);
	order.text[id] = text;
	return 0;
}

#define SETTING(name)	{ name, .take = take_setting }

static const struct argument options[] = {
	SETTING("node"), SETTING("interface"), SETTING("homes"), SETTING("rack"), SETTING("joins"),
	SETTING("address"), SETTING("mtu"), SETTING("timeout"), SETTING("hold"), SETTING("key"),
	SETTING("mount"), SETTING("cache"), SETTING("block"), SETTING("mode"), SETTING("uid"),
	SETTING("gid"),
	{ "file", .text = &file }, { "check", .flag = &check },
	{ "no-mount", .flag = &no_mount }, { 0 }
};

/* The file is not asked by who says all that is needed himself. */
static int read_file(struct conf *c, bool *there)
{
	*there = false;
	*c = (struct conf){ 0 };
	if (!file && settings_missing(&order.given) == SETTINGS)
		return 0;
	if (!file && !order.given.given)
		return conf_need(CONF_FILE, "write it, see weft.conf(5), or give --node, --interface and --homes",
				 c, there);
	return conf_need(file, "name one that there is, or write it, see weft.conf(5)", c, there);
}

/* Settings of the command line replace those of the file. */
static int join(bool there, struct settings *s)
{
	enum setting_id id;
	struct why why;

	for (id = 0; id < SETTINGS; id++) {
		if (order.text[id] && !setting_read(id, order.text[id], s, &why))
			return misuse("up", "--%s: %s", settings_table[id].name, why.text);
		if (no_mount && (id == SETTING_MOUNT || setting_of_mount(id)))
			s->given &= ~(UINT32_C(1) << id);
	}
	id = settings_useless(s);
	if (id < SETTINGS)
		return misuse("up", "--%s is of no use without --mount",
			      settings_table[id].name);
	id = settings_missing(s);
	if (id < SETTINGS && there) {
		fail("%s: '%s' is missing: %s: add the line '%s = %s'", file ? file : CONF_FILE,
		     settings_table[id].name, settings_table[id].about,
		     settings_table[id].name, settings_table[id].example);
		return EXIT_USAGE;
	}
	if (id < SETTINGS)
		return misuse("up", "--%s is missing: %s", settings_table[id].name,
			      settings_table[id].about);
	return 0;
}

/* --- What it would do ----------------------------------------------------- */

static void show(const struct settings *s)
{
	enum setting_id id;
	struct json j;

	if (!output.json) {
		conf_print(s, stdout);
		return;
	}
	output_json(&j);
	for (id = 0; id < SETTINGS; id++) {
		if (setting_given(s, id))
			setting_json(id, s, &j);
	}
	json_end(&j);
}

/* --- The command ---------------------------------------------------------- */

/* Both or nothing: who tries again must not find a node that is half set up. */
static int set_up(struct settings *s)
{
	int rc = 0;

	if (*s->config.key_path)
		rc = keyfile_read(s->config.key_path, s->config.key);
	if (!rc)
		rc = kernel_open(true);
	if (!rc)
		rc = kernel_config_set(&s->config);
	if (!rc)
		module_load_rdma();
	if (rc || !setting_given(s, SETTING_MOUNT))
		return rc;
	rc = mounting_mount(s);
	if (rc)
		kernel_config_clear();
	return rc;
}

static int up(const struct reading *r)
{
	char before[16];	/* --rack N before the command */
	uint32_t rack;
	struct conf c;
	bool there;
	int rc = argument_none(r);

	if (!rc && !order.text[SETTING_RACK] && rack_chosen(&rack)) {
		snprintf(before, sizeof(before), "%u", rack);
		rc = take_setting(r, "rack", before);
	}
	if (!rc && no_mount && order.text[SETTING_MOUNT])
		rc = misuse("up", "--mount and --no-mount contradict each other: leave one out");
	if (!rc)
		rc = read_file(&c, &there);
	if (!rc)
		rc = join(there, &c.settings);
	if (rc)
		return rc;
	rack_choose(c.settings.config.rack);
	if (!check)
		return set_up(&c.settings);
	show(&c.settings);
	return *c.settings.config.key_path ? keyfile_check(c.settings.config.key_path) : 0;
}

const struct command command_up = {
	.name = "up",
	.options = options,
	.run = up,
	.summary = "make this machine a node of a rack",
	.help = " [--file FILE] [--check] [--no-mount] [--SETTING VALUE...]\n\n"
		"Loads the module if it is not loaded, sets the node up, and mounts weft if\n"
		"there is a mount point.  Settings are those of the file, weft.conf(5), and of\n"
		"the command line, which count before the file's.  With --node, --interface\n"
		"and --homes no file is read unless --file names one.\n\n"
		"  --file FILE      configuration file (" CONF_FILE ")\n"
		"  --check          only look whether all of it is right, the key too, and print it\n"
		"  --no-mount       do not mount\n\n"
		"  --node ID        number of this node, 1 to 32, each a different one\n"
		"  --interface IF   interface that leads to the rack\n"
		"  --homes A[,A...] IPv4 addresses of the memory blades, in the order of\n"
		"                   their numbers; the same on all nodes; with\n"
		"                   A/TWIN where a blade has a twin, which goes on if it dies\n"
		"  --rack N         number of the rack, the same on all members (0); with one that\n"
		"                   this machine is not in yet it joins another rack\n"
		"  --joins N        its number for all others, if this machine is a node of it\n"
		"                   already: --rack is then only this machine's (that of --rack)\n"
		"  --address A      own IPv4 address (the interface's first)\n"
		"  --mtu BYTES      longest datagram, 1500 to 9000 (the interface's)\n"
		"  --timeout SEC    how long a program waits for the network before its\n"
		"                   access fails (30)\n"
		"  --hold USEC      how long a block stays after it came (100)\n"
		"  --key FILE       the key of the rack, weft-memd --make-key makes it (none)\n\n"
		"  --mount DIR      where to mount weft (nowhere)\n"
		"  --cache SIZE     memory for blocks (a quarter of the machine's)\n"
		"  --block SIZE     bytes of a block of new regions, 4K to 64K (4K)\n"
		"  --mode OCTAL     permissions of the root directory (1777)\n"
		"  --uid N --gid N  its owner and group (0)\n",
};
