/*
 * base/panic: a bug aborts, and what failed stands in the page that outlives the process.
 */
#include "config.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/panic.h"

#include "test_base.h"

static struct panic_page *page; /* shared with the children */

static void start(void)
{
	const struct rlimit none = { 0, 0 };
	struct reason why;

	setrlimit(RLIMIT_CORE, &none);
	ck_assert_int_eq(
	    log_open("/dev/null", LOG_LEVEL_INFO, LOG_FORMAT_TEXT, &why), STATUS_OK);
	page = mmap(
	    NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
}

START_TEST(a_failed_check_aborts)
{
	volatile int zero = 0;

	CHECK(zero == 0);
	CHECK(zero == 1);
}
END_TEST

START_TEST(a_wrong_magic_aborts)
{
	struct {
		unsigned int magic;
	} thing = { 1 };

	CHECK_MAGIC(&thing, 1);
	CHECK_MAGIC(&thing, 2);
}
END_TEST

START_TEST(no_struct_has_no_magic)
{
	struct {
		unsigned int magic;
	} *thing = NULL;

	CHECK_MAGIC(thing, 1);
}
END_TEST

/* Run in a process of its own, which must end by SIGABRT. */
static void expect_abort(const char *what)
{
	int wait_status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		panic_set_page(page);
		panic_at("src/a.c", 12, what);
	}
	ck_assert_int_eq(waitpid(pid, &wait_status, 0), pid);
	ck_assert(WIFSIGNALED(wait_status));
	ck_assert_int_eq(WTERMSIG(wait_status), SIGABRT);
}

START_TEST(the_page_outlives_the_process)
{
	expect_abort("n == 0");
	ck_assert_str_eq(page->text, "src/a.c:12: n == 0");
}
END_TEST

START_TEST(a_long_text_is_cut)
{
	char what[2 * sizeof(page->text)];

	memset(what, 'x', sizeof(what));
	what[sizeof(what) - 1] = '\0';
	expect_abort(what);
	ck_assert_uint_eq(strlen(page->text), sizeof(page->text) - 1);
}
END_TEST

/* Foreign code is named while it runs, and its own words are another matter. */
START_TEST(foreign_code_is_named_until_it_returns)
{
	start();
	panic_enter("the %s hook", "start");
	panic_leave();
	panic_set_page(page);
	ck_assert_str_eq(page->stage, "");
	panic_enter("the %s hook of module '%s'", "start", "x");
	ck_assert_str_eq(page->stage, "the start hook of module 'x'");
	panic_leave();
	ck_assert_str_eq(page->stage, "");
	panic_enter("%0500d", 7);
	ck_assert_uint_eq(strlen(page->stage), sizeof(page->stage) - 1);
	ck_assert_str_eq(page->text, "");
}
END_TEST

/* In a process of its own, which ends by the signal as it would have ended without us. */
static void expect_crash(int number, const char *what)
{
	int wait_status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		panic_set_page(page);
		panic_catch_signals();
		panic_enter_thread("a job before");
		panic_enter_thread(what);
		raise(number);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &wait_status, 0), pid);
	/* A sanitizer reports a fault in its own way, and exits. */
	if (WIFEXITED(wait_status))
		ck_assert_int_gt(WEXITSTATUS(wait_status), 0);
	else
		ck_assert_int_eq(WTERMSIG(wait_status), number);
}

START_TEST(the_thread_that_crashed_is_named)
{
	static const int numbers[] = { SIGSEGV, SIGABRT, SIGFPE };

	start();
	expect_crash(numbers[_i], NULL);
	ck_assert_str_eq(page->stage, "");
	expect_crash(numbers[_i], "a job of module 'x'");
	ck_assert_str_eq(page->stage, "a job of module 'x'");
}
END_TEST

START_TEST(page_of_another_is_read_as_clean_texts)
{
	struct panic_page copy;

	memset(page, 'x', sizeof(*page));
	memcpy(page->stage, "a\n\xff\x7fz", 6);
	panic_read(page, &copy);
	ck_assert_uint_eq(strlen(copy.text), sizeof(copy.text) - 1);
	ck_assert_str_eq(copy.stage, "a???z");
}
END_TEST

TCase *panic_tests(void)
{
	TCase *tests = tcase_create("panic");

	tcase_add_checked_fixture(tests, start, NULL);
	tcase_add_test_raise_signal(tests, a_failed_check_aborts, SIGABRT);
	tcase_add_test_raise_signal(tests, a_wrong_magic_aborts, SIGABRT);
	tcase_add_test_raise_signal(tests, no_struct_has_no_magic, SIGABRT);
	tcase_add_test(tests, the_page_outlives_the_process);
	tcase_add_test(tests, a_long_text_is_cut);
	tcase_add_test(tests, page_of_another_is_read_as_clean_texts);
	tcase_add_test(tests, foreign_code_is_named_until_it_returns);
	tcase_add_loop_test(tests, the_thread_that_crashed_is_named, 0, 3);
	return tests;
}
