#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"
#include "master/helper.h"
#include "master/http.h"

#define FIRST_DELAY_S 0.1
#define LAST_DELAY_S 10.

/* One that has run for so long was well. */
#define WELL_MS 10000

struct http {
	struct ev_loop *loop;
	void (*on_over)(void *arg);
	void *arg;
	struct helper *helper; /* NULL: none runs */
	struct link endings;   /* helpers that are to end */
	ev_timer restart;
	double delay_s;
	uint64_t started_ms;

	/* What the helper is made of; the texts are owned. */
	struct control *control;
	int listener; /* -1: there is to be none */
	char *address, *program;
	char **hosts;
	size_t n_hosts;
	struct privileges privileges;
};

static void on_helper_end(void *arg)
{
	struct http *http = arg;

	http->helper = NULL;
	if (clock_ms() - http->started_ms >= WELL_MS)
		http->delay_s = FIRST_DELAY_S;
	ev_timer_set(&http->restart, http->delay_s, 0.);
	ev_timer_start(http->loop, &http->restart);
	http->delay_s *= 2;
	if (http->delay_s > LAST_DELAY_S)
		http->delay_s = LAST_DELAY_S;
}

static void start(struct http *http)
{
	const struct helper_config config = {
		.loop = http->loop,
		.control = http->control,
		.privileges = &http->privileges,
		.program = http->program,
		.hosts = http->hosts,
		.n_hosts = http->n_hosts,
		.listener = http->listener,
		.on_end = on_helper_end,
		.arg = http,
	};

	http->started_ms = clock_ms();
	http->helper = helper_start(&config);
	if (http->helper == NULL)
		on_helper_end(http);
}

static void on_restart(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	start(container_of(timer, struct http, restart));
}

struct http *http_new(struct ev_loop *loop, void (*on_over)(void *arg), void *arg)
{
	struct http *http = must_alloc(1, sizeof(*http));

	http->loop = loop;
	http->on_over = on_over;
	http->arg = arg;
	http->listener = -1;
	list_init(&http->endings);
	ev_init(&http->restart, on_restart);
	return http;
}

static bool has_hosts(const struct http *http, char *const *hosts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i >= http->n_hosts || strcmp(http->hosts[i], hosts[i]) != 0)
			return false;
	}
	return n == http->n_hosts;
}

/* Does what is there now fit these settings, too? */
static bool fits(const struct http *http, int listener, const struct settings *settings,
    const struct privileges *privileges)
{
	return http->listener == listener && listener >= 0 &&
	       strcmp(http->address, settings->metrics_address) == 0 &&
	       strcmp(http->program, settings->metrics_program) == 0 &&
	       has_hosts(http, settings->metrics_hosts, settings->n_metrics_hosts) &&
	       http->privileges.uid == privileges->uid &&
	       http->privileges.gid == privileges->gid;
}

static void drop_settings(struct http *http)
{
	for (size_t i = 0; i < http->n_hosts; i++)
		free(http->hosts[i]);
	free(http->hosts);
	free(http->address);
	free(http->program);
	http->hosts = NULL;
	http->n_hosts = 0;
	http->address = http->program = NULL;
	http->listener = -1;
}

static void keep_settings(struct http *http, int listener, const struct settings *settings,
    const struct privileges *privileges)
{
	size_t n = settings->n_metrics_hosts;

	http->listener = listener;
	http->address = must_strdup(settings->metrics_address);
	http->program = must_strdup(settings->metrics_program);
	http->hosts = must_alloc(n, sizeof(*http->hosts));
	for (; http->n_hosts < n; http->n_hosts++)
		http->hosts[http->n_hosts] =
		    must_strdup(settings->metrics_hosts[http->n_hosts]);
	http->privileges = *privileges;
}

static void on_ended(void *arg)
{
	struct http *http = arg;

	if (list_is_empty(&http->endings))
		http->on_over(http->arg);
}

void http_stop(struct http *http)
{
	ev_timer_stop(http->loop, &http->restart);
	if (http->helper != NULL)
		helper_end(http->helper, &http->endings, on_ended);
	http->helper = NULL;
	drop_settings(http);
}

bool http_is_over(const struct http *http)
{
	return http->listener < 0 && list_is_empty(&http->endings);
}

void http_apply(struct http *http, struct control *control, int listener,
    const struct settings *settings, const struct privileges *privileges)
{
	if (fits(http, listener, settings, privileges))
		return;
	http_stop(http);
	if (listener < 0)
		return;
	http->control = control;
	http->delay_s = FIRST_DELAY_S;
	keep_settings(http, listener, settings, privileges);
	start(http);
}

void http_forget(struct http *http)
{
	ev_timer_stop(http->loop, &http->restart);
	if (http->helper != NULL)
		helper_forget(http->helper);
	helpers_forget(&http->endings);
}

void http_destroy(struct http **http)
{
	if (*http == NULL)
		return;
	http_stop(*http);
	helpers_await(&(*http)->endings);
	free(*http);
	*http = NULL;
}
