// SPDX-License-Identifier: GPL-2.0-only
/* What "weftctl doctor" sees on this machine, see examine.h. */
#include "doctor/examine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "kernel/blades.h"
#include "kernel/module.h"
#include "kernel/mountpoint.h"
#include "tools/common/clock.h"
#include "weft_version.h"
#include "weft_wire.h"

#define TIMEOUT_SHORT_MS	1000
#define TIMEOUT_LONG_MS		300000
#define HOLD_LONG_US		2000
#define ANSWERED_LATE_MS	5000	/* it is asked each second */
#define OBSERVED_NS		1500000000LL	/* more than a heartbeat */

#define RELOAD	"'weftctl down --unmount', 'modprobe -r weft' and 'weftctl up'"

/* --- Module and configuration ------------------------------------------------ */

static void examine_module(struct patient *p)
{
	struct findings *f = &p->findings;
	struct module_info loaded, installed;
	struct utsname system = { 0 };
	bool is_installed = module_installed_info(&installed);

	uname(&system);
	if (p->state == KERNEL_NO_MODULE) {
		if (is_installed)
			found(f, FOUND_MODULE_MISSING, 0,
			      "the module weft is not loaded\t'weftctl up', or 'systemctl start weft', loads it");
		else
			found(f, FOUND_MODULE_MISSING, 0,
			      "the module weft is not loaded, and there is none for the kernel %s\tinstall the package weft-dkms and the headers of this kernel, or 'make install KVER=%s'",
			      system.release, system.release);
		return;
	}
	if (!module_loaded_info(&loaded))
		return;
	if (strcmp(loaded.version, WEFT_VERSION))
		found(f, FOUND_MODULE_VERSION, 0,
		      "the module that is loaded is of version %s, weftctl of version %s\tinstall both of the same version, then %s",
		      *loaded.version ? loaded.version : "unknown", WEFT_VERSION, RELOAD);
	/* One that was loaded by insmod, and none installed, is nobody's fault. */
	if (!is_installed)
		return;
	if (strcmp(loaded.version, installed.version))
		found(f, FOUND_MODULE_OLD, 0,
		      "the module that is loaded is of version %s, the one that is installed of version %s\t%s load the one that is installed",
		      loaded.version, installed.version, RELOAD);
	else if (strcmp(loaded.source, installed.source))
		found(f, FOUND_MODULE_OLD, 0,
		      "the module that is loaded is not the one that is installed, though both are of version %s\t%s load the one that is installed",
		      loaded.version, RELOAD);
}

/* --- The file, and what runs --------------------------------------------------- */

/* The setting as text, of malloc(). */
static char *setting_text(enum setting_id id, const struct settings *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	setting_print(id, s, f);
	fclose(f);
	return text;
}

static void compare(struct patient *p, enum setting_id id, const struct settings *runs)
{
	const char *name = settings_table[id].name;
	const char *remedy = "'weftctl down --unmount' and 'weftctl up', or 'systemctl restart weft', make";
	char *says = setting_text(id, &p->conf.settings), *is = setting_text(id, runs);

	if (!says || !is || !strcmp(says, is)) {
		free(says);
		free(is);
		return;
	}
	if (id == SETTING_TIMEOUT || id == SETTING_HOLD)
		remedy = text_format("'weftctl set --file %s' makes", p->file);
	else if (id == SETTING_CACHE)
		remedy = text_format("'mount -o remount,cache=%s %s' makes", says,
				     p->conf.settings.mounting.path);
	found(&p->findings, FOUND_CONFIG_DIFFERS, 0,
	      "line %u of %s says %s = %s, but %s = %s is what runs\t%s it so, or correct the file",
	      p->conf.line[id], p->file, name, says, name, is, remedy);
	free(says);
	free(is);
}

static void compare_all(struct patient *p)
{
	struct settings runs = { .config = p->config };
	enum setting_id id;

	runs.mounting.cache = p->status.cache_max;
	for (id = 0; id < SETTINGS; id++) {
		/* what file the key came from, the kernel does not know */
		if (!setting_given(&p->conf.settings, id) || id == SETTING_KEY)
			continue;
		/* The kernel does not tell all options of the mount. */
		if (id < SETTING_MOUNT || (id == SETTING_CACHE && p->status.joined))
			compare(p, id, &runs);
	}
}

