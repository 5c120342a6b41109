#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "master/answer.h"
#include "master/control_client.h"
#include "master/dismissals.h"
#include "master/request.h"

/* At the same time. */
#define MAX_DISMISSALS 32u

struct dismissal {
	struct link link;
	struct dismissals *all;
	struct control_client *client;
};

void dismissals_init(struct dismissals *dismissals, struct ev_loop *loop, double idle_s)
{
	dismissals->loop = loop;
	dismissals->idle_s = idle_s;
	dismissals->n = 0;
	list_init(&dismissals->list);
}

static void dismissal_destroy(struct dismissal *dismissal)
{
	list_remove(&dismissal->link);
	dismissal->all->n--;
	control_client_destroy(&dismissal->client);
	free(dismissal);
}

static void on_end(struct control_client *client, void *arg)
{
	(void)client;
	dismissal_destroy(arg);
}

/* NULL: there are too many, or no memory; fd is closed. */
static struct dismissal *dismissal_new(struct dismissals *dismissals, int fd)
{
	struct control_client_config config = {
		.loop = dismissals->loop,
		.max_line = REQUEST_MAX_BYTES,
		.idle_s = dismissals->idle_s,
		.on_end = on_end,
	};
	struct dismissal *dismissal = NULL;

	if (dismissals->n < MAX_DISMISSALS)
		dismissal = calloc(1, sizeof(*dismissal));
	if (dismissal == NULL) {
		close(fd);
		return NULL;
	}
	config.arg = dismissal;
	dismissal->client = control_client_new(fd, &config);
	if (dismissal->client == NULL) {
		free(dismissal);
		return NULL;
	}
	dismissal->all = dismissals;
	list_append(&dismissals->list, &dismissal->link);
	dismissals->n++;
	return dismissal;
}

void dismissals_add(struct dismissals *dismissals, int fd, const char *error)
{
	struct dismissal *dismissal = dismissal_new(dismissals, fd);
	size_t len = 0;
	char *line;

	if (dismissal == NULL)
		return;
	line = answer_to_line(answer_failure(error), &len);
	control_client_dismiss(dismissal->client, line, len);
}

void dismissals_drop(struct dismissals *dismissals)
{
	struct link *link, *after;

	list_foreach_safe(link, after, &dismissals->list)
		dismissal_destroy(container_of(link, struct dismissal, link));
}
