/*
 * base/wheel: each entry fires at the first advance that is not before its
 * deadline, and what a fire may do to others.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/wheel.h"

#include "test_base.h"

#define HORIZON_MS ((uint64_t)WHEEL_TICK_MS * WHEEL_SLOTS)
#define START_MS UINT64_C(1000007) /* in the middle of a tick */

struct timer {
	struct wheel_entry entry;
	int n_fired;
};

static struct wheel wheel;

static struct timer *timer_of(struct wheel_entry *entry)
{
	return container_of(entry, struct timer, entry);
}

static void count(struct wheel_entry *entry, void *arg)
{
	(void)arg;
	ck_assert(!wheel_is_armed(entry));
	timer_of(entry)->n_fired++;
}

static void advance(uint64_t now_ms)
{
	wheel_advance(&wheel, now_ms, count, NULL);
}

static struct timer *new_timer(void)
{
	struct timer *timer = malloc(sizeof(*timer));

	ck_assert_ptr_nonnull(timer);
	wheel_entry_init(&timer->entry);
	timer->n_fired = 0;
	return timer;
}

static struct timer *armed_timer(uint64_t deadline_ms)
{
	struct timer *timer = new_timer();

	wheel_arm(&wheel, &timer->entry, deadline_ms);
	return timer;
}

static void start(void)
{
	wheel_init(&wheel, START_MS);
}

START_TEST(an_entry_is_made_not_armed)
{
	struct timer *timer = new_timer();

	ck_assert(!wheel_is_armed(&timer->entry));
	wheel_cancel(&wheel, &timer->entry);
	ck_assert_uint_eq(wheel.n_armed, 0);
	wheel_arm(&wheel, &timer->entry, START_MS + 1);
	ck_assert(wheel_is_armed(&timer->entry));
	ck_assert_uint_eq(wheel.n_armed, 1);
	wheel_cancel(&wheel, &timer->entry);
	ck_assert(!wheel_is_armed(&timer->entry));
	ck_assert_uint_eq(wheel.n_armed, 0);
	advance(START_MS + HORIZON_MS);
	ck_assert_int_eq(timer->n_fired, 0);
	free(timer);
}
END_TEST

/* For each distance, and advances that fall on ticks (phase 0) and between them. */
static const uint64_t distances[] = { 0, 1, 42, 43, 44, 49, 50, 51, 99, 100, 1000,
	HORIZON_MS - 50, HORIZON_MS - 1, HORIZON_MS, HORIZON_MS + 1, HORIZON_MS + 49,
	HORIZON_MS + 51, 2 * HORIZON_MS, 9 * HORIZON_MS + 7 };

START_TEST(never_early_and_at_most_a_tick_late)
{
	for (unsigned int phase = 0; phase < WHEEL_TICK_MS; phase += 7) {
		uint64_t deadline_ms = START_MS + distances[_i];
		uint64_t now_ms = START_MS / WHEEL_TICK_MS * WHEEL_TICK_MS + phase;
		struct timer *timer;

		wheel_init(&wheel, now_ms);
		timer = armed_timer(deadline_ms);
		while (timer->n_fired == 0) {
			now_ms += WHEEL_TICK_MS;
			advance(now_ms);
			ck_assert_int_eq(timer->n_fired, now_ms >= deadline_ms);
		}
		ck_assert_uint_eq(wheel.n_armed, 0);
		free(timer);
	}
}
END_TEST

START_TEST(a_past_deadline_fires_at_the_next_advance)
{
	struct timer *timer = armed_timer(1);

	advance(START_MS);
	ck_assert_int_eq(timer->n_fired, 1);
	free(timer);
}
END_TEST

