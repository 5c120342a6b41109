/*
 * What outlives processes: the slots' pages, the pid file, the listening sockets.
 */
#include "config.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/list.h"
#include "master/pages.h"
#include "master/pid_file.h"
#include "master/resident.h"
#include "master/sockets.h"

#include "test_master.h"

static struct pages pages;

static void set_up(void)
{
	ck_assert_int_eq(pages_open(&pages), STATUS_OK);
}

static void tear_down(void)
{
	pages_close(&pages);
}

/* A process that has ended, and that nobody will ask for again. */
static pid_t dead_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

static struct seat *take(void)
{
	return pages_take_seat(&pages, 3, 7);
}

/* Its master, which would have given it back, is dead as well. */
START_TEST(seat_of_a_process_that_is_gone_is_given_back)
{
	struct seat *first = take(), *again;
	struct counters sum;

	ck_assert_ptr_nonnull(first);
	first->counters.accepted = 5;
	first->counters.closed[CLOSE_REASON_peer] = 3;
	first->pid = dead_process();
	again = take();
	ck_assert_ptr_eq(again, first);
	ck_assert_uint_eq(again->counters.accepted, 0);
	ck_assert_int_eq(again->pid, 0);
	pages_sum(&pages, 3, &sum);
	ck_assert_uint_eq(sum.accepted, 5);
	ck_assert_uint_eq(sum.closed[CLOSE_REASON_worker_died], 2);
}
END_TEST

/* Of those that are gone, and of those that are not, whatever the generation. */
START_TEST(durations_of_all_processes_are_summed)
{
	struct seat *gone = take(), *one, *two;
	struct times sum;

	durations_add(&gone->times.handler, 2000, 1);
	durations_add(&gone->times.reply, 9000, 1);
	pages_leave_seat(&pages, 3, gone);
	one = take();
	two = pages_take_seat(&pages, 3, 8);
	ck_assert_uint_eq(durations_count(&one->times.handler), 0);
	durations_add(&one->times.handler, 2 * 2000, 2);
	durations_add(&two->times.handler, 5000, 1);
	pages_sum_times(&pages, 3, &sum);
	ck_assert_uint_eq(sum.handler.sum_ns, 11000);
	ck_assert_uint_eq(sum.handler.counts[durations_bucket_of(2000)], 3);
	ck_assert_uint_eq(sum.handler.counts[durations_bucket_of(5000)], 1);
	ck_assert_uint_eq(durations_count(&sum.handler), 4);
	ck_assert_uint_eq(durations_count(&sum.reply), 1);
	pages_sum_times(&pages, 4, &sum);
	ck_assert_uint_eq(durations_count(&sum.handler), 0);
}
END_TEST

static struct seat *half; /* the seat of who has counted and not left; NULL: nobody */
static volatile uint64_t n_counted, n_left;

/* In the midst of a read: one counts, or leaves, by turns. */
static void on_turn(int number)
{
	(void)number;
	if (half != NULL) {
		pages_leave_seat(&pages, 3, half);
		half = NULL;
		n_left++;
		return;
	}
	half = take();
	counter_add(half->counters.accepted, 1);
	durations_add(&half->times.reply, 10, 1);
	n_counted++;
}

/* By the other master, in an upgrade. */
START_TEST(leaving_is_not_seen_half_done)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct counters sum;
	struct times times;
	uint64_t n_least;

	ck_assert_ptr_ne(signal(SIGALRM, on_turn), SIG_ERR);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	while (n_left < 2000) {
		n_least = n_counted;
		pages_sum(&pages, 3, &sum);
		ck_assert(sum.accepted >= n_least && sum.accepted <= n_counted);
		n_least = n_counted;
		pages_sum_times(&pages, 3, &times);
		ck_assert(durations_count(&times.reply) >= n_least &&
			  durations_count(&times.reply) <= n_counted);
	}
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
}
END_TEST