/* A file that says something of a node, but not all that one needs. */
static void examine_missing(struct patient *p)
{
	enum setting_id id = settings_missing(&p->conf.settings);
	const struct setting *s;

	if (id == SETTINGS || !p->conf.settings.given)
		return;
	s = &settings_table[id];
	found(&p->findings, FOUND_CONFIG_INCOMPLETE, 0,
	      "the configuration file %s has no '%s', so 'weftctl up' and the service cannot use it\tadd it, for example '%s = %s', %s; 'weftctl up --check --file %s' looks at it again",
	      p->file, s->name, s->name, s->example, s->about, p->file);
}

static int examine_file(struct patient *p)
{
	const char *name = p->file ? p->file : CONF_FILE;

	p->file_found = conf_read(name, &p->conf);
	if (p->file_found == CONF_ABSENT && p->file)
		return fail("there is no file %s: name one that there is, or leave --file out",
			    name);
	p->file = name;
	if (p->file_found == CONF_WRONG || p->file_found == CONF_UNREADABLE)
		found(&p->findings, FOUND_CONFIG_WRONG, 0,
		      "the configuration file is wrong, %s\t'weftctl up --check --file %s' looks at it again",
		      p->conf.error, p->file);
	if (p->file_found == CONF_GOOD)
		examine_missing(p);
	return 0;
}

static int read_node(struct patient *p)
{
	int rc = kernel_config_get(&p->config);

	if (!rc)
		rc = kernel_status(&p->status);
	if (!rc)
		rc = kernel_peers(&p->peers);
	if (!rc)
		rc = kernel_stats(&p->before);
	p->begun = now_ns();
	return rc;
}

/* From here on it matters where the blades are, and not where they were. */
static void find_blades(struct patient *p)
{
	unsigned int i;

	for (i = 0; i < p->config.homes_len; i++)
		p->twins_named |= (uint32_t)(p->config.twins[i].s_addr != 0) << i;
	blades_now(&p->config, &p->peers);
}

int examine_setup(struct patient *p)
{
	int rc = examine_file(p);

	if (!rc)
		rc = kernel_state(&p->state);
	if (rc)
		return rc;
	p->log_read = !kernellog_read(&p->log);
	if (!p->log_read)
		skip(&p->findings, "the kernel log", "reading it needs root");
	examine_module(p);
	if (p->state == KERNEL_DOWN)
		found(&p->findings, FOUND_DOWN, 0,
		      "the module weft is loaded, but this node is not set up\t'weftctl up', or 'systemctl start weft', sets it up");
	if (p->state == KERNEL_UP) {
		rc = read_node(p);
		p->config_known = true;
		if (!rc && p->file_found == CONF_GOOD)
			compare_all(p);
		if (!rc && p->config.wire_version != WEFT_WIRE_VERSION)
			found(&p->findings, FOUND_WIRE_VERSION, 0,
			      "the module speaks version %u of the messages, weftctl knows version %d\tinstall the same version of weft on all machines of the rack, then %s",
			      p->config.wire_version, WEFT_WIRE_VERSION, RELOAD);
	} else if (p->file_found == CONF_GOOD &&
		   settings_missing(&p->conf.settings) == SETTINGS) {
		p->config = p->conf.settings.config;
		p->config_known = true;
	}
	find_blades(p);
	return rc;
}

/* --- The node --------------------------------------------------------------------- */

/* The last sentence of the log that has @text in it. */
static const struct warning *said(const struct patient *p, const char *text)
{
	size_t i;

	for (i = p->log.len; i; i--) {
		if (strstr(p->log.list[i - 1].text, text))
			return &p->log.list[i - 1];
	}
	return NULL;
}