START_TEST(the_last_deadline_given_counts)
{
	struct timer *timer = armed_timer(START_MS + 100);

	wheel_arm(&wheel, &timer->entry, START_MS + 1000);
	ck_assert_uint_eq(wheel.n_armed, 1);
	advance(START_MS + 900);
	ck_assert_int_eq(timer->n_fired, 0);
	wheel_arm(&wheel, &timer->entry, START_MS + 950);
	advance(START_MS + 950);
	ck_assert_int_eq(timer->n_fired, 1);
	advance(START_MS + 2000);
	ck_assert_int_eq(timer->n_fired, 1);
	free(timer);
}
END_TEST

START_TEST(a_long_sleep_fires_all_that_came_due)
{
	struct timer *due[3] = { armed_timer(START_MS + 1), armed_timer(START_MS + HORIZON_MS),
		armed_timer(START_MS + 9 * HORIZON_MS) };
	struct timer *later = armed_timer(START_MS + 10 * HORIZON_MS + 60);

	advance(START_MS + 10 * HORIZON_MS);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(due[i]->n_fired, 1);
		free(due[i]);
	}
	ck_assert_int_eq(later->n_fired, 0);
	advance(START_MS + 10 * HORIZON_MS + 60);
	ck_assert_int_eq(later->n_fired, 1);
	free(later);
}
END_TEST

START_TEST(time_that_goes_back_fires_nothing_early)
{
	struct timer *timer = armed_timer(START_MS + 500);

	advance(START_MS + 300);
	advance(START_MS);
	ck_assert_int_eq(timer->n_fired, 0);
	advance(START_MS + 500);
	ck_assert_int_eq(timer->n_fired, 1);
	free(timer);
}
END_TEST

/* arg: the deadline to arm again for. */
static void arm_again(struct wheel_entry *entry, void *arg)
{
	timer_of(entry)->n_fired++;
	wheel_arm(&wheel, entry, *(uint64_t *)arg);
}

START_TEST(an_entry_may_arm_itself)
{
	struct timer *timer = armed_timer(START_MS + 10);
	uint64_t deadline_ms = START_MS; /* past: always due */
	int n_fired;

	/* It fires in each advance, maybe twice, but an advance ends. */
	for (int i = 1; i <= 5; i++) {
		n_fired = timer->n_fired;
		wheel_advance(&wheel, START_MS + (uint64_t)i * 70, arm_again, &deadline_ms);
		ck_assert_int_gt(timer->n_fired, n_fired);
		ck_assert_int_le(timer->n_fired, n_fired + 2);
	}
	deadline_ms = START_MS + 5000;
	n_fired = timer->n_fired + 1;
	wheel_advance(&wheel, START_MS + 1000, arm_again, &deadline_ms);
	ck_assert_int_eq(timer->n_fired, n_fired);
	advance(START_MS + 4999);
	ck_assert_int_eq(timer->n_fired, n_fired);
	advance(START_MS + 5000);
	ck_assert_int_eq(timer->n_fired, n_fired + 1);
	free(timer);
}
END_TEST

#define N_DOOMED 64

static struct timer *doomed[N_DOOMED];
static int n_fires;

/* The first that fires ends all others and itself, as when a shutdown closes connections. */
static void free_all(struct wheel_entry *entry, void *arg)
{
	(void)arg;
	n_fires++;
	for (int i = 0; i < N_DOOMED; i++) {
		ck_assert(&doomed[i]->entry == entry || wheel_is_armed(&doomed[i]->entry));
		wheel_cancel(&wheel, &doomed[i]->entry);
		free(doomed[i]);
	}
}

START_TEST(a_fire_may_cancel_and_free_any_entry)
{
	/* In one slot, in slots before and after it, and a turn of the wheel away. */
	for (int i = 0; i < N_DOOMED; i++)
		doomed[i] = armed_timer(
		    START_MS + (uint64_t)(i % 4 == 3 ? (int)HORIZON_MS : i % 3 * 100));
	wheel_advance(&wheel, START_MS + 300, free_all, NULL);
	ck_assert_int_eq(n_fires, 1);
	ck_assert_uint_eq(wheel.n_armed, 0);
	advance(START_MS + 2 * HORIZON_MS);
}
END_TEST

