/*
 * churn: clients that notice when a server is reloaded, upgraded or killed. Busy
 * ones have a request of the c10k protocol (TLV framing) outstanding all the time;
 * sessions connect, ask a few times and leave, so many in a second. Each reply is
 * compared byte for byte with what it has to be, and no two requests are the same.
 *
 * It says "ready" when every busy client has had a reply, runs for a time or
 * until SIGTERM, lets what is outstanding come in, and prints what has happened:
 * a line for people and one of JSON. The status is 1 when anything failed.
 */
#include "config.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/address.h"
#include "bench/options.h"
#include "bench/protocol.h"
#include "wire/framing.h"

#include "lifecycle/guest.h"
#include "lifecycle/ledger.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

enum { EVENTS = 512 };

struct churn_options {
	uint64_t n_busy;
	uint64_t sessions_per_s;
	uint64_t n_requests; /* of a session */
	uint64_t think_ms;
	uint64_t seconds; /* 0: until SIGTERM */
	uint64_t limit_ms;
	bool are_ends_expected;
	struct address address;
};

/* How often SIGTERM or SIGINT came: at the second the end is at once. */
static volatile sig_atomic_t n_stops;

static void on_stop(int signo)
{
	(void)signo;
	n_stops++;
}

/* Only epoll_pwait() lets them in, so that none comes between a look and a wait. */
static void block_stops(sigset_t *during_wait)
{
	struct sigaction action = { .sa_handler = on_stop };
	sigset_t stops;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGINT);
	sigprocmask(SIG_BLOCK, &stops, during_wait);
	sigdelset(during_wait, SIGTERM);
	sigdelset(during_wait, SIGINT);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static _Noreturn void usage(void)
{
	fprintf(stderr,
	    "usage: churn [-e] [-b busy] [-k requests] [-l limit] [-r rate] "
	    "[-t seconds] [-w think] address:port\n"
	    "  -b  busy clients (200)\n"
	    "  -e  ends of connections are expected: they are counted, but no failure\n"
	    "  -k  requests of a session (4)\n"
	    "  -l  ms to the first reply, from the connect on, and to any other (5000)\n"
	    "  -r  sessions that begin in a second (100)\n"
	    "  -t  seconds to run; 0: until SIGTERM (0)\n"
	    "  -w  ms that a busy client waits after a reply (0)\n");
	exit(2);
}

static uint64_t number_or_exit(const char *text, long min, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value < min || value > max)
		errx(2, "'%s' is not a number from %ld to %ld", text, min, max);
	return (uint64_t)value;
}

/* "127.0.0.1:8888", "[::1]:8888" */
static void resolve_or_exit(char *text, struct address *address)
{
	char *colon = strrchr(text, ':'), *host = text;
	struct reason why;

	if (colon == NULL)
		usage();
	*colon = '\0';
	if (colon > text + 1 && text[0] == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		host++;
	}
	if (address_resolve(address, host, colon + 1, &why) != STATUS_OK)
		errx(2, "%s", why.text);
}

