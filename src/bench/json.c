#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "wire/framing.h"

#include "bench/json.h"
#include "bench/options.h"
#include "bench/run.h"

#define PROGRAM "runnel-bench"

/* Goes up when a key changes its meaning or goes away; a reader must not guess. */
#define FORMAT 1

enum status json_open(const char *path, int *fd, struct reason *why)
{
	if (strcmp(path, "-") == 0)
		*fd = dup(STDOUT_FILENO);
	else
		*fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (*fd < 0)
		return reason_set(why, "cannot write %s: %s", path, strerror(errno));
	return STATUS_OK;
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* Nothing below a nanosecond is known. */
static json_t *microseconds(double ns)
{
	return json_real(ns / 1000);
}

static json_t *counts_by_name(const uint64_t *counts, const char *const *names, size_t n)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_set_new(object, names[i], number(counts[i]));
	return object;
}

static json_t *latency_of(const struct histogram *latency)
{
	static const struct {
		const char *name;
		unsigned int per_mille;
	} columns[] = { { "p50", 500 }, { "p90", 900 }, { "p95", 950 }, { "p99", 990 },
		{ "p99.9", 999 }, { "max", 1000 } };
	json_t *object = json_object();
	size_t i;

	json_object_set_new(
	    object, "min", microseconds(latency->n > 0 ? (double)latency->min_ns : 0));
	json_object_set_new(object, "mean", microseconds(histogram_mean_ns(latency)));
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		json_object_set_new(object, columns[i].name,
		    microseconds((double)histogram_quantile_ns(latency, columns[i].per_mille)));
	return object;
}

/* Replies in steps of 50 ms, the last being all that took longer. */
static json_t *steps_of(const struct histogram *latency)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i <= CHART_STEPS; i++)
		json_array_append_new(
		    array, number(histogram_count_between(latency, i * CHART_STEP_NS,
			       i < CHART_STEPS ? (i + 1) * CHART_STEP_NS : UINT64_MAX)));
	return array;
}

/* [from ns, to ns, replies] of each bucket that is not empty. */
static json_t *buckets_of(const struct histogram *latency)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (latency->counts[i] > 0)
			json_array_append_new(
			    array, json_pack("[o,o,o]", number(histogram_bucket_start_ns(i)),
				       number(histogram_bucket_start_ns(i + 1)),
				       number(latency->counts[i])));
	}
	return array;
}

static json_t *options_of(const struct run *run)
{
	static const char *const loads[] = {
		[LOAD_ID] = "id",
		[LOAD_MIX] = "mix",
		[LOAD_ECHO] = "echo",
	};
	const struct options *options = run->options;
	json_t *object = json_pack("{s:s, s:s, s:s}", "server", run->address.text, "framing",
	    options->framing->name, "load", loads[options->load]);
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "id", options->load == LOAD_ID ? options->message_id : 0 },
		{ "echo_bytes", options->echo_bytes },
		{ "connections", options->n_connections },
		{ "requests", options->n_requests },
		{ "warmup", options->n_warmup },
		{ "pipeline", options->n_in_flight },
		{ "connecting", options->n_connecting },
		{ "threads", run->n_lanes },
		{ "processes", run->n_processes },
		{ "duration_us", options->duration_ns / 1000 },
		{ "think_us", options->think_ns / 1000 },
		{ "deadline_us", options->deadline_ns / 1000 },
		{ "seed", options->seed },
	};
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(object, numbers[i].name, number(numbers[i].value));
	json_object_set_new(object, "reconnect_percent", json_real(options->reconnect_percent));
	return object;
}

static json_t *phase_of(const struct tally *tally)
{
	json_t *object = json_object();
	double seconds = tally_seconds(tally);

	json_object_set_new(object, "seconds", json_real(seconds));
	json_object_set_new(object, "connects", number(tally->connects_tried));
	json_object_set_new(object, "connects_opened", number(tally->connects_opened));
	json_object_set_new(object, "connects_failed",
	    counts_by_name(tally->connects_failed, connect_failure_names, N_CONNECT_FAILURES));
	json_object_set_new(object, "connect_latency_us", latency_of(&tally->connect_latency));
	json_object_set_new(
	    object, "connections_lost", counts_by_name(tally->lost, failure_names, N_FAILURES));
	json_object_set_new(object, "clients_given_up", number(tally->clients_given_up));
	json_object_set_new(object, "cpu_seconds", json_real((double)tally->cpu_ns / 1e9));
	return object;
}