/* arg: the other one. */
static void arm_other(struct wheel_entry *entry, void *arg)
{
	struct timer *other = arg;

	timer_of(entry)->n_fired++;
	if (&other->entry != entry)
		wheel_arm(&wheel, &other->entry, START_MS + 1);
}

START_TEST(a_fire_may_arm_another_for_the_past)
{
	struct timer *first = armed_timer(START_MS + 10), *other = new_timer();

	/* The wheel has many slots to go when the other one is armed for one it has passed. */
	wheel_advance(&wheel, START_MS + 1000, arm_other, other);
	wheel_advance(&wheel, START_MS + 1001, arm_other, other);
	ck_assert_int_eq(first->n_fired, 1);
	ck_assert_int_eq(other->n_fired, 1);
	free(first);
	free(other);
}
END_TEST

#define N_TIMERS 200

struct model {
	struct timer *timers[N_TIMERS];
	uint64_t deadlines[N_TIMERS]; /* 0: not armed */
};

static void change_one(struct model *model, uint64_t now_ms)
{
	size_t i = (size_t)rand() % N_TIMERS;
	uint64_t span = rand() % 4 == 0 ? 3 * HORIZON_MS : 500;

	if (rand() % 5 == 0) {
		wheel_cancel(&wheel, &model->timers[i]->entry);
		model->deadlines[i] = 0;
		return;
	}
	model->deadlines[i] = now_ms - 100 + (uint64_t)rand() % span;
	wheel_arm(&wheel, &model->timers[i]->entry, model->deadlines[i]);
}

static void expect_fired(struct model *model, uint64_t now_ms)
{
	unsigned int n_armed = 0;

	for (size_t i = 0; i < N_TIMERS; i++) {
		bool is_due = model->deadlines[i] != 0 && model->deadlines[i] <= now_ms;

		if (model->timers[i]->n_fired != is_due)
			ck_abort_msg("at %llu, deadline %llu: fired %d times",
			    (unsigned long long)now_ms, (unsigned long long)model->deadlines[i],
			    model->timers[i]->n_fired);
		model->timers[i]->n_fired = 0;
		if (is_due)
			model->deadlines[i] = 0;
		n_armed += model->deadlines[i] != 0;
	}
	ck_assert_uint_eq(wheel.n_armed, n_armed);
}

START_TEST(random_use_agrees_with_a_plain_list)
{
	struct model model = { .deadlines = { 0 } };
	uint64_t now_ms = START_MS;

	srand((unsigned int)_i);
	for (size_t i = 0; i < N_TIMERS; i++)
		model.timers[i] = new_timer();
	for (int turn = 0; turn < 3000; turn++) {
		for (int n = rand() % 10; n > 0; n--)
			change_one(&model, now_ms);
		now_ms += (uint64_t)rand() % (rand() % 100 == 0 ? 2 * HORIZON_MS : 120);
		advance(now_ms);
		expect_fired(&model, now_ms);
	}
	for (size_t i = 0; i < N_TIMERS; i++)
		free(model.timers[i]);
}
END_TEST

TCase *wheel_tests(void)
{
	TCase *tests = tcase_create("wheel");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, start, NULL);
	tcase_add_test(tests, an_entry_is_made_not_armed);
	tcase_add_loop_test(tests, never_early_and_at_most_a_tick_late, 0,
	    sizeof(distances) / sizeof(distances[0]));
	tcase_add_test(tests, a_past_deadline_fires_at_the_next_advance);
	tcase_add_test(tests, the_last_deadline_given_counts);
	tcase_add_test(tests, a_long_sleep_fires_all_that_came_due);
	tcase_add_test(tests, time_that_goes_back_fires_nothing_early);
	tcase_add_test(tests, an_entry_may_arm_itself);
	tcase_add_test(tests, a_fire_may_cancel_and_free_any_entry);
	tcase_add_test(tests, a_fire_may_arm_another_for_the_past);
	tcase_add_loop_test(tests, random_use_agrees_with_a_plain_list, 0, 4);
	return tests;
}
