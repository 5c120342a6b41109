#include "config.h"

#include <signal.h>

#include "base/log.h"
#include "master/state.h"

static void reload(struct master *master)
{
	order_reload(master, NULL, NULL);
}

static void reopen(struct master *master)
{
	struct reason why;

	/* Why it failed stands in the log already. */
	(void)order_reopen(master, &why);
}

static void upgrade(struct master *master)
{
	order_upgrade(master, NULL);
}

static void add_worker(struct master *master)
{
	order_resize(master, 1);
}

static void remove_worker(struct master *master)
{
	order_resize(master, -1);
}

static void log_status(struct master *master)
{
	succession_log_status(master->succession);
}

struct row {
	int number;
	const char *name;
	void (*act)(struct master *master);
};

static const struct row *all_rows(size_t *n)
{
	static struct row rows[] = {
		{ SIGTERM, "TERM: stop", order_stop },
		{ SIGINT, "INT: stop at once", order_fast_stop },
		{ SIGQUIT, "QUIT: stop when all connections are closed", order_quit },
		{ SIGHUP, "HUP: reload", reload },
		{ SIGUSR1, "USR1: open the log file anew", reopen },
		{ SIGUSR2, "USR2: upgrade", upgrade },
		{ SIGTTIN, "TTIN: a worker more", add_worker },
		{ SIGTTOU, "TTOU: a worker less", remove_worker },
		{ 0, "RTMIN: status", log_status },
	};

	*n = sizeof(rows) / sizeof(rows[0]);
	/* SIGRTMIN is not a constant. */
	rows[*n - 1].number = SIGRTMIN;
	return rows;
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int revents)
{
	struct master *master = watcher->data;
	size_t n;
	const struct row *rows = all_rows(&n);

	(void)loop;
	(void)revents;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].number != watcher->signum)
			continue;
		log_info("signal %s", rows[i].name);
		rows[i].act(master);
	}
}

void signals_watch(struct master *master)
{
	size_t n;
	const struct row *rows = all_rows(&n);

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < n; i++) {
		ev_signal_init(&master->signals[i], on_signal, rows[i].number);
		master->signals[i].data = master;
		ev_signal_start(master->loop, &master->signals[i]);
	}
}

void signals_forget(struct master *master)
{
	size_t n;

	all_rows(&n);
	for (size_t i = 0; i < n; i++)
		ev_signal_stop(master->loop, &master->signals[i]);
}
