/*
 * From a conf's text to settings: outline, libconfuse, then each option of the
 * table and of the modules, then what concerns several of them.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <runnel/module.h>

#include "base/memory.h"

#include "settings/check.h"
#include "settings/conf.h"
#include "settings/cpus.h"
#include "settings/file.h"
#include "settings/item.h"
#include "settings/machine.h"
#include "settings/module_options.h"
#include "settings/options.h"
#include "settings/outline.h"
#include "settings/settings.h"

/* All borrowed. */
struct loader {
	struct outline *outline;
	struct cfg_t *conf;
	settings_find_f *find;
	void *arg;
	struct settings *settings;
	struct reason *why;
	bool is_file; /* as an operator wrote it, not our own dump of that */
};

/* "no such option", and where it belongs if that is known. */
static enum status refuse_key(
    struct loader *loader, const struct outline_section *section, const char *key)
{
	struct outline *outline = loader->outline;

	if (option_find(OPTION_GLOBAL, key) != NULL)
		return outline_refuse(outline, section, key, loader->why,
		    "no such option here; it belongs outside of the sections");
	if (option_find(OPTION_LISTEN, key) != NULL)
		return outline_refuse(outline, section, key, loader->why,
		    "no such option here; it belongs in a listen section");
	if (option_find(OPTION_CONNECT, key) != NULL)
		return outline_refuse(outline, section, key, loader->why,
		    "no such option here; it belongs in a connect section");
	for (int kind = OPTION_FIRST_NESTED; kind < OPTION_N_SECTIONS; kind++) {
		if (option_section_has_nested(section->kind) && option_find(kind, key) != NULL)
			return outline_refuse(outline, section, key, loader->why,
			    "no such option here; it belongs in a %s section within",
			    option_section_name(kind));
	}
	return outline_refuse(outline, section, key, loader->why, "no such option");
}

/* Keys of module sections are looked at when the module is known. */
static enum status check_keys(struct loader *loader)
{
	for (size_t i = 0; i < loader->outline->n_sections; i++) {
		const struct outline_section *section = &loader->outline->sections[i];

		for (size_t k = 0; k < section->n_keys; k++) {
			const char *key = section->keys[k].name;

			if (section->kind != OPTION_MODULE &&
			    option_find(section->kind, key) == NULL)
				return refuse_key(loader, section, key);
		}
	}
	return STATUS_OK;
}

static enum status load_option(struct loader *loader, const struct outline_section *section,
    const struct option *option, void *base)
{
	struct item item = {
		.outline = loader->outline,
		.conf = loader->conf,
		.section = section,
		.key = option->name,
		.standard = option->standard,
		.rule = option->rule,
	};
	enum status status;
	char **list, *text = NULL;
	int64_t number;
	size_t n;

	/* A list that is refused halfway is freed with the settings. */
	if (option->is_list) {
		status = item_list(&item, &list, &n, loader->why);
		option_set_list(option, base, list, n);
	} else if (value_is_text(option->rule.type)) {
		status = item_text(&item, &text, loader->why);
		option_set_text(option, base, text);
	} else {
		status = item_number(&item, &number, loader->why);
		if (status == STATUS_OK)
			option_set_number(option, base, number);
	}
	return status;
}

static enum status load_options(
    struct loader *loader, const struct outline_section *section, void *base)
{
	for (size_t i = 0; i < n_options; i++) {
		if (option_is_in(&options[i], section->kind) &&
		    load_option(loader, section, &options[i], base) != STATUS_OK)
			return STATUS_INVALID;
	}
	return STATUS_OK;
}

static enum status load_module_value(
    struct loader *loader, const struct outline_section *section, struct module_value *value)
{
	struct item item = {
		.outline = loader->outline,
		.conf = loader->conf,
		.section = section,
		.key = value->option->name,
		.standard = value->option->standard,
		.rule = module_option_rule(value->option),
	};

	if (value_is_text(item.rule.type))
		return item_text(&item, &value->string, loader->why);
	return item_number(&item, &value->number, loader->why);
}

/* The options that the module itself declares. */
static enum status load_module_values(struct loader *loader,
    const struct outline_section *section, struct module_settings *module)
{
	const struct rnl_option *list = NULL;
	struct reason what = { "" };
	size_t n = 0;

	if (loader->find(module, &list, &n, &what, loader->arg) != STATUS_OK ||
	    module_options_check(list, n, &what) != STATUS_OK)
		return outline_refuse(
		    loader->outline, section, NULL, loader->why, "%s", what.text);
	for (size_t k = 0; k < section->n_keys; k++) {
		const char *key = section->keys[k].name;

		if (option_find(OPTION_MODULE, key) == NULL &&
		    module_option_find(list, n, key) == NULL)
			return refuse_key(loader, section, key);
	}
	module->values = must_alloc(n, sizeof(*module->values));
	module->n_values = n;
	for (size_t i = 0; i < n; i++) {
		module->values[i].option = &list[i];
		if (load_module_value(loader, section, &module->values[i]) != STATUS_OK)
			return STATUS_INVALID;
	}
	return STATUS_OK;
}

/* Make its path absolute. */
static void place_object(const char *folder, struct module_settings *module)
{
	char *name = module->path;

	if (name != NULL && name[0] == '/')
		return;
	if (name != NULL)
		module->path = must_printf("%s/%s", folder, name);
	else
		module->path = must_printf("%s/%s.so", folder, module->name);
	free(name);
}

