/*
 * base/memory: what a process cannot start without.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

#include "test_base.h"

/* ASan ends the process itself when so much is asked for. */
#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif

START_TEST(memory_is_zeroed)
{
	unsigned char *bytes = must_alloc(100, 10);

	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(bytes[i], 0);
	free(bytes);
}
END_TEST

START_TEST(no_items_are_no_failure)
{
	void *memory = must_alloc(0, 8);

	ck_assert_ptr_nonnull(memory);
	free(memory);
}
END_TEST

START_TEST(texts_are_copies)
{
	char text[] = "abc", *copy = must_strdup(text),
	     *printed = must_printf("%s-%d", text, 7);

	text[0] = 'x';
	ck_assert_str_eq(copy, "abc");
	ck_assert_str_eq(printed, "abc-7");
	ck_assert_ptr_null(must_strdup(NULL));
	free(copy);
	free(printed);
}
END_TEST

#ifndef HAVE_ASAN
START_TEST(too_much_memory_ends_the_process)
{
	volatile size_t n = SIZE_MAX; /* unknown to the compiler, which would warn */

	free(must_alloc(n, 2));
}
END_TEST
#endif

TCase *memory_tests(void)
{
	TCase *tests = tcase_create("memory");

	tcase_add_test(tests, memory_is_zeroed);
	tcase_add_test(tests, no_items_are_no_failure);
	tcase_add_test(tests, texts_are_copies);
#ifndef HAVE_ASAN
	tcase_add_exit_test(tests, too_much_memory_ends_the_process, 1);
#endif
	return tests;
}
