/*
 * base/escape: what a terminal would obey, in texts that others have chosen.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

#include "test_base.h"

static void expect(
    void (*print)(const char *text, FILE *out), const char *text, const char *wanted)
{
	char *printed;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	print(text, out);
	fclose(out);
	ck_assert_str_eq(printed, wanted);
	free(printed);
}

START_TEST(what_terminals_obey_is_printed_escaped)
{
	expect(escape_print, "", "");
	expect(escape_print, "/a b/\"c\\d", "/a b/\"c\\d");
	expect(escape_print, "\033[2Jx\177\n\ty", "\\x1b[2Jx\\x7f\\x0a\\x09y");
	expect(escape_print, "\xc3\xa9\xc2\x9b\xc2\xa0\xff\xc3",
	    "\xc3\xa9\\x9b\xc2\xa0\\xff\\xc3");
	expect(escape_print_lines, "a\n\tb\r\n\033\n", "a\n\tb\\x0d\n\\x1b\n");
}
END_TEST

START_TEST(utf8_is_told_from_other_bytes)
{
	static const char *const good[] = { "", "a", "\xc3\xa9", "\xef\xbf\xbd",
		"\xf0\x9f\x98\x80z" };
	static const char *const bad[] = { "\xff", "a\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80",
		"\xf4\x90\x80\x80" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert(utf8_is_valid(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert(!utf8_is_valid(bad[i]));
}
END_TEST

TCase *escape_tests(void)
{
	TCase *tests = tcase_create("escape");

	tcase_add_test(tests, what_terminals_obey_is_printed_escaped);
	tcase_add_test(tests, utf8_is_told_from_other_bytes);
	return tests;
}
