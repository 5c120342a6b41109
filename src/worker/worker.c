#include "config.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/journal.h"
#include "base/log.h"
#include "base/panic.h"
#include "base/parent.h"
#include "base/streams.h"
#include "conn/accept.h"
#include "conn/connect.h"
#include "conn/conn.h"
#include "module/host.h"
#include "module/listeners.h"
#include "module/metrics.h"
#include "module/modules.h"
#include "module/work.h"
#include "settings/settings.h"
#include "worker/affinity.h"
#include "worker/channel.h"
#include "worker/handover.h"
#include "worker/limits.h"
#include "worker/receiver.h"
#include "worker/survey.h"
#include "worker/trim.h"
#include "worker/worker.h"

/* Connections that do not move are closed in the first part of the time to drain. */
#define DRAIN_SPREAD_PERCENT 80

/* The longest time between two stamps. */
#define STAMP_S 1.

/* A worker waits so long for the first attempts to connect to upstreams before it is ready. */
#define UPSTREAMS_S 1.

/* What a job that runs may still take when connections are gone and time is over. */
#define JOB_GRACE_S 1.

struct worker {
	const struct worker_plan *plan;
	struct settings *settings;
	struct modules *modules;
	struct listeners *listeners;
	struct ev_loop *loop;
	struct conn_table *table;
	struct connectors *connectors;
	struct acceptors *acceptors; /* NULL: it accepts no more */
	bool is_ready;               /* and the master knows */
	bool is_serving;             /* it was told to accept */
	bool has_left;               /* the listening sockets are closed here */
	bool is_ending;        /* it accepts no more, and ends when it has no connection */
	struct link handovers; /* to later workers */
	struct link receivers; /* of connections of earlier ones */
	struct link surveys;   /* that are being answered */
	ev_io channel;
	ev_signal term;
	ev_timer deadline;  /* of a graceful end */
	ev_timer grace;     /* of jobs, after that */
	ev_timer upstreams; /* of the wait before it is ready */
	ev_timer stamp;
	struct trim trim;
};

/* A start that would fail in the same way the next time. */
static _Noreturn void give_up(const char *text)
{
	log_error("%s", text);
	exit(WORKER_EXIT_HOPELESS);
}

/* The system has not what the worker needs, and may have it for the next one. */
static _Noreturn void give_up_for(enum status status)
{
	log_error(
	    "cannot go on: %s", status == STATUS_NOMEM ? "out of memory" : strerror(errno));
	exit(EXIT_FAILURE);
}

/*
 * The terminal sends INT, QUIT and HUP to the master's whole process group; the master decides
 * what they mean.
 */
static void set_signals(void)
{
	static const int ignored[] = { SIGPIPE, SIGXFSZ, SIGINT, SIGQUIT, SIGHUP, SIGUSR1,
		SIGUSR2 };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	panic_catch_signals();
}

static void introduce(const struct worker_plan *plan)
{
	char name[32];

	snprintf(name, sizeof(name), "worker %u", plan->slot);
	log_set_process(name);
	panic_set_page(&plan->seat->panic);
}

static void load(struct worker *worker)
{
	const struct worker_plan *plan = worker->plan;
	struct reason why = { "" };
	enum status status = STATUS_NOMEM;

	module_metrics_attach(plan->directory, &plan->seat->metrics);
	worker->modules = modules_new();
	if (worker->modules != NULL)
		status = settings_load(plan->conf_path, plan->conf_text, modules_find,
		    worker->modules, &worker->settings, &why);
	if (status == STATUS_OK) {
		affinity_apply(worker->settings, plan->slot);
		worker->settings->workers = plan->n_slots;
		status = limits_apply(worker->settings, &why);
	}
	if (status == STATUS_OK)
		status = modules_configure(worker->modules, worker->settings, &why);
	if (status == STATUS_OK)
		status =
		    listeners_new(worker->settings, worker->modules, &worker->listeners, &why);
	if (status == STATUS_INVALID)
		give_up(why.text);
	if (status != STATUS_OK)
		give_up_for(status);
}

static void make_loop(struct worker *worker)
{
	enum status status;

	worker->loop = ev_default_loop(EVFLAG_AUTO);
	if (worker->loop == NULL)
		give_up("libev has no usable backend: is LIBEV_FLAGS set?");
	status = table_new(worker->loop, worker->plan->pages, worker->plan->n_slots,
	    worker->plan->slot, worker->plan->seat, worker->settings->worker_send_memory,
	    worker->settings->slow_handler_ms, worker->modules->n, &worker->table);
	if (status == STATUS_OK)
		status = connectors_new(worker->table, worker->listeners->upstreams,
		    worker->settings->upstreams, worker->settings->n_upstreams,
		    &worker->connectors);
	if (status != STATUS_OK)
		give_up_for(status);
	modules_attach(worker->modules, worker->table);
	host_attach(worker->loop, worker->table);
	status = work_open(worker->loop, worker->table, worker->settings);
	if (status != STATUS_OK)
		give_up_for(status);
}

