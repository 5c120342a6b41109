/*
 * A doubly linked, circular, intrusive list. The head is a link as well; a link
 * that is in no list points to itself, so list_remove() is safe on it.
 */
#ifndef RUNNEL_BASE_LIST_H
#define RUNNEL_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct link {
	struct link *next, *prev;
};

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline void list_init(struct link *link)
{
	link->next = link->prev = link;
}

static inline bool list_is_empty(const struct link *head)
{
	return head->next == head;
}

/* Is this link in some list? */
static inline bool list_is_linked(const struct link *link)
{
	return link->next != link;
}

static inline void list_append(struct link *head, struct link *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

static inline void list_remove(struct link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

/* Take the first link out; NULL when the list is empty. */
static inline struct link *list_shift(struct link *head)
{
	struct link *link = head->next;

	if (link == head)
		return NULL;
	list_remove(link);
	return link;
}

/* Move all of from to the end of head; from is empty then. */
static inline void list_splice(struct link *head, struct link *from)
{
	if (list_is_empty(from))
		return;
	from->next->prev = head->prev;
	head->prev->next = from->next;
	from->prev->next = head;
	head->prev = from->prev;
	list_init(from);
}

#define list_foreach(pos, head) for (pos = (head)->next; pos != (head); pos = pos->next)

/* The current link may be removed; the one after it may not. */
#define list_foreach_safe(pos, after, head)                        \
	for (pos = (head)->next, after = pos->next; pos != (head); \
	     pos = after, after = pos->next)

#endif
