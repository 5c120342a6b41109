/*
 * CHECK: a bug ends the process, in release builds too. What failed is written
 * to the panic page, shared memory that the master reads when the process is
 * gone, and to stderr. Network input never reaches a CHECK.
 */
#ifndef RUNNEL_BASE_PANIC_H
#define RUNNEL_BASE_PANIC_H

#include <signal.h>

#include "base/status.h"

struct panic_page {
	char text[256]; /* empty: no panic */
	char stage
	    [128]; /* foreign code that runs, as "the start hook of module 'x'"; or empty */
};

/* Where this process leaves its last words; NULL: on stderr only. Borrowed for good. */
void panic_set_page(struct panic_page *page);

/*
 * A copy of another process's page, which may write there what it likes: of both texts what is
 * printable ASCII, other bytes as '?', each ended.
 */
void panic_read(const struct panic_page *page, struct panic_page *copy);

/* Foreign code is about to run; it has returned. If the process dies in between, that is why. */
void panic_enter(const char *fmt, ...) PRINTF_LIKE(1, 2);
void panic_leave(void);

/*
 * The same for code that this thread runs beside the loop's: what (borrowed until it has
 * returned) becomes the stage when a signal ends the process there. NULL: it has returned.
 */
void panic_enter_thread(const char *what);

/* From now on; crashes end the process as before, and go to handlers that were there before. */
void panic_catch_signals(void);

/* The signals of crashes that a thread which blocks all others has to let in. */
void panic_let_in(sigset_t *blocked);

_Noreturn void panic_at(const char *file, int line, const char *what);

/* The same for what is not an expression of ours: a module has broken a rule. */
_Noreturn void panic_because(const char *fmt, ...) PRINTF_LIKE(1, 2);

#define CHECK(condition)                                          \
	do {                                                      \
		if (__builtin_expect(!(condition), 0))            \
			panic_at(__FILE__, __LINE__, #condition); \
	} while (0)

/*
 * A struct's magic number is checked on entry of each function that takes it from a callback or
 * a list.
 */
#define CHECK_MAGIC(ptr, number) CHECK((ptr) != NULL && (ptr)->magic == (number))

#endif