static json_t *exchange_of(const struct tally *tally)
{
	json_t *object = phase_of(tally);
	double seconds = tally_seconds(tally);

	json_object_set_new(object, "sent", number(tally->requests_sent));
	json_object_set_new(object, "replies", number(tally->replies));
	json_object_set_new(object, "requests_per_second",
	    json_real(seconds > 0 ? (double)tally->replies / seconds : 0));
	json_object_set_new(object, "failed", number(tally_failed_requests(tally)));
	json_object_set_new(object, "failed_by_cause",
	    counts_by_name(tally->failed, failure_names, N_FAILURES));
	json_object_set_new(object, "not_sent", number(tally->requests_unsent));
	json_object_set_new(object, "cut_off", number(tally->requests_cut));
	json_object_set_new(object, "bytes_sent", number(tally->bytes_out));
	json_object_set_new(object, "bytes_received", number(tally->bytes_in));
	json_object_set_new(object, "latency_us", latency_of(&tally->latency));
	json_object_set_new(object, "steps_50ms", steps_of(&tally->latency));
	json_object_set_new(object, "histogram_ns", buckets_of(&tally->latency));
	return object;
}

static json_t *cpu_of(const struct run *run)
{
	const struct tally *tally = &run->tallies[PHASE_RUN];
	double replies = tally->replies > 0 ? (double)tally->replies : 1;
	json_t *object = json_object(), *shares = json_array();
	uint32_t i;

	for (i = 0; i < run->n_lanes; i++)
		json_array_append_new(shares, json_real(run->lane_shares[i]));
	json_object_set_new(object, "thread_shares", shares);
	json_object_set_new(
	    object, "client_us_per_reply", json_real((double)tally->cpu_ns / 1000 / replies));
	json_object_set_new(object, "machine_idle_share",
	    run->idle_share >= 0 ? json_real(run->idle_share) : json_null());
	json_object_set_new(object, "server_seconds",
	    run->has_server_cpu ? json_real(run->server_seconds) : json_null());
	json_object_set_new(object, "server_us_per_reply",
	    run->has_server_cpu ? json_real(run->server_seconds * 1e6 / replies) : json_null());
	return object;
}

static json_t *host_of(void)
{
	struct utsname host;

	if (uname(&host) < 0)
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:I}", "name", host.nodename, "kernel", host.release,
	    "machine", host.machine, "processors", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN));
}

/* What is not UTF-8 cannot stand in JSON: a mark instead of the report's end. */
static json_t *title_of(const char *title)
{
	json_t *string = json_string(title);

	return string != NULL ? string : json_string("(title is not UTF-8)");
}

