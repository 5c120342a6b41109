#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/panic.h"

#include "bench/client.h"
#include "bench/cpu.h"
#include "bench/lane.h"
#include "bench/options.h"

#define EVENTS 512

/*
 * All deadlines are as long, and nearly none is reached. Looking at every client ten times a
 * second costs nothing per request, and notices a late reply a tenth of a second later.
 */
#define SWEEP_NS UINT64_C(100000000)

/*
 * A connect is over before the server has accepted, so a bound on connects in flight alone
 * would not keep its backlog from overflowing. While all connect, no more than that bound begin
 * in this time.
 */
#define RAMP_NS UINT64_C(10000000)

static uint64_t ring_size(uint64_t n_in_flight)
{
	uint64_t size = 1;

	while (size < n_in_flight)
		size *= 2;
	return size;
}

struct client *lane_client(const struct lane *lane, uint32_t index)
{
	return (struct client *)(void *)(lane->clients + index * lane->client_size);
}

struct lane *lane_new(const struct lane_setup *setup, uint32_t first_client, uint32_t n_clients,
    uint32_t n_connecting, struct lane_report *report)
{
	struct lane *lane = must_alloc(1, sizeof(*lane));
	uint64_t n_sent = ring_size(setup->options->n_in_flight);
	uint32_t i;

	*lane = (struct lane){
		.options = setup->options,
		.address = setup->address,
		.is_stopping = setup->is_stopping,
		.report = report,
		.ring_mask = n_sent - 1,
		.client_size = client_size(n_sent),
		.n_clients = n_clients,
		.n_connecting_max = n_connecting,
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
	};
	CHECK(lane->epoll_fd >= 0);
	list_init(&lane->waiting);
	list_init(&lane->thinking);
	protocol_init(&lane->protocol, setup->options);
	lane->in = must_alloc(1, LANE_SCRATCH);
	lane->out = must_alloc(1, LANE_SCRATCH);
	lane->clients = must_alloc(n_clients, lane->client_size);
	for (i = 0; i < n_clients; i++)
		client_init(lane_client(lane, i), first_client + i);
	return lane;
}

/* Must the clients that wait for their turn to connect wait for the clock as well? */
static bool is_ramp_used_up(const struct lane *lane)
{
	return lane->phase == PHASE_CONNECT && lane->n_ramp == 0;
}

/* As far as bound and ramp allow; a connect may fail at once. */
static void connect_waiting(struct lane *lane)
{
	struct link *link;

	if (is_ramp_used_up(lane) && lane->now_ns >= lane->ramp_ns) {
		lane->ramp_ns = lane->now_ns + RAMP_NS;
		lane->n_ramp = lane->n_connecting_max;
	}
	while (lane->n_connecting < lane->n_connecting_max && !is_ramp_used_up(lane)) {
		link = list_shift(&lane->waiting);
		if (link == NULL)
			return;
		if (lane->phase == PHASE_CONNECT)
			lane->n_ramp--;
		client_connect(lane, container_of(link, struct client, link));
	}
}

/* Those whose time to think is over: all think as long, so the first is due first. */
static void wake_thinking(struct lane *lane)
{
	struct client *client;

	while (!list_is_empty(&lane->thinking)) {
		client = container_of(lane->thinking.next, struct client, link);
		if (client->since_ns > lane->now_ns)
			return;
		list_remove(&client->link);
		client_on_thought(lane, client);
	}
}

/* What is due by the clock: deadlines, and the end of a run that is bound in time. */
static void sweep(struct lane *lane)
{
	uint32_t i;

	if (lane->now_ns >= lane->end_ns) {
		lane->end_ns = UINT64_MAX;
		for (i = 0; i < lane->n_clients; i++)
			client_finish(lane, lane_client(lane, i));
	}
	if (lane->now_ns < lane->sweep_ns)
		return;
	lane->sweep_ns = lane->now_ns + SWEEP_NS;
	for (i = 0; i < lane->n_clients; i++)
		client_check_deadline(lane, lane_client(lane, i));
}

