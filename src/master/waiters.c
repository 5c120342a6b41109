#include "config.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "master/waiters.h"

struct waiter {
	struct link link;
	waiter_done_f *done;
	void *arg;
};

void waiters_add(struct link *list, waiter_done_f *done, void *arg)
{
	struct waiter *waiter;

	if (done == NULL)
		return;
	waiter = must_alloc(1, sizeof(*waiter));
	waiter->done = done;
	waiter->arg = arg;
	list_append(list, &waiter->link);
}

void waiters_tell(struct link *list, const struct reason *why)
{
	struct link *link;

	while ((link = list_shift(list)) != NULL) {
		struct waiter *waiter = container_of(link, struct waiter, link);

		waiter->done(why, waiter->arg);
		free(waiter);
	}
}
