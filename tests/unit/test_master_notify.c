/*
 * master/notify: what is sent around a reload and an upgrade, to a socket of the test's own.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "master/notify.h"

#include "test_master.h"

static int manager;
static char name[32];

static void open_manager(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(name, sizeof(name), "@runnel-test-master-%d", (int)getpid());
	memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
	    bind(manager, (struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
	    0);
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "30000000", 1);
	unsetenv("WATCHDOG_PID");
}

/* The next datagram, which has been sent already. Valid until the next call. */
static const char *hear(void)
{
	static char text[1024];
	ssize_t len = recv(manager, text, sizeof(text) - 1, MSG_DONTWAIT);

	ck_assert_int_ge(len, 0);
	text[len] = '\0';
	return text;
}

static void expect_silence(void)
{
	char byte;

	ck_assert_int_lt(recv(manager, &byte, 1, MSG_DONTWAIT), 0);
}

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* systemd has to know that READY is about this reload: hence the time, in the same datagram. */
START_TEST(a_reload_is_framed)
{
	int64_t before_us = now_us(), at_us = 0;
	char expected[64];

	notify_init();
	notify_reloading();
	ck_assert_int_eq(sscanf(hear(), "RELOADING=1\nMONOTONIC_USEC=%" SCNd64, &at_us), 1);
	ck_assert_int_ge(at_us, before_us);
	ck_assert_int_le(at_us, now_us());
	notify_ready();
	snprintf(expected, sizeof(expected), "READY=1\nMAINPID=%d", (int)getpid());
	ck_assert_str_eq(hear(), expected);
	expect_silence();
}
END_TEST

START_TEST(a_status_is_one_line_of_text)
{
	notify_init();
	notify_status("generation %d: %s", 7, "refused");
	ck_assert_str_eq(hear(), "STATUS=generation 7: refused");
	notify_stopping();
	ck_assert_str_eq(hear(), "STOPPING=1");
	expect_silence();
}
END_TEST

START_TEST(who_has_handed_over_is_silent)
{
	notify_init();
	notify_hand_over(811);
	ck_assert_str_eq(hear(), "MAINPID=811");
	notify_status("leaving");
	notify_stopping();
	expect_silence();
}
END_TEST

START_TEST(variables_are_taken_and_put_back)
{
	char pid[16];

	notify_init();
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
	ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
	ck_assert_ptr_null(getenv("WATCHDOG_PID"));
	notify_export();
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	ck_assert_str_eq(getenv("NOTIFY_SOCKET"), name);
	ck_assert_str_eq(getenv("WATCHDOG_USEC"), "30000000");
	ck_assert_str_eq(getenv("WATCHDOG_PID"), pid);
}
END_TEST

START_TEST(a_path_is_put_back_whole)
{
	setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
	unsetenv("WATCHDOG_USEC");
	notify_init();
	notify_export();
	ck_assert_str_eq(getenv("NOTIFY_SOCKET"), "/run/systemd/notify");
	ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
}
END_TEST

START_TEST(without_a_manager_nothing_is_sent)
{
	unsetenv("NOTIFY_SOCKET");
	notify_init();
	notify_reloading();
	notify_ready();
	notify_status("alone");
	notify_stopping();
	expect_silence();
	notify_export();
	ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
}
END_TEST

TCase *notify_tests(void)
{
	TCase *tests = tcase_create("notify");

	tcase_add_checked_fixture(tests, open_manager, NULL);
	tcase_add_test(tests, a_reload_is_framed);
	tcase_add_test(tests, a_status_is_one_line_of_text);
	tcase_add_test(tests, who_has_handed_over_is_silent);
	tcase_add_test(tests, variables_are_taken_and_put_back);
	tcase_add_test(tests, a_path_is_put_back_whole);
	tcase_add_test(tests, without_a_manager_nothing_is_sent);
	return tests;
}
