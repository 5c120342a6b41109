#include "config.h"

#include <string.h>

#include "settings_offer.h"

const struct rnl_option game_options[GAME_N_OPTIONS] = {
	{ "level", RNL_NUMBER, "3", -5, 9, "a number" },
	{ "bytes", RNL_SIZE, "64k", 1024, 1048576, "a size" },
	{ "pause", RNL_DURATION, "1500ms", 100, 60000, "a duration" },
	{ "is-open", RNL_BOOL, "true", 0, 0, "a bool" },
	{ "greeting", RNL_STRING, "hello", 0, 0, "a string" },
	{ "realm", RNL_STRING, NULL, 0, 0, "a string that must be given" },
	{ "score", RNL_NUMBER, "0", 0, 0, "a number of any height" },
	{ "listen", RNL_NUMBER, "0", 0, 0, "an option called like a section" },
};

static const struct rnl_option odd_name[] = { { "Odd_name", RNL_NUMBER, "1", 0, 0, "" } };
static const struct rnl_option no_name[] = { { "", RNL_NUMBER, "1", 0, 0, "" } };
static const struct rnl_option own_name[] = { { "path", RNL_NUMBER, "1", 0, 0, "" } };
static const struct rnl_option twice[] = {
	{ "one", RNL_NUMBER, "1", 0, 0, "" },
	{ "one", RNL_STRING, "1", 0, 0, "" },
};
static const struct rnl_option odd_type[] = { { "one", RNL_STRING + 1, "1", 0, 0, "" } };
static const struct rnl_option odd_standard[] = { { "one", RNL_SIZE, "0", 1, 2, "" } };

static const struct {
	const char *name;
	const struct rnl_option *options;
	size_t n_options;
} offers[] = {
	{ "game", game_options, GAME_N_OPTIONS },
	{ "odd-name", odd_name, 1 },
	{ "no-name", no_name, 1 },
	{ "own-name", own_name, 1 },
	{ "twice", twice, 2 },
	{ "odd-type", odd_type, 1 },
	{ "odd-standard", odd_standard, 1 },
	{ "c10k", NULL, 0 },
	{ "echo", NULL, 0 },
};

enum status offer(const struct module_settings *module, const struct rnl_option **list,
    size_t *n, struct reason *why, void *arg)
{
	unsigned int *n_calls = arg;

	if (n_calls != NULL)
		++*n_calls;
	for (int i = 0; i < N_OF(offers); i++) {
		if (strcmp(offers[i].name, module->name) == 0) {
			*list = offers[i].options;
			*n = offers[i].n_options;
			return STATUS_OK;
		}
	}
	return reason_set(why, "cannot load %s", module->path);
}

struct settings *load(const char *text)
{
	struct settings *settings;
	struct reason why = { "" };
	enum status status = settings_load("t.conf", text, offer, NULL, &settings, &why);

	ck_assert_str_eq(why.text, "");
	ck_assert_int_eq(status, STATUS_OK);
	return settings;
}

void refuse(const char *text, const char *expected)
{
	struct settings *settings = NULL;
	struct reason why = { "" };

	ck_assert_int_eq(
	    settings_load("t.conf", text, offer, NULL, &settings, &why), STATUS_INVALID);
	ck_assert_str_eq(why.text, expected);
	ck_assert_ptr_null(settings);
}
