// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading of the kernel module by libkmod, see module.h.
 *
 * libkmod brings three libraries to unpack modules and libcrypto to verify them, which took more
 * time than all else of a command that only asks the kernel: so it is loaded when a module is
 * looked for, and not with weftctl.
 */
#include "kernel/module.h"

#include <dirent.h>
#include <dlfcn.h>
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
#define LIBRARY		"libkmod.so.2"		/* the interface that libkmod.h declares */

/* What is called in it, once begin() has found it. */
static struct {
	__typeof__(kmod_new) *kmod_new;
	__typeof__(kmod_unref) *kmod_unref;
	__typeof__(kmod_list_next) *kmod_list_next;
	__typeof__(kmod_module_new_from_lookup) *kmod_module_new_from_lookup;
	__typeof__(kmod_module_new_from_name) *kmod_module_new_from_name;
	__typeof__(kmod_module_get_module) *kmod_module_get_module;
	__typeof__(kmod_module_probe_insert_module) *kmod_module_probe_insert_module;
	__typeof__(kmod_module_unref) *kmod_module_unref;
	__typeof__(kmod_module_unref_list) *kmod_module_unref_list;
	__typeof__(kmod_module_get_info) *kmod_module_get_info;
	__typeof__(kmod_module_info_get_key) *kmod_module_info_get_key;
	__typeof__(kmod_module_info_get_value) *kmod_module_info_get_value;
	__typeof__(kmod_module_info_free_list) *kmod_module_info_free_list;
} lib;

#define CALL(name)	{ #name, (void **)&lib.name }

static const struct {
	const char *name;
	void **to;
} calls[] = {
	CALL(kmod_new),
	CALL(kmod_unref),
	CALL(kmod_list_next),
	CALL(kmod_module_new_from_lookup),
	CALL(kmod_module_new_from_name),
	CALL(kmod_module_get_module),
	CALL(kmod_module_probe_insert_module),
	CALL(kmod_module_unref),
	CALL(kmod_module_unref_list),
	CALL(kmod_module_get_info),
	CALL(kmod_module_info_get_key),
	CALL(kmod_module_info_get_value),
	CALL(kmod_module_info_free_list),
};

/* NULL after a failure, of which dlerror() tells unless it was lack of memory. */
static struct kmod_ctx *begin(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW);

	if (!handle)
		return NULL;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		*calls[i].to = dlsym(handle, calls[i].name);
		if (!*calls[i].to)
			return NULL;
	}
	return lib.kmod_new(NULL, NULL);
}

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

static int cannot_look(void)
{
	const char *why = dlerror();

	return fail("cannot look for the module '" MODULE "': %s", why ? why : "no memory");
}

int module_load(void)
{
	struct kmod_ctx *ctx = begin();
	struct kmod_list *list = NULL, *item;
	int err = 0;

	if (!ctx)
		return cannot_look();
	err = lib.kmod_module_new_from_lookup(ctx, MODULE, &list);
	if (!err && !list)
		err = -ENOENT;
	for (item = list; item; item = lib.kmod_list_next(list, item)) {
		struct kmod_module *module = lib.kmod_module_get_module(item);

		err = lib.kmod_module_probe_insert_module(module, 0, NULL, NULL, NULL, NULL);
		lib.kmod_module_unref(module);
		if (err)
			break;
	}
	lib.kmod_module_unref_list(list);
	lib.kmod_unref(ctx);
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
	ctx = begin();
	if (!ctx)
		return;
	if (!lib.kmod_module_new_from_name(ctx, RDMA_MODULE, &module)) {
		(void)lib.kmod_module_probe_insert_module(module, KMOD_PROBE_APPLY_BLACKLIST, NULL,
						      NULL, NULL, NULL);
		lib.kmod_module_unref(module);
	}
	lib.kmod_unref(ctx);
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

	for (item = list; item; item = lib.kmod_list_next(list, item)) {
		const char *key = lib.kmod_module_info_get_key(item);
		const char *value = lib.kmod_module_info_get_value(item);

		if (!strcmp(key, "version"))
			snprintf(info->version, sizeof(info->version), "%s", value);
		else if (!strcmp(key, "srcversion"))
			snprintf(info->source, sizeof(info->source), "%s", value);
	}
}

bool module_installed_info(struct module_info *info)
{
	struct kmod_ctx *ctx = begin();
	struct kmod_list *list = NULL, *values = NULL;
	struct kmod_module *module;
	bool found = false;

	*info = (struct module_info){ 0 };
	if (!ctx)
		return false;
	if (!lib.kmod_module_new_from_lookup(ctx, MODULE, &list) && list) {
		module = lib.kmod_module_get_module(list);
		found = lib.kmod_module_get_info(module, &values) >= 0;
		if (found)
			take_info(values, info);
		lib.kmod_module_info_free_list(values);
		lib.kmod_module_unref(module);
		lib.kmod_module_unref_list(list);
	}
	lib.kmod_unref(ctx);
	return found;
}
