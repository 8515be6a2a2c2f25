// SPDX-License-Identifier: GPL-2.0-only
/* Sentences for refusals, see explain.h. */
#include "kernel/explain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/rack.h"
#include "kernel/genl.h"
#include "kernel/module.h"
#include "kernel/mountpoint.h"
#include "weft_netlink.h"

/* How an attribute of a configuration is called on the command line. */
static const char *option_of(uint8_t cmd, unsigned int attr)
{
	static const char * const names[WEFT_A_CONFIG_MAX + 1] = {
		[WEFT_A_CONFIG_ID]		= "--node",
		[WEFT_A_CONFIG_RACK]		= "--rack",
		[WEFT_A_CONFIG_IFINDEX]		= "--interface",
		[WEFT_A_CONFIG_IFNAME]		= "--interface",
		[WEFT_A_CONFIG_HOME]		= "--homes",
		[WEFT_A_CONFIG_TIMEOUT_MS]	= "--timeout",
		[WEFT_A_CONFIG_HOLD_US]		= "--hold",
		[WEFT_A_CONFIG_ADDRESS]		= "--address",
		[WEFT_A_CONFIG_MTU]		= "--mtu",
		[WEFT_A_CONFIG_JOINS]		= "--joins",
	};

	if ((cmd != WEFT_CMD_CONFIG_SET && cmd != WEFT_CMD_TUNE) ||
	    attr > WEFT_A_CONFIG_MAX)
		return NULL;
	return names[attr];
}

static int explain_mounted(void)
{
	struct mountpoints m;
	int rc;

	mountpoints_read(&m);
	if (m.len)
		rc = fail("the node cannot go down while weft is mounted: 'umount %s' first",
			  m.list[0]);
	else
		rc = fail("the node cannot go down while weft is mounted, in a mount namespace of another process: unmount it there first");
	mountpoints_free(&m);
	return rc;
}

/* What has no better sentence: the kernel's own, or that of the errno. */
static int explain_plainly(uint8_t cmd, const struct genl_refusal *why)
{
	const char *option = option_of(cmd, why->attr);
	const char *text = why->text[0] ? why->text : strerror(-why->code);

	if (option)
		return fail("%s%s: %s", option, why->missing ? " is missing" : "",
			    text);
	/* No sentence of its own: it does not know what we want of it. */
	return fail("the module refuses: %s%s", text,
		    !why->text[0] &&
		    (why->code == -EOPNOTSUPP || why->code == -EINVAL ||
		     why->code == -EPROTO) ?
		    ": are weftctl and the module of the same version?" : "");
}

int explain_silent(const char *subject)
{
	return fail("%s does not answer: is weft-memd running there, and does 'ping' reach it?",
		    subject);
}

int explain(uint8_t cmd, const struct genl_refusal *why, const char *subject)
{
	uint32_t rack;

	switch (-why->code) {
	case ENONET:
		return fail("this node has not joined its rack: mount weft first ('weftctl doctor' says why it is not)");
	case EDEADLK:
		return fail("node %s is this node, which does not take itself for dead: 'weftctl down --unmount' takes it out of the rack",
			    subject);
	case EPERM:
		if (cmd == WEFT_CMD_NODE_FENCE)
			return fail("taking a node out of the rack needs root (CAP_NET_ADMIN): run weftctl with sudo");
		if (cmd == WEFT_CMD_BLADE_SET || cmd == WEFT_CMD_REGION_SPREAD)
			return fail("changing which memory blades are used needs root (CAP_NET_ADMIN): run weftctl with sudo");
		return fail("changing the node needs root (CAP_NET_ADMIN): run weftctl with sudo");
	case ENOTUNIQ:
		return fail("this machine is in several racks: say which one by --rack, 'weftctl rack' lists them");
	case ENOTCONN:
		if (rack_chosen(&rack))
			return fail("this node is not set up in rack %u: 'weftctl rack' lists those in which it is, 'weftctl up --rack %u' sets it up",
				    rack, rack);
		return fail("this node is not set up: run 'weftctl up'");
	case EBUSY:
		if (cmd == WEFT_CMD_CONFIG_SET)
			return fail("the node is set up already: run 'weftctl down' first, or 'weftctl set' to tune it");
		return explain_mounted();
	case ENETDOWN:
		return fail("the interface '%s' is down: 'ip link set %s up' first",
			    subject, subject);
	case ENODEV:
		if (why->attr != WEFT_A_CONFIG_IFNAME)
			break;
		return fail("there is no interface '%s': 'ip link' lists those that there are",
			    subject);
	case ETIMEDOUT:
		if (cmd == WEFT_CMD_NODE_FENCE)
			return fail("the first memory blade does not answer, so node %s may be a member yet: is weft-memd running there ('weftctl doctor')?",
				    subject);
		return explain_silent(subject);
	case ENXIO:
		return fail("no directory in the switch answers: is the weft program loaded there? (without one the memory blades keep the directory: 'weftctl stats memory')");
	case EPROTO:
		if (cmd == WEFT_CMD_BLADE_STATS_GET || cmd == WEFT_CMD_LOST_GET ||
		    cmd == WEFT_CMD_BLADE_GET)
			return fail("the answer of %s makes no sense: are weft-memd and the module of the same version?",
				    subject);
		break;
	case ENOENT:
		if (cmd == WEFT_CMD_NODE_FENCE)
			return fail("the rack has no node %s: 'weftctl status' lists those that have joined",
				    subject);
		if (cmd == WEFT_CMD_LOST_GET)
			return fail("%s knows no such region: it was removed a moment ago, or never was there",
				    subject);
		if (cmd != WEFT_CMD_LINE_GET && cmd != WEFT_CMD_LOCK_GET)
			break;
		return fail("this node knows no region %s: 'weftctl region show' lists those that it knows",
			    subject);
	case EINTR:
		return fail("interrupted");
	case ENOMEM:
		return fail("no memory");
	}
	return explain_plainly(cmd, why);
}

int explain_no_family(int err)
{
	if (err == -ENOENT && module_is_loaded())
		return fail("the module weft is loaded but cannot be reached from here: run weftctl in the first network namespace");
	if (err == -ENOENT)
		return fail("the module weft is not loaded: 'weftctl up' loads it");
	return fail("cannot talk to the kernel by generic netlink: %s",
		    strerror(-err));
}
