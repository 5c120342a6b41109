/*
 * The modules of contrib/examples: built by their Makefile with what pkg-config
 * says of this build, loaded as their confs say, and spoken to.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

/* The copy that is built. */
static char folder[128];

static void build_examples(void)
{
	static const char script[] = "cp \"$0\"/* . && chmod u+w * && "
				     "PKG_CONFIG_PATH=" BUILD_DIR "/src/api make "
				     "CFLAGS='-O1 -Wall -Wextra -Werror'";
	char out[160];

	snprintf(folder, sizeof(folder), "%s/examples", run_folder());
	snprintf(out, sizeof(out), "%s/make.log", folder);
	/* One build for all tests: each runs in a process of its own. */
	if (mkdir(folder, 0700) != 0) {
		ck_assert_int_eq(errno, EEXIST);
		return;
	}
	ck_assert_int_eq(chdir(folder), 0);
	unsetenv("MAKEFLAGS");
	unsetenv("MAKELEVEL");
	unsetenv("DESTDIR");
	ck_assert_int_eq(process_run("/bin/sh", out, "sh", "-c", script, EXAMPLES, NULL), 0);
}

/* A daemon with the example's conf, whose address gets a free port. */
static struct daemon *start_example(const char *name)
{
	char path[192], text[4096], conf[4400];
	struct daemon *daemon;
	char *port;
	FILE *file;
	size_t len;

	build_examples();
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(setenv("PWD", folder, 1), 0);
	snprintf(path, sizeof(path), "%s/%s.conf", folder, name);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	port = strstr(text, ":8888\"");
	ck_assert_ptr_nonnull(port);
	daemon = daemon_new(1, "%s", "");
	snprintf(conf, sizeof(conf), "log = \"%s\"\ncontrol-socket = \"%s/sock\"\n%s%.*s:0%s",
	    daemon->log, daemon->folder,
	    strstr(text, "workers = ") != NULL ? "" : "workers = 1\n", (int)(port - text), text,
	    port + strlen(":8888"));
	daemon_set_conf(daemon, conf);
	daemon_start(daemon);
	return daemon;
}

static void say(int fd, uint32_t id, const char *text)
{
	struct bytes request = { 0 };

	bytes_add_tlv(&request, id, text, strlen(text));
	client_send(fd, request.data, request.len);
	bytes_free(&request);
}

static void expect(int fd, uint32_t id, const char *text)
{
	struct bytes reply = { 0 };

	bytes_add_tlv(&reply, id, text, strlen(text));
	client_expect(fd, &reply);
	bytes_free(&reply);
}