/* The last connection, or the last job, of a worker that ends is gone. */
static void on_idle(void *arg)
{
	struct worker *worker = arg;

	if (worker->is_ending && worker->table->n_conns == 0 && work_n_jobs() == 0 &&
	    list_is_empty(&worker->receivers) && !handovers_are_flying(&worker->handovers))
		ev_break(worker->loop, EVBREAK_ALL);
}

static void on_grace(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)timer;
	(void)revents;
	/* In this same turn the last one may have been done. */
	if (work_n_jobs() > 0)
		log_warn("%zu %s not done because the time to drain is over", work_n_jobs(),
		    work_n_jobs() == 1 ? "job is" : "jobs are");
	ev_break(loop, EVBREAK_ALL);
}

/* Close connections now, and let jobs that run end if they do so soon. */
static void cut_off(struct worker *worker, enum close_reason reason)
{
	table_abort(worker->table, reason);
	work_cancel();
	if (work_n_jobs() > 0)
		ev_timer_start(worker->loop, &worker->grace);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct worker *worker = container_of(timer, struct worker, deadline);

	(void)loop;
	(void)revents;
	if (worker->table->n_conns > 0)
		log_warn("%zu %s closed because the time to drain is over",
		    worker->table->n_conns,
		    worker->table->n_conns == 1 ? "connection is" : "connections are");
	receivers_close(&worker->receivers);
	handovers_close(&worker->handovers);
	cut_off(worker, CLOSE_REASON_drain_timeout);
	on_idle(worker);
}

/* One that runs already is not put off. */
static void start_deadline(struct worker *worker, uint32_t limit_ms)
{
	if (ev_is_active(&worker->deadline) &&
	    ev_timer_remaining(worker->loop, &worker->deadline) < limit_ms / 1000.)
		return;
	ev_timer_stop(worker->loop, &worker->deadline);
	ev_timer_set(&worker->deadline, limit_ms / 1000., 0.);
	ev_timer_start(worker->loop, &worker->deadline);
}

/* Accept no more, and end with the last connection and the last job. */
static void begin_end(struct worker *worker)
{
	if (worker->acceptors != NULL)
		acceptors_destroy(&worker->acceptors);
	if (!worker->is_ending)
		modules_drain(worker->modules);
	worker->is_ending = true;
	worker->table->on_empty = on_idle;
	worker->table->on_empty_arg = worker;
	work_watch_idle(on_idle, worker);
}

/* Limit 0: none. */
static void stop(struct worker *worker, uint32_t limit_ms)
{
	begin_end(worker);
	receivers_close(&worker->receivers);
	handovers_end(&worker->handovers);
	table_stop(worker->table);
	if (limit_ms != 0)
		start_deadline(worker, limit_ms);
	on_idle(worker);
}

static void stop_now(struct worker *worker)
{
	begin_end(worker);
	receivers_close(&worker->receivers);
	handovers_close(&worker->handovers);
	cut_off(worker, CLOSE_REASON_shutdown);
	on_idle(worker);
}

/* Accept on the sockets of a slot. */
static enum status accept_for(struct worker *worker, unsigned int slot)
{
	const struct worker_plan *plan = worker->plan;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < plan->n_sockets && status == STATUS_OK; i++) {
		const struct worker_socket *socket = &plan->sockets[i];

		if (socket->slot == slot)
			status = acceptors_add(worker->acceptors,
			    &worker->listeners->list[socket->listener], socket->fd, slot);
	}
	return status;
}

static void adopt(struct worker *worker, unsigned int slot)
{
	if (worker->acceptors == NULL || !worker->is_serving || slot >= worker->plan->n_slots)
		return;
	acceptors_drop(worker->acceptors, slot);
	if (accept_for(worker, slot) != STATUS_OK)
		log_error("cannot accept for slot %u: out of memory", slot);
}

/*
 * Every process that has a listening socket open keeps it alive. What is in the queues, of
 * other slots too, is accepted first: if nobody else keeps a socket, nobody will.
 */
