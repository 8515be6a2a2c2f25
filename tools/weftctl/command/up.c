// SPDX-License-Identifier: GPL-2.0-only
/* weftctl up: make this machine a node of a rack. */
#include <arpa/inet.h>
#include <stdio.h>

#include "base/argument.h"
#include "base/fail.h"
#include "base/rack.h"
#include "command/commands.h"
#include "config/conf.h"
#include "config/keyfile.h"
#include "config/mounting.h"
#include "kernel/kernel.h"
#include "kernel/module.h"
#include "tools/common/json.h"

/* Letters of options that have none; settings follow. */
enum {
	LETTER_FILE = 256,
	LETTER_CHECK,
	LETTER_NO_MOUNT,
	LETTER_SETTINGS,
};

/**
 * struct order - what stands on the command line
 * @text: value of each setting, NULL if it is not there
 * @given: the settings that are
 * @file: configuration file, NULL if none is named
 * @check: only look at all of it
 * @no_mount: whatever the file says
 */
struct order {
	const char *text[SETTINGS];
	struct settings given;
	const char *file;
	bool check;
	bool no_mount;
};

static void make_options(struct option *o)
{
	static const struct option own[] = {
		{ "file", required_argument, NULL, LETTER_FILE },
		{ "check", no_argument, NULL, LETTER_CHECK },
		{ "no-mount", no_argument, NULL, LETTER_NO_MOUNT },
		ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY,
		{ 0 }
	};
	int i;

	for (i = 0; i < SETTINGS; i++)
		*o++ = (struct option){ settings_table[i].name, required_argument,
					NULL, LETTER_SETTINGS + i };
	for (i = 0; i < (int)(sizeof(own) / sizeof(own[0])); i++)
		*o++ = own[i];
}

static int read_setting(enum setting_id id, const char *text, struct order *o)
{
	struct why why;

	if (!setting_read(id, text, &o->given, &why))
		return misuse("up", "--%s: %s", settings_table[id].name, why.text);
	o->text[id] = text;
	return 0;
}

static int read_option(int letter, struct order *o)
{
	switch (letter) {
	case LETTER_FILE:
		o->file = optarg;
		return 0;
	case LETTER_CHECK:
		o->check = true;
		return 0;
	case LETTER_NO_MOUNT:
		o->no_mount = true;
		return 0;
	default:
		return read_setting((enum setting_id)(letter - LETTER_SETTINGS), optarg, o);
	}
}

/* The file is not asked by who says all that is needed himself. */
static int read_file(const struct order *o, struct conf *c, const char **from)
{
	const char *name = o->file ? o->file : CONF_FILE;

	*from = NULL;
	*c = (struct conf){ 0 };
	if (!o->file && settings_missing(&o->given) == SETTINGS)
		return 0;
	switch (conf_read(name, c)) {
	case CONF_GOOD:
		*from = name;
		return 0;
	case CONF_ABSENT:
		if (o->file)
			return fail("there is no file %s: name one that there is, or write it, see weft.conf(5)",
				    name);
		if (!o->given.given)
			return fail("there is no file %s: write it, see weft.conf(5), or give --node, --interface and --homes",
				    name);
		return 0;
	case CONF_WRONG:
		fail("%s", c->error);
		return EXIT_USAGE;
	case CONF_UNREADABLE:
		break;
	}
	return fail("%s", c->error);
}

