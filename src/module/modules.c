#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/panic.h"
#include "module/framings.h"
#include "module/host.h"
#include "module/modules.h"
#include "module/object.h"

struct modules *modules_new(void)
{
	host_claim_thread();
	return calloc(1, sizeof(struct modules));
}

static enum status check_abi(const struct rnl_module *api, struct reason *why)
{
	if (api->abi_major == RNL_ABI_MAJOR && api->abi_minor <= RNL_ABI_MINOR)
		return STATUS_OK;
	return reason_set(why,
	    "it is built for module ABI %u.%u and this runneld has %d.%d: build it with the "
	    "runnel/module.h of this runneld",
	    api->abi_major, api->abi_minor, RNL_ABI_MAJOR, RNL_ABI_MINOR);
}

static enum status check_parts(const struct rnl_module *api, struct reason *why)
{
	if (api->size < offsetof(struct rnl_module, stop) + sizeof(api->stop) ||
	    api->link == NULL)
		return reason_set(why, "its rnl_module is not made by RNL_MODULE");
	if ((api->n_routes > 0 && api->routes == NULL) ||
	    (api->n_options > 0 && api->options == NULL))
		return reason_set(why, "its rnl_module counts routes or options and has none");
	return STATUS_OK;
}

static bool is_taken(const void *handle, const void *arg)
{
	const struct modules *modules = arg;

	for (size_t i = 0; i < modules->n; i++) {
		if (modules->list[i]->handle == handle)
			return true;
	}
	return false;
}

static enum status open_module(
    const struct modules *modules, struct module *module, const char *path, struct reason *why)
{
	const struct rnl_module *api;
	enum status status;

	panic_enter("the loading of module '%s'", module->name);
	status = object_open(path, is_taken, modules, &module->handle, why);
	panic_leave();
	if (status != STATUS_OK)
		return status;
	api = dlsym(module->handle, "rnl_module");
	if (api == NULL)
		return reason_set(
		    why, "%s has no symbol rnl_module: is it a module of runnel?", path);
	status = check_abi(api, why);
	if (status == STATUS_OK)
		status = check_parts(api, why);
	if (status != STATUS_OK)
		return status;
	memcpy(&module->api, api, api->size < sizeof(*api) ? api->size : sizeof(*api));
	module->api.link->host = &host_table;
	module->api.link->self = &module->self;
	return STATUS_OK;
}

static void module_free(struct module *module)
{
	hash_destroy(&module->lanes);
	free(module->name);
	free(module->routes.list);
	free(module->upstream_routes.list);
	module_framings_free(module);
	free(module);
}

static enum status append(struct modules *modules, struct module *module)
{
	struct module **list = reallocarray(modules->list, modules->n + 1, sizeof(*list));

	if (list == NULL)
		return STATUS_NOMEM;
	modules->list = list;
	modules->list[modules->n] = module;
	module->self.index = modules->n++;
	return STATUS_OK;
}

enum status modules_find(const struct module_settings *settings,
    const struct rnl_option **options, size_t *n_options, struct reason *why, void *arg)
{
	struct modules *modules = arg;
	struct module *module = calloc(1, sizeof(*module));
	enum status status = STATUS_NOMEM;

	if (module == NULL)
		return STATUS_NOMEM;
	module->name = strdup(settings->name);
	module->self.name = module->name;
	if (module->name != NULL)
		status = hash_init(&module->lanes);
	if (status == STATUS_OK)
		status = open_module(modules, module, settings->path, why);
	if (status == STATUS_OK)
		status = append(modules, module);
	if (status != STATUS_OK) {
		module_free(module);
		return status;
	}
	*options = module->api.options;
	*n_options = module->api.n_options;
	return STATUS_OK;
}

static enum status add_static_routes(struct rnl_setup *setup)
{
	const struct rnl_module *api = &setup->module->api;

	for (size_t i = 0; i < api->n_routes; i++) {
		enum rnl_status status = host_table.add_route(setup, &api->routes[i]);

		if (status == RNL_ENOMEM)
			return STATUS_NOMEM;
		if (status != RNL_OK)
			return reason_set(setup->why,
			    "module '%s': route %zu of its table is bad", setup->module->name,
			    i + 1);
	}
	return STATUS_OK;
}

static void enter(const struct module *module, const char *hook)
{
	panic_enter("the %s hook of module '%s'", hook, module->name);
}

static enum status configure(
    struct module *module, const struct settings *settings, struct reason *why)
{
	struct reason refusal = { "" };
	struct rnl_setup setup = {
		.module = module,
		.settings = settings_module(settings, module->name),
		.all = settings,
		.why = &refusal,
	};
	enum status status = add_static_routes(&setup);
	int result;

	if (status == STATUS_INVALID)
		*why = refusal;
	if (status != STATUS_OK || module->api.configure == NULL)
		return status;
	enter(module, "configure");
	result = module->api.configure(&setup);
	panic_leave();
	if (result == 0 && !setup.is_refused)
		return STATUS_OK;
	return reason_set(why, "module '%s': %s", module->name,
	    setup.is_refused ? refusal.text : "its configure hook failed and did not say why");
}

enum status modules_configure(
    struct modules *modules, const struct settings *settings, struct reason *why)
{
	for (size_t i = 0; i < modules->n; i++) {
		enum status status = configure(modules->list[i], settings, why);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

void modules_attach(const struct modules *modules, struct conn_table *table)
{
	for (size_t i = 0; i < modules->n; i++)
		table->free_data[i] = modules->list[i]->api.free_data;
}

static int start(const struct module *module)
{
	int result;

	if (module->api.start == NULL)
		return 0;
	enter(module, "start");
	result = module->api.start();
	panic_leave();
	return result;
}

enum status modules_start(struct modules *modules, struct reason *why)
{
	for (size_t i = 0; i < modules->n; i++) {
		if (start(modules->list[i]) != 0)
			return reason_set(
			    why, "module '%s': its start hook failed", modules->list[i]->name);
	}
	return STATUS_OK;
}

static void call(const struct module *module, void (*hook)(void), const char *name)
{
	if (hook == NULL)
		return;
	enter(module, name);
	hook();
	panic_leave();
}

void modules_drain(const struct modules *modules)
{
	for (size_t i = 0; i < modules->n; i++)
		call(modules->list[i], modules->list[i]->api.drain, "drain");
}

void modules_stop(struct modules *modules)
{
	for (size_t i = modules->n; i > 0; i--)
		call(modules->list[i - 1], modules->list[i - 1]->api.stop, "stop");
}

const struct module *modules_get(const struct modules *modules, const char *name)
{
	for (size_t i = 0; i < modules->n; i++) {
		if (strcmp(modules->list[i]->name, name) == 0)
			return modules->list[i];
	}
	return NULL;
}

void modules_destroy(struct modules **modules)
{
	if (*modules == NULL)
		return;
	for (size_t i = 0; i < (*modules)->n; i++)
		module_free((*modules)->list[i]);
	free((*modules)->list);
	free(*modules);
	*modules = NULL;
}