/* While a worker counts they may not be seen to go without having come. */
START_TEST(no_connection_goes_before_it_comes)
{
	struct seat *seat = take();
	struct counters sum;
	uint64_t most = 0;
	int status;
	pid_t other = fork();

	if (other == 0) {
		for (int i = 0; i < 3000000; i++) {
			counter_add(seat->counters.accepted, 1);
			counter_add(seat->counters.closed[CLOSE_REASON_peer], 1);
		}
		_exit(0);
	}
	while (waitpid(other, &status, WNOHANG) == 0) {
		uint64_t n_gone, n_come;

		pages_sum(&pages, 3, &sum);
		n_gone = sum.closed[CLOSE_REASON_peer];
		n_come = sum.accepted;
		if (n_gone > n_come && n_gone - n_come > most)
			most = n_gone - n_come;
	}
	ck_assert_uint_eq(most, 0);
	ck_assert_uint_eq(counters_open(&sum), sum.accepted - sum.closed[CLOSE_REASON_peer]);
	/* Whoever writes there what it likes. */
	sum.moved_out = UINT64_MAX / 2;
	ck_assert_uint_eq(counters_open(&sum), 0);
}
END_TEST

/* Neither does a master that died in between keep the others waiting. */
START_TEST(leave_that_never_ended_is_read_over)
{
	struct counters sum;

	take()->counters.accepted = 5;
	pages.list[3].n_leaves_begun = 7;
	pages_sum(&pages, 3, &sum);
	ck_assert_uint_eq(sum.accepted, 5);
}
END_TEST

static struct metric_entry meter = { .kind = METRIC_COUNTER, .module = "m", .name = "x_total" };

START_TEST(next_master_gets_counts_and_metrics)
{
	struct pages next;
	struct counters sum;

	ck_assert_int_eq(metric_learn(pages.directory, &meter), 0);
	take()->counters.accepted = 5;
	ck_assert_int_eq(pages_adopt(&next, dup(pages.fd), pages_leave(&pages)), STATUS_OK);
	pages_sum(&next, 3, &sum);
	ck_assert_uint_eq(sum.accepted, 5);
	ck_assert_int_eq(metric_find(next.directory, "m", "x_total"), 0);
	/* Each master has its own from then on. */
	ck_assert_ptr_ne(next.directory, pages.directory);
	pages_close(&next);
}
END_TEST

/* Where the directory lies in what is left, behind the layout. */
static off_t find_directory(int fd)
{
	struct metric_directory found;
	off_t at = 0;

	while (pread(fd, &found, sizeof(found), at) == (ssize_t)sizeof(found)) {
		if (memcmp(&found, pages.directory, sizeof(found)) == 0)
			return at;
		at += 8;
	}
	ck_abort_msg("no directory");
}

START_TEST(directory_that_is_none_is_refused)
{
	struct metric_directory bad;
	struct pages next;
	off_t at;
	int fd;

	ck_assert_int_eq(metric_learn(pages.directory, &meter), 0);
	bad = *pages.directory;
	fd = pages_leave(&pages);
	at = find_directory(fd);
	switch (_i) {
	case 0:
		bad.n = METRICS_MAX + 1;
		break;
	case 1:
		memset(bad.list[0].help, 'x', sizeof(bad.list[0].help));
		break;
	default:
		bad.list[0].kind = 7;
		break;
	}
	ck_assert_int_eq(pwrite(fd, &bad, sizeof(bad), at), sizeof(bad));
	ck_assert_int_eq(pages_adopt(&next, dup(pages.fd), fd), STATUS_INVALID);
}
END_TEST

/* A worker that kept the descriptor could end the master by it. */
START_TEST(pages_cannot_be_cut)
{
	ck_assert_int_ne(ftruncate(pages.fd, 0), 0);
}
END_TEST

START_TEST(resident_memory_is_that_of_a_living_process)
{
	size_t size = 16 << 20;
	uint64_t before = resident_bytes(getpid());
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_uint_gt(before, 0);
	ck_assert_uint_ge(resident_bytes(getpid()), before + size / 2);
	munmap(memory, size);
	ck_assert_uint_eq(resident_bytes(dead_process()), 0);
	ck_assert_uint_eq(resident_bytes(0), 0);
}
END_TEST

/* Of a living process, or of one whose number is not known yet. */
START_TEST(other_seats_stay_taken)
{
	struct seat *seats[SLOT_SEATS];

	for (int i = 0; i < SLOT_SEATS; i++) {
		seats[i] = take();
		ck_assert_ptr_nonnull(seats[i]);
		for (int j = 0; j < i; j++)
			ck_assert_ptr_ne(seats[i], seats[j]);
		seats[i]->pid = i % 2 == 0 ? getpid() : 0;
	}
	ck_assert_ptr_null(take());
	ck_assert_ptr_nonnull(pages_take_seat(&pages, 4, 7));
	ck_assert_uint_eq(pages_leave_seat(&pages, 3, seats[5]), 0);
	ck_assert_ptr_eq(take(), seats[5]);
}
END_TEST