static void leave_sockets(struct worker *worker)
{
	const struct worker_plan *plan = worker->plan;

	if (worker->is_serving && worker->acceptors != NULL) {
		for (unsigned int slot = 0; slot < plan->n_slots; slot++)
			adopt(worker, slot);
		acceptors_sweep(worker->acceptors);
	}
	begin_end(worker);
	for (size_t i = 0; i < plan->n_sockets && !worker->has_left; i++)
		close(plan->sockets[i].fd);
	worker->has_left = true;
}

/* From now on to the worker at the other end of fd. */
static void hand_over(struct worker *worker, int fd)
{
	if (fd < 0)
		return;
	if (worker->table->is_stopping)
		close(fd);
	else if (handover_new(&worker->handovers, worker->table, worker->listeners, fd, on_idle,
		     worker) != STATUS_OK)
		log_error("cannot hand connections over: out of memory");
}

/*
 * Others accept now. Connections that do not move are closed one after the other,
 * so that their clients do not come back all at once.
 */
static void drain(struct worker *worker, uint32_t limit_ms)
{
	leave_sockets(worker);
	table_drain(worker->table, limit_ms / 100 * DRAIN_SPREAD_PERCENT);
	start_deadline(worker, limit_ms);
	on_idle(worker);
}

static void receive(struct worker *worker, int fd)
{
	if (fd < 0)
		return;
	if (worker->is_ending)
		close(fd);
	else if (receiver_new(&worker->receivers, worker->table, worker->listeners, fd, on_idle,
		     worker) != STATUS_OK)
		log_error("cannot take over connections: out of memory");
}

/* One that is not ready yet is told again when it is. */
static void serve(struct worker *worker)
{
	enum status status;

	if (worker->is_ending || worker->is_serving || !worker->is_ready)
		return;
	worker->is_serving = true;
	status = accept_for(worker, worker->plan->slot);
	if (status != STATUS_OK)
		give_up_for(status);
}

static void release(struct worker *worker, unsigned int slot)
{
	if (worker->acceptors != NULL && slot != worker->plan->slot)
		acceptors_drop(worker->acceptors, slot);
}

static void change_log(int fd)
{
	if (fd < 0) {
		log_error("the log file was opened anew, but there is no descriptor for it: "
			  "lines go on to the old one");
		return;
	}
	log_adopt_fd(fd);
	log_info("log file opened anew");
}

static void change_journal(int fd)
{
	if (fd < 0) {
		log_error("the connection log was opened anew, but there is no descriptor for "
			  "it: lines go on to the old one");
		return;
	}
	journal_adopt_fd(fd);
	log_info("connection log opened anew");
}

/* fd came with the message; -1: none. */
static void obey(struct worker *worker, const struct channel_message *message, int fd)
{
	switch (message->type) {
	case CHANNEL_SERVE:
		serve(worker);
		break;
	case CHANNEL_DRAIN:
		drain(worker, message->arg);
		break;
	case CHANNEL_HAND_OVER:
		hand_over(worker, fd);
		break;
	case CHANNEL_RECEIVE:
		receive(worker, fd);
		break;
	case CHANNEL_STOP:
		stop(worker, message->arg);
		break;
	case CHANNEL_STOP_NOW:
		stop_now(worker);
		break;
	case CHANNEL_ADOPT:
		adopt(worker, message->arg);
		break;
	case CHANNEL_RELEASE:
		release(worker, message->arg);
		break;
	case CHANNEL_LOG:
		change_log(fd);
		break;
	case CHANNEL_JOURNAL:
		change_journal(fd);
		break;
	case CHANNEL_SURVEY:
		if (fd >= 0 && survey_new(&worker->surveys, worker->table, fd) != STATUS_OK)
			log_warn("a survey of the connections cannot be answered");
		break;
	case CHANNEL_LOG_LEVEL:
		if (message->arg <= LOG_LEVEL_DEBUG)
			log_set_level(message->arg);
		break;
	}
}

/*
 * The master is gone, and with it whoever could serve what is in the queues of
 * the listening sockets. All slots' sockets are closed here, so that the next
 * daemon has the port, whatever keeps this worker.
 */
static void be_orphaned(struct worker *worker)
{
	log_warn("the master is gone: closing connections, then ending");
	leave_sockets(worker);
	stop(worker, worker->settings->drain_timeout_ms);
}

static void on_channel(struct ev_loop *loop, ev_io *io, int revents)
{
	struct worker *worker = container_of(io, struct worker, channel);
	struct channel_message message;
	int passed;

	(void)revents;
	switch (channel_receive(io->fd, &message, &passed)) {
	case CHANNEL_NOTHING:
		break;
	case CHANNEL_END:
		ev_io_stop(loop, io);
		be_orphaned(worker);
		break;
	case CHANNEL_MESSAGE:
		obey(worker, &message, passed);
		break;
	}
	channel_reserve(io->fd);
}

