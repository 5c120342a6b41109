#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/memory.h"
#include "base/panic.h"
#include "base/parent.h"

#include "bench/crew.h"
#include "bench/lane.h"
#include "bench/options.h"

/* Descriptors of a process besides its connections: a few of its own, and one per lane. */
#define SPARE_DESCRIPTORS 64

/* The gate behind the last phase: the processes end. */
#define GATE_END N_PHASES
#define N_GATES (N_PHASES + 1)

/* One mapping that all processes share. */
struct shared {
	bool is_stopping;
	uint32_t n_done[N_PHASES]; /* lanes that are through with the phase */
	struct lane_report reports[];
};

struct crew {
	const struct options *options;
	const struct address *address;
	struct shared *shared;
	size_t shared_size;
	uint32_t n_processes, n_lanes;
	pid_t *pids; /* owned; 0: ended and waited for */
	int gates[N_GATES]
		 [2]; /* pipes; who reads waits until the writing end is closed; -1: closed */
	int done_fd;  /* eventfd: some lane is through with a phase */
	int signal_fd;
	bool is_interrupted;
};

/* A thread of a load process. */
struct hand {
	struct crew *crew;
	uint32_t lane;
	pthread_t thread;
};

/* The share of `total` that the part `i` of `n_parts` begins with. */
static uint32_t share_start(uint64_t total, uint32_t n_parts, uint32_t i)
{
	return (uint32_t)(total * i / n_parts);
}

static void wait_at_gate(const struct crew *crew, int gate)
{
	char byte;

	while (read(crew->gates[gate][0], &byte, 1) < 0 && errno == EINTR)
		;
}

static void open_gate(struct crew *crew, int gate)
{
	if (crew->gates[gate][1] >= 0)
		close(crew->gates[gate][1]);
	crew->gates[gate][1] = -1;
}

static void tell_done(const struct crew *crew, enum phase phase)
{
	const uint64_t one = 1;
	ssize_t n;

	__atomic_add_fetch(&crew->shared->n_done[phase], 1, __ATOMIC_RELEASE);
	do
		n = write(crew->done_fd, &one, sizeof(one));
	while (n < 0 && errno == EINTR);
}

/* An interrupted run opens the gates that are left; behind them there is nothing to do. */
static bool enter(const struct crew *crew, enum phase phase)
{
	wait_at_gate(crew, (int)phase);
	return !counter_read(crew->shared->is_stopping);
}

static void *hand_main(void *arg)
{
	const struct hand *hand = arg;
	const struct crew *crew = hand->crew;
	const struct options *options = crew->options;
	const struct lane_setup setup = {
		.options = options,
		.address = crew->address,
		.is_stopping = &crew->shared->is_stopping,
	};
	uint32_t first = share_start(options->n_connections, crew->n_lanes, hand->lane);
	uint32_t end = share_start(options->n_connections, crew->n_lanes, hand->lane + 1);
	uint32_t n_connecting = (uint32_t)options->n_connecting / crew->n_lanes;
	struct lane *lane = lane_new(&setup, first, end - first,
	    n_connecting > 0 ? n_connecting : 1, &crew->shared->reports[hand->lane]);

	if (enter(crew, PHASE_CONNECT))
		lane_connect(lane);
	tell_done(crew, PHASE_CONNECT);
	if (options->n_warmup > 0) {
		if (enter(crew, PHASE_WARMUP))
			lane_exchange(lane, PHASE_WARMUP, options->n_warmup, 0);
		tell_done(crew, PHASE_WARMUP);
	}
	if (enter(crew, PHASE_RUN))
		lane_exchange(lane, PHASE_RUN, options->n_requests, options->duration_ns);
	tell_done(crew, PHASE_RUN);
	/* Closing has to wait: it would be on the server's account. */
	wait_at_gate(crew, GATE_END);
	lane_destroy(&lane);
	return NULL;
}

/* A load process: its first lane runs here, each other in a thread. Signals stay blocked. */
static _Noreturn void process_main(struct crew *crew, uint32_t process)
{
	uint32_t first = share_start(crew->n_lanes, crew->n_processes, process);
	uint32_t end = share_start(crew->n_lanes, crew->n_processes, process + 1);
	struct hand *hands = must_alloc(end - first, sizeof(*hands));
	uint32_t i;
	int gate;

	for (gate = 0; gate < N_GATES; gate++)
		open_gate(crew, gate);
	for (i = 0; i < end - first; i++)
		hands[i] = (struct hand){ .crew = crew, .lane = first + i };
	for (i = 1; i < end - first; i++)
		CHECK(pthread_create(&hands[i].thread, NULL, hand_main, &hands[i]) == 0);
	hand_main(&hands[0]);
	for (i = 1; i < end - first; i++)
		pthread_join(hands[i].thread, NULL);
	free(hands);
	exit(EXIT_SUCCESS);
}

