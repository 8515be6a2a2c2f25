// SPDX-License-Identifier: GPL-2.0-only
/* Loading of the kernel module by libkmod, see module.h. */
#include "kernel/module.h"

#include <dirent.h>
#include <errno.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"

#define MODULE		"weft"
#define RDMA_MODULE	"weft_rdma"

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

		err = kmod_module_probe_insert_module(module, 0, NULL, NULL, NULL, NULL);
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

static bool has_device(void)
{
	DIR *dir = opendir("/sys/class/infiniband");
	const struct dirent *e;
	bool any = false;

	while (dir && !any && (e = readdir(dir)))
		any = e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return any;
}

void module_load_rdma(void)
{
	struct kmod_module *module;
	struct kmod_ctx *ctx;

	if (!has_device())
		return;
	ctx = kmod_new(NULL, NULL);
	if (!ctx)
		return;
	if (!kmod_module_new_from_name(ctx, RDMA_MODULE, &module)) {
		(void)kmod_module_probe_insert_module(module, KMOD_PROBE_APPLY_BLACKLIST, NULL,
						      NULL, NULL, NULL);
		kmod_module_unref(module);
	}
	kmod_unref(ctx);
}

bool module_has_rdma(void)
{
	return !access("/sys/module/" RDMA_MODULE, F_OK);
}

bool module_is_loaded(void)
{
	char state[16];

	text_line(state, sizeof(state), "/sys/module/" MODULE "/initstate");
	return !strcmp(state, "live");
}

bool module_loaded_info(struct module_info *info)
{
	text_line(info->version, sizeof(info->version), "/sys/module/" MODULE "/version");
	text_line(info->source, sizeof(info->source), "/sys/module/" MODULE "/srcversion");
	return module_is_loaded();
}

static void take_info(struct kmod_list *list, struct module_info *info)
{
	struct kmod_list *item;

	kmod_list_foreach(item, list) {
		const char *key = kmod_module_info_get_key(item);
		const char *value = kmod_module_info_get_value(item);

		if (!strcmp(key, "version"))
			snprintf(info->version, sizeof(info->version), "%s", value);
		else if (!strcmp(key, "srcversion"))
			snprintf(info->source, sizeof(info->source), "%s", value);
	}
}

bool module_installed_info(struct module_info *info)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);
	struct kmod_list *list = NULL, *values = NULL;
	struct kmod_module *module;
	bool found = false;

	*info = (struct module_info){ 0 };
	if (!ctx)
		return false;
	if (!kmod_module_new_from_lookup(ctx, MODULE, &list) && list) {
		module = kmod_module_get_module(list);
		found = kmod_module_get_info(module, &values) >= 0;
		if (found)
			take_info(values, info);
		kmod_module_info_free_list(values);
		kmod_module_unref(module);
		kmod_module_unref_list(list);
	}
	kmod_unref(ctx);
	return found;
}
