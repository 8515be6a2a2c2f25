// SPDX-License-Identifier: GPL-2.0-only
/* What "weftctl doctor" sees of the rack's key, see key.h. */
#include "doctor/key.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "config/keyfile.h"
#include "tag.h"

#define AGAIN	"'weftctl down --unmount' and 'weftctl up'"

static bool is_named(const struct patient *p)
{
	return p->file_found == CONF_GOOD && setting_given(&p->conf.settings, SETTING_KEY);
}

static void examine_none(struct patient *p)
{
	if (is_named(p))
		found(&p->findings, FOUND_KEY_DIFFERS, 0,
		      "line %u of %s says key = %s, but this node runs without a key\t" AGAIN " give it the key",
		      p->conf.line[SETTING_KEY], p->file, p->conf.settings.config.key_path);
	else
		found(&p->findings, FOUND_NO_KEY, 0,
		      "this rack has no key, so root of any machine in its network, and of some containers there, can read, change and remove all that is in it\tmake one where the first memory blade runs ('weft-memd --make-key /etc/weft/key'), copy it to each machine of the rack ('scp -p /etc/weft/key root@MACHINE:/etc/weft/key'), add '--key /etc/weft/key' to the options of each weft-memd and 'key = /etc/weft/key' to %s of each node, and start all of them anew; or '--ignore no_key' if nobody else reaches this network",
		      CONF_FILE);
}

static void examine_other(struct patient *p, const char *path, uint32_t fingerprint)
{
	if (fingerprint == p->status.fingerprint)
		return;
	found(&p->findings, FOUND_KEY_DIFFERS, 0,
	      "the key %s (fingerprint %08x) is not the one that this node runs with (%08x)\tif it is the rack's, which 'weftctl status' on another node shows, " AGAIN " take it; else copy the rack's here",
	      path, fingerprint, p->status.fingerprint);
}

/* The file that is named, whether the node is up or not. */
static void examine_keyfile(struct patient *p)
{
	const char *path = p->conf.settings.config.key_path;
	struct keyfile_error why;
	uint8_t bytes[WEFT_KEY_LEN];
	struct weft_key key;
	char *colon;

	if (geteuid() && access(path, R_OK)) {
		skip(&p->findings, "the key", "reading it needs root");
		return;
	}
	if (!keyfile_load(path, bytes, &why)) {
		colon = strstr(why.text, ": ");
		if (colon)
			found(&p->findings, FOUND_KEY_WRONG, 0, "%.*s\t%s",
			      (int)(colon - why.text), why.text, colon + 2);
		else
			found(&p->findings, FOUND_KEY_WRONG, 0, "%s\tcopy the rack's there",
			      why.text);
		return;
	}
	weft_key_init(&key, bytes);
	explicit_bzero(bytes, sizeof(bytes));
	if (p->state == KERNEL_UP && p->status.key_set)
		examine_other(p, path, weft_key_fingerprint(&key));
	explicit_bzero(&key, sizeof(key));
}

/* Somebody has sent what only a member may send. */
static void examine_refused(struct patient *p)
{
	const struct status *s = &p->status;
	const char *from, *what = "they were not from the address of the member that they named";

	if (!*s->refused || s->refused_ms / 1000 >= FOUND_LATELY_S)
		return;
	if (!strcmp(s->refused, "msg_no_key"))
		what = "it has no key";
	else if (!strcmp(s->refused, "msg_wrong_key") && s->key_set)
		what = "it has another key";
	else if (!strcmp(s->refused, "msg_wrong_key"))
		what = "it has a key, and this node has none";
	from = text_address(s->refused_from);
	found(&p->findings, FOUND_REFUSED, 0,
	      "this node has refused messages (%s), the last one %" PRIu64 " s ago from %s: %s\tif %s is a machine of the rack, see with 'weftctl status' there, or in the log of its weft-memd, that it has the rack's key and its own address; if not, find out who sends that",
	      s->refused, s->refused_ms / 1000, from, what, from);
}

void examine_key(struct patient *p)
{
	if (p->state == KERNEL_UP && !p->status.key_set)
		examine_none(p);
	if (is_named(p))
		examine_keyfile(p);
	else if (p->state == KERNEL_UP && p->status.key_set && p->file_found == CONF_GOOD)
		found(&p->findings, FOUND_KEY_DIFFERS, 0,
		      "this node runs with a key, but %s names none, so the next start of it has none\tadd the line 'key = FILE' to it",
		      p->file);
	if (p->state == KERNEL_UP)
		examine_refused(p);
}
