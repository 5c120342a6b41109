/*
 * Waiting in tests: a condition is polled until it holds or a deadline has
 * passed. Nothing here, and no test, sleeps for a time and hopes.
 */
#ifndef TESTS_SYSTEM_WAIT_H
#define TESTS_SYSTEM_WAIT_H

#include <check.h>
#include <stdint.h>

/* For what takes milliseconds on a quiet machine, and must not fail on a busy one. */
#define DEADLINE_MS 20000

/* Monotonic. */
uint64_t wait_now_ms(void);

/* The pause between two looks at a condition: 2 ms. */
void wait_tick(void);

#define WAIT_FOR_MS(condition, ms)                                                           \
	do {                                                                                 \
		uint64_t wait_end_ms = wait_now_ms() + (ms);                                 \
		while (!(condition)) {                                                       \
			if (wait_now_ms() > wait_end_ms)                                     \
				ck_abort_msg("not within %d ms: %s", (int)(ms), #condition); \
			wait_tick();                                                         \
		}                                                                            \
	} while (0)

#define WAIT_FOR(condition) WAIT_FOR_MS(condition, DEADLINE_MS)

#endif