START_TEST(pid_file_of_another_is_not_removed)
{
	char folder[] = "/tmp/runnel-pages-XXXXXX", path[64];
	struct reason why = { "" };
	int fd, other;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/pid", folder);
	ck_assert_int_eq(pid_file_open(path, &fd, &why), STATUS_OK);
	ck_assert_int_eq(unlink(path), 0);
	other = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ge(other, 0);
	pid_file_remove(path, fd);
	ck_assert_int_eq(access(path, F_OK), 0);
	close(other);
	ck_assert_int_eq(pid_file_open(path, &fd, &why), STATUS_OK);
	pid_file_remove(path, fd);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

static struct settings *listening_on(const char *address)
{
	char text[256];
	struct reason why = { "" };
	struct settings *settings = NULL;

	snprintf(text, sizeof(text),
	    "workers = 2\nmodule m { }\nlisten main { address = \"%s\" modules = { m } }\n",
	    address);
	ck_assert_msg(settings_load("conf", text, NULL, NULL, &settings, &why) == STATUS_OK,
	    "%s", why.text);
	return settings;
}

/* A port that is free now. */
static uint16_t free_port(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	close(fd);
	return ntohs(addr.sin_port);
}

struct waiting {
	const char *key;
	int n;
};

static void count_waiting(const char *key, int fd, void *arg)
{
	struct waiting *waiting = arg;
	int accepted;

	while (strcmp(key, waiting->key) == 0 && (accepted = accept(fd, NULL, NULL)) >= 0) {
		close(accepted);
		waiting->n++;
	}
}

/* How many of some connections came to the group of an address. */
static int connect_some(const struct sockets *sockets, uint16_t port, const char *key)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct waiting waiting = { .key = key };

	for (int i = 0; i < 8; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
		sockets_each(sockets, count_waiting, &waiting);
		close(fd);
	}
	return waiting.n;
}

/* The kernel prefers the more exact address as soon as it listens: that is when it serves. */
START_TEST(address_that_overlaps_another_waits_for_its_generation)
{
	uint16_t port = free_port();
	char wide[32], exact[32];
	struct sockets *sockets = sockets_new();
	struct settings *before, *after;
	struct reason why = { "" };

	snprintf(wide, sizeof(wide), "0.0.0.0:%u", port);
	snprintf(exact, sizeof(exact), "127.0.0.1:%u", port);
	before = listening_on(wide);
	after = listening_on(exact);
	ck_assert_int_eq(sockets_prepare(sockets, before, &why), STATUS_OK);
	ck_assert_int_eq(sockets_activate(sockets, before, &why), STATUS_OK);
	ck_assert_int_eq(connect_some(sockets, port, wide), 8);
	ck_assert_int_eq(sockets_prepare(sockets, after, &why), STATUS_OK);
	ck_assert_int_eq(connect_some(sockets, port, wide), 8);
	/* _i 0: its generation has failed. */
	if (_i == 0) {
		sockets_retain(sockets, before);
		ck_assert_int_eq(connect_some(sockets, port, wide), 8);
	} else {
		ck_assert_int_eq(sockets_activate(sockets, after, &why), STATUS_OK);
		ck_assert_int_eq(connect_some(sockets, port, exact), 8);
	}
	sockets_destroy(&sockets);
	settings_destroy(&before);
	settings_destroy(&after);
}
END_TEST

TCase *pages_tests(void)
{
	TCase *tcase = tcase_create("pages");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, seat_of_a_process_that_is_gone_is_given_back);
	tcase_add_test(tcase, other_seats_stay_taken);
	tcase_add_test(tcase, durations_of_all_processes_are_summed);
	tcase_add_test(tcase, leaving_is_not_seen_half_done);
	tcase_add_test(tcase, no_connection_goes_before_it_comes);
	tcase_add_test(tcase, leave_that_never_ended_is_read_over);
	tcase_add_test(tcase, next_master_gets_counts_and_metrics);
	tcase_add_loop_test(tcase, directory_that_is_none_is_refused, 0, 3);
	tcase_add_test(tcase, pages_cannot_be_cut);
	tcase_add_test(tcase, resident_memory_is_that_of_a_living_process);
	tcase_add_test(tcase, pid_file_of_another_is_not_removed);
	tcase_add_loop_test(
	    tcase, address_that_overlaps_another_waits_for_its_generation, 0, 2);
	return tcase;
}
