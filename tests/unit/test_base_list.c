/*
 * base/list: order, links that are in no list, and taking out while going through.
 */
#include "config.h"

#include "base/list.h"

#include "test_base.h"

struct item {
	int number;
	struct link link;
};

static struct item items[4];

/* items[0..n-1] in a list, in this order. */
static void fill(struct link *head, int n)
{
	list_init(head);
	for (int i = 0; i < n; i++) {
		items[i].number = i;
		list_append(head, &items[i].link);
	}
}

static struct item *item_of(struct link *link)
{
	return container_of(link, struct item, link);
}

/* Read forwards and backwards. */
static void expect_numbers(struct link *head, const int *numbers, int n)
{
	struct link *link = head;

	for (int i = 0; i < n; i++) {
		link = link->next;
		ck_assert_ptr_ne(link, head);
		ck_assert_int_eq(item_of(link)->number, numbers[i]);
	}
	ck_assert_ptr_eq(link->next, head);
	for (link = head->prev; n > 0; link = link->prev)
		ck_assert_int_eq(item_of(link)->number, numbers[--n]);
	ck_assert_ptr_eq(link, head);
}

START_TEST(a_new_head_is_empty)
{
	struct link head;

	list_init(&head);
	ck_assert(list_is_empty(&head));
	ck_assert_ptr_null(list_shift(&head));
	expect_numbers(&head, NULL, 0);
}
END_TEST

START_TEST(appended_links_stay_in_order)
{
	struct link head;

	fill(&head, 3);
	ck_assert(!list_is_empty(&head));
	expect_numbers(&head, (int[]){ 0, 1, 2 }, 3);
}
END_TEST

START_TEST(a_removed_link_may_be_removed_again)
{
	struct link head;

	fill(&head, 3);
	ck_assert(list_is_linked(&items[1].link));
	list_remove(&items[1].link);
	ck_assert(!list_is_linked(&items[1].link));
	expect_numbers(&head, (int[]){ 0, 2 }, 2);
	list_remove(&items[1].link);
	expect_numbers(&head, (int[]){ 0, 2 }, 2);
}
END_TEST

START_TEST(the_first_link_is_shifted)
{
	struct link head, *link;

	fill(&head, 2);
	link = list_shift(&head);
	ck_assert_ptr_eq(link, &items[0].link);
	ck_assert(!list_is_linked(link));
	ck_assert_ptr_eq(list_shift(&head), &items[1].link);
	ck_assert_ptr_null(list_shift(&head));
}
END_TEST

START_TEST(a_splice_moves_all_to_the_end)
{
	struct link head, from;

	fill(&head, 2);
	list_init(&from);
	list_splice(&head, &from);
	expect_numbers(&head, (int[]){ 0, 1 }, 2);

	for (int i = 2; i < 4; i++) {
		items[i].number = i;
		list_append(&from, &items[i].link);
	}
	list_splice(&head, &from);
	ck_assert(list_is_empty(&from));
	expect_numbers(&head, (int[]){ 0, 1, 2, 3 }, 4);

	list_splice(&from, &head);
	ck_assert(list_is_empty(&head));
	expect_numbers(&from, (int[]){ 0, 1, 2, 3 }, 4);
}
END_TEST

START_TEST(the_current_link_may_be_removed)
{
	struct link head, *link, *after;
	int n = 0;

	fill(&head, 4);
	list_foreach_safe(link, after, &head) {
		if (item_of(link)->number % 2 == 0)
			list_remove(link);
	}
	expect_numbers(&head, (int[]){ 1, 3 }, 2);
	list_foreach(link, &head)
		n++;
	ck_assert_int_eq(n, 2);
}
END_TEST

TCase *list_tests(void)
{
	TCase *list = tcase_create("list");

	tcase_add_test(list, a_new_head_is_empty);
	tcase_add_test(list, appended_links_stay_in_order);
	tcase_add_test(list, a_removed_link_may_be_removed_again);
	tcase_add_test(list, the_first_link_is_shifted);
	tcase_add_test(list, a_splice_moves_all_to_the_end);
	tcase_add_test(list, the_current_link_may_be_removed);
	return list;
}
