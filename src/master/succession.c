#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "master/checker.h"
#include "master/endings.h"
#include "master/module_metrics.h"
#include "master/succession.h"

/* A generation that crashes soon after it began to serve is replaced by the one before. */
#define FRESH_MS 120000

struct succession {
	struct succession_config config;
	struct checker *checker;    /* of the next generation's conf; NULL: none runs */
	struct generation *next;    /* not serving yet; NULL: none */
	struct generation *current; /* NULL: none yet */
	struct endings endings;     /* earlier ones, and those that failed */
	char *previous_text; /* the conf of the one before; NULL: none, or it is used up */
	uint32_t last_number;
	const char *attempt;   /* the last one, or the one that goes on, for people */
	struct reason outcome; /* of the last attempt */
	bool is_last_good;     /* it was a success, with the conf that was wanted */
	bool is_going_back; /* next has the conf of the one before, which is the last resort */
	bool is_ready;      /* next is, and waits to be committed */
	bool is_again;      /* begin anew when this attempt is over */
	bool is_frozen;     /* an upgrade runs: the generation that serves stays */
	bool is_over;       /* no generation is made any more */
	struct link waiters, later_waiters;
};

static void begin(struct succession *succession);
static void review(void *arg);

struct succession *succession_new(const struct succession_config *config, uint32_t first_number)
{
	struct succession *succession = must_alloc(1, sizeof(*succession));

	succession->config = *config;
	succession->last_number = first_number - 1;
	endings_init(&succession->endings, config->loop);
	list_init(&succession->waiters);
	list_init(&succession->later_waiters);
	return succession;
}

bool succession_is_busy(const struct succession *succession)
{
	return succession->checker != NULL || succession->next != NULL;
}

bool succession_is_ready(const struct succession *succession)
{
	return succession->is_ready;
}

const struct generation *succession_current(const struct succession *succession)
{
	return succession->current;
}

const struct generation *succession_ending(
    const struct succession *succession, unsigned int index)
{
	struct link *link;

	list_foreach(link, &succession->endings.list) {
		if (index-- == 0)
			return container_of(link, struct generation, link);
	}
	return NULL;
}

const char *succession_outcome(const struct succession *succession)
{
	return succession->outcome.text;
}

bool succession_is_last_good(const struct succession *succession)
{
	return succession->is_last_good;
}

static void note_success(struct succession *succession)
{
	reason_set(&succession->outcome, "generation %" PRIu32 " serves%s",
	    succession->last_number,
	    succession->is_going_back ? ", with the conf of an earlier one" : "");
	succession->is_last_good = !succession->is_going_back;
}

static void note_failure(struct succession *succession, const char *why)
{
	const struct generation *current = succession->current;

	if (current == NULL)
		reason_set(&succession->outcome, "start failed: %s", why);
	else
		reason_set(&succession->outcome,
		    "%s failed, generation %" PRIu32 " goes on: %s", succession->attempt,
		    current->number, why);
	succession->is_last_good = false;
}

/* An attempt is over: why it failed, or NULL. */
static void conclude(struct succession *succession, const struct reason *why)
{
	waiters_tell(&succession->waiters, why);
	if (!succession->is_again || succession->is_over)
		return;
	succession->is_again = false;
	list_splice(&succession->waiters, &succession->later_waiters);
	begin(succession);
}

static void fail(struct succession *succession, const struct reason *why)
{
	struct generation *next = succession->next;

	note_failure(succession, why->text);
	succession->next = NULL;
	succession->is_ready = false;
	succession->is_going_back = false;
	if (next != NULL && next->crew != NULL) {
		endings_add(&succession->endings, next);
		endings_stop_now(&succession->endings, next);
	} else {
		generation_destroy(&next);
	}
	if (succession->current != NULL)
		sockets_retain(succession->config.sockets, succession->current->settings);
	succession->config.failed(why, succession->config.arg);
	conclude(succession, why);
}

static void in_child(const struct worker_socket *sockets, size_t n, void *arg)
{
	const struct succession *succession = arg;

	sockets_close_others(succession->config.sockets, sockets, n);
	succession->config.in_child(succession->config.arg);
}

static void on_replaced(unsigned int slot, void *arg);

