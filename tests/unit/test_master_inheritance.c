/*
 * What a master leaves to the next, in one process.
 */
#include "config.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "master/inheritance.h"

#include "test_master.h"

#define N_SOCKETS 100

static struct inheritance inheritance;
static struct sockets *sockets;
static int fds[N_SOCKETS];

static void set_up(void)
{
	sockets = sockets_new();
	inheritance = (struct inheritance){ .channel = memfd_create("channel", 0),
		.pages = memfd_create("pages", 0),
		.legacy = memfd_create("legacy", 0),
		.generation = 7,
		.n_slots = 2,
		.serial = 1000 };
}

static void tear_down(void)
{
	sockets_destroy(&sockets);
	close(inheritance.channel);
	close(inheritance.pages);
	close(inheritance.legacy);
}

static int listening_socket(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	return fd;
}

static enum status take(struct inheritance *taken, struct sockets *into)
{
	struct reason why = { "" };
	enum status status = inheritance_take(taken, into, &why);

	ck_assert_int_eq(status != STATUS_OK,
	    strstr(why.text, "RUNNEL_SOCKETS say is not left by a runneld") != NULL);
	ck_assert_ptr_null(getenv("RUNNEL_SOCKETS"));
	return status;
}

static char *key_of(int i, char key[4096])
{
	memset(key, 'k', 4095);
	snprintf(key + 4000, 96, "%d 127.0.0.1:0", i);
	return key;
}

static void expect_socket(const char *key, int fd, void *arg)
{
	int *n = arg;
	char expected[4096];

	ck_assert_str_eq(key, key_of(*n, expected));
	ck_assert_int_eq(fd, fds[*n]);
	++*n;
}

/* The list is longer than a variable of the environment may be. */
START_TEST(sockets_are_left_and_taken)
{
	struct inheritance taken;
	struct sockets *left = sockets_new();
	char key[4096];
	int n = 0;

	for (int i = 0; i < N_SOCKETS; i++) {
		fds[i] = listening_socket();
		sockets_inherit(left, key_of(i, key), fds[i]);
	}
	ck_assert(inheritance_leave(&inheritance, left));
	ck_assert_uint_lt(strlen(getenv("RUNNEL_SOCKETS")), 16);
	ck_assert_int_eq(take(&taken, sockets), STATUS_OK);
	ck_assert_int_eq(taken.channel, inheritance.channel);
	ck_assert_int_eq(taken.pages, inheritance.pages);
	ck_assert_int_eq(taken.legacy, inheritance.legacy);
	ck_assert_uint_eq(taken.generation, inheritance.generation);
	ck_assert_uint_eq(taken.n_slots, inheritance.n_slots);
	ck_assert_uint_eq(taken.serial, inheritance.serial);
	sockets_each(sockets, expect_socket, &n);
	ck_assert_int_eq(n, N_SOCKETS);
	/* They are the same descriptors: to close them once is enough. */
	sockets_destroy(&left);
}
END_TEST

/* A %d is a listening socket. */
static const struct {
	const char *text;
	enum status status;
} lists[] = {
	{ "runneld sockets 0\n", STATUS_OK },
	{ "runneld sockets 1\n%d 127.0.0.1:1\n", STATUS_OK },
	{ "runneld sockets 2\n%d 127.0.0.1:1\n", STATUS_INVALID },
	{ "runneld sockets 0\n%d 127.0.0.1:1\n", STATUS_INVALID },
	{ "runneld sockets 1\n%d 127.0.0.1:1", STATUS_INVALID },
	{ "runneld sockets 1\n%d\n", STATUS_INVALID },
	{ "runneld sockets 1\n0 127.0.0.1:1\n", STATUS_INVALID },
	{ "runneld sockets 1\n-1 127.0.0.1:1\n", STATUS_INVALID },
	{ "runneld sockets 1\n99999999999999999999 127.0.0.1:1\n", STATUS_INVALID },
	{ "runneld sockets\n", STATUS_INVALID },
	{ "runneld sockets 1", STATUS_INVALID },
	{ "%d 127.0.0.1:1\n", STATUS_INVALID },
	{ "", STATUS_INVALID },
};

#define N_LISTS (int)(sizeof(lists) / sizeof(lists[0]))

START_TEST(a_list_that_is_none_is_refused)
{
	int list = memfd_create("list", 0), fd = listening_socket();
	struct inheritance taken;
	char number[16], *place = strstr(lists[_i].text, "%d");

	ck_assert(inheritance_leave(&inheritance, sockets));
	if (place != NULL)
		dprintf(list, "%.*s%d%s", (int)(place - lists[_i].text), lists[_i].text, fd,
		    place + 2);
	else
		dprintf(list, "%s", lists[_i].text);
	snprintf(number, sizeof(number), "%d", list);
	setenv("RUNNEL_SOCKETS", number, 1);
	ck_assert_int_eq(take(&taken, sockets), lists[_i].status);
	if (place == NULL || lists[_i].status != STATUS_OK)
		close(fd);
}
END_TEST

/* No variable, no descriptor, no file, not a listening socket. */
START_TEST(what_is_no_list_is_refused)
{
	static const char *const numbers[] = { NULL, "", "x", "-1", "999", "1", "0x10" };
	struct inheritance taken;

	ck_assert(inheritance_leave(&inheritance, sockets));
	if (numbers[_i] == NULL)
		unsetenv("RUNNEL_SOCKETS");
	else
		setenv("RUNNEL_SOCKETS", numbers[_i], 1);
	ck_assert_int_eq(take(&taken, sockets), STATUS_INVALID);
}
END_TEST

START_TEST(a_descriptor_that_does_not_listen_is_refused)
{
	int list = memfd_create("list", 0);
	struct inheritance taken;
	char number[16];

	ck_assert(inheritance_leave(&inheritance, sockets));
	dprintf(list, "runneld sockets 1\n%d 127.0.0.1:1\n", inheritance.pages);
	snprintf(number, sizeof(number), "%d", list);
	setenv("RUNNEL_SOCKETS", number, 1);
	ck_assert_int_eq(take(&taken, sockets), STATUS_INVALID);
}
END_TEST

TCase *inheritance_tests(void)
{
	TCase *tcase = tcase_create("inheritance");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, sockets_are_left_and_taken);
	tcase_add_loop_test(tcase, a_list_that_is_none_is_refused, 0, N_LISTS);
	tcase_add_loop_test(tcase, what_is_no_list_is_refused, 0, 7);
	tcase_add_test(tcase, a_descriptor_that_does_not_listen_is_refused);
	return tcase;
}
