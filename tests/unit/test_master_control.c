/*
 * master: the control socket in this process, with verbs of the test and clients
 * that are not what one wishes for.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "master/control.h"
#include "master/control_socket.h"
#include "master/request.h"

#include "test_master.h"

#define DEADLINE_MS 20000

static struct ev_loop *loop;
static struct control *control;
static char folder[64], path[80];
static struct control_request *kept; /* by the verb later */
static unsigned int n_acts;

static void act_now(struct control_request *request, void *arg)
{
	ck_assert_ptr_eq(arg, folder);
	n_acts++;
	control_answer(request, json_pack("{ss}", "said", control_request_verb(request)));
}

static void act_echo(struct control_request *request, void *arg)
{
	(void)arg;
	control_answer(request, json_incref(control_request_object(request)));
}

static void act_later(struct control_request *request, void *arg)
{
	(void)arg;
	ck_assert_ptr_null(kept);
	kept = request;
}

static void act_fail(struct control_request *request, void *arg)
{
	(void)arg;
	control_fail(request, "no %s \xff today", "luck");
}

static void act_end(struct control_request *request, void *arg)
{
	(void)arg;
	control_answer_at_end(request);
}

/* The request says how long the answer is. */
static void act_long(struct control_request *request, void *arg)
{
	json_t *size = json_object_get(control_request_object(request), "size");
	size_t len = (size_t)json_integer_value(size);
	char *text = malloc(len + 1);

	(void)arg;
	n_acts++;
	memset(text, 'x', len);
	text[len] = '\0';
	if (strcmp(control_request_verb(request), "longer") == 0)
		control_answer_long(request, json_pack("{ss}", "text", text));
	else
		control_answer(request, json_pack("{ss}", "text", text));
	free(text);
}

static const char *const size_keys[] = { "size", NULL };
static const char *const echo_keys[] = { "text", NULL };

static const struct control_verb verbs[] = {
	{ "now", "answers", CONTROL_READ, NULL, act_now },
	{ "echo", "answers itself", CONTROL_READ, echo_keys, act_echo },
	{ "later", "does not", CONTROL_FULL, NULL, act_later },
	{ "fail", "fails", CONTROL_FULL, NULL, act_fail },
	{ "end", "ends", CONTROL_FULL, NULL, act_end },
	{ "long", "answers much", CONTROL_READ, size_keys, act_long },
	{ "longer", "answers more", CONTROL_READ, size_keys, act_long },
};

static enum status open_at(
    const char *at, bool is_taking_over, struct control **result, struct reason *why)
{
	const struct control_config config = {
		.loop = loop,
		.path = at,
		.is_taking_over = is_taking_over,
		.verbs = verbs,
		.n_verbs = sizeof(verbs) / sizeof(verbs[0]),
		.arg = folder,
	};

	return control_open(&config, result, why);
}

static void set_up(void)
{
	struct reason why = { "" };

	snprintf(folder, sizeof(folder), "/tmp/runnel-master-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sock", folder);
	loop = ev_loop_new(EVFLAG_AUTO);
	ck_assert_ptr_nonnull(loop);
	kept = NULL;
	n_acts = 0;
	ck_assert_msg(open_at(path, false, &control, &why) == STATUS_OK, "%s", why.text);
}

static void tear_down(void)
{
	control_close(&control);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(rmdir(folder), 0);
	ev_loop_destroy(loop);
}

/* Open again with less patience. */
static void hurry(double idle_s)
{
	const struct control_config config = {
		.loop = loop,
		.path = path,
		.idle_s = idle_s,
		.verbs = verbs,
		.n_verbs = sizeof(verbs) / sizeof(verbs[0]),
		.arg = folder,
	};
	struct reason why;

	control_close(&control);
	ck_assert_int_eq(control_open(&config, &control, &why), STATUS_OK);
}

