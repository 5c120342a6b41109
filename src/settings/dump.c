#include "config.h"

#include <string.h>

#include <runnel/module.h>

#include "settings/module_options.h"
#include "settings/options.h"
#include "settings/settings.h"

static void dump_list(const struct option *option, const void *base, FILE *out)
{
	size_t n;
	char *const *list = option_list(option, base, &n);

	fputs("{ ", out);
	for (size_t i = 0; i < n; i++) {
		value_print_text(list[i], out);
		fputs(i + 1 < n ? ", " : " }", out);
	}
}

static void dump_options(
    enum option_section section, const void *base, const char *indent, FILE *out)
{
	for (size_t i = 0; i < n_options; i++) {
		const struct option *option = &options[i];

		if (!option_is_in(option, section))
			continue;
		fprintf(out, "%s%s = ", indent, option->name);
		if (option->is_list)
			dump_list(option, base, out);
		else if (value_is_text(option->rule.type))
			value_print_text(option_text(option, base), out);
		else
			value_print_number(&option->rule, option_number(option, base), out);
		fputc('\n', out);
	}
}

static void dump_module(const struct module_settings *module, FILE *out)
{
	fprintf(out, "\nmodule \"%s\" {\n", module->name);
	dump_options(OPTION_MODULE, module, "\t", out);
	for (size_t i = 0; i < module->n_values; i++) {
		const struct module_value *value = &module->values[i];
		struct value_rule rule = module_option_rule(value->option);

		fprintf(out, "\t%s = ", value->option->name);
		if (value_is_text(rule.type))
			value_print_text(value->string, out);
		else
			value_print_number(&rule, value->number, out);
		fputc('\n', out);
	}
	fputs("}\n", out);
}

/* base: the struct of a section of this kind, which begins with listener. */
static void dump_listener(enum option_section section, const void *base,
    const struct listen_settings *listener, FILE *out)
{
	fprintf(out, "\n%s \"%s\" {\n", option_section_name(section), listener->name);
	dump_options(section, base, "\t", out);
	for (int kind = OPTION_FIRST_NESTED; kind < OPTION_N_SECTIONS; kind++) {
		const char *name = option_section_name(kind);

		if (strcmp(listener->framing, name) != 0)
			continue;
		fprintf(out, "\t%s {\n", name);
		dump_options(kind, listener, "\t\t", out);
		fputs("\t}\n", out);
	}
	fputs("}\n", out);
}

enum status settings_dump(const struct settings *settings, FILE *out)
{
	dump_options(OPTION_GLOBAL, settings, "", out);
	for (size_t i = 0; i < settings->n_modules; i++)
		dump_module(&settings->modules[i], out);
	for (size_t i = 0; i < settings->n_listeners; i++)
		dump_listener(
		    OPTION_LISTEN, &settings->listeners[i], &settings->listeners[i], out);
	for (size_t i = 0; i < settings->n_upstreams; i++)
		dump_listener(OPTION_CONNECT, &settings->upstreams[i],
		    &settings->upstreams[i].common, out);
	return fflush(out) == 0 && !ferror(out) ? STATUS_OK : STATUS_ERRNO;
}
