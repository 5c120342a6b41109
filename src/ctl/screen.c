#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl/screen.h"

/* xterm's sequences, which all that are in use know: other screen, no wrap, no cursor. */
static const char enter[] = "\033[?1049h\033[?7l\033[?25l";
static const char leave[] = "\033[?25h\033[?7h\033[?1049l";
#define HOME "\033[H"
#define END_OF_LINE "\033[K\r\n"
#define CLEAR_REST "\033[J"

#define DEFAULT_ROWS 24

static bool is_terminal;
static bool is_separated; /* an empty line stands between two texts */

/* In a signal handler, too. There is nothing to be done when it fails. */
static void send_sequence(const char *sequence)
{
	ssize_t n = write(STDOUT_FILENO, sequence, strlen(sequence));

	(void)n;
}

/* End as the signal would have ended it: SA_RESETHAND has brought the default back. */
static void on_end(int number)
{
	send_sequence(leave);
	raise(number);
}

/* Ctrl-Z; what follows raise() comes when it goes on. */
static void on_stop(int number)
{
	(void)number;
	send_sequence(leave);
	raise(SIGSTOP);
	send_sequence(enter);
}

static void watch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction end = { .sa_handler = on_end, .sa_flags = SA_RESETHAND };
	struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &end, NULL);
	sigaction(SIGTSTP, &stop, NULL);
}

void screen_open(bool is_plain)
{
	is_terminal = !is_plain && isatty(STDOUT_FILENO) == 1;
	is_separated = !is_plain;
	if (!is_terminal)
		return;
	watch_signals();
	send_sequence(enter);
}

static unsigned int count_rows(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		return DEFAULT_ROWS;
	return size.ws_row;
}

/* The last row stays free, so that nothing scrolls. */
static void show_on_terminal(const char *text)
{
	unsigned int rest = count_rows() - 1;

	fputs(HOME, stdout);
	for (; *text != '\0' && rest > 0; rest--) {
		size_t len = strcspn(text, "\n");

		fwrite(text, 1, len, stdout);
		fputs(END_OF_LINE, stdout);
		text += len + (text[len] == '\n');
	}
	fputs(CLEAR_REST, stdout);
}

void screen_show(const char *text)
{
	if (is_terminal)
		show_on_terminal(text);
	else
		printf("%s%s", text, is_separated ? "\n" : "");
}
