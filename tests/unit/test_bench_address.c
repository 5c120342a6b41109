/*
 * bench/address: texts, and where connections may come from.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/address.h"

#include "test_bench.h"

static struct address address;
static struct reason why;

START_TEST(loopback_has_many_sources_and_others_have_one)
{
	ck_assert_int_eq(address_resolve(&address, "127.0.0.1", "8888", &why), STATUS_OK);
	ck_assert_str_eq(address.text, "127.0.0.1:8888");
	ck_assert_uint_eq(address.n_sources, 254);
	ck_assert_uint_ge(address.n_per_source, 1);
	ck_assert_int_eq(address_resolve(&address, "192.0.2.1", "80", &why), STATUS_OK);
	ck_assert_uint_eq(address.n_sources, 1);
	ck_assert_int_eq(address_resolve(&address, "::1", "8888", &why), STATUS_OK);
	ck_assert_str_eq(address.text, "[::1]:8888");
	ck_assert_uint_eq(address.n_sources, 1);
}
END_TEST

START_TEST(unknown_host_or_service_is_refused_by_name)
{
	ck_assert_int_eq(
	    address_resolve(&address, "127.0.0.1", "no-such-service", &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "no-such-service"));
	ck_assert_int_eq(address_resolve(&address, "999.0.0.1", "80", &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "999.0.0.1"));
}
END_TEST

/* A listening socket on a free port; address becomes the way to it. */
static int listen_somewhere(void)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(own);
	char port[16];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&own, len), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&own, &len), 0);
	snprintf(port, sizeof(port), "%u", (unsigned int)ntohs(own.sin_port));
	ck_assert_int_eq(address_resolve(&address, "127.0.0.1", port, &why), STATUS_OK);
	return fd;
}

START_TEST(connection_comes_from_the_source_that_was_asked_for)
{
	int listen_fd = listen_somewhere();
	uint32_t source;

	for (source = 0; source < 3; source++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		int accepted;

		ck_assert_int_eq(address_connect(&address, fd, source), STATUS_OK);
		accepted = accept(listen_fd, (struct sockaddr *)&from, &len);
		ck_assert_int_ge(accepted, 0);
		ck_assert_uint_eq(ntohl(from.sin_addr.s_addr), INADDR_LOOPBACK + source);
		close(accepted);
		close(fd);
	}
	close(listen_fd);
}
END_TEST

TCase *address_tests(void)
{
	TCase *tests = tcase_create("address");

	tcase_add_test(tests, loopback_has_many_sources_and_others_have_one);
	tcase_add_test(tests, unknown_host_or_service_is_refused_by_name);
	tcase_add_test(tests, connection_comes_from_the_source_that_was_asked_for);
	return tests;
}