/* Another one has joined before us: then we could not. */
static void examine_id(struct patient *p)
{
	const struct warning *w;
	char text[64];

	if (!p->config_known || p->status.joined)
		return;
	snprintf(text, sizeof(text), "another node has the id %u", p->config.id);
	w = said(p, text);
	/* "id 1" is in "id 12" */
	if (w && strstr(w->text, text)[strlen(text)] == 0)
		found(&p->findings, FOUND_DUPLICATE_ID, 0,
		      "another node has the id %u, so this one could not join %" PRIu64 " s ago\tgive one of the two another 'node' (1 to 32), then 'weftctl down' and 'weftctl up'",
		      p->config.id, w->age);
}

static void examine_mount(struct patient *p)
{
	const struct settings *s = &p->conf.settings;
	struct mountpoints m;

	if (p->state != KERNEL_UP || found_any(&p->findings, FOUND_DUPLICATE_ID, 0))
		return;
	if (p->file_found == CONF_GOOD && setting_given(s, SETTING_MOUNT) &&
	    !mountpoints_have(s->mounting.path)) {
		found(&p->findings, FOUND_NOT_MOUNTED, 0,
		      "weft is not mounted at %s, as line %u of %s says\t'mount -t weft none %s', or 'systemctl restart weft'",
		      s->mounting.path, p->conf.line[SETTING_MOUNT], p->file, s->mounting.path);
		return;
	}
	mountpoints_read(&m);
	if (!m.len && !p->status.joined)
		found(&p->findings, FOUND_NOT_MOUNTED, 0,
		      "weft is not mounted, and this node is no member of its rack before it is\t'mount -t weft none /weft'");
	mountpoints_free(&m);
}

static void examine_tunables(struct patient *p)
{
	const struct config *c = &p->config;

	if (!p->config_known)
		return;
	if (p->status.lease_known && !p->status.lease_ms)
		found(&p->findings, FOUND_NO_LEASE, 0,
		      "the rack has no lease: a node that dies is a member for ever, its locks stay held, and who wants what it had modified waits in vain\tstart the first memory blade without '--lease 0', or take dead nodes out with 'weftctl node fence N'");
	if (c->timeout_ms && c->timeout_ms < TIMEOUT_SHORT_MS)
		found(&p->findings, FOUND_TIMEOUT, 0,
		      "with a timeout of %g s a rack that is only busy is taken for dead\t'weftctl set --timeout 30', and 'timeout = 30' in the configuration file",
		      c->timeout_ms / 1e3);
	if (c->timeout_ms > TIMEOUT_LONG_MS)
		found(&p->findings, FOUND_TIMEOUT, 0,
		      "with a timeout of %g s programs hang that long before they hear of a rack that is dead\t'weftctl set --timeout 30', and 'timeout = 30' in the configuration file",
		      c->timeout_ms / 1e3);
	if (c->hold_us > HOLD_LONG_US)
		found(&p->findings, FOUND_HOLD, 0,
		      "with a hold of %u us nodes that share a block wait long for each other\t'weftctl set --hold 100', and 'hold = 100' in the configuration file",
		      c->hold_us);
}

/* By how much a counter has grown since the examination began. */
static uint64_t grown(const struct patient *p, const struct counters *now, const char *name)
{
	return counters_get(now, name) - counters_get(&p->before, name);
}

/* Whether weft has been mounted for long: the root of a mount is as old as that is. */
static bool is_mounted_long(void)
{
	bool is_long = false;
	struct mountpoints m;
	uint64_t now;
	struct stat root;
	size_t i;

	mountpoints_read(&m);
	now = clock_ns(CLOCK_REALTIME);
	for (i = 0; i < m.len; i++) {
		if (!stat(m.list[i], &root))
			is_long |= (int64_t)(now - timespec_ns(&root.st_mtim)) > OBSERVED_NS;
	}
	mountpoints_free(&m);
	return is_long;
}

/*
 * Until what happens each second has happened.  What a node that is long mounted has
 * never counted does not happen each second.
 */
static void wait_for_counters(const struct patient *p)
{
	if (counters_get(&p->before, "cache_full") ||
	    counters_get(&p->before, "msg_other_version") || !is_mounted_long())
		pause_until_ns(p->begun + OBSERVED_NS);
}