static void on_term(struct ev_loop *loop, ev_signal *watcher, int revents)
{
	struct worker *worker = container_of(watcher, struct worker, term);

	(void)loop;
	(void)revents;
	channel_send(worker->plan->channel, CHANNEL_LEAVING, 0);
	stop(worker, worker->settings->drain_timeout_ms);
}

static void on_stamp(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct worker *worker = container_of(timer, struct worker, stamp);

	(void)loop;
	(void)revents;
	__atomic_store_n(&worker->plan->seat->turned_ms, clock_ms(), __ATOMIC_RELAXED);
}

/* The master sees by the stamp that the loop comes round. */
static void start_stamping(struct worker *worker)
{
	uint32_t adopt_ms = worker->settings->watchdog_adopt_ms;
	double every_s = STAMP_S;

	if (adopt_ms != 0 && adopt_ms / 4000. < every_s)
		every_s = adopt_ms / 4000.;
	ev_timer_init(&worker->stamp, on_stamp, 0., every_s);
	ev_timer_start(worker->loop, &worker->stamp);
}

static void watch_control(struct worker *worker)
{
	channel_reserve(worker->plan->channel);
	ev_io_init(&worker->channel, on_channel, worker->plan->channel, EV_READ);
	/* Orders come before traffic. */
	ev_set_priority(&worker->channel, EV_MAXPRI);
	ev_io_start(worker->loop, &worker->channel);
	ev_signal_init(&worker->term, on_term, SIGTERM);
	ev_signal_start(worker->loop, &worker->term);
	ev_init(&worker->deadline, on_deadline);
	ev_timer_init(&worker->grace, on_grace, JOB_GRACE_S, 0.);
	start_stamping(worker);
	trim_start(&worker->trim, worker->loop, &worker->table->pool);
}

static void prepare_accepting(struct worker *worker)
{
	enum status status = acceptors_new(worker->table, &worker->acceptors);

	if (status != STATUS_OK)
		give_up_for(status);
}

static void start_modules(struct worker *worker)
{
	struct reason why;

	if (modules_start(worker->modules, &why) != STATUS_OK)
		give_up(why.text);
}

static void be_ready(struct worker *worker)
{
	ev_timer_stop(worker->loop, &worker->upstreams);
	if (worker->is_ready || worker->is_ending)
		return;
	worker->is_ready = true;
	if (!channel_send(worker->plan->channel, CHANNEL_READY, 0))
		log_debug("the master is gone before this worker was ready");
	if (worker->plan->is_detached)
		streams_to_null();
}

static void on_tried(void *arg)
{
	be_ready(arg);
}

static void on_upstreams(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	be_ready(container_of(timer, struct worker, upstreams));
}

/*
 * A worker that takes over from another has the connections that its clients' requests need,
 * or knows that it cannot. A server that does not answer delays it only so much.
 */
static void connect_upstreams(struct worker *worker)
{
	ev_timer_init(&worker->upstreams, on_upstreams, UPSTREAMS_S, 0.);
	ev_timer_start(worker->loop, &worker->upstreams);
	connectors_start(worker->connectors, on_tried, worker);
}

static void finish(struct worker *worker)
{
	work_cancel();
	/* A job that runs may use whatever its module has: nothing can be freed any more. */
	if (work_n_jobs() > 0)
		_exit(0);
	handovers_close(&worker->handovers);
	surveys_close(&worker->surveys);
	trim_stop(&worker->trim, worker->loop);
	modules_stop(worker->modules);
	work_close();
	host_attach(NULL, NULL);
	connectors_destroy(&worker->connectors);
	table_destroy(&worker->table);
	listeners_destroy(&worker->listeners);
	ev_loop_destroy(worker->loop);
	/* Modules and settings stay: exit(3) runs destructors in modules, which may log. */
}

void worker_run(const struct worker_plan *plan)
{
	struct worker worker = { .plan = plan };

	list_init(&worker.handovers);
	list_init(&worker.receivers);
	list_init(&worker.surveys);
	/* A hook that hangs hears of nothing; later the channel tells that the master is gone. */
	parent_follow(plan->master);
	set_signals();
	introduce(plan);
	load(&worker);
	make_loop(&worker);
	watch_control(&worker);
	start_modules(&worker);
	prepare_accepting(&worker);
	parent_outlive();
	connect_upstreams(&worker);
	ev_run(worker.loop, 0);
	finish(&worker);
	exit(0);
}
