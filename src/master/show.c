#include "config.h"

#include <stdint.h>

#include "master/show.h"

#define UP_SIZE 32

static json_int_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? text : "?";
}

/* "12s", "3m 12s", "2h 3m", "5d 2h". */
static const char *up_of(const json_t *object, char buf[UP_SIZE])
{
	json_int_t s = number_of(object, "uptime_ms") / 1000;
	json_int_t m = s / 60, h = m / 60, d = h / 24;

	if (d > 0)
		snprintf(buf, UP_SIZE, "%lldd %lldh", d, h % 24);
	else if (h > 0)
		snprintf(buf, UP_SIZE, "%lldh %lldm", h, m % 60);
	else if (m > 0)
		snprintf(buf, UP_SIZE, "%lldm %llds", m, s % 60);
	else
		snprintf(buf, UP_SIZE, "%llds", s);
	return buf;
}

static void show_worker(const json_t *worker, FILE *out)
{
	const json_t *counters = json_object_get(worker, "counters");
	char up[UP_SIZE];

	fprintf(out, "worker %lld: %s", number_of(worker, "slot"), text_of(worker, "state"));
	if (number_of(worker, "pid") > 0)
		fprintf(out, ", pid %lld, up %s", number_of(worker, "pid"), up_of(worker, up));
	fprintf(out, ", %lld connections, frames %lld in %lld out, %lld sends refused\n",
	    number_of(worker, "connections"), number_of(counters, "frames_in"),
	    number_of(counters, "frames_out"), number_of(counters, "sends_refused"));
}

void show_status(const json_t *answer, FILE *out)
{
	const json_t *workers = json_object_get(answer, "workers");
	char up[UP_SIZE];

	fprintf(out, "runneld %s is %s: pid %lld, up %s, conf %s\n", text_of(answer, "version"),
	    text_of(answer, "state"), number_of(answer, "pid"), up_of(answer, up),
	    text_of(answer, "conf"));
	for (size_t i = 0; i < json_array_size(workers); i++)
		show_worker(json_array_get(workers, i), out);
}