static void start_crew(struct succession *succession, struct generation *next)
{
	const struct succession_config *config = &succession->config;
	const struct crew_config crew_config = {
		.loop = config->loop,
		.generation = next->number,
		.conf_path = config->conf_path,
		.conf_text = next->conf_text,
		.settings = next->settings,
		.privileges = &next->privileges,
		.pages = config->pages,
		.sockets = next->sockets,
		.n_sockets = next->n_sockets,
		.is_detached = config->is_detached,
		.on_change = review,
		.on_replaced = on_replaced,
		.in_child = in_child,
		.arg = succession,
	};

	next->crew = crew_new(&crew_config);
	crew_start(next->crew);
}

/* Start the next generation, of a conf that is good; the text is the generation's. */
static void start_next(struct succession *succession, char *conf_text, unsigned int n_workers)
{
	const struct succession_config *config = &succession->config;
	/* In an upgrade it is another master's. */
	uint32_t serving =
	    succession->current != NULL ? succession->current->number : succession->last_number;
	struct generation *next = NULL;
	struct reason why = { "" };
	enum status status;

	status = generation_new(
	    ++succession->last_number, config->conf_path, conf_text, n_workers, &next, &why);
	succession->next = next;
	if (status == STATUS_OK)
		status = module_metrics_learn(
		    config->pages, next->conf_text, next->number, serving, &why);
	if (status == STATUS_OK)
		status = config->prepare(next, &why, config->arg);
	if (status == STATUS_OK)
		status = sockets_prepare(config->sockets, next->settings, &why);
	if (status != STATUS_OK) {
		fail(succession, &why);
		return;
	}
	next->sockets = sockets_list(config->sockets, next->settings, &next->n_sockets);
	start_crew(succession, next);
}

static void on_checked(char *text, const struct reason *why, void *arg)
{
	struct succession *succession = arg;

	succession->checker = NULL;
	if (text == NULL)
		fail(succession, why);
	else
		start_next(succession, text, 0);
}

static void in_checker(void *arg)
{
	const struct succession *succession = arg;

	/* Whatever keeps the checker does not keep the ports. */
	sockets_close_others(succession->config.sockets, NULL, 0);
	succession->config.in_child(succession->config.arg);
}

static void begin(struct succession *succession)
{
	const struct checker_config config = {
		.loop = succession->config.loop,
		.conf_path = succession->config.conf_path,
		.done = on_checked,
		.in_child = in_checker,
		.arg = succession,
	};
	struct reason why = { "" };

	succession->attempt = "reload";
	succession->checker = checker_start(&config, &why);
	if (succession->checker == NULL)
		fail(succession, &why);
}

void succession_reload(struct succession *succession, waiter_done_f *done, void *arg)
{
	static const struct reason stopping = { "the daemon stops" };

	if (succession->is_over) {
		if (done != NULL)
			done(&stopping, arg);
	} else if (succession_is_busy(succession)) {
		succession->is_again = true;
		waiters_add(&succession->later_waiters, done, arg);
	} else {
		waiters_add(&succession->waiters, done, arg);
		begin(succession);
	}
}

void succession_resize(struct succession *succession, int by)
{
	const struct generation *current = succession->current;
	int n;

	if (current == NULL || succession->is_over || succession->is_frozen ||
	    succession_is_busy(succession)) {
		log_warn("the number of workers stays: another change is not done yet");
		return;
	}
	n = (int)current->settings->workers + by;
	if (n < 1 || n > SETTINGS_MAX_WORKERS) {
		log_warn("the number of workers stays: it cannot be %d", n);
		return;
	}
	log_info("workers: %" PRIu32 " -> %d, until the conf is read again",
	    current->settings->workers, n);
	succession->attempt = "change of the number of workers";
	start_next(succession, must_strdup(current->conf_text), (unsigned int)n);
}

static void on_replaced(unsigned int replaced, void *arg)
{
	struct succession *succession = arg;

	if (succession->current == NULL)
		return;
	endings_hand_over_again(&succession->endings, succession->current, replaced);
	succession->config.replaced(replaced, succession->config.arg);
}

/* Those that drain already hand over to the newest generation from now on, too. */
static void hand_over(
    struct succession *succession, struct generation *from, struct generation *to)
{
	endings_add(&succession->endings, from);
	endings_hand_over(&succession->endings, to);
	endings_drain(&succession->endings, from, from->settings->drain_timeout_ms);
	endings_cap(&succession->endings);
}

