#include "config.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "lifecycle/ledger.h"

static const char *const trouble_names[N_TROUBLES] = {
#define TROUBLE_NAME(name, text) #name,
	TROUBLES(TROUBLE_NAME)
#undef TROUBLE_NAME
};

static const char *const trouble_texts[N_TROUBLES] = {
#define TROUBLE_TEXT(name, text) text,
	TROUBLES(TROUBLE_TEXT)
#undef TROUBLE_TEXT
};

void ledger_init(struct ledger *ledger, uint64_t now_ns)
{
	*ledger = (struct ledger){ .started_ns = now_ns };
	histogram_init(&ledger->connected);
	histogram_init(&ledger->answered);
	histogram_init(&ledger->replied);
}

static void note_gap(struct ledger *ledger, uint64_t now_ns)
{
	uint64_t gap_ns = ledger->last_reply_ns == 0 ? 0 : now_ns - ledger->last_reply_ns;

	if (gap_ns > ledger->longest_gap_ns)
		ledger->longest_gap_ns = gap_ns;
}

void ledger_add_reply(struct ledger *ledger, uint64_t now_ns)
{
	note_gap(ledger, now_ns);
	ledger->last_reply_ns = now_ns;
	ledger->replies++;
}

static int64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void ledger_add_trouble(struct ledger *ledger, uint64_t now_ns, const struct failure_note *note)
{
	struct failure_note *kept;

	ledger->troubles[note->trouble]++;
	if (ledger->n_notes == LEDGER_NOTES)
		return;
	kept = &ledger->notes[ledger->n_notes++];
	*kept = *note;
	kept->at_ns = now_ns - ledger->started_ns;
	kept->begun_ns = note->begun_ns - ledger->started_ns;
	kept->wall_ns = wall_ns();
}

void ledger_end(struct ledger *ledger, uint64_t now_ns)
{
	note_gap(ledger, now_ns);
	ledger->ended_ns = now_ns;
}

static bool is_end(enum trouble trouble)
{
	return trouble == TROUBLE_turned_away || trouble == TROUBLE_lost_end ||
	       trouble == TROUBLE_lost_reset;
}

bool ledger_is_clean(const struct ledger *ledger, bool are_ends_expected)
{
	for (int i = 0; i < N_TROUBLES; i++) {
		if (ledger->troubles[i] > 0 && !(are_ends_expected && is_end(i)))
			return false;
	}
	return true;
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static double quantile_ms(const struct histogram *histogram, unsigned int per_mille)
{
	return ms(histogram_quantile_ns(histogram, per_mille));
}

/* The time of day in UTC, as in the server's log. */
static void format_clock(int64_t ns, char text[32])
{
	time_t seconds = ns / 1000000000;
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, 32, "%H:%M:%S", &tm);
	snprintf(text + strlen(text), 8, ".%03d", (int)(ns / 1000000 % 1000));
}

static void print_text(const struct ledger *ledger, uint64_t n_busy, FILE *out)
{
	fprintf(out,
	    "churn: %.1f s, %" PRIu64 " busy clients, %" PRIu64 " of %" PRIu64
	    " sessions done, %" PRIu64 " connects (p99 %.2f, max %.2f ms; to the first reply "
	    "max %.2f ms), %" PRIu64 " replies (p99 %.2f, max %.2f ms; longest gap %.2f ms), "
	    "%" PRIu64 " moved, failed:",
	    ms(ledger->ended_ns - ledger->started_ns) / 1e3, n_busy, ledger->sessions_done,
	    ledger->sessions_begun, ledger->connects, quantile_ms(&ledger->connected, 990),
	    quantile_ms(&ledger->connected, 1000), quantile_ms(&ledger->answered, 1000),
	    ledger->replies, quantile_ms(&ledger->replied, 990),
	    quantile_ms(&ledger->replied, 1000), ms(ledger->longest_gap_ns), ledger->moved);
	if (ledger_is_clean(ledger, false))
		fprintf(out, " 0");
	for (int i = 0; i < N_TROUBLES; i++) {
		if (ledger->troubles[i] > 0)
			fprintf(out, " %" PRIu64 " %s (%s)", ledger->troubles[i],
			    trouble_names[i], trouble_texts[i]);
	}
	fprintf(out, "\n");
}

static void print_histogram(const struct histogram *histogram, const char *name, FILE *out)
{
	fprintf(out,
	    ", \"%s\": {\"n\": %" PRIu64 ", \"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f}", name,
	    histogram->n, quantile_ms(histogram, 500), quantile_ms(histogram, 990),
	    quantile_ms(histogram, 1000));
}

static void print_note(const struct failure_note *note, FILE *out)
{
	char clock[32];

	format_clock(note->wall_ns, clock);
	fprintf(out,
	    "{\"what\": \"%s\", \"who\": \"%s\", \"port\": %u, \"clock\": \"%s\", "
	    "\"at_s\": %.6f, \"begun_s\": %.6f, \"replies\": %" PRIu64 ", \"error\": \"%s\"}",
	    trouble_names[note->trouble], note->is_busy ? "busy" : "session",
	    (unsigned int)note->port, clock, ms(note->at_ns) / 1e3, ms(note->begun_ns) / 1e3,
	    note->n_replies, note->error == 0 ? "" : strerror(note->error));
}

static void print_json(const struct ledger *ledger, uint64_t n_busy, FILE *out)
{
	const char *separator = "";

	fprintf(out,
	    "{\"seconds\": %.3f, \"busy\": %" PRIu64 ", \"sessions_begun\": %" PRIu64
	    ", \"sessions_done\": %" PRIu64 ", \"connects\": %" PRIu64 ", \"replies\": %" PRIu64
	    ", \"moved\": %" PRIu64 ", \"longest_gap_ms\": %.3f",
	    ms(ledger->ended_ns - ledger->started_ns) / 1e3, n_busy, ledger->sessions_begun,
	    ledger->sessions_done, ledger->connects, ledger->replies, ledger->moved,
	    ms(ledger->longest_gap_ns));
	print_histogram(&ledger->connected, "connect_ms", out);
	print_histogram(&ledger->answered, "answer_ms", out);
	print_histogram(&ledger->replied, "reply_ms", out);
	fprintf(out, ", \"failed\": {");
	for (int i = 0; i < N_TROUBLES; i++) {
		fprintf(out, "%s\"%s\": %" PRIu64, separator, trouble_names[i],
		    ledger->troubles[i]);
		separator = ", ";
	}
	fprintf(out, "}, \"first_failures\": [");
	for (size_t i = 0; i < ledger->n_notes; i++) {
		fprintf(out, "%s", i > 0 ? ", " : "");
		print_note(&ledger->notes[i], out);
	}
	fprintf(out, "]}\n");
}

void ledger_print(const struct ledger *ledger, uint64_t n_busy, FILE *out)
{
	print_text(ledger, n_busy, out);
	print_json(ledger, n_busy, out);
}