START_TEST(hello_greets)
{
	struct daemon *daemon = start_example("hello");
	int fd = client_connect(daemon_port(daemon, "main"));

	say(fd, 1, "");
	expect(fd, 1, "hello, world\n");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(room_passes_on_what_is_said)
{
	struct daemon *daemon = start_example("room");
	uint16_t port = daemon_port(daemon, "main");
	int ann = client_connect(port), bob = client_connect(port), eve = client_connect(port);

	say(ann, 1, "Ann");
	expect(ann, 4, "Ann joins");
	say(bob, 1, "Bob");
	expect(ann, 4, "Bob joins");
	expect(bob, 4, "Bob joins");
	say(ann, 2, "hello");
	expect(ann, 3, "Ann: hello");
	expect(bob, 3, "Ann: hello");
	say(bob, 5, "");
	expect(bob, 5, "Ann\nBob\n");
	ctl_expect(daemon, "metrics", 0);
	ctl_expect_said(
	    daemon, "\nrunnel_module_room_members{worker=\"0\",module=\"room\"} 2\n");
	ctl_expect_said(
	    daemon, "\nrunnel_module_room_texts_total{worker=\"0\",module=\"room\"} 1\n");
	/* Who has not joined hears nothing, and may say nothing. */
	say(eve, 2, "hello");
	client_expect_eof(eve);
	close(bob);
	expect(ann, 4, "Bob leaves");
	close(ann);
	close(eve);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(login_lets_in_and_replaces)
{
	struct daemon *daemon = start_example("login");
	uint16_t port = daemon_port(daemon, "main");
	int ann = client_connect(port), bob = client_connect(port), other;

	say(ann, 1, "ann sesame");
	expect(ann, 2, "ann");
	say(bob, 1, "bob sesame");
	expect(bob, 2, "bob");
	say(ann, 99999, "");
	say(ann, 3, "bob how are you?");
	expect(bob, 4, "ann how are you?");
	say(bob, 3, "eve hello");
	expect(bob, 5, "eve");
	/* The second login has the place, and the name leads to it. */
	other = client_connect(port);
	say(other, 1, "ann sesame");
	expect(other, 2, "ann");
	expect(ann, 6, "");
	client_expect_eof(ann);
	close(ann);
	say(bob, 3, "ann again");
	expect(other, 4, "bob again");
	close(other);
	close(bob);
	/* Before the login, and with a wrong one. */
	other = client_connect(port);
	say(other, 3, "bob hello");
	client_expect_eof(other);
	close(other);
	other = client_connect(port);
	say(other, 1, "bob open");
	client_expect_eof(other);
	close(other);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(login_goes_on_over_a_reload)
{
	struct daemon *daemon = start_example("login");
	uint16_t port = daemon_port(daemon, "main");
	int ann = client_connect(port), bob = client_connect(port), eve = client_connect(port);

	say(ann, 1, "ann sesame");
	expect(ann, 2, "ann");
	say(bob, 1, "bob sesame");
	expect(bob, 2, "bob");
	say(eve, 99999, "");
	client_await_read(eve);
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	say(ann, 3, "bob still here?");
	expect(bob, 4, "ann still here?");
	/* Who had not logged in still has not. */
	say(eve, 3, "bob hello");
	client_expect_eof(eve);
	close(eve);
	close(bob);
	close(ann);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "moved_in", 3);
	daemon_destroy(&daemon);
}
END_TEST

/* More than the kernel and a queue hold for somebody who does not read. */
static void fill_queue(int from, const char *name)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s %01000d", name, 0);
	for (int i = 0; i < 9000; i++)
		say(from, 3, text);
	say(from, 3, "nobody hello");
	expect(from, 5, "nobody");
}

/* Whether the worker that fd is at does not know the name. */
static bool has_left(int fd, const char *name)
{
	char text[64];
	uint32_t id;
	size_t len;

	snprintf(text, sizeof(text), "%s hello", name);
	say(fd, 3, text);
	say(fd, 3, "nobody hello");
	len = client_receive_tlv(fd, &id, text, sizeof(text));
	ck_assert_uint_eq(id, 5);
	if (len != strlen(name) || memcmp(text, name, len) != 0)
		return false;
	expect(fd, 5, "nobody");
	return true;
}

/* The last message to a client that has much to read. */
static void expect_last(int fd, uint32_t expected)
{
	char text[2048];
	uint32_t id;

	do
		client_receive_tlv(fd, &id, text, sizeof(text));
	while (id != expected);
	client_expect_eof(fd);
}

/* What is queued holds the first login up at the old worker, and the second is at the new one. */
START_TEST(login_that_comes_late_does_not_take_the_name_back)
{
	struct daemon *daemon = start_example("login");
	uint16_t port = daemon_port(daemon, "main");
	int ann = client_connect_small(port), bob = client_connect(port), other;

	say(ann, 1, "ann sesame");
	expect(ann, 2, "ann");
	say(bob, 1, "bob sesame");
	expect(bob, 2, "bob");
	fill_queue(bob, "ann");
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(has_left(bob, "ann"));
	other = client_connect(port);
	say(other, 1, "ann sesame");
	expect(other, 2, "ann");
	ck_assert(!daemon_has_logged(daemon, "generation 1 has ended"));
	expect_last(ann, 6);
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	say(bob, 3, "ann again");
	expect(other, 4, "bob again");
	close(other);
	close(bob);
	close(ann);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "moved_in", 2);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(files_are_read_in_threads)
{
	struct daemon *daemon = start_example("files");
	int fd = client_connect(daemon_port(daemon, "main"));
	char path[192], text[64];

	for (int i = 0; i < 50; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/file-%d", folder, i);
		file = fopen(path, "we");
		ck_assert_ptr_nonnull(file);
		fprintf(file, "this is file %d", i);
		fclose(file);
	}
	for (int i = 0; i < 51; i++) {
		snprintf(text, sizeof(text), "file-%d", i);
		say(fd, 1, text);
	}
	for (int i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "this is file %d", i);
		expect(fd, 2, text);
	}
	expect(fd, 3, "No such file or directory");
	say(fd, 1, "../conf");
	say(fd, 1, ".hidden");
	say(fd, 1, "file-0");
	expect(fd, 2, "this is file 0");
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "malformed", 2);
	daemon_expect_counter(daemon, "jobs", 52);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("g_examples");
	TCase *tcase = run_case(suite, "examples");

	if (system("command -v make >/dev/null && command -v pkg-config >/dev/null") != 0) {
		puts("skipped: make and pkg-config are needed to build examples");
		return 77;
	}
	tcase_add_test(tcase, hello_greets);
	tcase_add_test(tcase, room_passes_on_what_is_said);
	tcase_add_test(tcase, login_lets_in_and_replaces);
	tcase_add_test(tcase, login_goes_on_over_a_reload);
	tcase_add_test(tcase, login_that_comes_late_does_not_take_the_name_back);
	tcase_add_test(tcase, files_are_read_in_threads);
	return run_suite(suite);
}