void succession_hurry(struct succession *succession, uint32_t limit_ms)
{
	endings_hurry(&succession->endings, limit_ms);
}

void succession_commit(struct succession *succession)
{
	const struct succession_config *config = &succession->config;
	struct generation *next = succession->next, *before = succession->current;
	bool was_going_back;
	struct reason why = { "" };

	if (sockets_activate(config->sockets, next->settings, &why) != STATUS_OK) {
		fail(succession, &why);
		return;
	}
	crew_serve(next->crew);
	next->since_ms = clock_ms();
	was_going_back = succession->is_going_back;
	note_success(succession);
	succession->is_going_back = false;
	succession->current = next;
	succession->next = NULL;
	succession->is_ready = false;
	if (before != NULL) {
		free(succession->previous_text);
		succession->previous_text =
		    was_going_back ? NULL : must_strdup(before->conf_text);
		hand_over(succession, before, next);
	}
	sockets_retain(config->sockets, next->settings);
	config->serving(config->arg);
	conclude(succession, NULL);
}

/* Does it crash so soon that the conf must be the cause? */
static void consider_rollback(struct succession *succession)
{
	const struct generation *current = succession->current;
	char *text = succession->previous_text;

	if (text == NULL || succession->is_frozen || crew_n_broken(current->crew) == 0 ||
	    succession_is_busy(succession) || clock_ms() - current->since_ms > FRESH_MS)
		return;
	log_error("generation %" PRIu32
		  ": its workers crash: going back to the conf of the one before",
	    current->number);
	succession->previous_text = NULL;
	succession->is_going_back = true;
	succession->attempt = "going back";
	start_next(succession, text, 0);
}

static void fail_start(struct succession *succession)
{
	const char *fault = crew_fault(succession->next->crew);
	struct reason why;

	reason_set(&why, "the start failed: a worker cannot run%s%s",
	    fault[0] != '\0' ? ": " : "; the log says why", fault);
	fail(succession, &why);
}

static void review_next(struct succession *succession)
{
	const struct generation *next = succession->next;

	if (crew_n_failed(next->crew) > 0) {
		fail_start(succession);
	} else if (!succession->is_ready &&
		   crew_n_ready(next->crew) == next->settings->workers) {
		succession->is_ready = true;
		succession->config.ready(succession->config.arg);
	}
}

/* A crew has changed; it does not look at itself again after it has told. */
static void review(void *arg)
{
	struct succession *succession = arg;
	const struct generation *current;

	if (succession->next != NULL && succession->next->crew != NULL && !succession->is_over)
		review_next(succession);
	current = succession->current;
	if (current != NULL && !succession->is_over) {
		if (crew_n_failed(current->crew) == current->settings->workers)
			succession->config.dead(succession->config.arg);
		else
			consider_rollback(succession);
	}
	endings_review(&succession->endings);
	if (succession->is_over && succession_is_empty(succession))
		succession->config.empty(succession->config.arg);
}

/* Whatever is being made is not made, and nothing is from now on. */
static void be_over(struct succession *succession)
{
	static const struct reason stopping = { "the daemon stops" };

	succession->is_over = true;
	checker_cancel(&succession->checker);
	if (succession->next != NULL && succession->next->crew != NULL) {
		endings_add(&succession->endings, succession->next);
		endings_stop_now(&succession->endings, succession->next);
		succession->next = NULL;
	}
	generation_destroy(&succession->next);
	waiters_tell(&succession->waiters, &stopping);
	waiters_tell(&succession->later_waiters, &stopping);
}

/* The present generation is one of those that end. */
static struct generation *retire_current(struct succession *succession)
{
	struct generation *current = succession->current;

	succession->current = NULL;
	if (current != NULL)
		endings_add(&succession->endings, current);
	return current;
}

void succession_drain(struct succession *succession, const int ends[], unsigned int n_ends)
{
	struct generation *current;

	be_over(succession);
	current = retire_current(succession);
	if (current == NULL)
		return;
	for (unsigned int slot = 0; slot < n_ends && slot < current->settings->workers;
	     slot++) {
		if (ends[slot] >= 0)
			crew_hand_over(current->crew, slot, ends[slot]);
	}
	endings_drain(&succession->endings, current, current->settings->drain_timeout_ms);
	endings_review(&succession->endings);
}

