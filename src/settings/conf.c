#include "config.h"

#include <confuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "settings/conf.h"
#include "settings/outline.h"

/* libconfuse hands its error function no pointer of ours, and is not reentrant anyway. */
static struct {
	const char *path;
	struct reason *why;
} parsing;

PRINTF_LIKE(2, 0)
static void take_error(cfg_t *cfg, const char *fmt, va_list args)
{
	const char *title = cfg_title(cfg);
	char what[sizeof(parsing.why->text)], where[VALUE_MAX_NAME + 32] = "";

	vsnprintf(what, sizeof(what), fmt, args);
	if (title != NULL)
		snprintf(where, sizeof(where), "%s '%s': ", cfg_name(cfg), title);
	reason_set(parsing.why, "%s:%d: %s%s", parsing.path, cfg->line, where, what);
}

static bool has_option(const cfg_opt_t *made, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(made[i].name, name) == 0)
			return true;
	}
	return false;
}

static size_t append_option(cfg_opt_t *made, size_t n, const char *name)
{
	if (!has_option(made, n, name))
		made[n++] = (cfg_opt_t)CFG_STR_LIST(name, NULL, CFGF_NODEFAULT);
	return n;
}

/*
 * The options of a section. A module section may hold what any module section of
 * the conf holds: libconfuse's own way to pass over unknown options loses its place
 * at some of them. Names are borrowed; free().
 */
static cfg_opt_t *make_options(enum option_section kind, const struct outline *outline)
{
	cfg_opt_t *made =
	    must_alloc(n_options + OUTLINE_MAX_KEYS + OPTION_N_SECTIONS + 1, sizeof(*made));
	size_t n = 0;

	for (size_t i = 0; i < n_options; i++) {
		if (option_is_in(&options[i], kind))
			n = append_option(made, n, options[i].name);
	}
	for (size_t i = 0; kind == OPTION_MODULE && i < outline->n_sections; i++) {
		const struct outline_section *section = &outline->sections[i];

		for (size_t k = 0; section->kind == kind && k < section->n_keys; k++)
			n = append_option(made, n, section->keys[k].name);
	}
	made[n] = (cfg_opt_t)CFG_END();
	return made;
}

static void append_section(cfg_opt_t *made, const char *name, cfg_opt_t *own, cfg_flag_t flags)
{
	size_t n = 0;

	while (made[n].name != NULL)
		n++;
	made[n] = (cfg_opt_t)CFG_SEC(name, own, flags);
	made[n + 1] = (cfg_opt_t)CFG_END();
}

/* libconfuse copies all it is given. NULL: out of memory. */
static cfg_t *make_root(const struct outline *outline)
{
	const cfg_flag_t titled = CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES;
	cfg_opt_t *own[OPTION_N_SECTIONS];
	cfg_t *root;

	for (int kind = 0; kind < OPTION_N_SECTIONS; kind++)
		own[kind] = make_options(kind, outline);
	/* From within, for a section's own options are copied with it. */
	for (int kind = OPTION_N_SECTIONS - 1; kind > OPTION_GLOBAL; kind--) {
		const char *name = option_section_name(kind);

		if (option_section_is_nested(kind)) {
			append_section(own[OPTION_LISTEN], name, own[kind], CFGF_NONE);
			append_section(own[OPTION_CONNECT], name, own[kind], CFGF_NONE);
		} else {
			append_section(own[OPTION_GLOBAL], name, own[kind], titled);
		}
	}
	root = cfg_init(own[OPTION_GLOBAL], CFGF_NONE);
	for (int kind = 0; kind < OPTION_N_SECTIONS; kind++)
		free(own[kind]);
	return root;
}

enum status conf_parse(
    const struct outline *outline, const char *text, struct cfg_t **conf, struct reason *why)
{
	why->text[0] = '\0';
	parsing.path = outline->path;
	parsing.why = why;
	*conf = make_root(outline);
	if (*conf != NULL) {
		cfg_set_error_function(*conf, take_error);
		if (cfg_parse_buf(*conf, text) == CFG_SUCCESS)
			return STATUS_OK;
	}
	/* libconfuse has a word for all else. */
	if (why->text[0] == '\0')
		reason_set(why, "%s: out of memory", outline->path);
	conf_destroy(conf);
	return STATUS_INVALID;
}

static cfg_opt_t *find_option(
    struct cfg_t *conf, const struct outline_section *section, const char *key)
{
	const char *kind = option_section_name(section->kind);

	if (option_section_is_nested(section->kind))
		conf = cfg_getsec(
		    cfg_gettsec(conf, option_section_name(section->around), section->name),
		    kind);
	else if (section->kind != OPTION_GLOBAL)
		conf = cfg_gettsec(conf, kind, section->name);
	return cfg_getopt(conf, key);
}

size_t conf_count(struct cfg_t *conf, const struct outline_section *section, const char *key)
{
	return cfg_opt_size(find_option(conf, section, key));
}

const char *conf_value(
    struct cfg_t *conf, const struct outline_section *section, const char *key, size_t index)
{
	return cfg_opt_getnstr(find_option(conf, section, key), (unsigned int)index);
}

void conf_destroy(struct cfg_t **conf)
{
	/* Frees the lexer's state, too, so that an error leaves nothing to the next text. */
	if (*conf != NULL)
		cfg_free(*conf);
	*conf = NULL;
}