/* As high as it goes, and what that is. Only the privileged can pass the hard limit. */
static uint64_t raise_descriptor_limit(uint64_t wanted)
{
	struct rlimit limit, higher;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return wanted;
	if (limit.rlim_max < wanted) {
		higher.rlim_cur = higher.rlim_max = wanted;
		if (setrlimit(RLIMIT_NOFILE, &higher) == 0)
			return wanted;
	}
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

/* How many processes and lanes. */
static enum status make_plan(struct crew *crew, struct reason *why)
{
	const struct options *options = crew->options;
	uint64_t n_connections = options->n_connections;
	uint64_t n_cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t n_lanes = options->n_threads > 0 ? options->n_threads : n_cpus / 2;
	uint64_t spare = SPARE_DESCRIPTORS + options->n_threads;
	uint64_t limit = raise_descriptor_limit(n_connections + spare);
	uint64_t n_needed;

	if (limit <= 2 * spare)
		return reason_set(why,
		    "a process may open %" PRIu64 " descriptors only; raise that (ulimit -n)",
		    limit);
	n_needed = (n_connections + limit - spare - 1) / (limit - spare);
	crew->n_processes =
	    (uint32_t)(options->n_processes > 0 ? options->n_processes : n_needed);
	if (crew->n_processes < n_needed)
		return reason_set(why,
		    "%" PRIu64 " connections need %" PRIu64
		    " processes, as each may open %" PRIu64
		    " descriptors: leave out --processes, or raise the limit (ulimit -n)",
		    n_connections, n_needed, limit);
	if (crew->n_processes > n_connections)
		crew->n_processes = (uint32_t)n_connections;
	if (n_lanes < crew->n_processes)
		n_lanes = crew->n_processes;
	crew->n_lanes = (uint32_t)(n_lanes < n_connections ? n_lanes : n_connections);
	return STATUS_OK;
}

static enum status open_descriptors(struct crew *crew)
{
	sigset_t signals;
	int gate;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	crew->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	crew->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (crew->signal_fd < 0 || crew->done_fd < 0)
		return STATUS_ERRNO;
	for (gate = 0; gate < N_GATES; gate++) {
		if (pipe2(crew->gates[gate], O_CLOEXEC) < 0)
			return STATUS_ERRNO;
	}
	return STATUS_OK;
}

static enum status map_shared(struct crew *crew)
{
	void *memory;
	uint32_t lane, phase;

	crew->shared_size = sizeof(struct shared) + crew->n_lanes * sizeof(struct lane_report);
	memory = mmap(
	    NULL, crew->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return STATUS_ERRNO;
	crew->shared = memory;
	for (lane = 0; lane < crew->n_lanes; lane++) {
		for (phase = 0; phase < N_PHASES; phase++)
			tally_init(&crew->shared->reports[lane].tallies[phase]);
	}
	return STATUS_OK;
}

static enum status fork_all(struct crew *crew)
{
	pid_t leader = getpid(), pid;
	uint32_t i;

	for (i = 0; i < crew->n_processes; i++) {
		pid = fork();
		if (pid < 0)
			return STATUS_ERRNO;
		if (pid == 0) {
			parent_follow(leader);
			process_main(crew, i);
		}
		crew->pids[i] = pid;
	}
	return STATUS_OK;
}

enum status crew_new(const struct options *options, const struct address *address,
    struct crew **crew, struct reason *why)
{
	struct crew *new = must_alloc(1, sizeof(*new));

	new->options = options;
	new->address = address;
	new->signal_fd = new->done_fd = -1;
	memset(new->gates, 0xff, sizeof(new->gates));
	if (make_plan(new, why) != STATUS_OK)
		goto failed;
	new->pids = must_alloc(new->n_processes, sizeof(*new->pids));
	if (open_descriptors(new) != STATUS_OK || map_shared(new) != STATUS_OK ||
	    fork_all(new) != STATUS_OK) {
		reason_set(why, "cannot start %" PRIu32 " processes: %s", new->n_processes,
		    strerror(errno));
		goto failed;
	}
	*crew = new;
	return STATUS_OK;
failed:
	crew_destroy(&new);
	return STATUS_INVALID;
}

uint32_t crew_n_processes(const struct crew *crew)
{
	return crew->n_processes;
}

uint32_t crew_n_lanes(const struct crew *crew)
{
	return crew->n_lanes;
}

const struct lane_report *crew_report(const struct crew *crew, uint32_t lane)
{
	return &crew->shared->reports[lane];
}

void crew_begin(struct crew *crew, enum phase phase)
{
	open_gate(crew, (int)phase);
}

static void interrupt(struct crew *crew)
{
	int gate;

	crew->is_interrupted = true;
	__atomic_store_n(&crew->shared->is_stopping, true, __ATOMIC_RELAXED);
	for (gate = 0; gate < GATE_END; gate++)
		open_gate(crew, gate);
}

/* A load process that ends before it is told to has been killed, or out of memory. */
static enum status reap(struct crew *crew, struct reason *why)
{
	uint32_t i;
	int status;

	for (i = 0; i < crew->n_processes; i++) {
		if (crew->pids[i] == 0 || waitpid(crew->pids[i], &status, WNOHANG) <= 0)
			continue;
		crew->pids[i] = 0;
		if (WIFSIGNALED(status))
			return reason_set(why, "a load process was killed by signal %d (%s)",
			    WTERMSIG(status), strsignal(WTERMSIG(status)));
		return reason_set(why, "a load process ended too early, with exit status %d",
		    WEXITSTATUS(status));
	}
	return STATUS_OK;
}

static enum status take_signals(struct crew *crew, struct reason *why)
{
	struct signalfd_siginfo info;

	while (read(crew->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			interrupt(crew);
		else if (reap(crew, why) != STATUS_OK)
			return STATUS_INVALID;
	}
	return STATUS_OK;
}

static bool is_through(const struct crew *crew, enum phase phase)
{
	return __atomic_load_n(&crew->shared->n_done[phase], __ATOMIC_ACQUIRE) == crew->n_lanes;
}

/* A look before sleeping: the word that this phase is over may have been read with another. */
enum status crew_wait(
    struct crew *crew, enum phase phase, int timeout_ms, bool *is_done, struct reason *why)
{
	struct pollfd fds[] = {
		{ .fd = crew->done_fd, .events = POLLIN },
		{ .fd = crew->signal_fd, .events = POLLIN },
	};
	uint64_t n;

	*is_done = is_through(crew, phase);
	if (!*is_done && poll(fds, 2, timeout_ms) > 0) {
		while (read(crew->done_fd, &n, sizeof(n)) > 0)
			;
		if (take_signals(crew, why) != STATUS_OK)
			return STATUS_INVALID;
	}
	*is_done = is_through(crew, phase);
	return STATUS_OK;
}

bool crew_is_interrupted(const struct crew *crew)
{
	return crew->is_interrupted;
}

uint64_t crew_count(const struct crew *crew, enum phase phase)
{
	const struct tally *tally;
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i < crew->n_lanes; i++) {
		tally = &crew->shared->reports[i].tallies[phase];
		count += phase == PHASE_CONNECT ? counter_read(tally->connects_opened)
						: counter_read(tally->replies);
	}
	return count;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void end_processes(struct crew *crew)
{
	bool will_end = crew->shared != NULL && is_through(crew, PHASE_RUN);
	uint32_t i;

	open_gate(crew, GATE_END);
	for (i = 0; crew->pids != NULL && i < crew->n_processes; i++) {
		if (crew->pids[i] == 0)
			continue;
		if (!will_end)
			kill(crew->pids[i], SIGKILL);
		while (waitpid(crew->pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
}

void crew_destroy(struct crew **crew)
{
	struct crew *old = *crew;
	int gate;

	if (old == NULL)
		return;
	end_processes(old);
	for (gate = 0; gate < N_GATES; gate++) {
		close_fd(&old->gates[gate][0]);
		close_fd(&old->gates[gate][1]);
	}
	close_fd(&old->done_fd);
	close_fd(&old->signal_fd);
	if (old->shared != NULL)
		munmap(old->shared, old->shared_size);
	free(old->pids);
	free(old);
	*crew = NULL;
}
