#include "config.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/panic.h"

/* Of these SIGABRT comes from outside, too: from the watchdog, and is for the loop then. */
static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT };
#define N_CRASHES (sizeof(crashes) / sizeof(crashes[0]))

static struct panic_page *panic_page;
static struct sigaction before[N_CRASHES];
static _Thread_local const char *thread_stage;

void panic_set_page(struct panic_page *page)
{
	panic_page = page;
}

static void clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text != '\0'; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

void panic_read(const struct panic_page *page, struct panic_page *copy)
{
	memcpy(copy, page, sizeof(*copy));
	clean(copy->text, sizeof(copy->text));
	clean(copy->stage, sizeof(copy->stage));
}

void panic_enter(const char *fmt, ...)
{
	va_list args;

	if (panic_page == NULL)
		return;
	va_start(args, fmt);
	vsnprintf(panic_page->stage, sizeof(panic_page->stage), fmt, args);
	va_end(args);
}

void panic_leave(void)
{
	if (panic_page != NULL)
		panic_page->stage[0] = '\0';
}

void panic_enter_thread(const char *what)
{
	thread_stage = what;
}

/*
 * In the thread that has crashed. When this returns, a fault comes again and ends the process
 * with its own stack and cause; a signal that was sent is sent again.
 */
static void on_crash(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (panic_page != NULL && thread_stage != NULL) {
		size_t len = strnlen(thread_stage, sizeof(panic_page->stage) - 1);

		memcpy(panic_page->stage, thread_stage, len);
		panic_page->stage[len] = '\0';
	}
	for (size_t i = 0; i < N_CRASHES; i++) {
		if (crashes[i] == number)
			sigaction(number, &before[i], NULL);
	}
	if (info->si_code <= 0)
		raise(number);
}

void panic_catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_crash,
		.sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_CRASHES; i++)
		sigaction(crashes[i], &action, &before[i]);
}

void panic_let_in(sigset_t *blocked)
{
	for (size_t i = 0; i < N_CRASHES; i++) {
		if (crashes[i] != SIGABRT)
			sigdelset(blocked, crashes[i]);
	}
}

void panic_at(const char *file, int line, const char *what)
{
	if (panic_page != NULL)
		snprintf(
		    panic_page->text, sizeof(panic_page->text), "%s:%d: %s", file, line, what);
	log_error("bug: %s:%d: %s does not hold", file, line, what);
	abort();
}

void panic_because(const char *fmt, ...)
{
	struct panic_page own = { .text = "" };
	struct panic_page *page = panic_page != NULL ? panic_page : &own;
	va_list args;

	va_start(args, fmt);
	vsnprintf(page->text, sizeof(page->text), fmt, args);
	va_end(args);
	log_error("bug: %s", page->text);
	abort();
}