static void options_parse_or_exit(int argc, char **argv, struct churn_options *options)
{
	int opt;

	*options = (struct churn_options){
		.n_busy = 200,
		.sessions_per_s = 100,
		.n_requests = 4,
		.limit_ms = 5000,
	};
	while ((opt = getopt(argc, argv, "b:ek:l:r:t:w:")) != -1) {
		switch (opt) {
		case 'b':
			options->n_busy = number_or_exit(optarg, 0, 100000);
			break;
		case 'e':
			options->are_ends_expected = true;
			break;
		case 'k':
			options->n_requests = number_or_exit(optarg, 1, 1000000);
			break;
		case 'l':
			options->limit_ms = number_or_exit(optarg, 1, 3600000);
			break;
		case 'r':
			options->sessions_per_s = number_or_exit(optarg, 0, 100000);
			break;
		case 't':
			options->seconds = number_or_exit(optarg, 0, 1000000);
			break;
		case 'w':
			options->think_ms = number_or_exit(optarg, 0, 3600000);
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc)
		usage();
	resolve_or_exit(argv[optind], &options->address);
}

/* Rounded up: what is due then is due. */
static int timeout_ms(uint64_t now_ns, uint64_t next_ns)
{
	if (next_ns == UINT64_MAX)
		return -1;
	return next_ns <= now_ns ? 0 : (int)((next_ns - now_ns) / MS + 1);
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* Begin the sessions that are due. Returns when the next one will be. */
static uint64_t keep_rate(struct crowd *crowd, uint64_t sessions_per_s)
{
	uint64_t started_ns = crowd->ledger->started_ns;

	if (sessions_per_s == 0)
		return UINT64_MAX;
	while (crowd->ledger->sessions_begun * SECOND / sessions_per_s + started_ns <=
	       crowd->now_ns)
		guest_enter(crowd, false);
	return crowd->ledger->sessions_begun * SECOND / sessions_per_s + started_ns;
}

static void say_ready(const struct crowd *crowd, uint64_t n_busy)
{
	static bool has_said;

	if (has_said || crowd->n_busy_served < n_busy)
		return;
	has_said = true;
	puts("ready");
	fflush(stdout);
}

static void wait_for_events(struct crowd *crowd, uint64_t next_ns, const sigset_t *during_wait)
{
	static struct epoll_event events[EVENTS];
	int n = epoll_pwait(
	    crowd->epoll_fd, events, EVENTS, timeout_ms(clock_ns(), next_ns), during_wait);

	if (n < 0 && errno != EINTR)
		err(2, "epoll_wait");
	for (int i = 0; i < n; i++)
		guest_on_event(crowd, events[i].data.ptr, events[i].events);
}

static bool is_over(const struct crowd *crowd)
{
	return crowd->is_closing && (crowd->n_inside == 0 || n_stops > 1);
}

/* Do what is due. Returns when the next thing will be. */
static uint64_t keep_time(struct crowd *crowd, const struct churn_options *options)
{
	uint64_t end_ns = UINT64_MAX;

	crowd->now_ns = clock_ns();
	if (options->seconds > 0)
		end_ns = crowd->ledger->started_ns + options->seconds * SECOND;
	if (!crowd->is_closing && (n_stops > 0 || crowd->now_ns >= end_ns))
		crowd_close(crowd);
	if (crowd->is_closing)
		return crowd_keep_time(crowd);
	return earlier(
	    earlier(crowd_keep_time(crowd), end_ns), keep_rate(crowd, options->sessions_per_s));
}

/* Returns when nobody is inside any more, or at the second stop. */
static void run(
    struct crowd *crowd, const struct churn_options *options, const sigset_t *during_wait)
{
	uint64_t next_ns;

	for (uint64_t i = 0; i < options->n_busy; i++)
		guest_enter(crowd, true);
	for (;;) {
		next_ns = keep_time(crowd, options);
		if (is_over(crowd))
			return;
		wait_for_events(crowd, next_ns, during_wait);
		say_ready(crowd, options->n_busy);
	}
}

int main(int argc, char **argv)
{
	static struct ledger ledger;
	static const struct options load = { .load = LOAD_MIX, .framing = &framing_tlv };
	struct churn_options options;
	struct protocol protocol;
	struct crowd crowd;
	sigset_t during_wait;

	options_parse_or_exit(argc, argv, &options);
	raise_descriptor_limit();
	block_stops(&during_wait);
	protocol_init(&protocol, &load);
	ledger_init(&ledger, clock_ns());
	crowd = (struct crowd){
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.protocol = &protocol,
		.address = &options.address,
		.ledger = &ledger,
		.think_ns = options.think_ms * MS,
		.limit_ns = options.limit_ms * MS,
		.n_requests = options.n_requests,
		.now_ns = ledger.started_ns,
	};
	if (crowd.epoll_fd < 0)
		err(2, "epoll");
	list_init(&crowd.waiting);
	list_init(&crowd.resting);
	list_init(&crowd.away);
	run(&crowd, &options, &during_wait);
	ledger_end(&ledger, clock_ns());
	ledger_print(&ledger, options.n_busy, stdout);
	protocol_deinit(&protocol);
	return ledger_is_clean(&ledger, options.are_ends_expected) ? 0 : 1;
}
