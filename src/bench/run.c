#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "bench/cpu.h"
#include "bench/crew.h"
#include "bench/options.h"
#include "bench/progress.h"
#include "bench/run.h"

/* Processor time before and after the measured phase. */
struct readings {
	bool has_machine;
	struct cpu_machine machine[2];
	bool has_server;
	struct cpu_server server[2];
};

static enum status read_before(
    struct readings *readings, const struct options *options, struct reason *why)
{
	readings->has_server = options->n_server_pids > 0;
	if (readings->has_server && cpu_read_server(&readings->server[0], options->server_pids,
					options->n_server_pids, why) != STATUS_OK)
		return STATUS_INVALID;
	readings->has_machine = cpu_read_machine(&readings->machine[0]);
	return STATUS_OK;
}

/* A server that is gone by now has no processor time to tell. */
static void read_after(struct readings *readings, const struct options *options)
{
	struct reason why;

	readings->has_machine =
	    readings->has_machine && cpu_read_machine(&readings->machine[1]);
	readings->has_server =
	    readings->has_server && cpu_read_server(&readings->server[1], options->server_pids,
					options->n_server_pids, &why) == STATUS_OK;
}

static void keep_readings(struct run *run, const struct readings *readings)
{
	const struct cpu_server *server = readings->server;

	run->idle_share = -1;
	if (readings->has_machine)
		run->idle_share = cpu_idle_share(&readings->machine[0], &readings->machine[1]);
	run->has_server_cpu = readings->has_server;
	if (!readings->has_server)
		return;
	run->server_seconds = server[1].seconds - server[0].seconds;
	run->server_busiest_seconds = cpu_busiest_seconds(&server[0], &server[1]);
}

static void begin_progress(
    struct progress *progress, const struct options *options, enum phase phase)
{
	uint64_t n = options->n_connections;

	switch (phase) {
	case PHASE_CONNECT:
		progress_begin(progress, "connect", "connections", n, 0);
		break;
	case PHASE_WARMUP:
		progress_begin(progress, "warm-up", "requests", n * options->n_warmup, 0);
		break;
	default:
		progress_begin(progress, "run", "requests",
		    options->duration_ns > 0 ? 0 : n * options->n_requests,
		    options->duration_ns);
	}
}

/* One phase, from the opening of its gate until all lanes are through. */
static enum status pass_phase(const struct options *options, struct crew *crew,
    struct progress *progress, enum phase phase, struct reason *why)
{
	enum status status = STATUS_OK;
	bool is_done = false;

	begin_progress(progress, options, phase);
	crew_begin(crew, phase);
	while (!is_done && status == STATUS_OK) {
		status = crew_wait(crew, phase, progress_wait_ms(progress), &is_done, why);
		progress_show(progress, crew_count(crew, phase));
	}
	progress_end(progress);
	return status;
}

static void add_up(struct run *run, const struct crew *crew)
{
	const struct lane_report *report;
	const struct tally *tally;
	uint32_t lane, phase;

	run->n_processes = crew_n_processes(crew);
	run->n_lanes = crew_n_lanes(crew);
	run->is_interrupted = crew_is_interrupted(crew);
	run->lane_shares = must_alloc(run->n_lanes, sizeof(*run->lane_shares));
	for (lane = 0; lane < run->n_lanes; lane++) {
		report = crew_report(crew, lane);
		for (phase = 0; phase < N_PHASES; phase++)
			tally_merge(&run->tallies[phase], &report->tallies[phase]);
		tally = &report->tallies[PHASE_RUN];
		if (tally_seconds(tally) > 0)
			run->lane_shares[lane] =
			    (double)tally->cpu_ns / 1e9 / tally_seconds(tally);
		if (run->wrong_note[0] == '\0')
			memcpy(run->wrong_note, report->wrong_note, sizeof(run->wrong_note));
		if (run->connect_errno == 0)
			run->connect_errno = report->connect_errno;
	}
}

static enum status pass_phases(struct run *run, struct crew *crew, struct reason *why)
{
	const struct options *options = run->options;
	struct readings *readings = must_alloc(1, sizeof(*readings));
	enum status status;
	struct progress progress;

	progress_init(&progress, options);
	status = pass_phase(options, crew, &progress, PHASE_CONNECT, why);
	if (status == STATUS_OK && options->n_warmup > 0 && !crew_is_interrupted(crew))
		status = pass_phase(options, crew, &progress, PHASE_WARMUP, why);
	if (status == STATUS_OK)
		status = read_before(readings, options, why);
	if (status == STATUS_OK)
		status = pass_phase(options, crew, &progress, PHASE_RUN, why);
	if (status == STATUS_OK) {
		read_after(readings, options);
		keep_readings(run, readings);
	}
	free(readings);
	return status;
}

enum status run_new(const struct options *options, struct run **run, struct reason *why)
{
	struct run *new = must_alloc(1, sizeof(*new));
	struct crew *crew = NULL;
	enum status status;
	uint32_t phase;

	new->options = options;
	new->date = time(NULL);
	for (phase = 0; phase < N_PHASES; phase++)
		tally_init(&new->tallies[phase]);
	status = address_resolve(&new->address, options->host, options->service, why);
	if (status == STATUS_OK)
		status = crew_new(options, &new->address, &crew, why);
	if (status == STATUS_OK)
		status = pass_phases(new, crew, why);
	if (status == STATUS_OK)
		add_up(new, crew);
	crew_destroy(&crew);
	if (status != STATUS_OK)
		run_destroy(&new);
	*run = new;
	return status;
}

bool run_is_clean(const struct run *run)
{
	uint32_t phase;

	for (phase = 0; phase < N_PHASES; phase++) {
		if (!tally_is_clean(&run->tallies[phase]))
			return false;
	}
	return true;
}

void run_destroy(struct run **run)
{
	if (*run == NULL)
		return;
	free((*run)->lane_shares);
	free(*run);
	*run = NULL;
}