static json_t *report_of(const struct run *run)
{
	json_t *root = json_object();
	char date[32];
	struct tm utc;

	gmtime_r(&run->date, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_object_set_new(root, "program", json_string(PROGRAM));
	json_object_set_new(root, "format", json_integer(FORMAT));
	json_object_set_new(root, "version", json_string(PACKAGE_VERSION));
	if (run->options->title != NULL)
		json_object_set_new(root, "title", title_of(run->options->title));
	json_object_set_new(root, "date", json_string(date));
	json_object_set_new(root, "host", host_of());
	json_object_set_new(root, "options", options_of(run));
	json_object_set_new(root, "interrupted", json_boolean(run->is_interrupted));
	json_object_set_new(root, "connect", phase_of(&run->tallies[PHASE_CONNECT]));
	if (run->options->n_warmup > 0)
		json_object_set_new(root, "warmup", exchange_of(&run->tallies[PHASE_WARMUP]));
	json_object_set_new(root, "run", exchange_of(&run->tallies[PHASE_RUN]));
	json_object_set_new(root, "cpu", cpu_of(run));
	if (run->wrong_note[0] != '\0')
		json_object_set_new(root, "first_wrong", json_string(run->wrong_note));
	return root;
}

enum status json_write(const struct run *run, const char *path, int fd, struct reason *why)
{
	json_t *root = report_of(run);
	bool is_written;

	/* Fails where there is nothing to cut: a pipe, /dev/null. */
	if (strcmp(path, "-") != 0 && ftruncate(fd, 0) < 0 && errno != EINVAL)
		is_written = false;
	else
		is_written =
		    json_dumpfd(root, fd, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0 &&
		    write(fd, "\n", 1) == 1;
	json_decref(root);
	if (close(fd) < 0 || !is_written)
		return reason_set(why, "cannot write %s: %s", path, strerror(errno));
	return STATUS_OK;
}

static enum status check_origin(const json_t *root, const char *path, struct reason *why)
{
	const char *program = json_string_value(json_object_get(root, "program"));
	json_int_t format = json_integer_value(json_object_get(root, "format"));

	if (program == NULL || strcmp(program, PROGRAM) != 0)
		return reason_set(why, "%s: not a report of " PROGRAM " --json", path);
	if (format != FORMAT)
		return reason_set(why,
		    "%s: has format %" JSON_INTEGER_FORMAT ", this program reads %d", path,
		    format, FORMAT);
	return STATUS_OK;
}

/* A number that may stand at the name in an object (which may be none), 0 or more. */
static enum status read_number(
    const json_t *object, const char *name, const char *path, double *value, struct reason *why)
{
	const json_t *found = json_object_get(object, name);

	if (!json_is_number(found) || json_number_value(found) < 0)
		return reason_set(
		    why, "%s: %s is missing, or no number of 0 or more", path, name);
	*value = json_number_value(found);
	return STATUS_OK;
}

static enum status read_count(const json_t *object, const char *name, const char *path,
    uint64_t *value, struct reason *why)
{
	double number;

	if (read_number(object, name, path, &number, why) != STATUS_OK)
		return STATUS_INVALID;
	*value = (uint64_t)json_integer_value(json_object_get(object, name));
	return STATUS_OK;
}

static enum status read_ns(
    const json_t *object, const char *name, const char *path, double *ns, struct reason *why)
{
	if (read_number(object, name, path, ns, why) != STATUS_OK)
		return STATUS_INVALID;
	*ns *= 1000;
	return STATUS_OK;
}

static enum status read_steps(
    const json_t *array, const char *path, struct summary *summary, struct reason *why)
{
	const json_t *count;
	size_t i;

	if (json_array_size(array) != CHART_STEPS + 1)
		return reason_set(
		    why, "%s: steps_50ms is missing, or not %d numbers", path, CHART_STEPS + 1);
	for (i = 0; i <= CHART_STEPS; i++) {
		count = json_array_get(array, i);
		if (!json_is_integer(count) || json_integer_value(count) < 0)
			return reason_set(why, "%s: steps_50ms[%zu] is no count", path, i);
		summary->steps[i] = (uint64_t)json_integer_value(count);
	}
	return STATUS_OK;
}

static enum status read_summary(
    const json_t *root, const char *path, struct summary *summary, struct reason *why)
{
	const json_t *run = json_object_get(root, "run");
	const json_t *latency = json_object_get(run, "latency_us");
	const char *title = json_string_value(json_object_get(root, "title"));

	snprintf(summary->title, sizeof(summary->title), "%s", title != NULL ? title : "");
	if (read_number(run, "seconds", path, &summary->seconds, why) != STATUS_OK ||
	    read_number(run, "requests_per_second", path, &summary->requests_per_second, why) !=
		STATUS_OK ||
	    read_count(run, "replies", path, &summary->replies, why) != STATUS_OK ||
	    read_count(run, "failed", path, &summary->failed, why) != STATUS_OK ||
	    read_ns(latency, "mean", path, &summary->mean_ns, why) != STATUS_OK ||
	    read_ns(latency, "p50", path, &summary->p50_ns, why) != STATUS_OK ||
	    read_ns(latency, "p99", path, &summary->p99_ns, why) != STATUS_OK ||
	    read_ns(latency, "max", path, &summary->max_ns, why) != STATUS_OK)
		return STATUS_INVALID;
	return read_steps(json_object_get(run, "steps_50ms"), path, summary, why);
}

enum status json_read(const char *path, struct summary *summary, struct reason *why)
{
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);
	enum status status;

	*summary = (struct summary){ 0 };
	if (root == NULL && error.line > 0)
		return reason_set(why, "%s: line %d: %s", path, error.line, error.text);
	if (root == NULL)
		return reason_set(why, "%s", error.text);
	status = check_origin(root, path, why);
	if (status == STATUS_OK)
		status = read_summary(root, path, summary, why);
	json_decref(root);
	return status;
}