static int examine_counters(struct patient *p)
{
	const struct warning *w = said(p, "weft: the cache (");
	struct counters now;
	int rc;

	wait_for_counters(p);
	rc = kernel_stats(&now);
	if (rc)
		return rc;
	if (w || grown(p, &now, "cache_full"))
		found(&p->findings, FOUND_CACHE_FULL, 0,
		      "the cache (%" PRIu64 " KiB) was full of what is in use or locked in memory, %" PRIu64 " times since the module was loaded\tgive it more with 'mount -o remount,cache=SIZE', and 'cache = SIZE' in the configuration file",
		      p->status.cache_max >> 10, counters_get(&now, "cache_full"));
	if (counters_get(&now, "blocks_lost"))
		found(&p->findings, FOUND_BLOCKS_LOST, 0,
		      "%" PRIu64 " blocks that this node had modified are lost since the module was loaded, because a memory blade did not answer\trestore the regions that the kernel log names ('dmesg | grep weft'), then %s",
		      counters_get(&now, "blocks_lost"), RELOAD);
	if (grown(p, &now, "msg_other_version"))
		found(&p->findings, FOUND_OTHER_VERSION, 0,
		      "messages of another version arrive, %" PRIu64 " just now\tinstall the same version of weft on all machines of the rack",
		      grown(p, &now, "msg_other_version"));
	counters_free(&now);
	return 0;
}

/* Whether another finding says already what is in the log. */
static bool explained(const struct patient *p, const struct warning *w)
{
	static const struct {
		const char *text;
		enum finding_id id;
	} known[] = {
		{ "another node has the id", FOUND_DUPLICATE_ID },
		{ "another node has the id", FOUND_NOT_JOINED },
		{ "weft: the cache (", FOUND_CACHE_FULL },
		{ "could not be written home", FOUND_BLOCKS_LOST },
		{ "does not answer", FOUND_BLADE_DOWN },
		{ "does not answer", FOUND_HOST_UNREACHABLE },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strstr(w->text, known[i].text) && found_any(&p->findings, known[i].id, 0))
			return true;
	}
	return false;
}

static void examine_log(struct patient *p)
{
	const struct warning *last = NULL;
	size_t i, n = 0;

	for (i = 0; i < p->log.len; i++) {
		if (explained(p, &p->log.list[i]))
			continue;
		last = &p->log.list[i];
		n++;
	}
	if (last)
		found(&p->findings, FOUND_KERNEL_LOG, 0,
		      "the kernel log has %zu warning%s of weft of the last hour, the last one %" PRIu64 " s ago: \"%s\"\t'dmesg | grep weft' shows all, weft's docs/operations.md says what to do, and 'dmesg -C' forgets them",
		      n, n == 1 ? "" : "s", last->age, last->text);
}

static void examine_silence(struct patient *p)
{
	if (!p->status.joined || p->status.answered_ms < ANSWERED_LATE_MS ||
	    found_any(&p->findings, FOUND_BLADE_DOWN, WEFT_BLADE_MIN) ||
	    found_any(&p->findings, FOUND_HOST_UNREACHABLE, WEFT_BLADE_MIN))
		return;
	/* It answers who is no member, too; what only members hear, we do not hear. */
	if (p->first_told) {
		found(&p->findings, FOUND_NOT_JOINED, 0,
		      "weft is mounted, but the rack has not counted this node among its members for %g s, and does not take it back\tsee with 'weftctl status' on another node who is node %u there: give one of the two another 'node', then 'weftctl down --unmount' and 'weftctl up' here; what this node had modified is lost",
		      p->status.answered_ms / 1e3, p->config.id);
		return;
	}
	found(&p->findings, FOUND_BLADE_SILENT, WEFT_BLADE_MIN,
	      "the first memory blade was last heard %g s ago\tlook at its load and its log ('journalctl -u weft-memd' there)",
	      p->status.answered_ms / 1e3);
}

int examine_node(struct patient *p)
{
	int rc = 0;

	examine_id(p);
	examine_mount(p);
	examine_tunables(p);
	examine_silence(p);
	if (p->state == KERNEL_UP)
		rc = examine_counters(p);
	if (!rc)
		examine_log(p);
	return rc;
}