void succession_freeze(struct succession *succession, bool is_frozen)
{
	succession->is_frozen = is_frozen;
}

void succession_hand_over(struct succession *succession, unsigned int slot, int fd)
{
	endings_hand_over_to(&succession->endings, slot, fd);
}

void succession_receive(struct succession *succession, unsigned int slot, int fd)
{
	const struct generation *current = succession->current;

	if (current != NULL)
		crew_receive(current->crew, slot % current->settings->workers, fd);
}

enum status succession_relieve(struct succession *succession, unsigned int slot,
    crew_relieved_f *done, void *arg, struct reason *why)
{
	struct generation *current = succession->current;

	if (current == NULL || succession->is_over || succession->is_frozen ||
	    succession_is_busy(succession))
		return reason_set(
		    why, "no worker is drained now: another change is not done yet");
	return crew_relieve(
	    current->crew, slot, current->settings->drain_timeout_ms, done, arg, why);
}

static void pass_log(const struct generation *generation, enum channel_type type, int fd)
{
	if (generation != NULL && generation->crew != NULL)
		crew_pass_log(generation->crew, type, fd);
}

void succession_pass_log(struct succession *succession, enum channel_type type, int fd)
{
	struct link *link;

	pass_log(succession->current, type, fd);
	pass_log(succession->next, type, fd);
	list_foreach(link, &succession->endings.list)
		pass_log(container_of(link, struct generation, link), type, fd);
}

void succession_survey(struct succession *succession, crew_open_f *open, void *arg)
{
	struct link *link;

	if (succession->current != NULL)
		crew_survey(succession->current->crew, open, arg);
	list_foreach(link, &succession->endings.list)
		crew_survey(container_of(link, struct generation, link)->crew, open, arg);
}

void succession_set_log_level(struct succession *succession, enum log_level level)
{
	struct link *link;

	if (succession->current != NULL)
		crew_set_log_level(succession->current->crew, level);
	list_foreach(link, &succession->endings.list)
		crew_set_log_level(container_of(link, struct generation, link)->crew, level);
}

/* A generation whose workers were all to be started again has none: it is reviewed at once. */
void succession_stop(struct succession *succession, uint32_t limit_ms)
{
	be_over(succession);
	retire_current(succession);
	endings_stop_all(&succession->endings, limit_ms);
	endings_review(&succession->endings);
}

void succession_stop_now(struct succession *succession)
{
	be_over(succession);
	retire_current(succession);
	endings_stop_all_now(&succession->endings);
	endings_review(&succession->endings);
}

bool succession_is_empty(const struct succession *succession)
{
	return succession->current == NULL && succession->next == NULL &&
	       list_is_empty(&succession->endings.list);
}

void succession_log_status(const struct succession *succession)
{
	struct link *link;

	if (succession->current != NULL) {
		const struct generation *current = succession->current;
		unsigned int n_broken = crew_n_broken(current->crew);

		log_info("status: generation %" PRIu32 ", %u of %" PRIu32 " workers ready%s",
		    current->number, crew_n_ready(current->crew), current->settings->workers,
		    n_broken > 0 ? ", degraded" : "");
		log_info("status: last change: %s", succession->outcome.text);
		crew_log_status(current->crew);
	}
	list_foreach(link, &succession->endings.list) {
		const struct generation *generation =
		    container_of(link, struct generation, link);

		log_info("status: generation %" PRIu32 " is ending", generation->number);
		crew_log_status(generation->crew);
	}
}

static void forget(struct succession *succession, struct generation *generation)
{
	if (generation == NULL)
		return;
	ev_timer_stop(succession->config.loop, &generation->end);
	if (generation->crew != NULL)
		crew_forget(generation->crew);
}

void succession_forget(struct succession *succession)
{
	struct link *link;

	checker_forget(succession->checker);
	forget(succession, succession->next);
	forget(succession, succession->current);
	list_foreach(link, &succession->endings.list)
		forget(succession, container_of(link, struct generation, link));
}

void succession_destroy(struct succession **successionp)
{
	struct succession *succession = *successionp;

	if (succession == NULL)
		return;
	free(succession->previous_text);
	free(succession);
	*successionp = NULL;
}
