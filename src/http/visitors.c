#include "config.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"

#include "http/visitors.h"

void visitors_init(struct visitors *visitors)
{
	list_init(&visitors->list);
	visitors->n_new = 0;
}

struct visitor *visitor_new(struct visitors *visitors, int fd)
{
	struct visitor *visitor = calloc(1, sizeof(*visitor));

	if (visitor == NULL)
		return NULL;
	visitor->visitors = visitors;
	visitor->fd = fd;
	visitor->is_new = true;
	visitors->n_new++;
	visitor->since_ms = clock_ms();
	list_append(&visitors->list, &visitor->link);
	return visitor;
}

static void grow_old(struct visitor *visitor)
{
	visitor->visitors->n_new -= visitor->is_new;
	visitor->is_new = false;
}

void visitor_renew(struct visitor *visitor)
{
	grow_old(visitor);
	/* One that is over stays so. */
	if (!list_is_linked(&visitor->link))
		return;
	visitor->since_ms = clock_ms();
	list_remove(&visitor->link);
	list_append(&visitor->visitors->list, &visitor->link);
}

void visitor_destroy(struct visitor **visitor)
{
	if (*visitor == NULL)
		return;
	grow_old(*visitor);
	list_remove(&(*visitor)->link);
	free(*visitor);
	*visitor = NULL;
}

static struct visitor *first(const struct visitors *visitors)
{
	if (list_is_empty(&visitors->list))
		return NULL;
	return container_of(visitors->list.next, struct visitor, link);
}

void visitors_tick(struct visitors *visitors)
{
	uint64_t now_ms = clock_ms();
	struct visitor *visitor;

	while ((visitor = first(visitors)) != NULL &&
	       now_ms - visitor->since_ms >= VISITOR_LIMIT_MS) {
		list_remove(&visitor->link);
		shutdown(visitor->fd, SHUT_RDWR);
	}
}

int visitors_timeout_ms(const struct visitors *visitors)
{
	const struct visitor *visitor = first(visitors);
	uint64_t age_ms;

	if (visitor == NULL)
		return -1;
	age_ms = clock_ms() - visitor->since_ms;
	return age_ms < VISITOR_LIMIT_MS ? (int)(VISITOR_LIMIT_MS - age_ms) : 0;
}
