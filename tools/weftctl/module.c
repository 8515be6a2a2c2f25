// SPDX-License-Identifier: GPL-2.0-only
/* Loading of the kernel module by libkmod, see module.h. */
#include "module.h"

#include <errno.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "fail.h"

#define MODULE	"weft"

static int explain(int err)
{
	struct utsname system = { 0 };

	uname(&system);
	switch (-err) {
	case ENOENT:
		return fail("kernel %s has no module '" MODULE "': install it with 'make install KVER=%s', or load it with insmod",
			    system.release, system.release);
	case EPERM:
	case EACCES:
		return fail("may not load the module '" MODULE "': run weftctl as root");
	case ENOEXEC:
	case EINVAL:
		return fail("the module '" MODULE "' was built for another kernel than %s: build it anew with KVER=%s (the kernel log says more)",
			    system.release, system.release);
	case EKEYREJECTED:
	case ENOKEY:
		return fail("the kernel refuses the module '" MODULE "' because it is not signed: sign it, or switch Secure Boot off");
	default:
		return fail("cannot load the module '" MODULE "': %s (the kernel log says more)",
			    strerror(-err));
	}
}

int module_load(void)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);
	struct kmod_list *list = NULL, *item;
	int err = 0;

	if (!ctx)
		return fail("cannot look for the module '" MODULE "': no memory");
	err = kmod_module_new_from_lookup(ctx, MODULE, &list);
	if (!err && !list)
		err = -ENOENT;
	kmod_list_foreach(item, list) {
		struct kmod_module *module = kmod_module_get_module(item);

		err = kmod_module_probe_insert_module(module, 0, NULL, NULL,
						      NULL, NULL);
		kmod_module_unref(module);
		if (err)
			break;
	}
	kmod_module_unref_list(list);
	kmod_unref(ctx);
	if (err > 0)	/* held back by modprobe's configuration */
		err = -EPERM;
	return err ? explain(err) : 0;
}

bool module_is_loaded(void)
{
	char state[16] = "";
	FILE *f = fopen("/sys/module/" MODULE "/initstate", "r");

	if (!f)
		return false;
	if (!fgets(state, sizeof(state), f))
		state[0] = 0;
	fclose(f);
	return !strcmp(state, "live\n");
}