static enum status load_module(struct loader *loader, const struct outline_section *section,
    struct module_settings *module)
{
	module->name = must_strdup(section->name);
	if (load_options(loader, section, module) != STATUS_OK)
		return STATUS_INVALID;
	place_object(loader->settings->module_dir, module);
	return loader->find == NULL ? STATUS_OK : load_module_values(loader, section, module);
}

static enum status load_nested(struct loader *loader, const struct outline_section *around,
    enum option_section kind, struct listen_settings *listener)
{
	/* What the conf does not have stands in it without an option. */
	const struct outline_section absent = {
		.kind = kind, .around = around->kind, .name = around->name, .line = around->line
	};
	const struct outline_section *section = outline_nested(loader->outline, around, kind);

	return load_options(loader, section != NULL ? section : &absent, listener);
}

/* "path:line" of one of two keys, or of the section that has none of them. */
static char *place_of(const struct loader *loader, const struct outline_section *section,
    const char *name, const char *other)
{
	const struct outline_key *key = outline_key(section, name);

	if (key == NULL)
		key = outline_key(section, other);
	return must_printf(
	    "%s:%u", loader->outline->path, key != NULL ? key->line : section->line);
}

/* base: the struct of its kind, which begins with listener. */
static enum status load_common(struct loader *loader, const struct outline_section *section,
    void *base, struct listen_settings *listener)
{
	enum status status;

	listener->name = must_strdup(section->name);
	listener->framing_place = place_of(loader, section, "framing", "framing");
	listener->heartbeat_place =
	    place_of(loader, section, "heartbeat-id", "heartbeat-interval");
	status = load_options(loader, section, base);
	for (int kind = OPTION_FIRST_NESTED; kind < OPTION_N_SECTIONS && status == STATUS_OK;
	     kind++)
		status = load_nested(loader, section, kind, listener);
	return status;
}

static enum status load_listener(struct loader *loader, const struct outline_section *section,
    struct listen_settings *listener)
{
	return load_common(loader, section, listener, listener);
}

static enum status load_upstream(struct loader *loader, const struct outline_section *section,
    struct connect_settings *upstream)
{
	return load_common(loader, section, upstream, &upstream->common);
}

static enum status load_section(struct loader *loader, const struct outline_section *section)
{
	struct settings *settings = loader->settings;

	if (section->kind == OPTION_MODULE)
		return load_module(loader, section, &settings->modules[settings->n_modules++]);
	if (section->kind == OPTION_CONNECT)
		return load_upstream(
		    loader, section, &settings->upstreams[settings->n_upstreams++]);
	if (section->kind == OPTION_LISTEN)
		return load_listener(
		    loader, section, &settings->listeners[settings->n_listeners++]);
	/* Nested ones are loaded with the section around them. */
	return STATUS_OK;
}

static enum status load_sections(struct loader *loader)
{
	const struct outline *outline = loader->outline;
	struct settings *settings = loader->settings;
	enum status status = load_options(loader, &outline->sections[0], settings);

	if (status == STATUS_OK && loader->is_file)
		status = machine_check(outline, settings, loader->why);
	settings->modules = must_alloc(outline->n_sections, sizeof(*settings->modules));
	settings->listeners = must_alloc(outline->n_sections, sizeof(*settings->listeners));
	settings->upstreams = must_alloc(outline->n_sections, sizeof(*settings->upstreams));
	for (size_t i = 1; status == STATUS_OK && i < outline->n_sections; i++)
		status = load_section(loader, &outline->sections[i]);
	return status;
}

uint32_t settings_auto_workers(void)
{
	struct cpus cpus;
	uint32_t count;

	if (cpus_allowed(&cpus) != STATUS_OK)
		return 1;
	count = cpus_count(&cpus);
	return count < SETTINGS_MAX_WORKERS ? count : SETTINGS_MAX_WORKERS;
}

static enum status load_outline(struct loader *loader, const char *text)
{
	enum status status = check_keys(loader);

	if (status == STATUS_OK)
		status = conf_parse(loader->outline, text, &loader->conf, loader->why);
	if (status == STATUS_OK)
		status = load_sections(loader);
	if (status == STATUS_OK)
		status = settings_check(loader->outline, loader->settings, loader->why);
	if (status == STATUS_OK && loader->settings->workers == 0)
		loader->settings->workers = settings_auto_workers();
	return status;
}

enum status settings_load(const char *path, const char *text, settings_find_f *find, void *arg,
    struct settings **settings, struct reason *why)
{
	struct loader loader = {
		.find = find, .arg = arg, .why = why, .is_file = text == NULL
	};
	char *copy = must_strdup(text);
	enum status status = STATUS_OK;

	*settings = NULL;
	if (text == NULL)
		status = file_read(path, &copy, why);
	if (status == STATUS_OK)
		status = outline_read(path, copy, &loader.outline, why);
	if (status == STATUS_OK) {
		*settings = loader.settings = must_alloc(1, sizeof(*loader.settings));
		status = load_outline(&loader, copy);
	}
	/* Of our own dump the operator was warned when it was a file. */
	if (status == STATUS_OK && loader.is_file)
		settings_warn(loader.outline, loader.settings);
	if (status != STATUS_OK)
		settings_destroy(&loader.settings);
	*settings = loader.settings;
	conf_destroy(&loader.conf);
	outline_destroy(&loader.outline);
	free(copy);
	return status;
}