/* How long the loop may sleep. */
static uint64_t time_left_ns(const struct lane *lane)
{
	uint64_t next_ns = lane->sweep_ns < lane->end_ns ? lane->sweep_ns : lane->end_ns;
	const struct client *first;

	if (!list_is_empty(&lane->waiting) && is_ramp_used_up(lane) && lane->ramp_ns < next_ns)
		next_ns = lane->ramp_ns;
	if (!list_is_empty(&lane->thinking)) {
		first = container_of(lane->thinking.next, struct client, link);
		if (first->since_ns < next_ns)
			next_ns = first->since_ns;
	}
	return next_ns > lane->now_ns ? next_ns - lane->now_ns : 0;
}

static int wait_for_events(const struct lane *lane, struct epoll_event *events)
{
	uint64_t left_ns = time_left_ns(lane);
#ifdef HAVE_EPOLL_PWAIT2
	const struct timespec left = {
		.tv_sec = (time_t)(left_ns / 1000000000u),
		.tv_nsec = (long)(left_ns % 1000000000u),
	};
	int n = epoll_pwait2(lane->epoll_fd, events, EVENTS, &left, NULL);

	if (n >= 0 || errno != ENOSYS)
		return n;
#endif
	return epoll_wait(lane->epoll_fd, events, EVENTS, (int)((left_ns + 999999) / 1000000));
}

static bool is_stopping(const struct lane *lane)
{
	return __atomic_load_n(lane->is_stopping, __ATOMIC_RELAXED);
}

/* Until no client has anything left to do in this phase, or the run is interrupted. */
static void loop(struct lane *lane)
{
	struct epoll_event events[EVENTS];
	int i, n;

	while (lane->n_busy > 0 && !is_stopping(lane)) {
		connect_waiting(lane);
		n = wait_for_events(lane, events);
		CHECK(n >= 0 || errno == EINTR);
		lane->now_ns = clock_ns();
		for (i = 0; i < n; i++)
			client_on_event(lane, events[i].data.ptr, events[i].events);
		wake_thinking(lane);
		sweep(lane);
	}
}

static void begin_phase(struct lane *lane, enum phase phase)
{
	lane->phase = phase;
	lane->tally = &lane->report->tallies[phase];
	lane->tally->cpu_ns = cpu_thread_ns();
	lane->now_ns = clock_ns();
	lane->tally->started_ns = lane->now_ns;
	lane->sweep_ns = lane->now_ns + SWEEP_NS;
	lane->end_ns = UINT64_MAX;
}

static void end_phase(struct lane *lane)
{
	uint32_t i;

	lane->tally->ended_ns = clock_ns();
	lane->tally->cpu_ns = cpu_thread_ns() - lane->tally->cpu_ns;
	for (i = 0; i < lane->n_clients && lane->n_busy > 0; i++)
		client_cut(lane, lane_client(lane, i));
}

void lane_connect(struct lane *lane)
{
	uint32_t i;

	/* Think times are kept to the microsecond; the default slack is 50. */
	prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
	begin_phase(lane, PHASE_CONNECT);
	for (i = 0; i < lane->n_clients; i++)
		client_begin_connect(lane, lane_client(lane, i));
	loop(lane);
	end_phase(lane);
}

void lane_exchange(
    struct lane *lane, enum phase phase, uint64_t n_requests, uint64_t duration_ns)
{
	uint32_t i;

	begin_phase(lane, phase);
	if (duration_ns > 0)
		lane->end_ns = lane->now_ns + duration_ns;
	for (i = 0; i < lane->n_clients; i++)
		client_begin_requests(
		    lane, lane_client(lane, i), n_requests > 0 ? n_requests : UINT64_MAX);
	loop(lane);
	end_phase(lane);
}

void lane_destroy(struct lane **lane)
{
	uint32_t i;

	if (*lane == NULL)
		return;
	for (i = 0; i < (*lane)->n_clients; i++)
		client_deinit(lane_client(*lane, i));
	close((*lane)->epoll_fd);
	protocol_deinit(&(*lane)->protocol);
	free((*lane)->clients);
	free((*lane)->out);
	free((*lane)->in);
	free(*lane);
	*lane = NULL;
}
