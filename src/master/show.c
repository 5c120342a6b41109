#include "config.h"

#include <stdint.h>

#include "base/escape.h"
#include "base/units.h"
#include "master/show.h"

static json_int_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? text : "?";
}

static const char *up_of(const json_t *object, char buf[UNITS_TEXT_SIZE])
{
	return units_format_age(number_of(object, "uptime_ms"), buf);
}

static void show_worker(const json_t *worker, FILE *out)
{
	const json_t *counters = json_object_get(worker, "counters");
	char up[UNITS_TEXT_SIZE];

	fprintf(out, "worker %lld: ", number_of(worker, "slot"));
	escape_print(text_of(worker, "state"), out);
	if (number_of(worker, "pid") > 0)
		fprintf(out, ", pid %lld, up %s", number_of(worker, "pid"), up_of(worker, up));
	fprintf(out, ", %lld connection%s, frames %lld in %lld out, %lld send%s refused\n",
	    number_of(worker, "connections"), number_of(worker, "connections") == 1 ? "" : "s",
	    number_of(counters, "frames_in"), number_of(counters, "frames_out"),
	    number_of(counters, "sends_refused"),
	    number_of(counters, "sends_refused") == 1 ? "" : "s");
}

void show_warnings(const json_t *answer, FILE *out)
{
	const json_t *warnings = json_object_get(answer, "warnings");

	for (size_t i = 0; i < json_array_size(warnings); i++)
		fprintf(out, "%s\n", json_string_value(json_array_get(warnings, i)));
}

void show_status(const json_t *answer, FILE *out)
{
	const json_t *workers = json_object_get(answer, "workers");
	char up[UNITS_TEXT_SIZE];

	fputs("runneld ", out);
	escape_print(text_of(answer, "version"), out);
	fputs(" is ", out);
	escape_print(text_of(answer, "state"), out);
	fprintf(out, ": pid %lld, up %s, conf ", number_of(answer, "pid"), up_of(answer, up));
	escape_print(text_of(answer, "conf"), out);
	fputs("\n", out);
	for (size_t i = 0; i < json_array_size(workers); i++)
		show_worker(json_array_get(workers, i), out);
}