static void turn(void)
{
	ev_run(loop, EVRUN_NOWAIT);
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

#define TURN_UNTIL(condition)                                                             \
	do {                                                                              \
		uint64_t end_ms = clock_ms() + DEADLINE_MS;                               \
		while (!(condition)) {                                                    \
			ck_assert_msg(clock_ms() < end_ms, "never happens: " #condition); \
			turn();                                                           \
		}                                                                         \
	} while (0)

static int dial(const char *at)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", at);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* One byte without waiting: 1, 0 at the end, -1 nothing yet. A reset is an end, too. */
static ssize_t peek(int fd, char *byte)
{
	ssize_t n = recv(fd, byte, 1, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return -1;
	return n < 0 ? 0 : n;
}

static bool read_byte(int fd, char *byte)
{
	ssize_t n = -1;

	TURN_UNTIL((n = peek(fd, byte)) >= 0);
	return n == 1;
}

/* The next line without its newline; "" at the end. */
static const char *hear(int fd)
{
	static char line[8192];
	size_t len = 0;
	char byte;

	while (read_byte(fd, &byte) && byte != '\n') {
		ck_assert_uint_lt(len, sizeof(line) - 1);
		line[len++] = byte;
	}
	line[len] = '\0';
	return line;
}

static void expect_end(int fd)
{
	char byte;

	ck_assert(!read_byte(fd, &byte));
	close(fd);
}

static void expect_failure(int fd, const char *text)
{
	const char *line = hear(fd);

	ck_assert_msg(strncmp(line, "{\"ok\":false,\"error\":\"", 21) == 0, "%s", line);
	ck_assert_msg(strstr(line, text) != NULL, "no '%s' in %s", text, line);
}

START_TEST(each_line_gets_an_answer_in_its_turn)
{
	int fd = dial(path);

	say(fd, "{\"verb\":\"now\"}\n{\"verb\":\"fail\"}\r\n\n{\"verb\":\"now\"}\n{\"ver");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	ck_assert_str_eq(hear(fd), "{\"ok\":false,\"error\":\"no luck ? today\"}");
	expect_failure(fd, "no JSON");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	say(fd, "b\":\"now\"}");
	for (int i = 0; i < 10; i++)
		turn();
	ck_assert_uint_eq(n_acts, 2);
	say(fd, "\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	close(fd);
}
END_TEST

START_TEST(unknown_verb_and_key_are_refused_by_name)
{
	int fd = dial(path);

	say(fd, "{\"verb\":\"nowadays\"}\n");
	expect_failure(fd, "no verb 'nowadays'");
	say(fd, "{\"verb\":\"\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc"
		"\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc"
		"\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc"
		"x\\u00fc\\u00fc\\u00fc\\u00fc\\u00fc\"}\n");
	expect_failure(fd, "no verb '");
	say(fd, "{\"verb\":\"now\",\"when\":1}\n");
	expect_failure(fd, "'now' takes no 'when'");
	say(fd, "{\"verb\":\"echo\",\"text\":[1,{}]}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"verb\":\"echo\",\"text\":[1,{}]}");
	ck_assert_uint_eq(n_acts, 0);
	close(fd);
}
END_TEST

/* --- a client that did not come over the socket --- */

static unsigned int n_ended;

static void count_end(void *arg)
{
	ck_assert_ptr_eq(arg, folder);
	n_ended++;
}

static struct control_session *admit(double idle_s, int *fd)
{
	struct control_session *session;
	int pair[2];

	n_ended = 0;
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	session = control_admit(control, pair[0], idle_s, count_end, folder);
	ck_assert_ptr_nonnull(session);
	*fd = pair[1];
	return session;
}

START_TEST(admitted_client_may_read)
{
	struct control_session *session;
	int fd;

	session = admit(60, &fd);
	say(fd, "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	say(fd, "{\"verb\":\"later\"}\n");
	expect_failure(fd, "permission denied");
	control_dismiss(session);
	expect_end(fd);
	ck_assert_uint_eq(n_ended, 0);
	ck_assert_ptr_null(kept);
}
END_TEST

START_TEST(end_of_an_admitted_client_is_told)
{
	int fd;

	admit(60, &fd);
	close(fd);
	TURN_UNTIL(n_ended == 1);
	admit(0.05, &fd);
	say(fd, "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	TURN_UNTIL(n_ended == 1);
	expect_end(fd);
}
END_TEST

/* Nobody can connect to it then. */
START_TEST(socket_may_be_left_out)
{
	struct control *other;
	struct reason why;
	int pair[2];

	ck_assert_int_eq(open_at(NULL, false, &other, &why), STATUS_OK);
	ck_assert_int_eq(control_reclaim(other, &why), STATUS_OK);
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	ck_assert_ptr_nonnull(control_admit(other, pair[0], 60, NULL, NULL));
	say(pair[1], "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(pair[1]), "{\"ok\":true,\"said\":\"now\"}");
	control_close(&other);
	expect_end(pair[1]);
}
END_TEST

START_TEST(help_lists_the_verbs)
{
	int fd = dial(path);

	say(fd, "{\"verb\":\"help\"}\n");
	ck_assert_ptr_nonnull(
	    strstr(hear(fd), "{\"verb\":\"later\",\"access\":\"full\",\"text\":\"does not\"}"));
	say(fd, "{\"verb\":\"help\"}\n");
	ck_assert_ptr_nonnull(strstr(hear(fd), "{\"verb\":\"help\",\"access\":\"read\""));
	close(fd);
}
END_TEST

/* What came before it is done; it is not, for it may be cut. */
START_TEST(line_without_an_end_is_no_request)
{
	int fd = dial(path);

	say(fd, "{\"verb\":\"now\"}\n{\"verb\":\"now\"}");
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	expect_end(fd);
	ck_assert_uint_eq(n_acts, 1);
}
END_TEST

/* A line of exactly so many bytes, newline included. */
static void say_long(int fd, size_t len)
{
	static const char head[] = "{\"verb\":\"now\"";
	char *line = malloc(len);
	size_t at = 0;

	memset(line, ' ', len);
	memcpy(line, head, sizeof(head) - 1);
	line[len - 2] = '}';
	line[len - 1] = '\n';
	while (at < len) {
		ssize_t n = send(fd, line + at, len - at, MSG_DONTWAIT | MSG_NOSIGNAL);

		turn();
		if (n > 0)
			at += (size_t)n;
		else if (errno != EAGAIN)
			break;
	}
	free(line);
}

START_TEST(line_has_a_limit)
{
	int fd = dial(path);

	say_long(fd, REQUEST_MAX_BYTES);
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	say_long(fd, REQUEST_MAX_BYTES + 1);
	expect_failure(fd, "longer than 65536 bytes");
	expect_end(fd);
	fd = dial(path);
	say_long(fd, 1024 * 1024);
	expect_failure(fd, "longer than 65536 bytes");
	expect_end(fd);
	ck_assert_uint_eq(n_acts, 1);
}
END_TEST

/* As programs do that send all before they read. */
static void send_all(int fd, size_t len)
{
	char *bytes = calloc(1, len);
	size_t at = 0;

	memset(bytes, 'x', len);
	while (at < len) {
		ssize_t n = send(fd, bytes + at, len - at, MSG_DONTWAIT | MSG_NOSIGNAL);

		ck_assert_msg(
		    n >= 0 || errno == EAGAIN, "%zu sent, then %s", at, strerror(errno));
		at += n > 0 ? (size_t)n : 0;
		turn();
	}
	free(bytes);
}

START_TEST(whoever_is_refused_may_send_all_before_it_reads)
{
	int fds[32], fd = dial(path);
	size_t len = REQUEST_MAX_BYTES + 512 * 1024;

	send_all(fd, len);
	expect_failure(fd, "longer than 65536 bytes");
	expect_end(fd);
	for (int i = 0; i < 32; i++)
		fds[i] = dial(path);
	fd = dial(path);
	send_all(fd, len);
	expect_failure(fd, "too many clients");
	expect_end(fd);
	ck_assert_uint_eq(n_acts, 0);
	for (int i = 0; i < 32; i++)
		close(fds[i]);
}
END_TEST

static bool try_send(int fd, const char *bytes, size_t len)
{
	ssize_t n = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	turn();
	return n >= 0 || errno == EAGAIN;
}

/* Not for ever: neither in bytes, nor in time. */
START_TEST(what_the_refused_send_is_bounded)
{
	static const char bytes[16384];
	uint64_t start_ms = clock_ms();
	int fd = dial(path);
	size_t n = 0;

	while (try_send(fd, bytes, sizeof(bytes))) {
		n += sizeof(bytes);
		ck_assert_uint_lt(n, 4 * 1024 * 1024);
	}
	close(fd);
	fd = dial(path);
	send_all(fd, REQUEST_MAX_BYTES + 1);
	while (try_send(fd, bytes, 1))
		ck_assert_uint_lt(clock_ms() - start_ms, DEADLINE_MS);
	close(fd);
}
END_TEST

/* Of a long line, newline included, or of what comes of it before the end. */
static size_t n_bytes_of_line(int fd)
{
	static char bytes[65536];
	size_t len = 0;
	ssize_t n;

	do {
		n = 0;
		TURN_UNTIL(
		    (n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) >= 0 || errno != EAGAIN);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && bytes[n - 1] != '\n');
	return len;
}

START_TEST(answer_has_a_limit)
{
	int fd = dial(path);

	say(fd, "{\"verb\":\"long\",\"size\":4194304}\n");
	expect_failure(fd, "longer than 4M");
	say(fd, "{\"verb\":\"long\",\"size\":4000000}\n");
	ck_assert_uint_eq(n_bytes_of_line(fd), strlen("{'ok':true,'text':''}\n") + 4000000);
	say(fd, "{\"verb\":\"longer\",\"size\":16777216}\n");
	expect_failure(fd, "longer than 16M");
	say(fd, "{\"verb\":\"longer\",\"size\":16000000}\n");
	ck_assert_uint_eq(n_bytes_of_line(fd), strlen("{'ok':true,'text':''}\n") + 16000000);
	close(fd);
}
END_TEST

START_TEST(verb_may_answer_later)
{
	int fd = dial(path), other = dial(path);

	say(fd, "{\"verb\":\"later\"}\n{\"verb\":\"now\"}\n");
	TURN_UNTIL(kept != NULL);
	say(other, "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(other), "{\"ok\":true,\"said\":\"now\"}");
	/* The second request waits for the answer to the first. */
	ck_assert_uint_eq(n_acts, 1);
	ck_assert_str_eq(control_request_verb(kept), "later");
	control_answer(kept, NULL);
	kept = NULL;
	ck_assert_str_eq(hear(fd), "{\"ok\":true}");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	say(fd, "{\"verb\":\"later\"}\n");
	TURN_UNTIL(kept != NULL);
	control_fail(kept, "line %d", 7);
	ck_assert_str_eq(hear(fd), "{\"ok\":false,\"error\":\"line 7\"}");
	close(fd);
	close(other);
}
END_TEST

/* The request stays valid, and whatever is answered goes nowhere. */
START_TEST(client_may_leave_before_its_answer)
{
	int witness = dial(path);

	for (int i = 0; i < 2; i++) {
		int fd = dial(path);

		say(fd, "{\"verb\":\"later\"}\n");
		TURN_UNTIL(kept != NULL);
		close(fd);
		say(witness, "{\"verb\":\"now\"}\n");
		ck_assert_str_eq(hear(witness), "{\"ok\":true,\"said\":\"now\"}");
		ck_assert_str_eq(control_request_verb(kept), "later");
		if (i == 0)
			control_answer(kept, json_pack("{si}", "n", 1));
		else
			control_fail(kept, "too late");
		kept = NULL;
	}
	close(witness);
}
END_TEST

/* Who closes at once after a whole request has asked for it. */
START_TEST(request_of_a_client_that_leaves_at_once_is_done)
{
	int fd = dial(path);

	say(fd, "{\"verb\":\"now\"}\n");
	close(fd);
	TURN_UNTIL(n_acts == 1);
}
END_TEST

START_TEST(half_closed_client_gets_its_late_answer)
{
	int fd = dial(path);

	say(fd, "{\"verb\":\"later\"}\n");
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	TURN_UNTIL(kept != NULL);
	for (int i = 0; i < 10; i++)
		turn();
	control_answer(kept, NULL);
	ck_assert_str_eq(hear(fd), "{\"ok\":true}");
	expect_end(fd);
}
END_TEST

/* It takes no answer, so nothing more is done for it; others are served meanwhile. */
START_TEST(client_that_never_reads_holds_up_only_itself)
{
	int fd = dial(path), other = dial(path);

	say(fd, "{\"verb\":\"long\",\"size\":1000000}\n");
	say(fd, "{\"verb\":\"now\"}\n{\"verb\":\"now\"}\n{\"verb\":\"now\"}\n");
	TURN_UNTIL(n_acts == 1);
	for (int i = 0; i < 20; i++) {
		say(other, "{\"verb\":\"echo\"}\n");
		ck_assert_str_eq(hear(other), "{\"ok\":true,\"verb\":\"echo\"}");
	}
	ck_assert_uint_eq(n_acts, 1);
	close(fd);
	close(other);
}
END_TEST

START_TEST(client_that_takes_too_long_is_closed)
{
	int silent, trickling, unread, waiting;
	char byte;

	hurry(0.2);
	waiting = dial(path);
	say(waiting, "{\"verb\":\"later\"}\n");
	TURN_UNTIL(kept != NULL);
	silent = dial(path);
	trickling = dial(path);
	unread = dial(path);
	say(unread, "{\"verb\":\"long\",\"size\":3000000}\n");
	/* Bytes give no more time, lines would. */
	TURN_UNTIL(send(trickling, " ", 1, MSG_NOSIGNAL) < 0 && peek(trickling, &byte) == 0);
	expect_end(silent);
	/* What the kernel has taken, then the end. */
	ck_assert_uint_lt(n_bytes_of_line(unread), 3000000);
	/* Who has an answer due is not late. */
	control_answer(kept, NULL);
	ck_assert_str_eq(hear(waiting), "{\"ok\":true}");
	expect_end(waiting);
	close(trickling);
	close(unread);
}
END_TEST

/* The loop calls the timer first; the line, longer than one read, was there in time. */
START_TEST(client_of_a_master_that_stood_still_is_not_late)
{
	const uint64_t limit_ms = 200;
	char line[2048], text[1801];
	uint64_t end_ms;
	int fd;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	snprintf(line, sizeof(line), "{\"verb\":\"echo\",\"text\":\"%s\"}\n", text);
	hurry((double)limit_ms / 1000);
	fd = dial(path);
	say(fd, "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	say(fd, line);
	end_ms = clock_ms() + 2 * limit_ms;
	while (clock_ms() < end_ms)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	ck_assert_ptr_nonnull(strstr(hear(fd), text));
	close(fd);
}
END_TEST

START_TEST(clients_have_a_limit)
{
	int fds[40], more, n = 0;

	for (; n < 32; n++) {
		fds[n] = dial(path);
		say(fds[n], "{\"verb\":\"now\"}\n");
		ck_assert_str_eq(hear(fds[n]), "{\"ok\":true,\"said\":\"now\"}");
	}
	more = dial(path);
	expect_failure(more, "too many clients");
	expect_end(more);
	close(fds[--n]);
	for (int i = 0; i < 10; i++)
		turn();
	fds[n++] = dial(path);
	say(fds[31], "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(fds[31]), "{\"ok\":true,\"said\":\"now\"}");
	while (n > 0)
		close(fds[--n]);
}
END_TEST

START_TEST(end_is_told_to_all_that_wait)
{
	int stop = dial(path), later = dial(path), idle = dial(path);

	say(stop, "{\"verb\":\"end\"}\n");
	say(later, "{\"verb\":\"later\"}\n");
	say(idle, "{\"verb\":\"now\"}\n");
	TURN_UNTIL(kept != NULL);
	ck_assert_str_eq(hear(idle), "{\"ok\":true,\"said\":\"now\"}");
	control_close(&control);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_str_eq(hear(stop), "{\"ok\":true}");
	expect_end(stop);
	expect_failure(later, "the daemon ends");
	expect_end(later);
	expect_end(idle);
}
END_TEST

/* As in a worker: the clients' connections and the path stay with the master. */
START_TEST(child_that_forgets_leaves_all_as_it_is)
{
	struct control *mine = control;
	struct stat st;
	int fd = dial(path);

	say(fd, "{\"verb\":\"later\"}\n");
	TURN_UNTIL(kept != NULL);
	control_forget(control);
	ck_assert_int_eq(stat(path, &st), 0);
	expect_end(fd);
	control_answer(kept, NULL);
	free(mine);
	control = NULL;
	unlink(path);
}
END_TEST

TCase *control_tests(void)
{
	TCase *tcase = tcase_create("control");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, admitted_client_may_read);
	tcase_add_test(tcase, end_of_an_admitted_client_is_told);
	tcase_add_test(tcase, socket_may_be_left_out);
	tcase_add_test(tcase, each_line_gets_an_answer_in_its_turn);
	tcase_add_test(tcase, unknown_verb_and_key_are_refused_by_name);
	tcase_add_test(tcase, help_lists_the_verbs);
	tcase_add_test(tcase, line_without_an_end_is_no_request);
	tcase_add_test(tcase, line_has_a_limit);
	tcase_add_test(tcase, whoever_is_refused_may_send_all_before_it_reads);
	tcase_add_test(tcase, what_the_refused_send_is_bounded);
	tcase_add_test(tcase, answer_has_a_limit);
	tcase_add_test(tcase, verb_may_answer_later);
	tcase_add_test(tcase, client_may_leave_before_its_answer);
	tcase_add_test(tcase, request_of_a_client_that_leaves_at_once_is_done);
	tcase_add_test(tcase, half_closed_client_gets_its_late_answer);
	tcase_add_test(tcase, client_that_never_reads_holds_up_only_itself);
	tcase_add_test(tcase, client_that_takes_too_long_is_closed);
	tcase_add_test(tcase, client_of_a_master_that_stood_still_is_not_late);
	tcase_add_test(tcase, clients_have_a_limit);
	tcase_add_test(tcase, end_is_told_to_all_that_wait);
	tcase_add_test(tcase, child_that_forgets_leaves_all_as_it_is);
	return tcase;
}

static void expect_refused(const char *at, const char *text)
{
	struct control *second = NULL;
	struct reason why = { "" };

	ck_assert_int_eq(open_at(at, false, &second, &why), STATUS_INVALID);
	ck_assert_ptr_null(second);
	ck_assert_msg(strstr(why.text, text) != NULL, "no '%s' in: %s", text, why.text);
}

static void expect_served(void)
{
	int fd = dial(path);

	say(fd, "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	close(fd);
}

START_TEST(socket_is_for_its_owner_alone)
{
	struct stat st;

	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
END_TEST

START_TEST(group_is_let_in_by_name_or_number)
{
	struct control_socket sock;
	struct reason why = { "" };
	struct stat st;

	control_close(&control);
	ck_assert_int_eq(control_socket_open(&sock, path, getgid(), false, &why), STATUS_OK);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0660);
	ck_assert_uint_eq(st.st_gid, getgid());
	control_socket_remove(&sock);
}
END_TEST

START_TEST(group_that_is_not_there_is_refused)
{
	struct settings settings = {
		.control_socket = path,
		.control_group = folder,
	};
	struct reason why = { "" };

	ck_assert_int_eq(control_check(&settings, &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "there is no group '"));
	settings.control_socket = NULL;
	ck_assert_int_eq(control_check(&settings, &why), STATUS_OK);
}
END_TEST

START_TEST(living_socket_is_refused_and_unharmed)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "process %d", (int)getpid());
	expect_refused(path, pid);
	expect_served();
}
END_TEST

START_TEST(dead_socket_is_replaced)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct reason why = { "" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	control_close(&control);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	close(fd);
	ck_assert_int_eq(open_at(path, false, &control, &why), STATUS_OK);
	expect_served();
}
END_TEST

START_TEST(what_is_no_socket_is_left_alone)
{
	char file[96];

	snprintf(file, sizeof(file), "%s/file", folder);
	ck_assert_int_eq(symlink(path, file), 0);
	expect_refused(file, "is no socket");
	ck_assert_int_eq(unlink(file), 0);
	snprintf(file, sizeof(file), "%s/none/sock", folder);
	expect_refused(file, "No such file or directory");
}
END_TEST

START_TEST(path_has_a_limit)
{
	char text[128];
	struct reason why;

	memset(text, '/', sizeof(text));
	text[100] = '\0';
	ck_assert_int_eq(control_socket_check(text, &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "99 bytes"));
	text[99] = '\0';
	ck_assert_int_eq(control_socket_check(text, &why), STATUS_OK);
}
END_TEST

/* The old one goes on with its clients, and its end leaves the path to the new one. */
START_TEST(successor_takes_the_path_over)
{
	struct control *old = control;
	struct reason why = { "" };
	int fd = dial(path);

	ck_assert_int_eq(open_at(path, true, &control, &why), STATUS_OK);
	expect_served();
	say(fd, "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	control_close(&old);
	expect_end(fd);
	expect_served();
}
END_TEST

/* The successor has failed after it had the path: the old one serves there again. */
START_TEST(path_is_had_again)
{
	struct control *failed = NULL;
	struct reason why = { "" };
	struct stat before, after;
	int fd = dial(path);

	say(fd, "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	ck_assert_int_eq(lstat(path, &before), 0);
	ck_assert_int_eq(control_reclaim(control, &why), STATUS_OK);
	ck_assert_int_eq(lstat(path, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(open_at(path, true, &failed, &why), STATUS_OK);
		/* It removes the path at its end, or was killed and leaves it. */
		if (i == 0)
			control_close(&failed);
		ck_assert_int_eq(control_reclaim(control, &why), STATUS_OK);
		if (i == 1)
			control_close(&failed);
		expect_served();
	}
	say(fd, "{\"verb\":\"now\"}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"said\":\"now\"}");
	close(fd);
}
END_TEST

TCase *control_socket_tests(void)
{
	TCase *tcase = tcase_create("control socket");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, socket_is_for_its_owner_alone);
	tcase_add_test(tcase, group_is_let_in_by_name_or_number);
	tcase_add_test(tcase, group_that_is_not_there_is_refused);
	tcase_add_test(tcase, living_socket_is_refused_and_unharmed);
	tcase_add_test(tcase, dead_socket_is_replaced);
	tcase_add_test(tcase, what_is_no_socket_is_left_alone);
	tcase_add_test(tcase, path_has_a_limit);
	tcase_add_test(tcase, successor_takes_the_path_over);
	tcase_add_test(tcase, path_is_had_again);
	return tcase;
}
