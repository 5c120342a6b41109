/*
 * Fuzz the conf: any text is loaded or refused with a reason, what is loaded dumps
 * to a text that loads to the same, libconfuse sees the sections and keys that the
 * outline has seen, and of a good conf a peek sees what the loader does.
 */
#include "config.h"

#include <confuse.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <runnel/module.h>

#include "base/panic.h"

#include "settings/conf.h"
#include "settings/outline.h"
#include "settings/peek.h"
#include "settings/settings.h"

static const struct rnl_option offered[] = {
	{ "number", RNL_NUMBER, "3", -5, 9, "" },
	{ "any", RNL_NUMBER, "0", 0, 0, "" },
	{ "size", RNL_SIZE, "64k", 1024, 1048576, "" },
	{ "time", RNL_DURATION, "1500ms", 0, 60000, "" },
	{ "bool", RNL_BOOL, "true", 0, 0, "" },
	{ "string", RNL_STRING, "a \"b\" ${c} \\ \n", 0, 0, "" },
	{ "must", RNL_STRING, NULL, 0, 0, "" },
};

/* Module "m" has every type; "n..." cannot be loaded; others have no option. */
static enum status find(const struct module_settings *module, const struct rnl_option **list,
    size_t *n, struct reason *why, void *arg)
{
	(void)arg;
	if (module->name[0] == 'n')
		return reason_set(why, "cannot load %s", module->path);
	if (strcmp(module->name, "m") == 0) {
		*list = offered;
		*n = sizeof(offered) / sizeof(offered[0]);
	}
	return STATUS_OK;
}

/* NULL: refused. */
static struct settings *load(const char *text, settings_find_f *finder)
{
	struct settings *settings;
	struct reason why = { "" };

	if (settings_load("conf", text, finder, NULL, &settings, &why) == STATUS_OK)
		return settings;
	CHECK(strncmp(why.text, "conf:", 5) == 0 && settings == NULL);
	return NULL;
}

static char *dump(const struct settings *settings)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	CHECK(out != NULL && settings_dump(settings, out) == STATUS_OK);
	CHECK(fclose(out) == 0);
	return text;
}

static void check_dump(const struct settings *settings, settings_find_f *finder)
{
	char *text = dump(settings), *again;
	struct settings *loaded = load(text, finder);

	CHECK(loaded != NULL);
	again = dump(loaded);
	/* Without their code, modules' own options are passed over. */
	CHECK(finder == NULL || strcmp(text, again) == 0);
	CHECK(loaded->n_listeners == settings->n_listeners);
	CHECK(loaded->n_upstreams == settings->n_upstreams);
	CHECK(loaded->n_modules == settings->n_modules);
	settings_destroy(&loaded);
	free(again);
	free(text);
}

/* Each option that libconfuse has a value of is a key of the outline. */
static void check_keys(const struct outline_section *section, cfg_t *cfg)
{
	CHECK(cfg != NULL);
	for (unsigned int i = 0; i < cfg_num(cfg); i++) {
		cfg_opt_t *option = cfg_getnopt(cfg, i);

		if (option->type != CFGT_SEC && cfg_opt_size(option) > 0)
			CHECK(outline_key(section, option->name) != NULL);
	}
	for (size_t i = 0; i < section->n_keys; i++)
		CHECK(cfg_getopt(cfg, section->keys[i].name) != NULL);
}

static cfg_t *section_of(struct cfg_t *conf, const struct outline_section *section)
{
	const char *kind = option_section_name(section->kind);

	if (option_section_is_nested(section->kind))
		return cfg_getsec(
		    cfg_gettsec(conf, option_section_name(section->around), section->name),
		    kind);
	return cfg_gettsec(conf, kind, section->name);
}

static void check_outline(char *text)
{
	struct outline *outline;
	struct cfg_t *conf;
	struct reason why;

	if (outline_read("conf", text, &outline, &why) != STATUS_OK)
		return;
	if (conf_parse(outline, text, &conf, &why) == STATUS_OK) {
		size_t n_sections = 1;

		for (int kind = OPTION_MODULE; kind < OPTION_FIRST_NESTED; kind++)
			n_sections += cfg_size(conf, option_section_name(kind));
		check_keys(&outline->sections[0], conf);
		for (size_t i = 1; i < outline->n_sections; i++) {
			const struct outline_section *section = &outline->sections[i];

			check_keys(section, section_of(conf, section));
			n_sections += option_section_is_nested(section->kind);
		}
		CHECK(n_sections == outline->n_sections);
	} else {
		CHECK(strstr(why.text, "no such option") != NULL);
	}
	conf_destroy(&conf);
	outline_destroy(&outline);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* settings: NULL, the text is refused. */
static void check_peek(const char *text, const struct settings *settings)
{
	struct reason why = { "" };
	struct peek peek;
	enum status status = peek_read("conf", text, &peek, &why);

	CHECK((status == STATUS_OK) == (why.text[0] == '\0'));
	if (settings != NULL) {
		CHECK(status == STATUS_OK);
		CHECK(is_same(peek.control_socket, settings->control_socket));
		CHECK(is_same(peek.pid_file, settings->pid_file));
		CHECK(peek.drain_timeout_ms == settings->drain_timeout_ms);
	}
	peek_free(&peek);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct settings *settings;

	CHECK(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	setenv("ODD", "\"}${X}\\", 1);
	settings = load(text, find);
	if (settings != NULL) {
		check_dump(settings, find);
		check_dump(settings, NULL);
	}
	check_peek(text, settings);
	settings_destroy(&settings);
	check_outline(text);
	free(text);
	return 0;
}
