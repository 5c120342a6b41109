#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#include "bench/options.h"
#include "bench/progress.h"

#define BAR_WIDTH 30

void progress_init(struct progress *progress, const struct options *options)
{
	*progress = (struct progress){ .is_terminal = isatty(STDERR_FILENO) == 1 };
	if (options->shows_progress)
		progress->is_shown = true;
	else
		progress->is_shown =
		    progress->is_terminal && !options->is_quiet && !options->hides_progress;
}

void progress_begin(struct progress *progress, const char *what, const char *things,
    uint64_t total, uint64_t total_ns)
{
	progress->what = what;
	progress->things = things;
	progress->total = total;
	progress->total_ns = total_ns;
	progress->started_ns = progress->last_ns = clock_ns();
	progress->last_done = 0;
}

int progress_wait_ms(const struct progress *progress)
{
	if (!progress->is_shown)
		return -1;
	return progress->is_terminal ? 200 : 1000;
}

static double share_done(const struct progress *progress, uint64_t done, uint64_t now_ns)
{
	double share;

	if (progress->total > 0)
		share = (double)done / (double)progress->total;
	else
		share = (double)(now_ns - progress->started_ns) / (double)progress->total_ns;
	return share < 1 ? share : 1;
}

void progress_show(struct progress *progress, uint64_t done)
{
	uint64_t now_ns = clock_ns();
	double seconds = (double)(now_ns - progress->last_ns) / 1e9;
	double share = share_done(progress, done, now_ns);
	char bar[BAR_WIDTH + 1];
	int n_full = (int)(share * BAR_WIDTH);

	/* Woken early for something else. */
	if (!progress->is_shown || seconds < 0.15)
		return;
	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', (size_t)n_full);
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "%s%-8s [%s] %3.0f %%  %" PRIu64 " %s, %.0f/s%s",
	    progress->is_terminal ? "\r\033[K" : "", progress->what, bar, share * 100, done,
	    progress->things, (double)(done - progress->last_done) / seconds,
	    progress->is_terminal ? "" : "\n");
	fflush(stderr);
	progress->last_ns = now_ns;
	progress->last_done = done;
}

void progress_end(struct progress *progress)
{
	if (progress->is_shown && progress->is_terminal)
		fputs("\r\033[K", stderr);
}