/* What the command line says counts before what the file says. */
static int join(const struct order *o, const char *from, struct settings *s)
{
	enum setting_id id;
	struct why why;

	for (id = 0; id < SETTINGS; id++) {
		if (o->text[id] && !setting_read(id, o->text[id], s, &why))
			return misuse("up", "--%s: %s", settings_table[id].name, why.text);
		if (o->no_mount && (id == SETTING_MOUNT || setting_of_mount(id)))
			s->given &= ~(UINT32_C(1) << id);
	}
	id = settings_useless(s);
	if (id < SETTINGS)
		return misuse("up", "--%s is of no use without --mount",
			      settings_table[id].name);
	id = settings_missing(s);
	if (id < SETTINGS && from) {
		fail("%s: '%s' is missing: %s: add the line '%s = %s'", from,
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

static void json_address(struct json *j, const char *key, struct in_addr a)
{
	char text[INET_ADDRSTRLEN];

	json_string(j, key, inet_ntop(AF_INET, &a, text, sizeof(text)));
}

static void json_setting(struct json *j, enum setting_id id, const struct settings *s)
{
	const struct config *c = &s->config;
	const struct mounting *m = &s->mounting;
	char mode[8], blade[SETTING_HOME_MAX];
	unsigned int i;

	switch (id) {
	case SETTING_NODE:
		json_u64(j, "node", c->id);
		break;
	case SETTING_INTERFACE:
		json_string(j, "interface", c->ifname);
		break;
	case SETTING_HOMES:
		json_array(j, "homes");
		for (i = 0; i < c->homes_len; i++)
			json_string(j, NULL, setting_home(c, i, blade));
		json_close(j);
		break;
	case SETTING_RACK:
		json_u64(j, "rack", c->rack);
		break;
	case SETTING_JOINS:
		json_u64(j, "joins", c->joins);
		break;
	case SETTING_ADDRESS:
		json_address(j, "address", c->address);
		break;
	case SETTING_MTU:
		json_u64(j, "mtu", c->mtu);
		break;
	case SETTING_TIMEOUT:
		json_u64(j, "timeout_ms", c->timeout_ms);
		break;
	case SETTING_HOLD:
		json_u64(j, "hold_us", c->hold_us);
		break;
	case SETTING_KEY:
		json_string(j, "key", c->key_path);
		break;
	case SETTING_MOUNT:
		json_string(j, "mount", m->path);
		break;
	case SETTING_CACHE:
		json_u64(j, "cache", m->cache);
		break;
	case SETTING_BLOCK:
		json_u64(j, "block", m->block);
		break;
	case SETTING_MODE:
		snprintf(mode, sizeof(mode), "%o", m->mode);
		json_string(j, "mode", mode);
		break;
	case SETTING_UID:
		json_u64(j, "uid", m->uid);
		break;
	case SETTING_GID:
		json_u64(j, "gid", m->gid);
		break;
	case SETTINGS:
		break;
	}
}

static void show(const struct settings *s)
{
	enum setting_id id;
	struct json j;

	if (!output.json) {
		conf_print(s, stdout);
		return;
	}
	json_begin(&j, stdout, output.pretty);
	for (id = 0; id < SETTINGS; id++) {
		if (setting_given(s, id))
			json_setting(&j, id, s);
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

static int up(int argc, char **argv)
{
	struct option options[SETTINGS + 8];
	const struct reading r = { &command_up, argc, argv, options };
	struct order o = { 0 };
	char before[16];	/* --rack N before the command */
	const char *from;
	uint32_t rack;
	struct conf c;
	int letter, rc;

	make_options(options);
	while ((letter = argument_next(&r)) != -1) {
		if (letter == 'h' || letter == '?')
			return argument_stop(&r, letter);
		rc = read_option(letter, &o);
		if (rc)
			return rc;
	}
	rc = argument_none(&r);
	if (!rc && !o.text[SETTING_RACK] && rack_chosen(&rack)) {
		snprintf(before, sizeof(before), "%u", rack);
		rc = read_setting(SETTING_RACK, before, &o);
	}
	if (!rc && o.no_mount && o.text[SETTING_MOUNT])
		rc = misuse("up", "--mount and --no-mount contradict each other: leave one out");
	if (!rc)
		rc = read_file(&o, &c, &from);
	if (!rc)
		rc = join(&o, from, &c.settings);
	if (rc)
		return rc;
	rack_choose(c.settings.config.rack);
	if (!o.check)
		return set_up(&c.settings);
	show(&c.settings);
	return *c.settings.config.key_path ? keyfile_check(c.settings.config.key_path) : 0;
}

const struct command command_up = {
	.name = "up",
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
